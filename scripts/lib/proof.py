"""The campaigns of scripts/prove, their results, and the page docs/proof.md."""

import fcntl
import json
import os
import pathlib
import platform
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "docs" / "proof" / "results.json"
PAGE = ROOT / "docs" / "proof.md"
# What a campaign tests unless its entry names a source: the service without its tests and without the client.
SERVICE = [f"crates/{name}/src" for name in ("adapters", "content", "evm", "order", "pay", "sandbox", "server", "web")]
REQUIRED = {"shows", "figures", "command", "short", "minutes"}


def campaigns():
    """All entries of tests/*/campaign.toml, by name."""
    found = {}
    for file in sorted(ROOT.glob("tests/*/campaign.toml")):
        for name, entry in tomllib.loads(file.read_text()).items():
            missing = REQUIRED - entry.keys()
            if missing:
                raise SystemExit(f"{file}: {name} has no {', '.join(sorted(missing))}")
            if name in found:
                raise SystemExit(f"{file}: the campaign {name} exists twice")
            found[name] = entry
    return found


def goals():
    """What each figure demands, by its number."""
    return tomllib.loads((ROOT / "tests" / "figures.toml").read_text())


def machine():
    """Cores, processor and memory, as one line."""
    name = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                 if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores, {name}, {memory:.0f} GiB, Linux {platform.release().split('-')[0]}"


def read_results():
    return json.loads(RESULTS.read_text() or "{}") if RESULTS.exists() else {}


def keep_result(name, part, result):
    """Adds one result to those of the file, which another run may have changed, and writes the page."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with RESULTS.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        results = read_results()
        results.setdefault(name, {})[part] = result
        RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
        write_page(campaigns(), results)


def verdict(result):
    if not result:
        return "not run"
    return "passed" if result["passed"] else "FAILED"


def listing(all_campaigns, results, is_proved):
    def told(name, entry):
        result = results.get(name, {}).get("full")
        return verdict(result) + (f" at {result['commit']}" if result and not is_proved(entry, result) else "")

    rows = [(name, f"{entry['minutes']} min", told(name, entry), entry["shows"]) for name, entry in all_campaigns.items()]
    widths = [max((len(row[at]) for row in rows), default=0) for at in range(3)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)) + "  " + row[3] for row in rows)


def duration(seconds):
    return f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} min"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows])


def figure_rows(all_campaigns, results):
    for number, goal in goals().items():
        names = [name for name, entry in all_campaigns.items() if number in entry["figures"]]
        told = []
        for name in names:
            result = results.get(name, {}).get("full")
            told.append(f"`{name}` {verdict(result)}" + (f": {result['figures']}" if result else ""))
        yield number, goal, "<br>".join(told) or "no campaign"


def campaign_rows(all_campaigns, results):
    for name, entry in all_campaigns.items():
        result = results.get(name, {}).get("full")
        if result:
            yield f"`{name}`", entry["shows"], verdict(result), result["figures"], duration(result["seconds"]), result["commit"]
        else:
            yield f"`{name}`", entry["shows"], "not run", "", f"about {entry['minutes']} min", ""


def mistake_rows(all_campaigns, results):
    for name, entry in all_campaigns.items():
        result = results.get(name, {}).get("mistake")
        told = result["figures"].split(": ", 1)[-1] if result else ""
        state = ("caught" if result["passed"] else "NOT CAUGHT") if result else "not run"
        yield f"`{name}`", f"`{entry['mistake']}`" if "mistake" in entry else "none", state, told, result["commit"] if result else ""


INTRODUCTION = """# Proof

What the service withstands, how often it was tried, and with which result. `scripts/prove` runs the
campaigns and writes this page; do not edit it. Repeat one of them with `scripts/prove NAME`, or
all with `scripts/prove`. Each campaign prints its seed, and a failure prints the command that repeats it.
A result counts for the source that its campaign tests, as it was in its commit; changed comments and unit tests do not
matter.

[Defects that the campaigns found](proof/defects.md) · [mutants that survive](proof/surviving-mutants.md) ·
[how fast the service is](speed.md) · the last soak: [memory](proof/soak-memory.svg),
[file handles](proof/soak-handles.svg), [disk](proof/soak-disk.svg), [backlog](proof/soak-backlog.svg)
"""


def write_page(all_campaigns, results):
    machines = sorted({part["machine"] for entry in results.values() for part in entry.values()})
    commits = sorted({part["commit"] for entry in results.values() for part in entry.values()})
    parts = [
        INTRODUCTION,
        f"Machine: {'; '.join(machines) or 'none yet'}. Commits: {', '.join(commits) or 'none yet'}.\n",
        "## The figures\n",
        table(("", "goal", "result"), figure_rows(all_campaigns, results)) + "\n",
        "## All campaigns\n",
        table(("campaign", "what it shows", "result", "figures", "time", "commit"), campaign_rows(all_campaigns, results)) + "\n",
        "## A planted mistake for each campaign\n",
        "The mistake is planted in the source, the short version of the campaign runs, and must fail.\n",
        table(("campaign", "mistake", "result", "what failed", "commit"), mistake_rows(all_campaigns, results)) + "\n",
    ]
    PAGE.write_text("\n".join(parts))
