#!/usr/bin/env python3
"""Measures what the HTTP gateway adds to Kafka, with many streams and with clients that stop reading, on model `sim`.

    python3 -m venv bench-venv && bench-venv/bin/pip install -r bench/requirements.txt
    bench-venv/bin/python bench/bench_gateway.py

It starts a broker and the job in one process and a gateway in another one. Three phases follow: requests one at a time;
the same while `--streams` clients read `--deltas` pieces a second; the same while as many further clients have opened
streams that they never read. Load tools of others have no client that stops reading and cannot see what Kafka has, so
this script has its own clients.

What the gateway adds to a request is measured on that request: from sending it until Kafka has its event (time of the
record, rounded up by a millisecond), and from when a Kafka consumer in a process of its own has the first delta until
the HTTP client has its first byte.
"""

import argparse
import asyncio
import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import re
import signal
import socket
import statistics
import tempfile
import time
import urllib.request

import servers

SETTLE_SECONDS = 3
TIMEOUT_SECONDS = 120


def quantile(values, q):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def body(text, tokens, **more):
    return {
        "messages": [{"role": "user", "content": text}],
        "max_tokens": tokens,
        "ignore_eos": True,
        "stream": True,
        **more,
    }


def request(fields, port):
    data = json.dumps(fields).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


# ---- what Kafka has, in a process of its own


def observe(broker, pipe):
    """Sends (session, seconds) for the event and the first delta of each session, and takes 'stop'."""
    from confluent_kafka import Consumer, TopicPartition

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    consumer = Consumer(
        {
            "bootstrap.servers": f"127.0.0.1:{broker}",
            "group.id": "none",
            "enable.auto.commit": False,
            "fetch.wait.max.ms": 100,
            "isolation.level": "read_committed",
            "log_level": 0,
        }
    )
    parts = []
    for topic in ("conversation-events", "reply-deltas"):
        for partition in consumer.list_topics(topic, TIMEOUT_SECONDS).topics[topic].partitions:
            part = TopicPartition(topic, partition)
            part.offset = consumer.get_watermark_offsets(part, TIMEOUT_SECONDS)[1]
            parts.append(part)
    consumer.assign(parts)
    events, deltas = {}, {}
    pipe.send("ready")
    while True:
        message = consumer.poll(0.1)
        now = time.time()
        if message is not None and not message.error() and message.key():
            seen = events if message.topic() == "conversation-events" else deltas
            session = message.key().decode()
            if session not in seen:
                if seen is events:
                    seen[session] = message.timestamp()[1] / 1000
                elif json.loads(message.value()).get("text"):
                    seen[session] = now
        if pipe.poll():
            if pipe.recv() == "stop":
                break
            pipe.send((events, deltas))
    consumer.close()


class Kafka:
    """Events sent without the gateway, and what the observer saw."""

    def __init__(self, broker):
        from confluent_kafka import Producer

        self.producer = Producer({"bootstrap.servers": f"127.0.0.1:{broker}", "linger.ms": 0, "log_level": 0})
        self.pipe, other = multiprocessing.Pipe()
        self.process = multiprocessing.Process(target=observe, args=(broker, other), daemon=True)
        self.process.start()
        other.close()
        self.pipe.recv()

    def send(self, session, text, tokens):
        event = {"session": session, "turn": "1", "messages": [{"role": "user", "content": text}], "max_tokens": tokens}
        self.producer.produce("conversation-events", json.dumps(event).encode(), session.encode())
        self.producer.poll(0)

    def seen(self):
        self.pipe.send("seen")
        return self.pipe.recv()

    def close(self):
        if self.process.is_alive():
            self.pipe.send("stop")
            self.process.join(10)


# ---- requests one at a time


class Probe:
    """A connection over which requests go one at a time."""

    def __init__(self, port, label):
        self.port = port
        self.label = label
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def http(self, text):
        data = request(body(text, 1), self.port)
        sent = time.time()
        self.socket.sendall(data)
        got = self.socket.recv(1 << 16)
        first = time.time()
        while not got.endswith(b"\r\n0\r\n\r\n"):
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise RuntimeError(f"the gateway closed a connection: {got!r}")
            got += piece
        session = re.search(rb"(?i)x-radixflow-session: (\S+)", got)
        if session is None or b"data: [DONE]" not in got:
            raise RuntimeError(f"no stream: {got!r}")
        return session[1].decode(), sent, first

    def run(self, kafka, count):
        """Requests by HTTP and events by Kafka, in turn."""
        http, direct = [], []
        with self.socket:
            for number in range(count):
                text = f"{self.label} {number}"
                http.append(self.http(text))
                sent = time.time()
                kafka.send(f"direct {text}", text, 1)
                direct.append((f"direct {text}", sent))
                time.sleep(0.02 + 0.001 * (number % 40))
        return http, direct


