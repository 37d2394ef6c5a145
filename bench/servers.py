"""Starts the servers that the benches in this folder measure, on loopback, and describes the machine."""

import http.client
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
READY_SECONDS = 300

# a bench that is stopped stops its servers
signal.signal(signal.SIGTERM, lambda *ignored: sys.exit("stopped"))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A process with an HTTP port, from its first answer on until the end of a `with` block."""

    def __init__(self, name, command, port, path, log, environment=None):
        self.name = name
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, **(environment or {})},
            )
        self.log = log
        try:
            self._wait(path)
        except BaseException:
            self.close()
            raise

    def _wait(self, path):
        until = time.monotonic() + READY_SECONDS
        while True:
            if self.process.poll() is not None:
                raise SystemExit(f"{self.name} ended with status {self.process.returncode}; see {self.log}")
            try:
                if self.get(path)[0] == 200:
                    return
            except OSError:
                pass
            if time.monotonic() > until:
                raise SystemExit(f"{self.name} did not answer within {READY_SECONDS} s; see {self.log}")
            time.sleep(0.2)

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def memory(self, field="VmRSS"):
        """MiB of the process in memory, now or, with VmHWM, at most so far; None where there is no /proc."""
        try:
            status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        except OSError:
            return None
        return int(re.search(field + r":\s+(\d+)", status)[1]) // 1024

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()


def radixflow(log, model, options=(), broker=None, program=ROOT / "radixflow"):
    """A broker, the job and a gateway in one process, as `./radixflow up` starts them."""
    port = free_port()
    command = [str(program), "up", "--model", str(model), "--offline", "--metrics-port", "0"]
    command += ["--port", str(broker or free_port()), "--gateway-port", str(port)]
    for option in options:
        command += ["--set", option]
    return Server("Radixflow", command, port, "/ready", log)


def gateway(log, broker, heap, options=(), program=ROOT / "radixflow"):
    """Starts a gateway in its own process; it uses a broker on this machine."""
    port = free_port()
    command = [str(program), "gateway", "--bootstrap", f"127.0.0.1:{broker}", "--port", str(port)]
    for option in options:
        command += ["--set", option]
    return Server("the gateway", command, port, "/ready", log, {"RADIXFLOW_JAVA_OPTS": f"-Xmx{heap}m"})


def llama_cpp(log, program, model, slots, context):
    """llama.cpp's server: a slot for each session, and all that makes it fast on a CPU."""
    port = free_port()
    threads = str(os.cpu_count())
    command = [str(program), "--host", "127.0.0.1", "--port", str(port), "--model", str(model)]
    command += ["--threads", threads, "--threads-batch", threads]
    command += ["--parallel", str(slots), "--ctx-size", str(slots * context), "--kv-unified"]
    command += ["--cont-batching", "--cache-prompt", "--flash-attn", "on", "--jinja"]
    # its threads wait for each other in loops by default, which takes the cores that the load tool needs
    return Server("llama.cpp", command, port, "/health", log, {"OMP_WAIT_POLICY": "passive"})


def load():
    return round(os.getloadavg()[0], 1)


def machine():
    """Cores and processor, for the head of a table."""
    try:
        model = re.search(r"model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"))[1]
    except (OSError, TypeError):
        model = "unknown processor"
    return f"{os.cpu_count()} cores, {model}"
