"""Compares the libraries that are shipped with the committed list, and asks OSV for their known vulnerabilities.

  python3 .ci/dependencies.py            checks; any difference, and any vulnerability without a reason, is an error
  python3 .ci/dependencies.py --update   replaces the list with the libraries of the bill of materials

The bill of materials is target/radixflow-sbom.json, made by
  mvn org.cyclonedx:cyclonedx-maven-plugin:makeAggregateBom
"""

import argparse
import http.client
import json
import pathlib
import sys
import urllib.request

HERE = pathlib.Path(__file__).parent
OSV = "https://api.osv.dev"
OWN = "io.radixflow"
PATIENCE_SECONDS = 20


def components(bom, named=None):
    """The libraries of a bill of materials: (name, version, licences, SHA-256), sorted.

    named: licences of those whose POM names none, by group--artifact--version
    """
    rows = []
    for component in bom["components"]:
        if component.get("group") == OWN:
            continue
        name = component["group"] + ":" + component["name"]
        # jcuda-natives has a jar for each system, told apart by its classifier
        qualifiers = component["purl"].partition("?")[2].split("&")
        classifier = [q[len("classifier="):] for q in qualifiers if q.startswith("classifier=")]
        sha256 = [h["content"] for h in component.get("hashes", []) if h["alg"] == "SHA-256"]
        rows.append(
            (
                ":".join([name] + classifier),
                component["version"],
                " / ".join(sorted(licences(component)))
                or (named or {}).get(name.replace(":", "--") + "--" + component["version"], "-"),
                sha256[0] if sha256 else "-",
            )
        )
    return sorted(rows)


def licences(component):
    for entry in component.get("licenses", []):
        licence = entry.get("license", {})
        yield entry.get("expression") or licence.get("id") or licence.get("name")


def read_properties(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def read_list(path):
    """The rows of a file of tab separated columns; lines that begin with # are comments."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [tuple(line.split("\t")) for line in lines if line and not line.startswith("#")]


def write_list(path, rows):
    header = "# library\tversion\tlicences\tSHA-256 of the jar; written by .ci/dependencies.py --update\n"
    path.write_text(header + "".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def differences(listed, shipped):
    """What a reviewer has to look at, as lines."""
    lines = ["not in the list: " + "  ".join(row) for row in shipped if row not in listed]
    return lines + ["not shipped so: " + "  ".join(row) for row in listed if row not in shipped]


def post(url, body):
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as response:
        return json.load(response)


def known_vulnerabilities(shipped, osv):
    """Pairs of library and id of a vulnerability; raises OSError where OSV cannot be reached."""
    asked = sorted({(":".join(row[0].split(":")[:2]), row[1]) for row in shipped})
    found = set()
    queries = [
        {"package": {"ecosystem": "Maven", "name": name}, "version": version}
        for name, version in asked
    ]
    pending = list(zip(asked, queries))
    while pending:
        answers = post(osv + "/v1/querybatch", {"queries": [query for _, query in pending]})
        more = []
        for ((name, version), query), answer in zip(pending, answers["results"]):
            found.update((name, version, v["id"]) for v in answer.get("vulns") or [])
            if answer.get("next_page_token"):
                more.append(((name, version), dict(query, page_token=answer["next_page_token"])))
        pending = more
    return sorted(found)


def judge(found, allowed):
    """Returns the found vulnerabilities that have no reason in the file, and the reasons that excuse nothing found."""
    reasons = {row[:3]: row[3] for row in allowed}
    return [f for f in found if f not in reasons], sorted(set(reasons) - set(found))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the list")
    parser.add_argument("--bom", type=pathlib.Path, default=HERE.parent / "target/radixflow-sbom.json")
    parser.add_argument("--list", type=pathlib.Path, default=HERE / "dependencies.txt")
    parser.add_argument("--allowed", type=pathlib.Path, default=HERE / "vulnerabilities.txt")
    parser.add_argument("--osv", default=OSV, help="address of OSV's API")
    options = parser.parse_args(arguments)

    named = read_properties(HERE.parent / ".mvn/licenses/unnamed.properties")
    shipped = components(json.loads(options.bom.read_text(encoding="utf-8")), named)
    if options.update:
        write_list(options.list, shipped)
        print(f"{options.list}: {len(shipped)} libraries")
        return 0
    failed = False
    changed = differences(read_list(options.list), shipped)
    if changed:
        print(*changed, sep="\n")
        print(f"the libraries differ from {options.list}: review them, then run .ci/dependencies.py --update")
        failed = True
    allowed = read_list(options.allowed)
    if any(len(row) != 4 or not row[3].strip() for row in allowed):
        print(f"{options.allowed}: a line is library, version, id and reason, separated by tabs")
        return 1
    try:
        found = known_vulnerabilities(shipped, options.osv.rstrip("/"))
    except (OSError, http.client.HTTPException, ValueError, KeyError) as e:
        # a proxy that answers with a page of its own counts as no answer
        print(f"NOTE: no answer from {options.osv} ({e}): nothing is known of vulnerabilities")
        return 1 if failed else 0
    unexplained, idle = judge(found, allowed)
    for name, version, identifier in unexplained:
        print(f"{name} {version} has {identifier}: update it, or say in {options.allowed} why it does no harm here")
    for name, version, identifier in idle:
        print(f"{options.allowed}: {name} {version} no longer has {identifier}; remove the line")
    print(f"{len(shipped)} libraries, {len(found)} known vulnerabilities, {len(unexplained)} without a reason")
    return 1 if failed or unexplained or idle else 0


if __name__ == "__main__":
    sys.exit(main())
