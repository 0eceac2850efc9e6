"""Challenges and paid cards on both rails, compared with the official merchants."""

import merchants
from load import PROCESSOR, RATE, turns
from merchants import PEER_NAMES, RAILS, Chains
from place import Place

CHALLENGES_LEAST = 20
PAID_LEAST = 5
# Callers at once, and how many cards they pay for in a turn.
PAID = {8: 100, 32: 200}
# Our settler sends what is due in one request, so the node's own rate is that of batches.
BATCH = 32
NODE = "the node alone"


def challenges(rows, size):
    with Chains() as chains:
        for rail in RAILS:
            with Place() as place:
                challenges_by(place, chains, rail, rows, size)


def challenges_by(place, chains, rail, rows, size):
    servers = merchants.start_servers(place, chains, rail)
    merchants.warm_up(servers, rail, size)
    turn = lambda server: lambda: merchants.challenge(server, rail, 1, prepared=size(merchants.PREPARED, 1_000))
    found = turns(size(15, 1), {(rail, name): turn(server) for name, server in servers.items()})
    for key, unit, better, text in (RATE, PROCESSOR):
        rows.add(
            f"{rail} {key}",
            f"{rail} challenge: {text}",
            unit,
            better,
            found[rail, "ours"][key],
            peer=found[rail, "peer"][key],
            peer_name=PEER_NAMES[rail],
            limit=found[rail, "bare"][key],
            limit_name="bare hyper",
            required=("ratio", ">=", CHALLENGES_LEAST) if key == "rate" else None,
        )


def paid(rows, size):
    with Chains() as chains:
        for rail in RAILS:
            with Place() as place:
                paid_by(place, chains, rail, rows, size)


def paid_by(place, chains, rail, rows, size):
    ours, peer = chains.start_ours(place), chains.start_merchant(place, rail)
    cards = {callers: size(full, callers) for callers, full in PAID.items()}
    turn = lambda server, callers: lambda: merchants.pay(place, chains, server, rail, cards[callers], callers)
    cases = {}
    for callers in PAID:
        cases[rail, "peer", str(callers)] = turn(peer, callers)
        cases[rail, "ours", str(callers)] = turn(ours, callers)
    cases[rail, NODE] = lambda: merchants.node_alone(chains, size(200, 32), BATCH)
    found = turns(size(3, 1), cases)
    for callers in PAID:
        own, other = found[rail, "ours", str(callers)], found[rail, "peer", str(callers)]
        compared = lambda key: {"ours": own[key], "peer": other[key], "peer_name": PEER_NAMES[rail]}
        limits = {"limit": found[rail, NODE]["rate"], "limit_name": NODE}
        least = ("ratio", ">=", PAID_LEAST) if callers == max(PAID) else None
        rows.add(
            f"{rail} rate {callers}",
            f"{rail}, {callers} callers: cards a second",
            "cards/s",
            "more",
            required=least,
            note=f"refused {other['refused']:.0f} of {cards[callers]}" if other["refused"] else None,
            **compared("rate"),
            **limits,
        )
        rows.add(
            f"{rail} processor {callers}",
            f"{rail}, {callers} callers: processor time of a card",
            "ms",
            "less",
            **compared("processor"),
        )
