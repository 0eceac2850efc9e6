"""Runs the chosen measurements, keeps their figures in target/bench, and writes docs/speed.md from all of them."""

import argparse
import signal
import sys
import time

import page
from documents import documents
from latency import latency
from mcp import mcp
from memory import memory
from orders import growth, status
from payments import challenges, paid
from place import BenchError
from rows import Rows
from start import start
from stores import stores

MEASUREMENTS = {
    each.__name__: each for each in (documents, mcp, challenges, paid, status, stores, latency, start, memory, growth)
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    # Servers are stopped when the program is.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    missed = []
    for name in options.names:
        begun = time.monotonic()
        print(f"\n== {name}{', quick' if options.quick else ''}", flush=True)
        rows = Rows(name, options.quick)
        try:
            MEASUREMENTS[name](rows, lambda full, quick: quick if options.quick else full)
        except BenchError as error:
            sys.exit(f"\nFAILED: {name}: {error}")
        rows.write()
        missed += rows.missed()
        print(f"{name} took {time.monotonic() - begun:.0f} s", flush=True)
    unexplained = page.write()
    for key in unexplained:
        print(f"No reason in scripts/lib/bench/speed.toml for {key}", file=sys.stderr)
    for measure in missed:
        print(f"MISSED  {measure}", file=sys.stderr)
    # Quick figures are too noisy to be judged.
    return 1 if (missed or unexplained) and not options.quick else 0


if __name__ == "__main__":
    sys.exit(main())
