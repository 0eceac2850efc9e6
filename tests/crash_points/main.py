"""Kills the service at every boundary of an order, one after the other, restarts it, and audits chain, provider and orders."""

import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "operator"))
from sandbox import SPEED, Sandbox, call, new_database, wait_for  # noqa: E402

# A key that everybody knows, for the settler of emulated chains.
SETTLER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
SETTLER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
CHAIN = 8453
# Requests with an effect, and the two of the simulation that comes before it.
MARKS = "eth_sendRawTransaction,eth_getCode,eth_estimateGas,POST /v1/postcards"
# What the provider does with the card, and the node with the transaction, once.
PROVIDER = {"accepted": None, "refused": "payment_disabled", "lost": "reset_after"}
SETTLE = {"settled": None, "refused": "unavailable", "lost": "lose_answer"}
# At twenty times the speed, 80 minutes. A card whose submission was interrupted is submitted again after the grace
# period of Lob; if it is refused then, it waits for another one, because the first submission may have arrived.
MAILED_SECONDS = 240
# More boundaries than an order has; background work of the service is counted too.
BOUNDARIES_MAX = 400


class CrashSandbox(Sandbox):
    """A service that can be killed at a boundary. Its chains and its provider survive."""

    def __init__(self, folder, built, library, port, database=None):
        self.built, self.library, self.database_port = pathlib.Path(built), library, port
        self.emulator = None
        super().__init__(folder, self.built / "pennyblack", self.built / "examples/provider", database)

    def start(self):
        if self.emulator is None:
            self.open_chains()
        self.log = open(self.folder / "log", "ab")
        self.disarm()
        environment = {
            **self.environment,
            "LD_PRELOAD": str(self.library),
            "CRASH_ARMED": str(self.folder / "armed"),
            "CRASH_LOG": str(self.folder / "boundaries"),
            "CRASH_PORT": str(self.database_port),
            "CRASH_MARKS": MARKS,
        }
        self.process = subprocess.Popen([self.binary], cwd=self.folder, env=environment, stdout=self.log, stderr=self.log)
        self.wait_until_open()

    def open_chains(self):
        self.emulator = subprocess.Popen([self.built / "examples/chains"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.chain = self.emulator.stdout.readline().strip()
        for network in (8453, 137, 42161):
            call("POST", f"{self.chain}/__sandbox/{network}/accounts/{SETTLER}", {"native": str(10**20)})
        # The faucet gives money for 300 cards, and on PostgreSQL an order has more boundaries.
        payer = call("GET", f"{self.chain}/__sandbox/faucet")["payer"]["address"]
        call("POST", f"{self.chain}/__sandbox/{CHAIN}/accounts/{payer}", {"usdc": str(10**12)})
        nodes = ", ".join(f'"{name}={self.chain}/{number}"' for name, number in (("base", 8453), ("polygon", 137), ("arbitrum", 42161)))
        settings = self.folder / "pennyblack.toml"
        # A provider that mails the same order once, so that no order is left to a person.
        text = settings.read_text().replace("[sandbox]\n", '[sandbox]\nmixed = "yes"\ndialect = "lob"\n')
        settings.write_text(f'{text}\n[payments]\nkind = "settler"\nrpc = [{nodes}]\n')
        self.environment["PENNYBLACK_SETTLER_KEY"] = SETTLER_KEY

    def arm(self, number):
        (self.folder / "boundaries").unlink(missing_ok=True)
        (self.folder / "armed").write_text(str(number))

    def disarm(self):
        (self.folder / "armed").unlink(missing_ok=True)

    def close(self):
        super().close()
        self.emulator.stdin.close()
        self.emulator.wait(timeout=60)

    def attempt(self, name, rail):
        """Pays, or repeats the payment. Whether it is paid, and the order."""
        base = f"http://127.0.0.1:{self.port}"
        done = self.run("pay", "--body", name, "--base-url", base, "--sandbox", self.chain, "--rail", rail, "--yes")
        self.last_attempt = done.out + done.error
        order = re.search(r"\b[0-9a-f]{32}\b", done.out + done.error)
        return done.code == 0, order and order.group()

    def state_unless_killed(self, order):
        shown = self.orders("show", order, "--json")
        return shown.json()["state"] if shown.code == 0 else None

    def pay_until_mailed(self, name, rail):
        """The order, once the payer has its answer and the provider has the card. None if the service ends first."""
        found = []

        def is_over():
            paid, order = self.attempt(name, rail)
            if self.is_dead():
                return True
            if paid and self.state_unless_killed(order) == "mailed":
                found.append(order)
            return bool(found)

        try:
            wait_for(f"{name} is mailed", is_over, MAILED_SECONDS)
        except AssertionError:
            print(f"  the last attempt:\n{self.last_attempt}")
            raise
        return found[0] if found else None


class Campaign:
    """All boundaries of one order, for each outcome at the provider and at the node."""

    def __init__(self, service, step):
        self.service, self.step = service, step
        self.orders, self.crashes, self.boundaries, self.places = [], 0, [], set()
        self.shown = time.monotonic()

    def run(self, provider, settle, rail):
        """Kills the service at each boundary in turn, until an order passes without one."""
        number = 1
        while self.crash_at(number, provider, settle, rail):
            self.progress(f"{provider}, {settle}, {rail}: boundary {number}")
            number += self.step
            assert number < BOUNDARIES_MAX, "an order has no end"
        self.boundaries.append(len((self.service.folder / "boundaries").read_text().splitlines()))
        self.service.kill()
        self.service.start()
        self.audit()

    def crash_at(self, number, provider, settle, rail):
        """One order. Whether the service was killed."""
        service = self.service
        name = self.card()
        if PROVIDER[provider]:
            service.fault(kind=PROVIDER[provider], operation="send", times=1)
        if SETTLE[settle]:
            rule = {"fault": SETTLE[settle], "method": "eth_sendRawTransaction", "times": 1}
            call("POST", f"{service.chain}/__sandbox/{CHAIN}/faults", rule)
        service.arm(number)
        order = service.pay_until_mailed(name, rail)
        crashed = order is None
        service.disarm()
        if crashed:
            self.crashes += 1
            passed = dict(line.split(" ", 1) for line in (service.folder / "boundaries").read_text().splitlines())
            self.places.add(passed[str(number)])
            service.start()
            order = service.pay_until_mailed(name, rail)
            assert order, "the service ended by itself"
        self.orders.append(order)
        service.clear_faults()
        call("DELETE", f"{service.chain}/__sandbox/{CHAIN}/faults")
        return crashed

    def card(self):
        number = len(self.orders) + 1
        name = f"card-{number}.json"
        (self.service.folder / name).write_text(json.dumps({
            "front_image_url": "https://images.example.org/sea.jpg",
            "message": f"Card {number}",
            "recipient": {"name": "A", "address": "12 High Street", "city": "London", "province": "London",
                          "postal_code": "SW1Y 4JH", "country": "GB"},
        }))
        return name

    def audit(self):
        """Every order has one transfer of its amount and one card, and there are no others."""
        service = self.service
        payments = [service.status(order)["payment"] for order in self.orders]
        told = sorted((payment["transaction"], payment["amount"]) for payment in payments)
        moved = sorted((one["transaction"], one["amount"]) for one in service.received(payments[0]["pay_to"]))
        assert told == moved, f"orders and transfers differ: {set(told) ^ set(moved) or 'one is there twice'}"
        report = call("POST", f"{service.provider}/__sandbox/report", {"expected": self.orders})
        cards = {key: report[key] for key in ("accepted", "live")}
        assert cards == {"accepted": len(self.orders), "live": len(self.orders)}, f"{len(self.orders)} orders: {report}"
        wrong = {key: report[key] for key in ("duplicates", "double_mailings", "orphans", "missing", "lost") if report[key]}
        assert not wrong, wrong

    def progress(self, words):
        if time.monotonic() - self.shown > 8:
            self.shown = time.monotonic()
            print(f"  {words}, {len(self.orders)} orders so far", flush=True)


def figures(store, campaign, outcomes):
    boundaries = f"{min(campaign.boundaries)} to {max(campaign.boundaries)} boundaries"
    return (f"{store}: {len(outcomes)} pairs of outcomes, {boundaries}, {campaign.crashes} crashes, "
            f"{len(campaign.orders)} orders, all recovered")


def main(built, library, store, size, folder):
    with contextlib.nullcontext() if store == "sqlite" else new_database() as database:
        return kill_everywhere(built, library, store, size, folder, database)


def kill_everywhere(built, library, store, size, folder, database):
    port = int(re.search(r":(\d+)/", database).group(1)) if database else 0
    service = CrashSandbox(folder, built, library, port, database)
    outcomes = [(provider, settle) for provider in PROVIDER for settle in SETTLE]
    if size == "short":
        outcomes = outcomes[:1]
    campaign = Campaign(service, 3 if size == "short" else 1)
    try:
        for at, (provider, settle) in enumerate(outcomes):
            rail = ("x402", "mpp")[at % 2]
            print(f"{store}: card {provider}, payment {settle}, {rail}", flush=True)
            campaign.run(provider, settle, rail)
        if size == "full":
            assert min(campaign.boundaries) >= 24, f"only {campaign.boundaries} boundaries"
    finally:
        service.close()
    print(f"  killed {', '.join(sorted(campaign.places))}")
    return figures(store, campaign, outcomes)


if __name__ == "__main__":
    built, library, stores, size = sys.argv[1:5]
    lines = []
    for store in stores.split():
        folder = tempfile.mkdtemp(prefix="pennyblack-crash-points-")
        try:
            lines.append(main(built, library, store, size, folder))
        except Exception as error:  # noqa: BLE001
            print(f"FAIL: {type(error).__name__}: {error}\nStore, log and boundaries: {folder}")
            print(f"To repeat: tests/crash_points/run {store} {size}")
            sys.exit(1)
        shutil.rmtree(folder)
    print("figures: " + "; ".join(lines))
