"""The same service on PostgreSQL and on SQLite, and the stores themselves compared with the disk."""

import os
import re
import uuid
from urllib.parse import urlsplit

import merchants
from load import P99, RATE, turns
from merchants import RAILS, Chains
from orders import read_status
from place import Place, run
from rows import ROOT

CALLERS = 32
SQLITE = "itself on SQLite"
DISK = "fdatasync, one caller"


class Database:
    """An empty database on the server that DATABASE_URL names."""

    def __enter__(self):
        self.server, name = os.environ["DATABASE_URL"], f"bench_{uuid.uuid4().hex[:12]}"
        self.name = name
        self.execute(f"CREATE DATABASE {name}")
        self.url = urlsplit(self.server)._replace(path=f"/{name}").geturl()
        return self

    def __exit__(self, *_):
        self.execute(f"DROP DATABASE {self.name} WITH (FORCE)")

    def execute(self, statement, url=None):
        return run(["psql", url or self.server, "--quiet", "--no-psqlrc", "-At", "-c", statement]).strip()


def stores(rows, size):
    with Chains() as chains, Database() as database, Place() as place:
        of_service(place, chains, database, rows, size)
    if size(True, False):
        of_stores(rows)


def of_service(place, chains, database, rows, size):
    servers = {
        "sqlite": chains.start_ours(place, "sqlite"),
        # Each has its own settler account, because they do not share a store.
        "postgres": chains.start_ours(place, "postgres", key="other", environment={"PENNYBLACK_STORE": database.url}),
    }
    identifiers = {name: place.folder / f"{name}.identifiers" for name in servers}
    cases = {}
    for name, server in servers.items():
        for rail in RAILS:
            cases["challenge", rail, name] = lambda server=server, rail=rail: merchants.challenge(
                server, rail, 1, prepared=size(merchants.PREPARED, 1_000)
            )
            file = identifiers[name] if rail == "x402" else None
            cards = size(200, CALLERS)
            cases["paid", rail, name] = lambda server=server, rail=rail, file=file: merchants.pay(
                place, chains, server, rail, cards, CALLERS, file
            )
    found = turns(size(5, 1), alternating(cases))
    reads = {
        ("status", name): lambda name=name: read_status(servers[name], identifiers[name], size(2, 1), seed=1, core=None)
        for name in servers
    }
    found |= turns(size(5, 1), reads)
    titles = {
        "challenge": ("challenges a second", "challenges/s"),
        "paid": (f"cards a second, {CALLERS} callers", "cards/s"),
    }
    for case, (text, unit) in titles.items():
        for rail in RAILS:
            figures = {name: found[case, rail, name]["rate"] for name in servers}
            rows.add(
                f"{case} {rail}",
                f"{rail} on PostgreSQL: {text}",
                unit,
                "more",
                figures["postgres"],
                peer=figures["sqlite"],
                peer_name=SQLITE,
            )
    for key, unit, better, text in (RATE, P99):
        figures = {name: found["status", name][key] for name in servers}
        rows.add(
            f"status {key}",
            f"status on PostgreSQL: {text}",
            unit,
            better,
            figures["postgres"],
            peer=figures["sqlite"],
            peer_name=SQLITE,
        )


def alternating(cases):
    """Both stores take their turn of the same case one after the other."""
    return dict(sorted(cases.items(), key=lambda case: case[0][:2]))


def of_stores(rows):
    """The stores without HTTP, by the benchmark of the adapters."""
    print("  cargo bench -p adapters", flush=True)
    said = run(["cargo", "bench", "--quiet", "--locked", "-p", "adapters", "--bench", "store"], cwd=ROOT)
    add_stores(rows, said)


def add_stores(rows, said):
    rates = {
        name.strip(): int(median) for name, median in re.findall(r"^(\S.*?)\s+(\d+)\s+\d+\s+\d+$", said, re.MULTILINE)
    }
    disk = rates["bare fdatasync, one caller"]
    for name, rate in rates.items():
        store, _, what = name.partition(": ")
        if not what:
            continue
        peer = rates.get(f"SQLite: {what}") if store == "PostgreSQL" else None
        # Reads do not wait for the disk.
        limit = disk if what.startswith("begin settlement") else None
        rows.add(
            f"store {name}",
            f"{store} without HTTP: {what}",
            "calls/s",
            "more",
            rate,
            peer=peer,
            peer_name="SQLite" if peer else None,
            limit=limit,
            limit_name=DISK if limit else None,
        )
