#!/usr/bin/env python3
"""Measures llama.cpp's server on the prompts of `./radixflow bench speculation`, for a ratio on one machine and one file.

    bench/bench_speculation.py --model FILE.gguf --threads 2 --radixflow ./radixflow \\
        --server 'llama.cpp=llama-server --flash-attn on' \\
        --server 'llama.cpp, drafts=llama-server --flash-attn on --spec-type ngram-mod'

A server is a name and a command; model, threads, port and a context of one sequence are added to the command. Each
program is started again for each turn. It answers a prompt of another kind to warm up, then each prompt once, greedily
and one at a time. The programs round differently, so their replies differ. A figure is about the program's own reply:
its tokens after the first, divided by the time from the first token to the last, without HTTP. Servers have no field
for the predicted text of edits, so they do not get it. The schema of a reply is sent as `json_schema`.
bench_serving.py says how llama.cpp's server is built.
"""
import argparse
import http.client
import json
import pathlib
import shlex
import statistics
import subprocess
import tempfile

import servers

PROMPTS = servers.ROOT / "lab/src/main/resources/io/radixflow/lab/bench/speculation/prompts.jsonl"
CONTEXT = 4096
GREEDY = {"temperature": 0, "top_k": 1, "samplers": ["top_k"], "repeat_penalty": 1.0, "cache_prompt": True}
WARM_UP = {"messages": [{"role": "user", "content": "Count all the sheep on the hill, one after the other."}]}


def start(name, options, log):
    """Starts the server of that name with one sequence and all threads."""
    port = servers.free_port()
    command = shlex.split(options.server[name])
    command += ["--host", "127.0.0.1", "--port", str(port), "--model", options.model]
    command += ["--parallel", "1", "--ctx-size", str(CONTEXT), "--jinja"]
    command += ["--threads", str(options.threads), "--threads-batch", str(options.threads)]
    return servers.Server(name, command, port, "/health", log)


def post(server, path, body):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=servers.READY_SECONDS)
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        text = response.read().decode()
        if response.status != 200:
            raise SystemExit(f"{server.name} answers {response.status}: {text}")
        return json.loads(text)
    finally:
        connection.close()


def answer(server, prompt, tokens):
    """Returns the figures of a reply: tokens after the first, seconds for these, and how many drafts were right."""
    text = post(server, "/apply-template", {"messages": prompt["messages"]})["prompt"]
    body = {**GREEDY, "prompt": text, "n_predict": tokens}
    if "schema" in prompt:
        body["json_schema"] = prompt["schema"]
    timings = post(server, "/completion", body)["timings"]
    return {
        "kind": prompt["kind"],
        "tokens": timings["predicted_n"] - 1,
        "seconds": timings["predicted_ms"] / 1000,
        "drafted": timings.get("draft_n", 0),
        "accepted": timings.get("draft_n_accepted", 0),
    }


def serve(name, options, log):
    """Has a server answer all prompts."""
    prompts = [json.loads(line) for line in PROMPTS.read_text(encoding="utf-8").splitlines()]
    with start(name, options, log) as server:
        answer(server, {**WARM_UP, "kind": "warm up"}, 64)
        replies = [answer(server, prompt, options.tokens) for prompt in prompts]
    return [reply for reply in replies if reply["tokens"] > 0]


def radixflow(options):
    """Has Radixflow answer them with speculation and without; the replies of both."""
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory, "figures.json")
        command = [options.radixflow, "bench", "speculation", "--device", "cpu", "--model", options.model]
        command += ["--threads", str(options.threads), "--tokens", str(options.tokens), "--rounds", "1"]
        subprocess.run([*command, "--json", file], check=True, stdout=subprocess.DEVNULL)
        replies = json.loads(file.read_text(encoding="utf-8"))["replies"]
    off = [{**reply, "seconds": reply["off_seconds"], "drafted": 0, "accepted": 0} for reply in replies]
    return [{**reply, "seconds": reply["on_seconds"]} for reply in replies], off


def turn(options, logs, number):
    """Lets each program answer all prompts; the replies by program."""
    replies = {}
    if options.radixflow:
        replies["Radixflow"], replies["Radixflow, no drafts"] = radixflow(options)
    for name in options.server:
        replies[name] = serve(name, options, logs / f"{len(replies)}-{number}.log")
    return replies


def speed(replies):
    """The median of their tokens a second."""
    return statistics.median(reply["tokens"] / reply["seconds"] for reply in replies)


def total(replies):
    """Tokens a second of all of them together."""
    return sum(reply["tokens"] for reply in replies) / sum(reply["seconds"] for reply in replies)


def right(replies):
    """The percentage of drafts that were right."""
    drafted = sum(reply["drafted"] for reply in replies)
    return f" {100 * sum(reply['accepted'] for reply in replies) / drafted:3.0f}%" if drafted else " " * 5


def line(label, programs, figure):
    """A line of the table: each program's figure, and how many times as high the first one's is."""
    cells, first = f"{label:12}", None
    for replies in programs.values():
        value = figure(replies)
        first = first or value
        cells += f"{value:9.0f}{right(replies)} {first / value:5.2f}x"
    print(cells)


def show(turns):
    """Prints the median of each kind over all turns, and the speed of the kinds that may repeat something."""
    programs = {name: [reply for each in turns for reply in each[name]] for name in turns[0]}
    print(f"{'tokens/s':12}" + "".join(f"{name:>21}" for name in programs))
    for kind in dict.fromkeys(reply["kind"] for reply in next(iter(programs.values()))):
        line(kind, {name: [r for r in all_ if r["kind"] == kind] for name, all_ in programs.items()}, speed)
    line("all but chat", {name: [r for r in all_ if r["kind"] != "chat"] for name, all_ in programs.items()}, total)


def named(text):
    """An option NAME=COMMAND."""
    name, equals, command = text.partition("=")
    if not equals or not command:
        raise argparse.ArgumentTypeError(f"{text} is not NAME=COMMAND")
    return name, command


def main():
    parser = argparse.ArgumentParser(description="Compare the speed of one sequence with speculation to other servers.")
    parser.add_argument("--model", required=True, help="a GGUF file")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--tokens", type=int, default=160, help="most tokens of a reply (160)")
    parser.add_argument("--turns", type=int, default=3, help="answers of each program to each prompt (3)")
    parser.add_argument("--radixflow", help="the program to compare with: ./radixflow")
    parser.add_argument("--server", type=named, action="append", default=[], help="NAME=COMMAND; may be repeated")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures of all replies to this file")
    options = parser.parse_args()
    options.server = dict(options.server)
    print(f"{servers.machine()}; {pathlib.Path(options.model).name}; {options.threads} threads", flush=True)
    logs = pathlib.Path(tempfile.mkdtemp(prefix="bench-speculation-"))
    turns = [turn(options, logs, number) for number in range(options.turns)]
    show(turns)
    if options.json:
        options.json.write_text(json.dumps(turns, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
