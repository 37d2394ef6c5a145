"""Checks every answer that clients get, byte for byte as it came, against the types that OpenAI and Anthropic publish.

The clients themselves are tolerant: they do not notice missing fields or wrong types. Here each JSON object and each
server-sent event is checked strictly: all required fields, their types, and the words of enumerations.
"""

import json
import re

import httpx2 as httpx
import pydantic
from anthropic.types import ErrorResponse, Message, MessageTokensCount, RawMessageStreamEvent
from openai.types import Completion, Model
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.conversations import Conversation, ConversationDeletedResource, ConversationItem, ConversationItemList
from openai.types.responses import Response, ResponseItemList, ResponseStreamEvent
from openai.types.responses.input_token_count_response import InputTokenCountResponse
from openai.types.shared import ErrorObject

# method and path, type of the whole answer, type of an event
PUBLISHED = [
    ("POST /v1/chat/completions", ChatCompletion, ChatCompletionChunk),
    ("POST /v1/completions", Completion, Completion),
    ("GET /v1/models/[^/]+", Model, None),
    ("POST /v1/responses", Response, ResponseStreamEvent),
    ("GET /v1/responses/[^/]+", Response, ResponseStreamEvent),
    ("POST /v1/responses/input_tokens", InputTokenCountResponse, None),
    ("POST /v1/responses/[^/]+/cancel", Response, None),
    ("GET /v1/responses/[^/]+/input_items", ResponseItemList, None),
    ("POST /v1/conversations", Conversation, None),
    ("(GET|POST) /v1/conversations/[^/]+", Conversation, None),
    ("DELETE /v1/conversations/[^/]+", ConversationDeletedResource, None),
    ("(GET|POST) /v1/conversations/[^/]+/items", ConversationItemList, None),
    ("GET /v1/conversations/[^/]+/items/[^/]+", ConversationItem, None),
    ("DELETE /v1/conversations/[^/]+/items/[^/]+", Conversation, None),
    ("POST /v1/messages", Message, RawMessageStreamEvent),
    ("POST /v1/messages/count_tokens", MessageTokensCount, None),
]

# answers that have no published type
UNPUBLISHED = ["GET /v1/models", "DELETE /v1/responses/[^/]+", "HEAD /"]

checked = {}
problems = []


def hold(published, text, what):
    """Records the faults of a JSON text, and counts the text."""
    checked[what] = checked.get(what, 0) + 1
    try:
        pydantic.TypeAdapter(published).validate_json(text, strict=True)
    except pydantic.ValidationError as e:
        problems.append(f"{what}: {e}\n  {text[:1000]}")


def check_error(name, text):
    if name.startswith("POST /v1/messages"):
        hold(ErrorResponse, text, "error of messages")
    else:
        error = json.loads(text)["error"]
        if sorted(error) != ["code", "message", "param", "type"]:
            problems.append(f"{name}: an error with {sorted(error)}")
        hold(ErrorObject, json.dumps(error), "error")


def check_event(name, published, event):
    data = "".join(line[6:] for line in event.split("\n") if line.startswith("data: "))
    if not data or data == "[DONE]":
        return
    value = json.loads(data)
    if "error" in value or value.get("type") == "error" and name.startswith("POST /v1/messages"):
        check_error(name, data)
    elif value.get("object") == "text_completion":
        # OpenAI streams null for an unfinished choice, although its type for whole completions does not allow null
        for choice in value["choices"]:
            choice["finish_reason"] = choice["finish_reason"] or "stop"
        hold(published, json.dumps(value), "event text_completion")
    elif value.get("type") != "ping":  # Anthropic describes it, and publishes no type
        hold(published, data, f"event {value.get('type', value.get('object'))}")


def check(method, path, status, content_type, body):
    """Checks an answer as far as it was read."""
    name = f"{method} {path}"
    if name.endswith("/v1/models") and status == 200:
        for model in json.loads(body)["data"]:
            hold(Model, json.dumps(model), "Model")
        return
    if any(re.fullmatch(pattern, name) for pattern in UNPUBLISHED) and status < 400:
        return
    if status >= 400:
        check_error(name, body)
        return
    exact = [row for row in PUBLISHED if row[0] == name]
    rows = exact or [row for row in PUBLISHED if re.fullmatch(row[0], name)]
    if not rows:
        problems.append(f"{name}: no published type is known for this path")
    elif content_type.startswith("text/event-stream"):
        for event in body.split("\n\n")[:-1]:
            check_event(name, rows[0][2], event)
    else:
        hold(rows[0][1], body, rows[0][1].__name__)


class Copied(httpx.SyncByteStream):
    """The body of a response, which is checked when its client closes it."""

    def __init__(self, stream, done):
        self.stream, self.done, self.bytes = stream, done, b""

    def __iter__(self):
        for piece in self.stream:
            self.bytes += piece
            yield piece

    def close(self):
        self.stream.close()
        if self.done:
            done, self.done = self.done, None
            done(self.bytes.decode("utf-8", "replace"))


class Checking(httpx.BaseTransport):
    """Sends requests as usual, and checks all answers."""

    def __init__(self):
        self.inner = httpx.HTTPTransport()

    def handle_request(self, request):
        response = self.inner.handle_request(request)
        content_type = response.headers.get("content-type", "")

        def done(body):
            if body:
                check(request.method, request.url.path, response.status_code, content_type, body)

        response.stream = Copied(response.stream, done)
        return response

    def close(self):
        self.inner.close()


def client():
    """An HTTP client for OpenAI's or Anthropic's client."""
    return httpx.Client(transport=Checking(), timeout=120)


def report():
    """Prints which types were checked; returns whether there were no faults."""
    for what in sorted(checked):
        print(f"held: {checked[what]:5} {what}")
    for problem in problems[:20]:
        print("BROKEN", problem)
    return bool(checked) and not problems
