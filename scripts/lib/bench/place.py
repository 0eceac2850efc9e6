"""A temporary folder and the servers that run in it: starts them, and reads their processor time and memory."""

import http.client
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

TICKS = os.sysconf("SC_CLK_TCK")
START_SECONDS = 60
# Fine enough for times to the first answer, which are tens of milliseconds.
POLL_SECONDS = 0.001


class BenchError(Exception):
    """A measurement that could not be made."""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def pinned(core, command):
    return command if core is None else ["taskset", "-c", str(core), *command]


def run(command, **options):
    """Standard output of a program that must succeed."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def show(command, environment):
    """Runs a program that must succeed and prints its own progress."""
    if subprocess.run(list(map(str, command)), env=environment).returncode != 0:
        raise BenchError(" ".join(map(str, command)))


class Server:
    """A process and its children, at one URL."""

    def __init__(self, name, process, port, first_answer):
        self.name = name
        self.process = process
        self.url = f"http://127.0.0.1:{port}"
        self.first_answer = first_answer

    def _pids(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [self.process.pid, *map(int, children)]

    def processor_seconds(self):
        ticks = 0
        for pid in self._pids():
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / TICKS

    def _status_mb(self, field):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in text.splitlines() if line.startswith(field + ":")) / 1024

    def memory_mb(self):
        """Resident memory. Several processes share pages, so theirs is the sum of proportional shares."""
        pids = self._pids()
        if len(pids) == 1:
            return self._status_mb("VmRSS")
        lines = [line for pid in pids for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()]
        return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024

    def forget_peak(self):
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def peak_mb(self):
        return self._status_mb("VmHWM")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Place:
    """Stops its servers and removes its folder at the end."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pennyblack-bench-"))
        # nginx drops its privileges and must still be able to read.
        self.folder.chmod(0o755)
        self.servers = []
        return self

    def __exit__(self, *_):
        for server in reversed(self.servers):
            server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, name, command, port, *, ready, environment=None, core=None, cwd=None):
        """Starts a server and waits until `ready`, a request and the status of its answer, succeeds."""
        log = self.folder / f"{name}.log"
        begun = time.monotonic()
        with log.open("w") as output:
            process = subprocess.Popen(
                pinned(core, list(map(str, command))),
                cwd=cwd or self.folder,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        server = Server(name, process, port, None)
        self.servers.append(server)
        while time.monotonic() - begun < START_SECONDS and process.poll() is None:
            if answers(port, ready):
                server.first_answer = time.monotonic() - begun
                return server
            time.sleep(POLL_SECONDS)
        raise BenchError(f"{name} did not answer {ready.path}:\n{log.read_text()[-2000:]}")


class Request:
    """A request and the status that its answer must have."""

    def __init__(self, path, status=200, body=None, headers=None):
        self.path, self.status, self.body, self.headers = path, status, body, headers or {}
        self.method = "GET" if body is None else "POST"


def answers(port, request):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(request.method, request.path, request.body, request.headers)
        return connection.getresponse().status == request.status
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
