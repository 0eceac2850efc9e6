"""Documents: requests a second, compared with nginx and with a bare hyper server."""

from load import PROCESSOR, RATE, measured, turns, wrk
from place import Place, Request
from servers import save_answer, start_bare, start_nginx, start_ours

CONNECTIONS = 64
PATHS = {"openapi": "/openapi.json", "home": "/"}
FILES = {"openapi": "openapi.json", "home": "index.html"}
# Below this our own connection handling would be too slow (design of the web layer).
OF_BARE_LEAST = 0.85


def start_servers(place, core=None):
    """All servers with the same bodies: ours, a bare one for each document, and nginx."""
    ours = start_ours(place, core=core, ready=Request(PATHS["openapi"]))
    answers = {name: save_answer(place, name, ours.url + path) for name, path in PATHS.items()}
    bare = {name: start_bare(place, f"bare-{name}", answer, core=core) for name, answer in answers.items()}
    nginx = start_nginx(place, {FILES[name]: answer for name, answer in answers.items()}, core=core)
    return ours, bare, nginx


def documents(rows, size):
    with Place() as place:
        found = measure(size, *start_servers(place))
    for name, path in PATHS.items():
        for key, unit, better, text in (RATE, PROCESSOR):
            rows.add(
                f"{name} {key}",
                f"GET {path}: {text}",
                unit,
                better,
                found[name, "ours"][key],
                peer=found[name, "nginx"][key],
                peer_name="nginx",
                limit=found[name, "bare"][key],
                limit_name="bare hyper",
                required=("of_limit", ">=", OF_BARE_LEAST) if key == "rate" else None,
            )


def measure(size, ours, bare, nginx):
    load = lambda server, path: (
        lambda: measured(server, lambda: wrk(server.url + path, seconds=size(3, 1), connections=CONNECTIONS, threads=2))
    )
    cases = {}
    for name, path in PATHS.items():
        for who, server in (("bare", bare[name]), ("ours", ours), ("nginx", nginx)):
            cases[name, who] = load(server, path)
    return turns(size(5, 1), cases)
