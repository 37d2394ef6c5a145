#!/usr/bin/env python3
"""Measures llama.cpp on the three cases of `./radixflow bench model`, for a ratio on one machine and one model file.

    python3 -m venv llama && llama/bin/pip install --no-binary llama-cpp-python llama-cpp-python==0.3.36
    llama/bin/python bench/bench_llama_cpp.py --model FILE.gguf --threads 2

The build from source takes minutes and uses the machine's own instructions. As llama-bench does, decoding feeds random
tokens and draws none, so that llama.cpp's figures hold no time of a sampler. Speeds vary with the machine's load:
compare medians of runs that alternate with those of `./radixflow bench model`.
"""
import argparse
import ctypes
import json
import random
import statistics
import time

import llama_cpp as lc

PREFILL, DECODE, SEQUENCES = 512, 64, 8


class Bench:
    """A model and a context for eight sequences."""

    def __init__(self, path, threads):
        lc.llama_log_set(silent, ctypes.c_void_p(0))
        lc.llama_backend_init()
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
        self.vocabulary = lc.llama_vocab_n_tokens(lc.llama_model_get_vocab(self.model))
        self.batch = lc.llama_batch_init(PREFILL, 0, SEQUENCES)
        self.random = random.Random(20260101)

    def clear(self):
        lc.llama_memory_clear(lc.llama_get_memory(self.context), True)
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
        if lc.llama_decode(self.context, self.batch) != 0:
            raise SystemExit("llama_decode failed")
        lc.llama_synchronize(self.context)
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


@lc.llama_log_callback
def silent(level, text, data):
    """Drops llama.cpp's log."""


def main():
    parser = argparse.ArgumentParser(description="Speed of llama.cpp on prefill 512, decode 64 and 8 sequences.")
    parser.add_argument("--model", required=True, help="a GGUF file")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--rounds", type=int, default=5, help="measured rounds, after one to warm up")
    parser.add_argument("--json", help="also write the figures to this file")
    options = parser.parse_args()
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
    print(f"llama-cpp-python {lc.__version__}, {options.threads} threads")
    print(f"{'tokens/s':14} {'min':>9} {'median':>9} {'max':>9}")
    for name, values in speeds.items():
        print(f"{name:14} {min(values):9.1f} {statistics.median(values):9.1f} {max(values):9.1f}")
    if options.json:
        results = [
            {"name": name, "min": min(v), "median": statistics.median(v), "max": max(v)} for name, v in speeds.items()
        ]
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"threads": options.threads, "results": results}, file, indent=2)


if __name__ == "__main__":
    main()
