"""Status and seller lookup, and what more orders and more processes change."""

import json
import os
import pathlib
import shutil

import merchants
from load import HERE, P99, PROCESSOR, RATE, measured, turns, wrk
from place import Place, run, show
from rows import ROOT
from servers import BUILT, save_answer, start_bare, start_ours

CONNECTIONS = 32
FILLED = ROOT / "target" / "orders"
LOOKUP = "/api/x402/resolve/demo"
STATUS_ORDERS = 100_000
GROWTH = (1_000, 10_000, 100_000, 1_000_000)
P99_MOST = 1.5
# Callers are served before open orders are read. To read them first takes 3.5 s for a million orders.
FIRST_ANSWER_MS_MOST = 1_500
# The least ratio of several processes to one: on shared cores, which one process and its payers already fill, and with a
# share of a core for each.
SHARED_LEAST, OWN_LEAST = 0.9, 1


def filled(count):
    """A folder with so many mailed orders, written by the real store. Kept for the next run."""
    folder = FILLED / str(count)
    if not (folder / "identifiers").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        print(f"  writing {count:,} orders", flush=True)
        run([BUILT / "examples" / "fill_orders", folder / "data", count, folder / "unfinished"])
        (folder / "unfinished").rename(folder / "identifiers")
    # Read once, so that it is in the page cache, as the file of a running service is.
    for file in (folder / "data").glob("*.sqlite3*"):
        run(["dd", f"if={file}", "of=/dev/null", "bs=1M", "status=none"])
    return folder


def read_status(server, identifiers, seconds, seed, core=1):
    """One turn of reads of random orders; wrk has a core of its own."""
    environment = {**os.environ, "IDENTIFIERS": str(identifiers)}
    ask = lambda: wrk(
        server.url,
        seconds=seconds,
        connections=CONNECTIONS,
        script=HERE / "orders.lua",
        arguments=(str(seed),),
        core=core,
        environment=environment,
    )
    return measured(server, ask)


def look_up(server, seconds):
    return measured(server, lambda: wrk(server.url + LOOKUP, seconds=seconds, connections=CONNECTIONS, core=1))


def status(rows, size):
    with Place() as place:
        of_status(place, rows, size)


def of_status(place, rows, size):
    folder = filled(size(STATUS_ORDERS, 1_000))
    ours = start_ours(place, data=folder / "data", core=0)
    identifiers = folder / "identifiers"
    first = identifiers.open().readline().strip()
    bare = {
        "status": start_bare(
            place, "bare-status", save_answer(place, "status", f"{ours.url}/api/x402/orders/{first}"), core=0
        ),
        "lookup": start_bare(place, "bare-lookup", save_answer(place, "lookup", ours.url + LOOKUP), core=0),
    }
    cases = {}
    for name, server in (("bare", bare["status"]), ("ours", ours)):
        cases["status", name] = lambda server=server: read_status(server, identifiers, size(3, 1), seed=1)
    for name, server in (("bare", bare["lookup"]), ("ours", ours)):
        cases["lookup", name] = lambda server=server: look_up(server, size(3, 1))
    found = turns(size(5, 1), cases)
    titles = {"status": "status of a random order", "lookup": "lookup of a seller's name"}
    for case, title in titles.items():
        for key, unit, better, text in (RATE, PROCESSOR, P99):
            compared = {"limit": found[case, "bare"][key], "limit_name": "bare hyper"}
            rows.add(f"{case} {key}", f"{title}: {text}", unit, better, found[case, "ours"][key], **compared)


def growth(rows, size):
    with Place() as place:
        of_orders(place, rows, size)
    with Place() as place:
        of_processes(place, rows, size)


def of_orders(place, rows, size):
    counts = size(GROWTH, (100, 1_000))
    folders = {count: filled(count) for count in counts}
    servers = {count: start_ours(place, f"ours-{count}", data=folders[count] / "data", core=0) for count in counts}
    cases = {}
    for count, server in servers.items():
        cases["status", str(count)] = lambda server=server, count=count: read_status(
            server, folders[count] / "identifiers", size(3, 1), seed=1
        )
    for count, server in servers.items():
        cases["lookup", str(count)] = lambda server=server: look_up(server, size(3, 1))
    for count, server in servers.items():
        cases["challenge", str(count)] = lambda server=server: merchants.challenge(
            server, "x402", size(3, 1), prepared=size(merchants.PREPARED, 1_000), core=1
        )
    found = turns(size(5, 1), cases)
    few = counts[0]
    titles = {
        "status": "status of a random order",
        "lookup": "lookup of a seller's name",
        "challenge": "x402 challenge",
    }
    for case, title in titles.items():
        for key, unit, better, text in (RATE, P99):
            for count in counts[1:]:
                compared = {"peer": found[case, str(few)][key], "peer_name": f"itself with {few:,} orders"}
                most = ("ratio", "<=", P99_MOST) if (case, key) == ("status", "p99") else None
                rows.add(
                    f"{case} {key} {count}",
                    f"{title}, {count:,} orders: {text}",
                    unit,
                    better,
                    found[case, str(count)][key],
                    required=most,
                    **compared,
                )
    for count in counts[1:]:
        compared = {"peer": 1_000 * servers[few].first_answer, "peer_name": f"itself with {few:,} orders"}
        rows.add(
            f"start {count}",
            f"time to the first answer, {count:,} orders",
            "ms",
            "less",
            1_000 * servers[count].first_answer,
            required=("ours", "<=", FIRST_ANSWER_MS_MOST),
            **compared,
        )


def of_processes(place, rows, size):
    """1, 2 and 4 processes on one PostgreSQL with one settler account; the nodes and payers share the cores."""
    program = pathlib.Path(os.environ["NODES"]) / "settlement/main.mjs"
    figures = place.folder / "rates.json"
    environment = {**os.environ, "RUNS": str(size(5, 1)), "FIGURES": str(figures)}
    command = [
        "node",
        "--disable-warning=ExperimentalWarning",
        program,
        BUILT / "pennyblack",
        BUILT / "examples" / "provider",
        "rates",
        size(800, 32),
    ]
    print("  1, 2 and 4 processes on PostgreSQL", flush=True)
    show(command, environment)
    medians = json.loads(figures.read_text())
    for found in medians:
        share, number = found["share"], found["processes"]
        if number == 1:
            one = found["rate"]
            continue
        which = f"{number} processes on PostgreSQL" + (f", {share} of a core each" if share else "")
        rows.add(
            f"{'own' if share else 'shared'} processes {number}",
            f"{which}: paid cards a second",
            "cards/s",
            "more",
            found["rate"],
            peer=one,
            peer_name="one process",
            required=("ratio", ">=", OWN_LEAST if share else SHARED_LEAST),
        )
