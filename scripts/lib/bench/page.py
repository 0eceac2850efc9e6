"""Writes docs/speed.md from the figures in target/bench and the texts in speed.toml."""

import fnmatch
import json
import pathlib
import tomllib

from rows import FOLDER, ROOT, is_behind, is_far_from_limit

PAGE = ROOT / "docs" / "speed.md"
TEXTS = pathlib.Path(__file__).with_name("speed.toml")
HEADER = (
    "| measure | unit | ours | peer | ratio | limit | of the limit | required |\n|---|---|---:|---:|---:|---:|---:|---|"
)
UNEXPLAINED = "**No reason is known yet.**"


def number(value):
    if value is None:
        return ""
    digits = 0 if abs(value) >= 100 or value == int(value) else 1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 3
    return f"{value:,.{digits}f}"


def ratio(value):
    return (
        "" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    )


def marked(value, reason):
    """A ratio, in bold with the number of its reason if it needs one."""
    return f"**{ratio(value)}** ({reason})" if reason else ratio(value)


def required(row):
    if "required" not in row:
        return ""
    wanted = row["required"]
    figure = {"ratio": "ratio", "of_limit": "of the limit", "ours": row["unit"]}[wanted["figure"]]
    sign = "≥" if wanted["comparison"] == ">=" else "≤"
    return f"{figure} {sign} {wanted['bound']:g}: {'met' if row['met'] else '**missed**'}"


def table(rows, reasons):
    lines = [HEADER]
    for row in rows:
        named = lambda value, name: f"{name}: {number(value)}" if value is not None else ""
        cells = [
            row["measure"],
            f"{row['unit']} {'↓' if row['better'] == 'less' else ''}".strip(),
            number(row["ours"]),
            named(row["peer"], row["peer_name"]) + (f" ({row['note']})" if "note" in row else ""),
            marked(row["ratio"], reasons.number(row, "peer")),
            named(row["limit"], row["limit_name"]),
            marked(row["of_limit"], reasons.number(row, "limit")),
            required(row),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


class Reasons:
    """Why we are behind or far from the limit, numbered; rows with the same reason have the same number."""

    def __init__(self, texts):
        self.texts, self.used, self.unexplained = texts, [], []

    def number(self, row, kind):
        """The number of the reason, if one is needed: `kind` is "peer" or "limit"."""
        if not (is_behind(row) if kind == "peer" else is_far_from_limit(row)):
            return None
        key = f"{row['key']} {kind}"
        text = next((text for pattern, text in self.texts.items() if fnmatch.fnmatch(key, pattern)), None)
        if text is None:
            self.unexplained.append(key)
            text = UNEXPLAINED
        if text not in self.used:
            self.used.append(text)
        return self.used.index(text) + 1

    def listed(self):
        return "\n".join(f"{place}. {text}" for place, text in enumerate(self.used, 1))


def runs(found):
    lines = ["| measurement | size | commit | date | load before |", "|---|---|---|---|---:|"]
    for name, content in found.items():
        row = content["rows"][0]
        size = "**quick**" if content["quick"] else "full"
        load = content["machine"]["load_before"]
        lines.append(f"| [{name}](#{name}) | {size} | {row['commit']} | {row['date']} | {load:.2f} |")
    return "\n".join(lines)


def machines(found):
    """One line for each machine that figures come from."""
    described = {}
    for name, content in found.items():
        of = content["machine"]
        text = f"{of['cores']} cores of {of['processor']}, {of['memory_gb']} GB of memory, Linux {of['kernel']}"
        described.setdefault(text, []).append(name)
    if len(described) == 1:
        return f"Machine: {next(iter(described))}."
    return "\n".join(f"* {', '.join(names)}: {text}." for text, names in described.items())


def verdict(found):
    judged = [(name, row) for name, content in found.items() for row in content["rows"] if "required" in row]
    missed = [f"{name}: {row['measure']}" for name, row in judged if not row["met"]]
    text = f"Requirements: {len(judged) - len(missed)} of {len(judged)} met."
    return text + ("\n" if missed else "") + "".join(f"\n* missed: {each}" for each in missed)


def write():
    """Writes the page; the answer is the keys of rows that need a reason and have none."""
    texts = tomllib.loads(TEXTS.read_text())
    kept = {name: FOLDER / f"{name}.json" for name in texts["measurements"]}
    found = {name: json.loads(file.read_text()) for name, file in kept.items() if file.exists()}
    parts, unexplained = [texts["opening"].strip()], []
    if any(content["quick"] for content in found.values()):
        parts.append(texts["quick"].strip())
    parts += [machines(found), runs(found), verdict(found), texts["method"].strip()]
    for name, content in found.items():
        of = texts["measurements"][name]
        parts += [f"## {name}", of["about"].strip()]
        if content["quick"]:
            parts.append("**Quick figures: they show that the measurement works, not how fast the service is.**")
        reasons = Reasons(of.get("reasons", {}))
        parts += [table(content["rows"], reasons), reasons.listed()]
        unexplained += [f"{name}: {key}" for key in reasons.unexplained]
    PAGE.write_text("\n\n".join(part for part in parts if part) + "\n")
    return unexplained