def probe(port, kafka, label, count, connections):
    with concurrent.futures.ThreadPoolExecutor(connections) as pool:
        parts = [Probe(port, f"{label}, connection {number}") for number in range(connections)]
        done = list(pool.map(lambda each: each.run(kafka, count // connections), parts))
    time.sleep(2)
    events, deltas = kafka.seen()
    http = [each for part in done for each in part[0]]
    direct = [each for part in done for each in part[1]]
    both = [(events[session], deltas[session], sent, first) for session, sent, first in http if session in deltas]
    return {
        "http": [first - sent for session, sent, first in http],
        "kafka": [deltas[session] - sent for session, sent in direct if session in deltas],
        "added": [max(0, event + 0.001 - sent) + first - delta for event, delta, sent, first in both],
        "added_before": [max(0, event + 0.001 - sent) for event, delta, sent, first in both],
        "added_after": [first - delta for event, delta, sent, first in both],
    }


# ---- many streams, in a process of their own


class Reader(asyncio.Protocol):
    """A client that reads its stream to the end."""

    def __init__(self, totals, tokens, ended):
        self.totals = totals
        self.tokens = tokens
        self.ended = ended
        self.deltas = 0
        self.tail = b""

    def data_received(self, data):
        count = data.count(b"data: {")
        self.deltas += count
        self.totals["deltas"] += count
        self.tail = (self.tail + data)[-400:]
        if b"data: [DONE]" in data:
            # one further event has the finish reason and one the usage
            whole = b'"completion_tokens":%d' % self.tokens in self.tail
            self.finish(None if whole else f"{self.deltas} pieces, and {self.tail!r}")

    def connection_lost(self, error):
        self.finish(f"closed after {self.deltas} pieces: {self.tail[:200]!r}")

    def finish(self, error):
        if not self.ended.done():
            self.ended.set_result(error)


async def read(port, streams, tokens, pipe, label):
    loop = asyncio.get_running_loop()
    totals = {"deltas": 0}
    endings = []
    transports = []
    for number in range(streams):
        ended = loop.create_future()
        transport, _ = await loop.create_connection(lambda f=ended: Reader(totals, tokens, f), "127.0.0.1", port)
        fields = body(f"{label} {number}", tokens, stream_options={"include_usage": True})
        transport.write(request(fields, port))
        endings.append(ended)
        transports.append(transport)
        if number % 20 == 19:
            await asyncio.sleep(0.05)
    pipe.send("open")
    rates = []
    while not all(each.done() for each in endings):
        before, start = totals["deltas"], time.monotonic()
        await asyncio.wait(endings, timeout=1, return_when=asyncio.ALL_COMPLETED)
        rates.append((totals["deltas"] - before) / (time.monotonic() - start))
    errors = [each.result() for each in endings if each.result()]
    for transport in transports:
        transport.abort()
    pipe.send({"streams": streams, "errors": errors, "deltas": totals["deltas"], "rates": rates})


async def read_nothing(port, streams, tokens, pipe, label):
    """Clients with the smallest buffer there is, who send a request and never read."""
    sockets = []
    for number in range(streams):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        client.connect(("127.0.0.1", port))
        client.sendall(request(body(f"{label} {number}", tokens, logprobs=True, top_logprobs=20), port))
        sockets.append(client)
        if number % 20 == 19:
            await asyncio.sleep(0.05)
    pipe.send("open")
    while not pipe.poll():
        await asyncio.sleep(0.2)
    for client in sockets:
        client.close()


def clients(kind, *arguments):
    # the other clients would be on other machines: they may not delay the one that is measured
    os.nice(10)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    asyncio.run(kind(*arguments))


def start(kind, port, streams, tokens, label):
    pipe, other = multiprocessing.Pipe()
    process = multiprocessing.Process(target=clients, args=(kind, port, streams, tokens, other, label), daemon=True)
    process.start()
    other.close()
    pipe.recv()
    return process, pipe


# ---- the phases


def gauge(page, name):
    found = re.search(rf"^{name}(?:{{[^}}]*}})? ([0-9.e+]+)$", page, re.M)
    return float(found[1]) if found else 0.0


def memory(gateway, phase):
    page = gateway.get("/metrics")[1]
    phase["gateway_mib"] = gateway.memory()
    phase["open_streams"] = gauge(page, "radixflow_gateway_open_streams")
    phase["cut_off"] = gauge(page, "radixflow_gateway_slow_clients_cut_off_total")


def phase(name, options, kafka, gateway, streams, slow):
    print(f"{name} ...", flush=True)
    tokens = int(options.seconds * options.deltas / options.streams)
    stalled = start(read_nothing, gateway.port, slow, tokens * 2, f"{name} slow") if slow else None
    reading = start(read, gateway.port, streams, tokens, f"{name} reader") if streams else None
    time.sleep(SETTLE_SECONDS)
    result = {"name": name, "load_before": servers.load()}
    count, connections = (options.requests_under_load, 4) if streams else (options.requests, 1)
    result.update(probe(gateway.port, kafka, name, count, connections))
    memory(gateway, result)
    if reading:
        result["readers"] = reading[1].recv()
        reading[0].join(10)
        result["readers"]["deltas_per_second"] = statistics.median(
            result["readers"].pop("rates")[SETTLE_SECONDS:-2] or [0]
        )
    if stalled:
        memory(gateway, result)
        stalled[1].send("stop")
        stalled[0].join(10)
    result["gateway_mib_max"] = gateway.memory("VmHWM")
    result["load"] = servers.load()
    return result


def show(results):
    print(f"{'first byte, ms, p50 / p99':38} {'HTTP':>15} {'Kafka directly':>15} {'gateway adds':>15}   load")
    for each in results:
        cells = [
            f"{quantile(each[k], 0.5) * 1e3:7.1f} /{quantile(each[k], 0.99) * 1e3:6.1f}"
            for k in ("http", "kafka", "added")
        ]
        print(f"{each['name']:38} {cells[0]:>15} {cells[1]:>15} {cells[2]:>15}   {each['load']}")
    for each in results:
        readers = each.get("readers")
        text = ""
        if readers:
            text = (
                f"{readers['streams']} streams, {len(readers['errors'])} errors, {readers['deltas']} deltas, "
                f"{readers['deltas_per_second']:.0f} a second; "
            )
        print(
            f"{each['name']}: {text}gateway {each['gateway_mib']} MiB in memory (most {each['gateway_mib_max']}), "
            f"{each['cut_off']:.0f} clients cut off so far"
        )
        for error in (readers or {}).get("errors", [])[:3]:
            print("  ", error)


def run(options, work, engine, step, results):
    for name, milliseconds, phases in (
        ("a step of 5 ms", 5, [("one request at a time", 0, 0)]),
        (
            f"a step of {step} ms",
            step,
            [
                (f"{options.streams} streams", options.streams, 0),
                (f"{options.streams} streams, {options.slow} stalled", options.streams, options.slow),
            ],
        ),
    ):
        broker = servers.free_port()
        with servers.radixflow(
            work / "up.log", f"sim:step={milliseconds}", engine, broker, options.radixflow
        ), servers.gateway(work / "gateway.log", broker, options.heap, (), options.radixflow) as gateway:
            kafka = Kafka(broker)
            try:
                probe(gateway.port, kafka, "warm-up", 200 if milliseconds < 50 else 40, 4)
                for label, streams, slow in phases:
                    if streams or not slow:
                        results.append(phase(label, options, kafka, gateway, streams, slow))
            finally:
                kafka.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--streams", type=int, default=1000, help="clients that read (1000)")
    parser.add_argument("--slow", type=int, default=1000, help="clients that never read, in the last phase (1000)")
    parser.add_argument("--deltas", type=int, default=2000, help="pieces a second of all readers (2000)")
    parser.add_argument("--seconds", type=int, default=45, help="how long a stream lasts (45)")
    parser.add_argument("--requests", type=int, default=300, help="requests one at a time without load (300)")
    parser.add_argument("--requests-under-load", type=int, default=120, help="and with it, on four connections (120)")
    parser.add_argument("--heap", type=int, default=256, help="MiB of the gateway's heap (256)")
    parser.add_argument("--radixflow", default=servers.ROOT / "radixflow", help="the program to measure")
    parser.add_argument("--json", help="also write the figures to this file")
    options = parser.parse_args()
    step = 1000 * options.streams // options.deltas
    total = options.streams + options.slow + 16
    engine = [f"engine.max-running={total}", f"operator.max-running={total}", "engine.kv-pages=131072"]
    engine += ["engine.step-rows=4096", f"engine.max-waiting={2 * total}", "session.retention=10min"]
    work = pathlib.Path(tempfile.mkdtemp(prefix="bench-gateway-"))
    results = []
    try:
        run(options, work, engine, step, results)
    finally:
        print(servers.machine() + f"; gateway with -Xmx{options.heap}m; {time.strftime('%Y-%m-%d')}")
        show(results)
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump({"machine": servers.machine(), "heap_mib": options.heap, "phases": results}, file, indent=2)


if __name__ == "__main__":
    main()
