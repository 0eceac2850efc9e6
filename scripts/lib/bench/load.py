"""Load by wrk in short turns that alternate between the servers, and the medians of the turns."""

import collections
import pathlib
import re
import statistics

from place import BenchError, pinned, run

HERE = pathlib.Path(__file__).parent
MILLISECONDS = {"us": 0.001, "ms": 1, "s": 1_000, "m": 60_000}

# Key of a figure, unit, which is better, and its words.
RATE = ("rate", "requests/s", "more", "requests a second")
PROCESSOR = ("processor", "µs", "less", "processor time of a request")
P99 = ("p99", "ms", "less", "p99 of 32 callers")

Load = collections.namedtuple("Load", "requests rate p50 p99")


def wrk(url, *, seconds, connections, threads=1, script=None, arguments=(), core=None, status=200, environment=None):
    """One turn. Every answer must have the status: 200, or 402 for challenges."""
    # On a very busy machine a short turn may end before the first answer.
    for duration in (seconds, 10 * seconds):
        command = ["wrk", f"-t{threads}", f"-c{connections}", f"-d{duration}s", "--timeout", "30s", "--latency"]
        command += [*(["-s", script] if script else []), url, *(["--", *arguments] if arguments else [])]
        said = run(pinned(core, command), env=environment)
        if not re.search(r"\b0 requests in", said):
            break
    return read_load(url, said, status)


def read_load(url, said, status):
    """The figures in the output of wrk."""
    found = lambda pattern: re.search(pattern, said)
    requests = int(found(r"(\d+) requests in")[1])
    failed = found(r"Non-2xx or 3xx responses: (\d+)")
    wrong = int(failed[1]) if failed else 0
    if requests == 0 or found("Socket errors") or wrong != (requests if status == 402 else 0):
        raise BenchError(f"{url} did not answer every request with {status}:\n{said}")
    latency = lambda share: (
        float(found(rf"{share}%\s+([\d.]+)")[1]) * MILLISECONDS[found(rf"{share}%\s+[\d.]+([a-z]+)")[1]]
    )
    return Load(requests, float(found(r"Requests/sec:\s+([\d.]+)")[1]), latency(50), latency(99))


def measured(server, act):
    """A turn's figures, with the server's processor time for each request in microseconds."""
    begun = server.processor_seconds()
    load = act()
    used = (server.processor_seconds() - begun) * 1e6 / load.requests
    return {"rate": load.rate, "p50": load.p50, "p99": load.p99, "processor": used}


def turns(rounds, cases):
    """Medians of the figures of each case. All cases take their turn in each round, so that other load meets all."""
    figures = {case: collections.defaultdict(list) for case in cases}
    for number in range(1, rounds + 1):
        for case, act in cases.items():
            turn = act()
            for figure, value in turn.items():
                figures[case][figure].append(value)
            shown = ", ".join(f"{figure} {value:,.1f}" for figure, value in turn.items())
            print(f"  round {number} of {rounds}: {' '.join(case)}: {shown}", flush=True)
    return {
        case: {figure: statistics.median(values) for figure, values in found.items()} for case, found in figures.items()
    }
