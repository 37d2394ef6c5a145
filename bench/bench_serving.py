#!/usr/bin/env python3
"""Drives Radixflow's gateway and llama.cpp's server with the load tools AIPerf and GuideLLM.

    python3 -m venv bench-venv && bench-venv/bin/pip install -r bench/requirements.txt
    bench-venv/bin/python bench/bench_serving.py --model FILE.gguf --llama-server PROGRAM

The servers run one at a time, on loopback, and take turns round by round. Each server is started again for each round
and gets two requests to warm up. Both use all cores. The prompts of a workload and round are made from a seed and are
the same for both servers. Replies end after a fixed number of tokens.

llama.cpp's server is built from the sources of llama-cpp-python, the newest release of which has them:

    pip download --no-deps --no-binary :all: llama-cpp-python==0.3.36 && tar xzf llama_cpp_python-0.3.36.tar.gz
    cmake -S llama_cpp_python-0.3.36/vendor/llama.cpp -B llama -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON \\
        -DBUILD_SHARED_LIBS=OFF -DLLAMA_USE_PREBUILT_UI=OFF && cmake --build llama --target llama-server llama-quantize

It gets a slot for each session, continuous batching, its prompt cache, flash attention and a unified KV cache. The Q4_0
file was made with `llama-quantize --allow-requantize FILE.Q4_1.gguf FILE.Q4_0.gguf Q4_0`.
"""

import argparse
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import servers

BIN = pathlib.Path(sys.executable).parent
SESSIONS = 8
CONTEXT = 4096
RUN_SECONDS = 300
NAME = "benched"
SEED = 20261123


def aiperf(*options):
    # a rate above what either server answers: without one AIPerf waits in a loop that takes a core
    rate = ["--request-rate", "100", "--arrival-pattern", "constant"]
    return ["--concurrency", str(SESSIONS), "--conversation-num", str(SESSIONS), *rate, *options]


# what each tool is asked to do: the served workloads are those whose replies all have the same number of tokens
WORKLOADS = {
    "sessions": {
        "about": "8 sessions of 3 turns: messages of 60 tokens, replies of 64, no think time",
        "aiperf": aiperf("--conversation-turn-mean", "3", "--isl", "60", "--osl", "64"),
        "guidellm": {"prompt_tokens": 60, "output_tokens": 64, "turns": 3},
    },
    "prefix": {
        "about": "the same with a system prompt of 512 tokens that all share",
        "aiperf": aiperf(
            "--conversation-turn-mean", "3", "--isl", "60", "--osl", "64", "--shared-system-prompt-length", "512"
        ),
        "guidellm": {"prompt_tokens": 60, "output_tokens": 64, "turns": 3, "prefix_tokens": 512},
    },
    "chat": {
        "about": "8 sessions of 4 turns: messages of 80 tokens, replies of 32 to 64, think time of 1 s",
        "aiperf": aiperf(
            *("--conversation-turn-mean", "4", "--isl", "80", "--isl-stddev", "20", "--osl", "48", "--osl-stddev", "8"),
            *("--conversation-turn-delay-mean", "1000", "--conversation-turn-delay-stddev", "300"),
        ),
    },
    "agents": {
        "about": "4 agents of 6 steps from a trace, bench/agents.jsonl, whose prompts begin with the same 512 tokens",
        "aiperf": [
            *(
                "--concurrency",
                "4",
                "--conversation-num",
                "4",
                "--request-rate",
                "100",
                "--arrival-pattern",
                "constant",
            ),
            *(
                "--input-file",
                str(pathlib.Path(__file__).parent / "agents.jsonl"),
                "--custom-dataset-type",
                "mooncake-trace",
            ),
            *("--isl-block-size", "64", "--no-fixed-schedule"),
        ],
    },
}


