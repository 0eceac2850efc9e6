"""Runs cargo-mutants on a copy of the workspace, and compares the survivors with those assessed."""

import argparse
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ASSESSED = ROOT / "docs" / "proof" / "surviving-mutants.md"
PROGRESS_SECONDS = 10
# Code that only tests run.
EXCLUDED = ["crates/order/src/testing/**", "**/tests/**", "**/tests.rs", "**/fixture.rs"]
# The tests that walk through thousands of histories. Most mutants fail a quick test first, so the
# slow ones run in a second pass, for the survivors only.
SLOW = {
    "order": ["tests::walk::", "testing::simulation::"],
    "pay": [],
}
OUTCOMES = ["caught", "missed", "timeout", "unviable"]


def files(*folders):
    for folder in folders:
        yield from (path for path in sorted((ROOT / folder).rglob("*")) if path.is_file())


def lay_out(copy):
    """Copies what cargo reads. What is unchanged keeps its time, so that it is not compiled again."""
    single = [ROOT / name for name in ("Cargo.toml", "Cargo.lock", "clippy.toml")]
    sources = {path.relative_to(ROOT): path for path in [*files("crates", "content"), *single]}
    for path in [path for path in copy.rglob("*") if path.is_file()]:
        if path.relative_to(copy) not in sources:
            path.unlink()
    for name, source in sources.items():
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != source.read_bytes():
            shutil.copyfile(source, target)


def stamp(package):
    """What the outcomes depend on: the crate and those below it."""
    below = {"order": ["order"], "pay": ["pay", "order", "evm"]}[package]
    digest = hashlib.sha256()
    for path in files(*(f"crates/{name}" for name in below)):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def command(package, part, results, slow):
    words = ["cargo", "mutants", "--in-place", "--package", package, "--test-tool", "cargo",
             "--baseline", "skip", "--timeout", "300", "--build-timeout", "900", "--iterate",
             "--no-shuffle", "--caught", "--unviable", "--colors", "never", "--output", str(results)]
    for pattern in EXCLUDED:
        words += ["--exclude", pattern]
    if part and re.fullmatch(r"\d+/\d+", part):
        first, of = part.split("/")
        words += ["--shard", f"{int(first) - 1}/{of}"]
    elif part:
        name = part.removesuffix(".rs")
        words += ["--file", f"crates/{package}/src/{name}.rs", "--file", f"crates/{package}/src/{name}/**"]
    words += ["--", "--lib"]
    skipped = [] if slow else SLOW[package]
    if skipped:
        words += ["--"] + [word for name in skipped for word in ("--skip", name)]
    return words


def names(results, outcome):
    path = results / "mutants.out" / f"{outcome}.txt"
    return path.read_text().split("\n")[:-1] if path.exists() else []


def run(words, copy, log):
    # What other crates are compiled to is the same for the copy.
    environment = {**os.environ, "CARGO_TARGET_DIR": str(copy.parent.parent)}
    with log.open("a") as out:
        process = subprocess.Popen(words, cwd=copy, env=environment, stdout=out, stderr=out)
        while process.poll() is None:
            time.sleep(PROGRESS_SECONDS)
            print(log.read_text().rstrip().rsplit("\n", 1)[-1][:150], flush=True)
    # 0: all caught, 2: survivors, 3: a timeout; anything else is a fault of the tool.
    if process.returncode not in (0, 2, 3):
        sys.exit(f"cargo mutants ended with {process.returncode}; see {log}")


def place(name):
    """The name of a mutant without its line, which changes with every edit above it."""
    return re.sub(r":\d+:\d+:", ":", name, count=1)


def assessed():
    text = ASSESSED.read_text() if ASSESSED.exists() else ""
    return set(re.findall(r"^\* `([^`]+)`", text, flags=re.MULTILINE))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("package", choices=sorted(SLOW))
    parser.add_argument("part", nargs="?")
    arguments = parser.parse_args()
    package, part = arguments.package, arguments.part
    copy = arguments.tools / "tree"
    results = arguments.tools / "results" / f"{package}-{(part or 'all').replace('/', '-')}"
    copy.mkdir(parents=True, exist_ok=True)
    results.mkdir(parents=True, exist_ok=True)
    known = results / "stamp"
    if not known.exists() or known.read_text() != stamp(package):
        shutil.rmtree(results)
        results.mkdir()
        known.write_text(stamp(package))
    lay_out(copy)
    log = results / "log"
    for slow in [False, True] if SLOW[package] else [True]:
        run(command(package, part, results, slow), copy, log)
    counts = {outcome: len(names(results, outcome)) for outcome in OUTCOMES}
    counts["caught"] += len(names(results, "previously_caught"))
    missed = sorted({place(name) for name in names(results, "missed")})
    unknown = [name for name in missed if name not in assessed()]
    for name in unknown:
        print(f"not assessed: {name}")
    if unknown:
        again = f"tests/cargo_mutants/run {package} {part or ''}".rstrip()
        print(f"Outcomes are in {results}. To repeat: {again}")
    total = sum(counts.values())
    print(f"figures: {package} {part or 'all'}: {total:,} mutants, {counts['caught']:,} caught, "
          f"{counts['timeout']:,} timeouts, {counts['unviable']:,} do not compile, "
          f"{counts['missed']:,} survivors, {len(missed) - len(unknown):,} assessed, "
          f"{len(unknown):,} not assessed")
    sys.exit(1 if unknown else 0)


if __name__ == "__main__":
    main()
