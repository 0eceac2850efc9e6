"""Our service and the official merchants on one chain, and how they are asked and paid."""

import itertools
import json
import os
import pathlib
import subprocess

from load import HERE, measured, wrk
from place import BenchError, Request, free_port, run
from servers import CARD, JSON, save_answer, start_bare, start_ours

RAILS = {"x402": "express", "mpp": "mppx"}
PEER_NAMES = {"x402": "@x402/express", "mpp": "mppx"}
CONNECTIONS = 32
# More challenges than the fastest server answers in a second.
PREPARED = 150_000
# Node is slow until it has compiled hot code; the cost falls for thousands of answers.
WARM = 10_000
SETTINGS = """
# Our rate budget for the provider must not be the limit.
[provider]
rate_times = 10000
[payments]
kind = "settler"
rpc = ["base={base}", "polygon={polygon}", "arbitrum={arbitrum}"]
[sandbox]
mixed = "yes"
"""

turn_numbers = itertools.count()


def endpoint(server, rail):
    return f"{server.url}/api/{rail}/postcards"


def unpaid(rail):
    """A request that is answered with a challenge."""
    return Request(f"/api/{rail}/postcards", 402, CARD, JSON)


class Chains:
    """Three EVM nodes; they end with their standard input."""

    def __enter__(self):
        program = pathlib.Path(os.environ["NODES"]) / "chain/start_nodes.mjs"
        self.process = subprocess.Popen(["node", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise BenchError("the EVM nodes did not start")
        self.told = json.loads(line)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def start_ours(self, place, name="ours", key="settler", ready=None, **options):
        environment = {"PENNYBLACK_SETTLER_KEY": self.told[key], **options.pop("environment", {})}
        settings = SETTINGS.format(**self.told)
        return start_ours(
            place, name, settings=settings, environment=environment, ready=ready or unpaid("x402"), **options
        )

    def start_merchant(self, place, rail):
        port, name = free_port(), RAILS[rail]
        command = ["node", program(f"{name}.mjs"), port, self.told["base"], self.told["other"]]
        return place.start(name, command, port, ready=unpaid(rail))


def program(name):
    return pathlib.Path(os.environ["MERCHANTS"]) / name


def start_servers(place, chains, rail):
    """Ours, the official merchant of the rail, and a bare server that returns the bytes of our challenge."""
    ours = chains.start_ours(place, ready=unpaid(rail))
    answer = save_answer(place, f"challenge-{rail}", endpoint(ours, rail), unpaid(rail))
    bare = start_bare(place, f"bare-{rail}", answer, status=402)
    return {"peer": chains.start_merchant(place, rail), "ours": ours, "bare": bare}


def challenge(server, rail, seconds, connections=CONNECTIONS, prepared=0, core=None):
    """One turn of distinct unpaid requests, of which some are written before the turn."""
    arguments = (f"{next(turn_numbers)}-{os.getpid()}", str(prepared))
    ask = lambda: wrk(
        endpoint(server, rail),
        seconds=seconds,
        connections=connections,
        script=HERE / "unpaid.lua",
        arguments=arguments,
        status=402,
        core=core,
    )
    return measured(server, ask)


def warm_up(servers, rail, size):
    for server in servers.values():
        left = size(WARM, 50)
        while left > 0:
            left -= challenge(server, rail, 1, prepared=0)["rate"]


def pay(place, chains, server, rail, cards, callers, identifiers=None):
    """One turn of paid cards, signed in advance by the official client. `identifiers` gets the ids of our orders."""
    signed = place.folder / "signed"
    run(["node", program("payers.mjs"), rail, endpoint(server, rail), chains.told["payer"], cards, signed])
    begun = server.processor_seconds()
    said = run(["node", program("spend.mjs"), endpoint(server, rail), callers, signed]).split()
    used = server.processor_seconds() - begun
    if identifiers:
        with identifiers.open("a") as file:
            file.writelines(line.split("\t")[3] + "\n" for line in signed.read_text().splitlines())
    paid, refused = int(said[0]), int(said[1])
    if paid == 0 or (refused and not server.name.startswith(tuple(RAILS.values()))):
        raise BenchError(f"{server.name} refused {refused} of {cards} payments by {rail}")
    return {
        "rate": paid / float(said[2]),
        "median": float(said[3]),
        "processor": 1_000 * used / cards,
        "refused": refused,
    }


def node_alone(chains, transfers, batch):
    """Pre-signed transfers a second by the node without a merchant: the limit of a merchant that sends its own."""
    said = run(["node", program("presigned.mjs"), chains.told["base"], chains.told["payer"], transfers, batch]).split()
    return {"rate": int(said[0]) / float(said[1])}