def run_aiperf(url, workload, tokenizer, seed, out, log):
    command = [str(BIN / "aiperf"), "profile", "--model", NAME, "--url", url, "--endpoint-type", "chat", "--streaming"]
    command += ["--tokenizer", str(tokenizer), "--extra-inputs", "ignore_eos:true", "--random-seed", str(seed)]
    command += ["--ui", "none", "--artifact-dir", str(out), "--workers-max", "1", "--record-processors", "1"]
    command += [
        "--connection-reuse-strategy",
        "never",
        "--no-gpu-telemetry",
        "--no-server-metrics",
        *WORKLOADS[workload]["aiperf"],
    ]
    run(command, log)
    figures = json.loads(next(out.rglob("profile_export_aiperf.json")).read_text(encoding="utf-8"))

    def of(metric, value):
        return (figures.get(metric) or {}).get(value)

    return {
        "requests": of("request_count", "avg"),
        "errors": of("error_request_count", "avg") or 0,
        "seconds": of("benchmark_duration", "avg"),
        "ttft_p50": of("time_to_first_token", "p50"),
        "ttft_p99": of("time_to_first_token", "p99"),
        "itl_p50": of("inter_token_latency", "p50"),
        "tokens_per_second": of("output_token_throughput", "avg"),
    }


def run_guidellm(url, workload, tokenizer, seed, out, log):
    data = {"kind": "synthetic_text", **WORKLOADS[workload]["guidellm"]}
    backend = {"kind": "openai_http", "target": url, "model": NAME, "request_format": "/v1/chat/completions"}
    backend["extras"] = {"body": {"ignore_eos": True}}
    command = [str(BIN / "guidellm"), "run", "--backend", json.dumps(backend), "--data", json.dumps(data)]
    command += [
        "--profile",
        f"kind=concurrent,streams={SESSIONS}",
        "--tokenizer",
        json.dumps({"kind": "hf_auto", "model": str(tokenizer)}),
    ]
    command += ["--constraint", f"kind=max_requests,count={SESSIONS * WORKLOADS[workload]['guidellm']['turns']}"]
    command += ["--seed", f"kind=static,value={seed}", "--output", f"kind=json,path={out / 'benchmarks.json'}"]
    out.mkdir(parents=True)
    run([*command, "--disable-progress"], log)
    bench = json.loads((out / "benchmarks.json").read_text(encoding="utf-8"))["benchmarks"][0]
    metrics = bench["metrics"]

    def of(metric, value):
        done = metrics[metric]["successful"]
        return done[value] if value in done else done["percentiles"][value]

    return {
        "requests": metrics["request_totals"]["successful"],
        "errors": metrics["request_totals"]["errored"] + metrics["request_totals"]["incomplete"],
        "seconds": bench["duration"],
        "ttft_p50": of("time_to_first_token_ms", "p50"),
        "ttft_p99": of("time_to_first_token_ms", "p99"),
        "itl_p50": of("inter_token_latency_ms", "p50"),
        "tokens_per_second": of("output_tokens_per_second", "mean"),
    }


TOOLS = {"aiperf": run_aiperf, "guidellm": run_guidellm}


def run(command, log):
    environment = {**os.environ, "HF_HUB_DISABLE_TELEMETRY": "1", "PATH": f"{BIN}:{os.environ['PATH']}"}
    with open(log, "wb") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, env=environment, timeout=RUN_SECONDS)
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} ended with status {done.returncode}; see {log}")


def make_tokenizer(model, out):
    """Writes the tokenizer of a GGUF file as the tools want it; without it they would ask a model hub."""
    from transformers import AutoTokenizer

    AutoTokenizer.from_pretrained(str(model.parent), gguf_file=model.name).save_pretrained(str(out))


