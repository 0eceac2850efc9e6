"""The median wait of one caller without other load: documents, MCP, status, challenges and paid cards."""

import documents
import mcp
import merchants
from load import turns, wrk
from merchants import PEER_NAMES, RAILS, Chains
from payments import NODE
from place import Place


def latency(rows, size):
    with Place() as place:
        of_documents(place, rows, size)
    with Place() as place:
        of_mcp(place, rows, size)
    with Chains() as chains:
        for rail in RAILS:
            with Place() as place:
                of_payments(place, chains, rail, rows, size)


def add(rows, key, measure, ours, peer, peer_name, limit=None, limit_name=None, required=None):
    compared = {"peer": peer, "peer_name": peer_name, "limit": limit, "limit_name": limit_name}
    rows.add(key, measure, "ms", "less", ours, required=required, **compared)


def of_documents(place, rows, size):
    ours, bare, nginx = documents.start_servers(place)
    ask = lambda server: lambda: {"p50": wrk(server.url + "/openapi.json", seconds=size(2, 1), connections=1).p50}
    found = turns(
        size(5, 1),
        {
            ("document", "bare"): ask(bare["openapi"]),
            ("document", "ours"): ask(ours),
            ("document", "nginx"): ask(nginx),
        },
    )
    figure = lambda name: found["document", name]["p50"]
    add(rows, "document", "GET /openapi.json", figure("ours"), figure("nginx"), "nginx", figure("bare"), "bare hyper")


def of_mcp(place, rows, size):
    servers = mcp.start_servers(place, core=None)
    ask = lambda server: lambda: {"p50": mcp.load(place, server, "product", size(2, 1), connections=1)["p50"]}
    found = turns(size(5, 1), {("mcp", name): ask(server) for name, server in servers.items()})
    for name, peer_name in mcp.NAMES.items():
        add(
            rows, f"mcp {name}", mcp.CASES["product"], found["mcp", "ours"]["p50"], found["mcp", name]["p50"], peer_name
        )


def of_payments(place, chains, rail, rows, size):
    servers = merchants.start_servers(place, chains, rail)
    merchants.warm_up(servers, rail, size)
    ask = lambda server: lambda: {"p50": merchants.challenge(server, rail, 1, connections=1)["p50"]}
    found = turns(size(10, 1), {("challenge", name): ask(server) for name, server in servers.items()})
    figure = lambda name: found["challenge", name]["p50"]
    add(
        rows,
        f"challenge {rail}",
        f"{rail}: a challenge",
        figure("ours"),
        figure("peer"),
        PEER_NAMES[rail],
        figure("bare"),
        "bare hyper",
    )
    cards = size(60, 4)
    pay = lambda server: lambda: {"median": merchants.pay(place, chains, server, rail, cards, 1)["median"]}
    node = lambda: {"median": 1_000 / merchants.node_alone(chains, cards, 1)["rate"]}
    found = turns(
        size(3, 1),
        {("paid", "peer"): pay(servers["peer"]), ("paid", "ours"): pay(servers["ours"]), ("paid", NODE): node},
    )
    figure = lambda name: found["paid", name]["median"]
    no_longer = ("ratio", "<=", 1)
    add(
        rows,
        f"paid {rail}",
        f"{rail}: a paid card",
        figure("ours"),
        figure("peer"),
        PEER_NAMES[rail],
        figure(NODE),
        NODE,
        no_longer,
    )
