"""The figures of a measurement, and the file target/bench/NAME.json that keeps them."""

import datetime
import json
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDER = ROOT / "target" / "bench"
# A figure further than this from the limit of the machine needs a reason.
NEAR_LIMIT = 0.8
# A peer that is ahead by less than this is not called ahead.
NOISE = 0.03


def commit():
    git = lambda *words: subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    # The page itself is written by a measurement.
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/speed.md")
    return git("rev-parse", "--short=12", "HEAD") + (" with changes" if changed else "")


def machine():
    processor = re.search(r"model name\s*: (.+)", pathlib.Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text())
    return {
        "cores": os.cpu_count(),
        "processor": processor[1] if processor else platform.machine(),
        "memory_gb": round(int(memory[1]) / 2**20, 1),
        "kernel": platform.release(),
        "load_before": round(os.getloadavg()[0], 2),
    }


class Rows:
    """The rows of one measurement. `better` is "more" or "less"; `key` is what a reason is filed under."""

    def __init__(self, name, quick):
        self.name, self.quick, self.rows = name, quick, []
        self.machine, self.commit = machine(), commit()

    def add(
        self,
        key,
        measure,
        unit,
        better,
        ours,
        *,
        peer=None,
        peer_name=None,
        note=None,
        limit=None,
        limit_name=None,
        required=None,
    ):
        """`note` is about the peer; `required` is a condition on "ratio", "of_limit" or "ours": ("ratio", ">=", 20)."""
        row = {
            "key": key,
            "measure": measure,
            "unit": unit,
            "better": better,
            "ours": ours,
            "peer": peer,
            "peer_name": peer_name,
            "ratio": ours / peer if peer else None,
            "limit": limit,
            "limit_name": limit_name,
            "of_limit": ours / limit if limit else None,
            "commit": self.commit,
            "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
            "quick": self.quick,
        }
        if note:
            row["note"] = note
        if required:
            figure, comparison, bound = required
            row["required"] = {"figure": figure, "comparison": comparison, "bound": bound}
            row["met"] = row[figure] >= bound if comparison == ">=" else row[figure] <= bound
        self.rows.append(row)

    def write(self):
        FOLDER.mkdir(parents=True, exist_ok=True)
        content = {"name": self.name, "quick": self.quick, "machine": self.machine, "rows": self.rows}
        (FOLDER / f"{self.name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def missed(self):
        return [f"{self.name}: {row['measure']}" for row in self.rows if not row.get("met", True)]


def is_behind(row):
    """Whether the peer is better by more than noise."""
    if row["ratio"] is None:
        return False
    return row["ratio"] < 1 - NOISE if row["better"] == "more" else row["ratio"] > 1 + NOISE


def is_far_from_limit(row):
    if row["of_limit"] is None:
        return False
    return row["of_limit"] < NEAR_LIMIT if row["better"] == "more" else row["of_limit"] * NEAR_LIMIT > 1
