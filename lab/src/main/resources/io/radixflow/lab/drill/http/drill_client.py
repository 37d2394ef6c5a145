"""OpenAI's client for the drill: python3 drill_client.py GATEWAY...

Each line of input is a request; the line of output is the client's view of its turn. A broken stream continues at the next gateway.
"""

import json
import sys
import time

import openai

PAUSE = 0.5
# not in the client's signature of a response, so they go as they are
EXTRA = ("seed",)
TERMINAL = ("response.completed", "response.incomplete", "response.failed")
DELTAS = ("response.output_text.delta", "response.function_call_arguments.delta")
STATES = {"completed": "stop", "incomplete": "length", "cancelled": "cancelled"}

clients = [
    openai.OpenAI(base_url=url.rstrip("/") + "/v1", api_key="none", max_retries=0, timeout=300) for url in sys.argv[1:]
]


class Broken(Exception):
    """The stream is not whole, or the client leaves it on purpose."""


class Reply:
    """Content and calls of tools, as they come; "all" has their pieces in order."""

    def __init__(self):
        self.text, self.calls, self.all = "", [], ""

    def content(self, piece):
        self.text += piece or ""
        self.all += piece or ""

    def open(self, id, name):
        self.calls.append(dict(id=id, name=name, arguments=""))
        self.all += f"\n{id} {name} "

    def arguments(self, piece, index=-1):
        if piece:
            self.calls[index]["arguments"] += piece
            self.all += piece

    def message(self, message):
        self.content(message.content)
        for i, call in enumerate(message.tool_calls or []):
            if call.id:
                self.open(call.id, call.function.name)
            self.arguments(call.function.arguments, getattr(call, "index", i))

    def output(self, output):
        for item in output:
            for part in getattr(item, "content", None) or []:
                self.content(part.text)
            if item.type == "function_call":
                self.open(item.call_id, item.name)
                self.arguments(item.arguments)
        return self

    def parts(self):
        return [self.text] + [call[key] for call in self.calls for key in ("id", "name", "arguments")]

    def begins(self, other):
        mine, others = self.parts(), other.parts()
        return len(mine) <= len(others) and all(other.startswith(part) for part, other in zip(mine, others))


class Hearing:
    def __init__(self, turn):
        self.turn = turn
        self.reply, self.before, self.number, self.pieces = Reply(), "", -1, 0
        self.broke_at, self.left = None, False
        self.heard = dict(
            key=turn["key"], session=None, turn=None, id=None, text="", calls=[], finish=None, waits=[], faults=[]
        )

    def fault(self, what):
        if not self.heard["faults"]:
            self.heard["faults"].append(what)

    def broke(self):
        self.left = True
        self.broke_at = self.broke_at or time.monotonic()
        if self.turn["chat"]:
            self.before, self.reply = max(self.before, self.reply.all, key=len), Reply()

    def came(self):
        if self.broke_at:
            self.heard["waits"].append(int(1000 * (time.monotonic() - self.broke_at)))
            self.broke_at = None

    def begin(self, raw):
        if "X-Radixflow-Turn" in raw.headers:
            self.heard["session"] = raw.headers["X-Radixflow-Session"]
            self.heard["turn"] = raw.headers["X-Radixflow-Turn"]
        return raw.parse()

    def chunk(self, chunk):
        self.came()
        self.heard["id"] = chunk.id
        for choice in chunk.choices:
            self.reply.message(choice.delta)
            self.heard["finish"] = choice.finish_reason or self.heard["finish"]
        self.compare(min(len(self.before), len(self.reply.all)))

    def compare(self, common):
        if self.reply.all[:common] != self.before[:common]:
            self.fault(f"{self.reply.all!r} came where {self.before!r} had come before")

    def event(self, event):
        self.came()
        piece = event.type in DELTAS
        expected = self.number + (len(event.delta) if piece else 1)
        if event.sequence_number != expected:
            self.fault(f"{event.type} has number {event.sequence_number} instead of {expected}")
        self.number = event.sequence_number
        if piece:
            (self.reply.content if event.type == DELTAS[0] else self.reply.arguments)(event.delta)
            self.pieces += 1
        elif event.type == "response.output_item.added" and event.item.type == "function_call":
            self.reply.open(event.item.call_id, event.item.name)
        elif event.type in TERMINAL:
            self.closed(event.response)
            cut = self.heard["finish"] == "cancelled"
            whole = Reply().output(event.response.output)
            if not (whole.begins(self.reply) if cut else whole.parts() == self.reply.parts()):
                self.fault(f"{event.type} has {whole.all!r}, and its pieces {self.reply.all!r}")
        elif event.type == "response.created":
            self.heard["id"] = event.response.id

    def closed(self, response):
        self.heard["id"] = response.id
        calls = response.status == "completed" and self.reply.calls
        self.heard["finish"] = "tool_calls" if calls else STATES.get(response.status)


def chat(client, turn, hearing):
    create = client.chat.completions.with_raw_response.create
    answer = hearing.begin(create(extra_headers={"Idempotency-Key": turn["key"]}, **turn["body"]))
    if not turn["body"]["stream"]:
        hearing.came()
        hearing.heard["id"] = answer.id
        hearing.reply.message(answer.choices[0].message)
        hearing.heard["finish"] = answer.choices[0].finish_reason
        return
    for chunk in answer:
        hearing.chunk(chunk)
    if not hearing.heard["finish"]:
        raise Broken
    if len(hearing.reply.all) < len(hearing.before):
        hearing.fault(f"{hearing.reply.all!r} is all where {hearing.before!r} had come before")


def response(client, turn, hearing):
    streamed, key = turn["body"]["stream"], {"Idempotency-Key": turn["key"]}
    if hearing.heard["id"]:
        answer = client.responses.retrieve(hearing.heard["id"], stream=True, starting_after=hearing.number)
    else:
        body = {name: value for name, value in turn["body"].items() if name not in EXTRA}
        extra = {name: value for name, value in turn["body"].items() if name in EXTRA}
        create = client.responses.with_raw_response.create
        answer = hearing.begin(create(extra_headers=key, extra_body=extra, **body))
    if not streamed:
        hearing.came()
        hearing.reply.output(answer.output)
        hearing.closed(answer)
        return
    may_leave, over = not hearing.left, False
    for event in answer:
        hearing.event(event)
        over = over or event.type in TERMINAL
        if may_leave and hearing.pieces == turn["dropAfter"]:
            answer.close()
            raise Broken
        if hearing.pieces == turn["cancelAfter"]:
            cancel(hearing.heard["id"])
    if not over:
        raise Broken


def cancel(id):
    try:
        clients[1].responses.cancel(id)
    except openai.APIError:
        pass  # without the gateway the reply becomes whole, which is right too


def hear(turn):
    hearing, attempt = Hearing(turn), 0
    while True:
        try:
            (chat if turn["chat"] else response)(clients[attempt % len(clients)], turn, hearing)
            break
        except openai.APIStatusError as e:
            if e.status_code not in (429, 503):
                hearing.fault(f"status {e.status_code}: {e}")
                break
        except (openai.APIError, Broken):
            pass
        hearing.broke()
        attempt += 1
        time.sleep(PAUSE)
    return dict(hearing.heard, text=hearing.reply.text, calls=hearing.reply.calls)


for line in sys.stdin:
    print(json.dumps(hear(json.loads(line))), flush=True)