def warm_up(server):
    """Sends two requests whose prompts share nothing with the prompts of the benches."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    for text in ("Warm up, please.", "Count all sheep on the hill."):
        fields = {"messages": [{"role": "user", "content": text}], "max_tokens": 32, "ignore_eos": True}
        connection.request("POST", "/v1/chat/completions", json.dumps(fields), {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            raise SystemExit(f"{server.name} answers {response.status}: {response.read().decode()}")
        response.read()
    connection.close()


def start(kind, options, log):
    if kind == "radixflow":
        settings = [f"gateway.model-name={NAME}", *options.set]
        return servers.radixflow(log, options.model, settings, program=options.radixflow)
    return servers.llama_cpp(log, options.llama_server, options.model, SESSIONS, CONTEXT)


def wanted(options):
    for workload in options.workload or WORKLOADS:
        for tool in options.tool or TOOLS:
            if tool in WORKLOADS[workload]:
                yield workload, tool


def median(rows, key):
    return statistics.median(row[key] for row in rows)


def show(results):
    head = f"{'workload':10} {'tool':9} {'server':10} {'total s':>16} {'TTFT p50 ms':>16} {'p99':>16}"
    print(head + " ITL p50 ms  tokens/s errors load")
    groups = {}
    for row in results:
        groups.setdefault((row["workload"], row["tool"]), {}).setdefault(row["server"], []).append(row)
    for (workload, tool), both in groups.items():
        for server, rows in both.items():
            cells = [
                f"{median(rows, key):{form}} ({min(r[key] for r in rows):{form}}-{max(r[key] for r in rows):{form}})"
                for key, form in (("seconds", ".1f"), ("ttft_p50", ".0f"), ("ttft_p99", ".0f"))
            ]
            loads = f"{min(r['load'] for r in rows)}-{max(r['load'] for r in rows)}"
            print(
                f"{workload:10} {tool:9} {server:10} {cells[0]:>16} {cells[1]:>16} {cells[2]:>16} "
                f"{median(rows, 'itl_p50'):10.1f} {median(rows, 'tokens_per_second'):9.1f} "
                f"{sum(r['errors'] for r in rows):6.0f} {loads}"
            )
        if len(both) == 2:
            ours, theirs = both["radixflow"], both["llama.cpp"]
            ratios = ", ".join(
                f"{label} {median(theirs, key) / median(ours, key):.2f}x"
                for key, label in (("seconds", "total time"), ("ttft_p50", "TTFT p50"), ("ttft_p99", "TTFT p99"))
            )
            print(f"{workload:10} {tool:9} Radixflow is faster than llama.cpp: {ratios}")


def run_all(options, kinds, out, tokenizer, results):
    for number in range(options.rounds):
        for kind in kinds if number % 2 == 0 else reversed(kinds):
            with start(kind, options, out / f"{kind}-{number}.server.log") as server:
                warm_up(server)
                for workload, tool in wanted(options):
                    name = f"{workload}-{tool}-{kind}-{number}"
                    seed = SEED + 100 * number + list(WORKLOADS).index(workload)
                    row = TOOLS[tool](server.url, workload, tokenizer, seed, out / name, out / f"{name}.log")
                    row |= {"workload": workload, "tool": tool, "server": kind, "round": number}
                    row |= {"memory_mib": server.memory("VmHWM"), "load": servers.load()}
                    results.append(row)
                    print(f"  {name}: {row['seconds']:.1f} s, TTFT p50 {row['ttft_p50']:.0f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description="\n".join([__doc__.split("\n")[0], *(f"  {name}: {w['about']}" for name, w in WORKLOADS.items())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--model", type=pathlib.Path, required=True, help="a GGUF file that both serve")
    parser.add_argument("--llama-server", help="llama.cpp's server; without it only Radixflow is measured")
    parser.add_argument("--tool", choices=TOOLS, action="append", help="only this tool; may be repeated")
    parser.add_argument("--workload", choices=WORKLOADS, action="append", help="only this workload; may be repeated")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each server (3)")
    parser.add_argument("--set", action="append", default=[], help="an option of Radixflow, KEY=VALUE")
    parser.add_argument("--radixflow", default=servers.ROOT / "radixflow", help="the program to measure")
    parser.add_argument(
        "--out", type=pathlib.Path, help="folder for what the tools write and results.json (a temporary one)"
    )
    options = parser.parse_args()
    options.model = options.model.resolve()
    out = options.out or pathlib.Path(tempfile.mkdtemp(prefix="bench-serving-"))
    out.mkdir(parents=True, exist_ok=True)
    tokenizer = out / "tokenizer"
    make_tokenizer(options.model, tokenizer)
    kinds = ["radixflow"] + (["llama.cpp"] if options.llama_server else [])
    results = []
    print(f"{servers.machine()}; {options.model.name}; {time.strftime('%Y-%m-%d')}; raw figures in {out}", flush=True)
    try:
        run_all(options, kinds, out, tokenizer, results)
    finally:
        show(results)
        with open(out / "results.json", "w", encoding="utf-8") as file:
            json.dump({"machine": servers.machine(), "model": options.model.name, "results": results}, file, indent=2)


if __name__ == "__main__":
    main()
