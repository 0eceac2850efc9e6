"""Memory at rest and after load, compared with all peers, and what a million unpaid requests leave behind."""

import os

import documents
import mcp
import merchants
from load import HERE, turns, wrk
from merchants import PEER_NAMES, RAILS, Chains
from place import Place
from servers import start_ours
from stores import Database

WARM = 50_000
UNPAID = 1_000_000
GROWTH_MB_MOST = 5
# Our tables and indexes only; PostgreSQL's catalog changes by itself, and so do the processes that are alive.
TABLE_BYTES = """
SELECT sum(pg_total_relation_size(oid)) FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'S') AND relname NOT IN ('processes', 'senders')
"""


def memory(rows, size):
    with Place() as place:
        ours, bare, nginx = documents.start_servers(place)
        servers = {"ours": ours, "nginx": nginx, "bare": bare["openapi"]}
        load = lambda server: wrk(server.url + "/openapi.json", seconds=size(2, 1), connections=64, threads=2)
        compare(rows, size, "documents", servers, {"nginx": "nginx"}, load)
    with Place() as place:
        servers = mcp.start_servers(place, core=None)
        compare(rows, size, "mcp", servers, mcp.NAMES, lambda server: mcp.load(place, server, "product", size(2, 1)))
    with Chains() as chains:
        for rail in RAILS:
            with Place() as place:
                servers = merchants.start_servers(place, chains, rail)
                compare(
                    rows,
                    size,
                    rail,
                    servers,
                    {"peer": PEER_NAMES[rail]},
                    lambda server: merchants.challenge(server, rail, 1),
                )
    with Place() as place:
        of_unpaid(rows, size, "SQLite", start_ours(place), lambda: sqlite_bytes(place))
    with Database() as database, Place() as place:
        ours = start_ours(place, environment={"PENNYBLACK_STORE": database.url})
        of_unpaid(rows, size, "PostgreSQL", ours, lambda: int(database.execute(TABLE_BYTES, database.url)))


def compare(rows, size, kind, servers, peers, load):
    """Memory of all servers before the load and after the same number of turns."""
    rest = {name: server.memory_mb() for name, server in servers.items()}

    def turn(server):
        load(server)
        return {"memory": server.memory_mb()}

    turns(size(10, 1), {(kind, name): lambda server=server: turn(server) for name, server in servers.items()})
    after = {name: server.memory_mb() for name, server in servers.items()}
    for name, peer_name in peers.items():
        for key, text, figures in (("rest", "at rest", rest), ("load", "after load", after)):
            limit = {"limit": figures["bare"], "limit_name": "bare hyper"} if kind == "documents" else {}
            measure = f"{kind}: memory {text}"
            rows.add(
                f"{kind} {key} {name}",
                measure,
                "MB",
                "less",
                figures["ours"],
                peer=figures[name],
                peer_name=peer_name,
                **limit,
            )


def sqlite_bytes(place):
    return sum(file.stat().st_size for file in (place.folder / "ours/data").glob("*.sqlite3*"))


def send_unpaid(server, count, seconds):
    """Distinct requests without payment, at least so many; each must be answered with a challenge."""
    sent = 0
    while sent < count:
        arguments = (f"{next(merchants.turn_numbers)}-{os.getpid()}", "0")
        url = merchants.endpoint(server, "x402")
        sent += wrk(
            url, seconds=seconds, connections=32, script=HERE / "unpaid.lua", arguments=arguments, status=402
        ).requests
        print(f"  {sent:,} of {count:,} unpaid requests", flush=True)


def of_unpaid(rows, size, store, server, store_bytes):
    send_unpaid(server, size(WARM, 1_000), size(2, 1))
    bytes_before, memory_before = store_bytes(), server.memory_mb()
    count = size(UNPAID, 2_000)
    send_unpaid(server, count, size(5, 1))
    text = f"{count:,} unpaid requests on {store}"
    more = server.memory_mb() - memory_before
    rows.add(
        f"unpaid memory {store}", f"{text}: memory added", "MB", "less", more, required=("ours", "<=", GROWTH_MB_MOST)
    )
    added = store_bytes() - bytes_before
    rows.add(
        f"unpaid store {store}", f"{text}: bytes added to the store", "bytes", "less", added, required=("ours", "<=", 0)
    )
