#!/usr/bin/env python3
"""Measures llama.cpp on the three cases of `./radixflow bench model`, for a ratio on one machine and one model file.

    python3 -m venv llama && llama/bin/pip install --no-binary llama-cpp-python llama-cpp-python==0.3.36
    llama/bin/python bench/bench_llama_cpp.py --model FILE.gguf --threads 2 --radixflow ./radixflow

The build from source takes minutes and uses the machine's own instructions. As llama-bench does, decoding feeds random
tokens and draws none, so that llama.cpp's figures hold no time of a sampler. With --radixflow the two take turns, each
run in a process of its own, and the medians are compared; without it llama.cpp is measured alone. Times to load are of
a warm page cache if a run before read the file. Memory is what of a process is in memory, mapped files included.
bench/random_gguf.py makes files of real sizes.
"""
import argparse
import ctypes
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

PREFILL, DECODE, SEQUENCES = 512, 64, 8
MIB = 1 << 20


class Bench:
    """A model and a context for eight sequences."""

    def __init__(self, path, threads):
        import llama_cpp as lc

        self.lc = lc
        self.silent = lc.llama_log_callback(lambda level, text, data: None)
        lc.llama_log_set(self.silent, ctypes.c_void_p(0))
        lc.llama_backend_init()
        start = time.perf_counter()
        self.model = lc.llama_model_load_from_file(path.encode(), lc.llama_model_default_params())
        if not self.model:
            raise SystemExit(f"cannot load {path}")
        params = lc.llama_context_default_params()
        params.n_ctx = 1024 + SEQUENCES * 128
        params.n_batch = params.n_ubatch = PREFILL
        params.n_seq_max = SEQUENCES
        params.kv_unified = True
        params.n_threads = params.n_threads_batch = threads
        self.context = lc.llama_init_from_model(self.model, params)
        self.load_seconds = time.perf_counter() - start
        self.vocabulary = lc.llama_vocab_n_tokens(lc.llama_model_get_vocab(self.model))
        self.batch = lc.llama_batch_init(PREFILL, 0, SEQUENCES)
        self.random = random.Random(20260101)

    def clear(self):
        self.lc.llama_memory_clear(self.lc.llama_get_memory(self.context), True)
        self.batch.n_tokens = 0

    def add(self, position, sequence, output):
        i = self.batch.n_tokens
        self.batch.token[i] = self.random.randrange(self.vocabulary)
        self.batch.pos[i] = position
        self.batch.n_seq_id[i] = 1
        self.batch.seq_id[i][0] = sequence
        self.batch.logits[i] = output
        self.batch.n_tokens += 1

    def run(self):
        if self.lc.llama_decode(self.context, self.batch) != 0:
            raise SystemExit("llama_decode failed")
        self.lc.llama_synchronize(self.context)
        self.batch.n_tokens = 0

    def prefill(self):
        self.clear()
        for position in range(PREFILL):
            self.add(position, 0, position == PREFILL - 1)
        start = time.perf_counter()
        self.run()
        return PREFILL / (time.perf_counter() - start)

    def decode(self, sequences):
        self.clear()
        start = time.perf_counter()
        for position in range(DECODE):
            for sequence in range(sequences):
                self.add(position, sequence, True)
            self.run()
        return sequences * DECODE / (time.perf_counter() - start)


def resident(field):
    """Bytes of this process in memory, now or at most so far; None where there is no /proc."""
    try:
        status = pathlib.Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    return int(re.search(field + r":\s+(\d+)", status)[1]) << 10


def measure(options):
    """Measures llama.cpp and returns its figures in the format of `./radixflow bench model --json`."""
    bench = Bench(options.model, options.threads)
    cases = {
        f"prefill {PREFILL}": bench.prefill,
        f"decode {DECODE}": lambda: bench.decode(1),
        f"decode {DECODE} x {SEQUENCES}": lambda: bench.decode(SEQUENCES),
    }
    speeds = {name: [] for name in cases}
    for measured in [False] + [True] * options.rounds:
        for name, case in cases.items():
            speed = case()
            if measured:
                speeds[name].append(speed)
    return {
        "program": f"llama-cpp-python {bench.lc.__version__}",
        "threads": options.threads,
        "load_seconds": bench.load_seconds,
        "resident_bytes": resident("VmRSS"),
        "most_resident_bytes": resident("VmHWM"),
        "results": [
            {"name": name, "min": min(v), "median": statistics.median(v), "max": max(v)} for name, v in speeds.items()
        ],
    }


def run(command):
    """Runs one of the two in a process of its own and returns its figures."""
    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory, "figures.json")
        subprocess.run([*command, "--json", file], check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text(encoding="utf-8"))


def compare(options):
    """Lets the two take turns; their figures, by name."""
    common = ["--model", options.model, "--threads", str(options.threads), "--rounds", str(options.rounds)]
    commands = {
        "Radixflow": [options.radixflow, "bench", "model", *common],
        "llama.cpp": [sys.executable, __file__, *common],
    }
    runs = {name: [] for name in commands}
    for _ in range(options.turns):
        for name, command in commands.items():
            runs[name].append(run(command))
    return runs


def rows(figures):
    """The figures of a run, in the order of the tables."""
    for result in figures["results"]:
        yield result["name"] + ", tokens/s", result["median"], 1
    yield "time to load, s", figures["load_seconds"], -1
    if figures.get("resident_bytes"):
        yield "memory, MiB", figures["resident_bytes"] / MIB, -1
        yield "most memory, MiB", figures["most_resident_bytes"] / MIB, -1


def show(options, runs):
    """Prints the median of each figure, its range, and how many times better the first is."""
    size = pathlib.Path(options.model).stat().st_size
    print(f"{options.model}, {size / MIB:.0f} MiB, {options.threads} threads")
    print(f"{'':26}" + "".join(f"{name:>28}" for name in runs) + (f"{'ratio':>8}" if len(runs) > 1 else ""))
    tables = {name: [list(rows(figures)) for figures in all_] for name, all_ in runs.items()}
    for i, (label, _, direction) in enumerate(next(iter(tables.values()))[0]):
        line, medians = f"{label:26}", []
        for table in tables.values():
            values = [run[i][1] for run in table]
            medians.append(statistics.median(values))
            line += f"{medians[-1]:10.1f} ({min(values):.1f} to {max(values):.1f})".rjust(28)
        if len(medians) > 1:
            line += f"{(medians[0] / medians[1]) ** direction:8.2f}"
        print(line)


def main():
    parser = argparse.ArgumentParser(description="Speed of llama.cpp on prefill 512, decode 64 and 8 sequences.")
    parser.add_argument("--model", required=True, help="a GGUF file")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--rounds", type=int, default=5, help="measured rounds of a run, after one to warm up")
    parser.add_argument("--radixflow", help="the program to compare with: ./radixflow")
    parser.add_argument("--turns", type=int, default=3, help="runs of each with --radixflow")
    parser.add_argument("--json", help="also write the figures to this file")
    options = parser.parse_args()
    if options.radixflow:
        figures = compare(options)
        show(options, figures)
    else:
        figures = measure(options)
        show(options, {figures["program"]: [figures]})
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
