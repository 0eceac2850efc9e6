"""Sends the table of bad inputs to a service on the sandbox, and looks for marked words in everything that it leaves."""

import collections
import http.client
import json
import pathlib
import re
import shutil
import socket
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "operator"))
sys.dont_write_bytecode = True
from sandbox import Sandbox, call, wait_for  # noqa: E402

import inputs  # noqa: E402

SECONDS_MAX = 10
BODY_TYPES = ("application/json", "application/problem+json")


class BadInputs:
    def __init__(self, service):
        self.service, self.faults, self.sent = service, [], collections.Counter()
        self.statuses, self.slowest = collections.Counter(), 0.0

    def send(self, one):
        begun = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=SECONDS_MAX)
        try:
            connection.putrequest(one["method"], one["path"], skip_accept_encoding=True)
            for name, value in one["headers"].items():
                connection.putheader(name, value.encode("latin-1"))
            if one["body"] is not None:
                connection.putheader("Content-Length", str(len(one["body"])))
            connection.endheaders()
            self.send_body(connection, one["body"])
            response = connection.getresponse()
            status, kind, text = response.status, response.getheader("content-type", ""), response.read().decode("utf-8", "replace")
        finally:
            connection.close()
        self.slowest = max(self.slowest, time.monotonic() - begun)
        return status, kind, text

    @staticmethod
    def send_body(connection, body):
        """The service may answer, and close, before it has read a body that is too long."""
        try:
            if body:
                connection.send(body)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def check(self, one):
        about = f"{one['method']} {one['path'][:60]} {one['headers']} {(one['body'] or b'')[:120]!r}"[:400]
        try:
            status, kind, text = self.send(one)
        except (OSError, http.client.HTTPException) as error:
            self.faults.append(f"no answer ({type(error).__name__}): {about}")
            return
        self.sent[one["group"]] += 1
        self.statuses[status] += 1
        if status not in one["allowed"]:
            self.faults.append(f"{status}, allowed are {sorted(one['allowed'])}: {about}: {text[:200]}")
        if status >= 400 and one["path"].startswith("/api/") and one["method"] == "POST":
            self.check_json(about, kind, text)
        self.check_marks(about, text)

    def check_json(self, about, kind, text):
        if not kind.startswith(BODY_TYPES):
            self.faults.append(f"the body is {kind}: {about}")
            return
        try:
            json.loads(text)
        except ValueError:
            self.faults.append(f"the body is not JSON: {about}")

    def check_marks(self, about, text):
        found = [mark for mark in inputs.MARKS if mark.lower() in text.lower()]
        if found:
            self.faults.append(f"the answer contains {', '.join(found)}: {about}")

    def raw(self, data):
        """Answered with an error or any page, or closed; never left open without an answer."""
        with socket.create_connection(("127.0.0.1", self.service.port), timeout=SECONDS_MAX) as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                answer = connection.recv(65_536)
            except TimeoutError:
                self.faults.append(f"no answer within {SECONDS_MAX} s: {data[:80]!r}")
                return
            except OSError:
                answer = b""
        self.sent["raw requests"] += 1
        if data.startswith(b"PRI ") and answer.startswith(b"\0\0"):
            return  # frames of HTTP/2
        status = re.match(rb"HTTP/1\.[01] (\d{3})", answer)
        if answer and (not status or int(status.group(1)) >= 500 and int(status.group(1)) not in (501, 505)):
            self.faults.append(f"{answer[:80]!r} for {data[:80]!r}")

    def paid_orders(self):
        """Cards of marked words that are paid for: mailed, refused, and erased by an operator."""
        orders = []
        for kind in (None, "payment_disabled"):
            if kind:
                self.service.fault(kind=kind, operation="send")
            name = f"marked-{kind}.json"
            (self.service.folder / name).write_text(json.dumps(inputs.card(message=f"Zyxmessage {kind}")))
            done = self.service.run("pay", "--body", name, "--base-url", f"http://127.0.0.1:{self.service.port}",
                                    "--sandbox", self.service.chain, "--rail", "x402", "--yes")
            orders.append(re.search(r"\b[0-9a-f]{32}\b", done.out + done.error).group())
            (self.service.folder / name).unlink()
        # Refused while the reconciler has the order.
        erase = ("erase", orders[1], "--note", "asked by the payer", "--yes")
        wait_for("the card is erased", lambda: self.service.orders(*erase).code == 0)
        self.service.clear_faults()
        self.sent["paid orders"] += len(orders)
        for order in orders:
            self.check_marks(f"status of {order}", json.dumps(self.service.status(order)))

    def look_for_marks(self):
        """The log, every file of the data folder, what commands printed, and the metrics."""
        looked = {"metrics": self.service.listener("/metrics"), "commands": "".join(self.service.printed)}
        for path in pathlib.Path(self.service.folder).rglob("*"):
            if path.is_file():
                looked[path.name] = path.read_bytes().decode("latin-1")
        for name, text in looked.items():
            for mark in inputs.MARKS:
                if mark.lower() in text.lower():
                    self.faults.append(f"{mark} is in {name}")
        return len(looked)


def run(built, size, seed, folder):
    service = Sandbox(folder, f"{built}/pennyblack", f"{built}/examples/provider")
    try:
        documented = call("GET", f"http://127.0.0.1:{service.port}/openapi.json")["paths"]
        test = BadInputs(service)
        # First, because the clock of the service runs ahead of the payer's.
        test.paid_orders()
        every = inputs.table(documented, seed)
        if size == "short":
            every = [one for at, one in enumerate(every) if at % 5 == 0 or b"Zyxseller" in (one["body"] or b"")]
        shown = time.monotonic()
        for number, one in enumerate(every):
            test.check(one)
            if time.monotonic() - shown > 8:
                shown = time.monotonic()
                print(f"  {number + 1} of {len(every)} inputs", flush=True)
        for data in inputs.RAW:
            test.raw(data)
        files = test.look_for_marks()
        if service.process.poll() is not None:
            test.faults.append("the service ended")
    finally:
        service.close()
    total = sum(test.sent.values())
    if size == "full" and total < 700:
        test.faults.append(f"only {total} inputs")
    return test, total, len(documented), files


def main(built, size, seed):
    folder = tempfile.mkdtemp(prefix="pennyblack-bad-inputs-")
    test, total, endpoints, files = run(built, size, seed, folder)
    for name, count in sorted(test.sent.items()):
        print(f"  {count:>6}  {name}")
    print("  statuses: " + ", ".join(f"{status}: {count}" for status, count in sorted(test.statuses.items())))
    if test.faults:
        for fault in test.faults[:20]:
            print(f"  FAIL  {fault}")
        print(f"{len(test.faults)} faults. Store and log: {folder}\nTo repeat: tests/bad_inputs/run {size} {seed}")
        sys.exit(1)
    shutil.rmtree(folder)
    print(f"figures: {total} bad inputs over {endpoints} endpoints, 0 wrong statuses, 0 without an answer, slowest {1000 * test.slowest:.0f} ms; "
          f"0 of {len(inputs.MARKS)} marked words in {total} answers and {files} files, logs and metrics, also after erasure; seed {seed}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
