"""Schemathesis against a gateway: python fuzz.py URL KEY OTHER_KEY EXAMPLES SEED

Sends thousands of requests that are right, nearly right and wrong, made from the gateway's own OpenAPI document, with
the key of one tenant. Real ids of another tenant are among the sent values. Fails if an answer is a 5xx, does not fit the
document, or contains anything of the other tenant. The same file is the module of hooks that schemathesis loads.
"""

import json
import os
import random
import subprocess
import sys

import httpx2 as httpx
import openapi_spec_validator
import schemathesis

MARKER = "kingfisher-4711"
IDS = json.loads(os.environ.get("FUZZ_IDS", "{}"))
COUNT = os.environ.get("FUZZ_COUNT")
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
    "response_headers_conformance,unsupported_method,allow_header_conformance,ignored_auth,nothing_of_the_other_tenant"
)


@schemathesis.check
def nothing_of_the_other_tenant(ctx, response, case):
    assert MARKER not in response.text, "the answer has what another tenant said"
    own = case.path_parameters.get("id") if case.path_parameters else None
    if own in IDS.get("theirs", []):
        assert response.status_code >= 400, f"{own} is another tenant's and was served"


def some(kind, given, share):
    """Returns an id of that kind, the other tenant's or an own one, in a share of all cases."""
    choices = [each for each in IDS.get("theirs", []) + IDS.get("own", []) if each.startswith(kind)]
    dice = random.Random(repr(given))
    return dice.choice(choices) if choices and dice.random() < share else given


@schemathesis.hook
def map_path_parameters(ctx, path_parameters):
    for name, kind in (("id", "conv_" if "conversations" in ctx.operation.path else "resp_"), ("item", "msg_")):
        if path_parameters and name in path_parameters:
            path_parameters[name] = some(kind, path_parameters[name], 0.7)
    return path_parameters


@schemathesis.hook
def map_query(ctx, query):
    if query and "after" in query:
        query["after"] = some("msg_", query["after"], 0.7)
    return query


@schemathesis.hook
def map_body(ctx, body):
    if isinstance(body, dict):
        if "previous_response_id" in body:
            body["previous_response_id"] = some("resp_", body["previous_response_id"], 0.7)
        if "conversation" in body:
            body["conversation"] = some("conv_", body["conversation"], 0.7)
        for name in ("prompt_cache_key", "user"):
            if name in body:
                body[name] = some("their", body[name], 0.5)
        if "model" in body and isinstance(body["model"], str) and len(body["model"]) % 2:
            body["model"] = "sim"
    return body


@schemathesis.hook
def after_call(ctx, case, response):
    if COUNT:
        with open(COUNT, "a") as file:
            file.write(f"{case.operation.method.upper()} {case.operation.path} {response.status_code}\n")


class Tenant:
    """A tenant with conversations, responses and chats that say something."""

    def __init__(self, url, key, says, names):
        self.http = httpx.Client(base_url=url, headers={"Authorization": "Bearer " + key}, timeout=120)
        message = {"type": "message", "role": "user", "content": says}
        conversation = self.post("/v1/conversations", items=[message], metadata={"says": says})["id"]
        first = self.post("/v1/responses", input=says, instructions=says, metadata={"says": says})
        second = self.post("/v1/responses", input=says, conversation=conversation, user=says)
        self.post("/v1/chat/completions", messages=[{"role": "user", "content": says}], prompt_cache_key=names)
        self.post("/v1/messages", messages=[{"role": "user", "content": says}], max_tokens=8)
        self.conversation = conversation
        items = [item["id"] for item in self.items()]
        self.ids = [conversation, first["id"], second["id"], *items, names]

    def post(self, path, **body):
        response = self.http.post(path, json=body)
        assert response.status_code == 200, response.text
        return response.json()

    def items(self):
        return self.http.get(f"/v1/conversations/{self.conversation}/items", params={"limit": 100}).json()["data"]


def main(url, key, other_key, examples, seed):
    openapi_spec_validator.validate(httpx.get(url + "/openapi.json").json())
    theirs = Tenant(url, other_key, f"The word is {MARKER}.", "theirs")
    own = Tenant(url, key, "The word is heron.", "their-names-sake")
    before = theirs.items()
    count = os.path.abspath("target/fuzz-requests.txt")
    os.makedirs(os.path.dirname(count), exist_ok=True)
    open(count, "w").close()
    environment = dict(
        os.environ,
        FUZZ_IDS=json.dumps({"theirs": theirs.ids, "own": own.ids}),
        FUZZ_COUNT=count,
        SCHEMATHESIS_HOOKS="fuzz",
        PYTHONPATH=os.pathsep.join([os.path.dirname(os.path.abspath(__file__)), os.environ.get("PYTHONPATH", "")]),
    )
    command = [sys.executable, "-m", "schemathesis.cli", "run", url + "/openapi.json"]
    command += ["--header", "Authorization: Bearer " + key, "--checks", CHECKS, "--max-examples", examples]
    command += ["--seed", seed, "--generation-database", "none", "--request-timeout", "60", "--continue-on-failure"]
    command += ["--workers", "1", "--warnings", "off", "--exclude-path", "/", "--phases", "examples,coverage,fuzzing,stateful"]
    status = subprocess.run(command, env=environment, cwd=os.path.dirname(count)).returncode
    with open(count) as file:
        sent = [line.split()[-1] for line in file]
    print(f"requests: {len(sent)}; by status: { {code: sent.count(code) for code in sorted(set(sent))} }", flush=True)
    assert theirs.items() == before, "the other tenant's conversation has changed"
    assert sent and not any(code.startswith("5") for code in sent)
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
