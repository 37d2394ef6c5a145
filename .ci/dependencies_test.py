"""Tests of dependencies.py, with an OSV of their own: python3 -m unittest discover -s .ci -p '*_test.py'"""

import contextlib
import http.server
import io
import json
import pathlib
import tempfile
import threading
import unittest

import dependencies

BOM = {
    "components": [
        {"group": "io.radixflow", "name": "radixflow-jobs", "version": "1", "purl": "pkg:maven/io.radixflow/radixflow-jobs@1"},
        {
            "group": "org.a",
            "name": "a",
            "version": "1.0",
            "purl": "pkg:maven/org.a/a@1.0?type=jar",
            "licenses": [{"license": {"id": "MIT"}}, {"license": {"name": "Another"}}],
            "hashes": [{"alg": "MD5", "content": "0"}, {"alg": "SHA-256", "content": "aa"}],
        },
        {
            "group": "org.b",
            "name": "natives",
            "version": "2.0",
            "purl": "pkg:maven/org.b/natives@2.0?classifier=linux&type=jar",
            "hashes": [{"alg": "SHA-256", "content": "bb"}],
        },
    ]
}


class Osv(http.server.BaseHTTPRequestHandler):
    """Knows one vulnerability of org.a:a 1.0, on its second page."""

    asked = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Osv.asked.append(body)
        results = []
        for query in body["queries"]:
            if query["package"]["name"] != "org.a:a":
                results.append({})
            elif "page_token" in query:
                results.append({"vulns": [{"id": "GHSA-1"}]})
            else:
                results.append({"vulns": [], "next_page_token": "2"})
        answer = json.dumps({"results": results}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


class DependenciesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bom").write_text(json.dumps(BOM))
        server = http.server.HTTPServer(("127.0.0.1", 0), Osv)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.osv = f"http://127.0.0.1:{server.server_port}"
        Osv.asked.clear()

    def run_it(self, *arguments, osv=None):
        out = io.StringIO()
        paths = [f"--{name}={self.folder / name}" for name in ("bom", "list", "allowed")]
        with contextlib.redirect_stdout(out):
            status = dependencies.main([*paths, f"--osv={osv or self.osv}", *arguments])
        return status, out.getvalue()

    def allow(self, *lines):
        (self.folder / "allowed").write_text("# comment\n" + "".join(line + "\n" for line in lines))

    def test_the_list_has_name_classifier_version_licences_and_hash(self):
        self.run_it("--update")
        rows = dependencies.read_list(self.folder / "list")
        self.assertEqual(
            rows, [("org.a:a", "1.0", "Another / MIT", "aa"), ("org.b:natives:linux", "2.0", "-", "bb")]
        )

    def test_a_library_that_changed_fails(self):
        self.run_it("--update")
        self.allow("org.a:a\t1.0\tGHSA-1\tnot called")
        self.assertEqual(self.run_it()[0], 0)
        changed = json.loads(json.dumps(BOM))
        changed["components"][1]["hashes"][1]["content"] = "other"
        (self.folder / "bom").write_text(json.dumps(changed))
        status, out = self.run_it()
        self.assertEqual(status, 1)
        self.assertIn("not in the list: org.a:a  1.0  Another / MIT  other", out)
        self.assertIn("not shipped so: org.a:a  1.0  Another / MIT  aa", out)

    def test_a_known_vulnerability_fails_without_a_reason(self):
        self.run_it("--update")
        status, out = self.run_it()
        self.assertEqual(status, 1)
        self.assertIn("org.a:a 1.0 has GHSA-1", out)
        self.assertEqual(len(Osv.asked), 2)
        self.assertEqual(Osv.asked[0]["queries"][1]["package"], {"ecosystem": "Maven", "name": "org.b:natives"})

    def test_a_reason_must_be_given_and_needed(self):
        self.run_it("--update")
        self.allow("org.a:a\t1.0\tGHSA-1\t ")
        self.assertEqual(self.run_it()[0], 1)
        self.allow("org.a:a\t1.0\tGHSA-1\tnot called", "org.b:natives\t2.0\tGHSA-2\told")
        status, out = self.run_it()
        self.assertEqual(status, 1)
        self.assertIn("org.b:natives 2.0 no longer has GHSA-2", out)

    def test_without_osv_the_list_is_still_checked(self):
        nowhere = "http://127.0.0.1:1"
        self.assertEqual(self.run_it(osv=nowhere)[0], 1)
        self.run_it("--update")
        status, out = self.run_it(osv=nowhere)
        self.assertEqual(status, 0)
        self.assertIn("NOTE: no answer from http://127.0.0.1:1", out)


if __name__ == "__main__":
    unittest.main()
