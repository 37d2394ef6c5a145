#!/usr/bin/env python3
"""Compares masks and compiling of grammars with llguidance, for the same vocabulary, schemas and documents.

    python3 -m venv grammar-venv && grammar-venv/bin/pip install llguidance==1.9.1
    grammar-venv/bin/python bench/bench_grammar.py --rounds 2

Each round runs `./radixflow grammar bench`, then llguidance in this process. The schema is compiled again for each
document. One sample computes the mask of the next token and accepts that token. llguidance is called from Python,
which adds about a microsecond per sample.
"""
import argparse
import base64
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import llguidance


class Tokenizer:
    """A vocabulary as llguidance wants it."""

    def __init__(self, workload):
        self.tokens = [base64.b64decode(token) for token in workload["tokens"]]
        self.eos_token_id = workload["end"]
        self.bos_token_id = None
        self.special_token_ids = [workload["end"]]
        self.tokens[workload["end"]] = b"<|end|>"

    def __call__(self, text):
        return list(text if isinstance(text, bytes) else text.encode())


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def compiled(tokenizer, schema):
    matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_json_schema(schema), log_level=0)
    if matcher.is_error():
        raise SystemExit(matcher.get_error())
    return matcher


def masks(tokenizer, case):
    """Microseconds of each token of a document."""
    matcher = compiled(tokenizer, case["schema"])
    times = []
    for token in case["ids"]:
        began = time.perf_counter_ns()
        matcher.compute_bitmask()
        taken = matcher.consume_token(token)
        times.append((time.perf_counter_ns() - began) / 1000)
        if not taken:
            raise SystemExit(f"{case['name']}: token {token} is not allowed: {matcher.get_error()}")
    return times


def theirs(workload, seconds):
    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokenizer(workload)))
    cases = workload["cases"]
    samples = {}
    for name, some in [("mask, all documents", cases)] + [("mask, " + case["name"], [case]) for case in cases]:
        end = time.monotonic() + seconds
        times = []
        while not times or time.monotonic() < end:
            for case in some:
                times += masks(tokenizer, case)
        samples[name] = times
    times = []
    for _ in range(100):
        began = time.perf_counter_ns()
        compiled(tokenizer, cases[0]["schema"])
        times.append((time.perf_counter_ns() - began) / 1000)
    samples["compile 100 properties"] = times
    return {name: (percentile(times, 0.5), percentile(times, 0.99)) for name, times in samples.items()}


def ours(radixflow, directory, extra):
    figures, workload = directory / "figures.json", directory / "workload.json"
    command = [radixflow, "grammar", "bench", "--json", str(figures), "--write", str(workload), *extra]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    results = json.loads(figures.read_text(encoding="utf-8"))["seconds"]
    return {name: (row["median"] * 1e6, row["p99"] * 1e6) for name, row in results.items()}, json.loads(workload.read_text())


def main():
    parser = argparse.ArgumentParser(description="Compare masks and compiling of grammars with llguidance.")
    parser.add_argument("--radixflow", default="./radixflow", help="the command line to measure")
    parser.add_argument("--rounds", type=int, default=2, help="runs of each, in turn")
    parser.add_argument("--seconds", type=float, default=5, help="of llguidance, for each kind of document")
    parser.add_argument("--option", action="append", default=[], help="an option of `radixflow grammar bench`")
    options = parser.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(options.rounds):
            mine, workload = ours(options.radixflow, pathlib.Path(directory), options.option)
            other = theirs(workload, options.seconds)
            for name, figures in mine.items():
                rows.setdefault(name, []).append(figures + other.get(name, (float("nan"),) * 2))
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"llguidance {llguidance.__version__ if hasattr(llguidance, '__version__') else ''}, load {load}")
    print(f"{'microseconds, median of rounds':32} {'ours p50':>10} {'p99':>10} {'theirs p50':>10} {'p99':>10}")
    for name, figures in rows.items():
        print(f"{name:32}", *(f"{statistics.median(column):10.1f}" for column in zip(*figures)))
        if options.rounds > 1:
            print(f"{'  least to most':32}", *(f"{min(c):.1f} to {max(c):.1f}" for c in zip(*figures)), sep="  ")


if __name__ == "__main__":
    main()
