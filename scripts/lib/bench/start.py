"""Cold start: the time from the start of a program to its first answer, compared with all peers."""

import documents
import mcp
import merchants
from load import turns
from merchants import PEER_NAMES, RAILS, Chains
from place import Place


def first_answers(start_servers):
    """A turn that starts all servers of a comparison one after the other, and stops them."""

    def turn():
        with Place() as place:
            return {name: 1_000 * server.first_answer for name, server in start_servers(place).items()}

    return turn


def start_documents(place):
    ours, bare, nginx = documents.start_servers(place)
    return {"ours": ours, "bare": bare["openapi"], "nginx": nginx}


def start(rows, size):
    with Chains() as chains:
        cases = {
            ("document",): first_answers(start_documents),
            ("mcp",): first_answers(lambda place: mcp.start_servers(place, core=None)),
        }
        for rail in RAILS:
            cases[rail,] = first_answers(lambda place, rail=rail: merchants.start_servers(place, chains, rail))
        found = turns(size(7, 1), cases)
    add = lambda key, measure, case, peer, peer_name, **limit: rows.add(
        key, measure, "ms", "less", found[case,]["ours"], peer=found[case,][peer], peer_name=peer_name, **limit
    )
    bare = {"limit": found["document",]["bare"], "limit_name": "bare hyper"}
    add("document", "first document", "document", "nginx", "nginx", **bare)
    for name, peer_name in mcp.NAMES.items():
        add(f"mcp {name}", "first answer to tools/list", "mcp", name, peer_name)
    for rail in RAILS:
        add(f"challenge {rail}", f"{rail}: first challenge", rail, "peer", PEER_NAMES[rail])
