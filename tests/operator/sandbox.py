"""A service on the sandbox, its emulated provider and chain, and the command line."""

import contextlib
import http.client
import itertools
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import urllib.parse
import urllib.request
import uuid

# What must never appear outside of the store: marked words of every card.
MARKED = ["Zyxwyn Quorraine", "Qumbleton Lane", "Vexmoor", "brambleweft"]
# The service's clock runs faster, so that the reconciler's intervals are short. Payers use the real one: after half a
# minute they are ten minutes behind, and the service refuses what they sign.
SPEED = 20


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, check, seconds=60):
    """Waits until `check` returns something, and returns it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = check()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"not within {seconds} s: {what}")


def call(method, url, body=None, headers=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(url, data=data, method=method, headers=headers)
    with urllib.request.urlopen(request, timeout=20) as response:
        text = response.read()
    return json.loads(text) if text.strip() else None


@contextlib.contextmanager
def new_database():
    """The URL of an empty database on the server that DATABASE_URL names. Every test has its own, as it has its own keys."""
    server, name = os.environ["DATABASE_URL"], f"operator_{uuid.uuid4().hex[:12]}"

    def execute(statement):
        subprocess.run(["psql", server, "--quiet", "--no-psqlrc", "-c", statement], check=True)

    execute(f"CREATE DATABASE {name}")
    try:
        yield urllib.parse.urlsplit(server)._replace(path=f"/{name}").geturl()
    finally:
        execute(f"DROP DATABASE {name} WITH (FORCE)")


class Result:
    """What a command has printed, and its exit code."""

    def __init__(self, done):
        self.code, self.out, self.error = done.returncode, done.stdout, done.stderr

    def json(self):
        return json.loads(self.out)


class Sandbox:
    """One service with its provider. The provider survives a restart of the service."""

    def __init__(self, folder, binary, provider_binary, database=None):
        self.folder, self.binary = pathlib.Path(folder), binary
        self.printed = []
        self.cards = itertools.count(1)
        self.port, provider_port = free_port(), free_port()
        self.provider = f"http://127.0.0.1:{provider_port}"
        self.provider_process = subprocess.Popen(
            [provider_binary, str(provider_port), "1000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.environment = {
            **os.environ,
            "PENNYBLACK_LISTEN": f"127.0.0.1:{self.port}",
            "PENNYBLACK_DATA": str(self.folder / "data"),
            "PENNYBLACK_CONFIG": str(self.folder / "pennyblack.toml"),
            "USER": "ada",
        }
        if database:
            self.environment["PENNYBLACK_STORE"] = database
        self.operator = f"127.0.0.1:{free_port()}"
        (self.folder / "pennyblack.toml").write_text(
            f'[sandbox]\nprovider = "{self.provider}"\nspeed = {SPEED}\n\n'
            f'[operator]\nlisten = "{self.operator}"\n\n'
            # On PostgreSQL the budget of calls is kept in real time, while everything else is faster.
            f"[provider]\nrate_times = {SPEED if database else 1}\n"
        )
        wait_for("the provider answers", lambda: self.answers(f"{self.provider}/__sandbox/report"))
        self.start()

    @staticmethod
    def answers(url):
        try:
            with urllib.request.urlopen(url, timeout=2):
                return True
        except OSError:
            return False

    def start(self):
        self.log = open(self.folder / "log", "ab")
        self.process = subprocess.Popen(
            [self.binary], cwd=self.folder, env=self.environment, stdout=self.log, stderr=self.log
        )
        self.started = (time.time(), time.monotonic())
        self.wait_until_open()
        self.chain = (self.folder / "data" / "sandbox-chain").read_text().strip()

    def wait_until_open(self):
        wait_for("the service answers", lambda: self.is_dead() or self.answers(f"http://127.0.0.1:{self.port}/healthz"))
        assert not self.is_dead(), f"the service ended at its start: {(self.folder / 'log').read_text()[-500:]}"

    def is_dead(self):
        return self.process.poll() is not None

    def now(self):
        """The service's clock, or a little more."""
        began, at = self.started
        return began + SPEED * (time.monotonic() - at)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=60)
        self.provider_process.kill()

    def run(self, *arguments, operator=None):
        """Runs the command line and keeps what it printed, to look for personal data later."""
        environment = {**self.environment, "USER": operator or self.environment["USER"]}
        done = subprocess.run(
            [self.binary, *arguments], cwd=self.folder, env=environment, text=True, capture_output=True, timeout=120
        )
        self.printed.append(done.stdout + done.stderr)
        return Result(done)

    def orders(self, *arguments, **more):
        return self.run("orders", *arguments, **more)

    def pay(self, expected=0, rail="x402"):
        """Pays for a new card, and returns its order."""
        number = next(self.cards)
        body = {
            "front_image_url": "https://images.example.org/sea.jpg",
            "message": f"Card {number}: {MARKED[3]}.",
            "recipient": {
                "name": MARKED[0],
                "address": f"12 {MARKED[1]}",
                "city": MARKED[2],
                "province": "London",
                "postal_code": "SW1Y 4JH",
                "country": "GB",
            },
        }
        name = f"card-{number}.json"
        (self.folder / name).write_text(json.dumps(body))
        base = f"http://127.0.0.1:{self.port}"
        done = self.run("pay", "--body", name, "--base-url", base, "--sandbox", self.chain, "--rail", rail, "--yes")
        assert done.code == expected, (done.code, done.out, done.error)
        return re.search(r"\b[0-9a-f]{32}\b", done.out + done.error).group()

    def show(self, order):
        shown = self.orders("show", order, "--json")
        assert shown.code == 0, shown.error
        return shown.json()

    def state(self, order):
        return self.show(order)["state"]

    def status(self, order):
        return call("GET", f"http://127.0.0.1:{self.port}/api/x402/orders/{order}")

    def wait_for_state(self, order, *states, seconds=60):
        wait_for(f"{order} is {states}", lambda: self.state(order) in states, seconds)

    def fault(self, **rule):
        call("POST", f"{self.provider}/__sandbox/faults", rule)

    def clear_faults(self):
        call("DELETE", f"{self.provider}/__sandbox/faults")

    def transfer(self, sender, to, amount, chain=8453):
        """A USDC transfer in a final block."""
        base = f"{self.chain}/__sandbox/{chain}"
        sent = call("POST", f"{base}/transfers/{sender}", {"to": to, "amount": str(amount)})
        call("POST", f"{base}/mine", {"blocks": 100})
        return sent["transaction"]

    def received(self, account, chain=8453):
        return call("GET", f"{self.chain}/__sandbox/{chain}/transfers/{account}")

    def listener(self, path):
        """What the operator's listener answers to the token."""
        token = (self.folder / "data" / "operator.token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        request = urllib.request.Request(f"http://{self.operator}{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.read().decode()

    def socket_call(self, method, path, body=None):
        """A request at the operator's socket: status and JSON."""
        connection = http.client.HTTPConnection("localhost", timeout=30)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(self.folder / "data" / "operator.sock"))
        data = None if body is None else json.dumps(body)
        connection.request(method, path, data, {"Content-Type": "application/json"})
        response = connection.getresponse()
        text = response.read().decode()
        self.printed.append(text)
        return response.status, json.loads(text)
