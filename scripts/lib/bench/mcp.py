"""MCP: requests and processor time, compared with servers on the official SDKs for Rust and TypeScript."""

import os
import pathlib

from load import measured, turns, wrk
from place import Place, Request, free_port, run
from rows import ROOT
from servers import JSON, start_ours

CONNECTIONS = 32
CASES = {
    "list": "tools/list",
    "product": "tools/call get_product",
    "search": "tools/call search_support_faq",
    "modern": "tools/call get_product, 2026-07-28",
}
# The SDKs' servers return recorded answers and do not search, so there is no requirement for the search.
PROCESSOR_MOST = {"list": 0.25, "product": 0.5, "modern": 0.5}
RATE_LEAST = {"list": 20, "product": 20, "modern": 20}
MEMORY_MB_MOST = 20
NAMES = {"rmcp": "rmcp", "typescript": "TypeScript SDK"}
LIST = Request(
    "/mcp",
    body='{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}',
    headers={**JSON, "accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"},
)


def start_servers(place, core=0):
    """Ours and both peers, which return our recorded answers. Fails if an answer differs."""
    peers = pathlib.Path(os.environ["SITE"]) / "peers"
    plan = ROOT / "tests/site/clients/plan.json"
    answers = lambda *words: run(["node", peers / "answers.mjs", words[0], plan, *words[1:]])
    servers = {"ours": start_ours(place, core=core, ready=LIST)}
    answers("record", servers["ours"].url, place.folder)
    recorded = place.folder / "recorded.json"
    port = free_port()
    rmcp = [ROOT / "target/peers/release/server", f"127.0.0.1:{port}", recorded]
    servers["rmcp"] = place.start("rmcp", rmcp, port, ready=LIST, core=core)
    port = free_port()
    typescript = ["node", peers / "typescript.mjs", port, recorded]
    servers["typescript"] = place.start("typescript", typescript, port, ready=LIST, core=core)
    for name in NAMES:
        answers("compare", servers["ours"].url, servers[name].url)
    return servers


def load(place, server, case, seconds, connections=CONNECTIONS):
    """One turn; the servers have core 0, wrk has core 1."""
    script = place.folder / f"{case}.lua"
    return measured(
        server, lambda: wrk(server.url + "/mcp", seconds=seconds, connections=connections, script=script, core=1)
    )


def mcp(rows, size):
    with Place() as place:
        measure(place, rows, size, start_servers(place))


def measure(place, rows, size, servers):
    rest = servers["ours"].memory_mb()
    # From here on the peak is that under load, not at start.
    servers["ours"].forget_peak()
    turn = lambda name, case: lambda: load(place, servers[name], case, size(2, 1))
    found = turns(size(5, 1), {(case, name): turn(name, case) for case in CASES for name in servers})
    for case, title in CASES.items():
        for name, peer_name in NAMES.items():
            figure = lambda key: {
                "ours": found[case, "ours"][key],
                "peer": found[case, name][key],
                "peer_name": peer_name,
            }
            most = ("ratio", "<=", PROCESSOR_MOST[case]) if name == "rmcp" and case in PROCESSOR_MOST else None
            least = ("ratio", ">=", RATE_LEAST[case]) if name == "typescript" and case in RATE_LEAST else None
            rows.add(
                f"{case} rate {name}",
                f"{title}: requests a second",
                "requests/s",
                "more",
                required=least,
                **figure("rate"),
            )
            rows.add(
                f"{case} processor {name}",
                f"{title}: processor time of a request",
                "µs",
                "less",
                required=most,
                **figure("processor"),
            )
            rows.add(f"{case} p99 {name}", f"{title}: p99 of 32 callers", "ms", "less", **figure("p99"))
    more = servers["ours"].peak_mb() - rest
    rows.add(
        "memory under load",
        "memory under this load beyond that at rest",
        "MB",
        "less",
        more,
        required=("ours", "<=", MEMORY_MB_MOST),
    )
