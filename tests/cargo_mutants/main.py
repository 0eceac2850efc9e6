"""Tries every mutant of one crate that cargo-mutants lists, and compares the survivors with those assessed.

Most mutants are compiled into one test program, each behind a switch, and tried by running it. The others are tried by
cargo-mutants, which compiles the crate for each.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ASSESSED = ROOT / "docs" / "proof" / "surviving-mutants.md"
PROGRESS_SECONDS = 20
# A mutant may take so many times as long as the tests without one.
PATIENCE = 5
TIMEOUT_SECONDS = 180
# Code that only tests run.
EXCLUDED = ["crates/order/src/testing/**", "**/tests/**", "**/tests.rs", "**/fixture.rs"]
# The tests that walk through thousands of histories. Most mutants fail a quick test first, so the
# slow ones run for the survivors only.
SLOW = {
    "order": ["tests::walk::", "testing::simulation::"],
    "pay": [],
}
VARIABLE = "PENNYBLACK_MUTANT"
SWITCH = f"""
pub(crate) fn mutant_is(number: u32) -> bool {{
    static ACTIVE: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let named = || std::env::var("{VARIABLE}").ok().and_then(|number| number.parse().ok());
    *ACTIVE.get_or_init(|| named().unwrap_or(0)) == number
}}
"""
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
    """What the outcomes depend on: the crate, those below it, and this folder."""
    below = {"order": ["crates/order"], "pay": ["crates/pay", "crates/order", "crates/evm"]}[package]
    digest = hashlib.sha256()
    for path in files(*below, "tests/cargo_mutants"):
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def mutant_of(error, ranges):
    """The number of the mutant that an error of the compiler is about, or None."""
    spans = [*error["spans"], *(span for child in error["children"] for span in child["spans"])]
    for span in sorted(spans, key=lambda span: not span["is_primary"]):
        for number, (file, start, end) in ranges.items():
            if span["file_name"] == file and start <= span["byte_start"] < end:
                return number
    return None


def mutants_of_function(error, ranges):
    """Those that return early from the function whose value an error is about: their type is taken for the right one."""
    spans = [span for span in error["spans"] if span["is_primary"]]
    found = [(start, number) for number, (file, start, _) in ranges.items() for span in spans
             if span["file_name"] == file and start <= span["byte_start"]]
    return {max(found)[1]} if found else set()


class Campaign:
    """The mutants of a package, and what became of each."""

    def __init__(self, package, tools):
        self.package, self.copy = package, tools / "tree"
        # What other crates are compiled to is the same for the copy.
        self.environment = {**os.environ, "CARGO_TARGET_DIR": str(tools / "target")}
        self.switches = tools / "switches" / "release" / "switches"
        self.results = tools / "results" / package
        self.copy.mkdir(parents=True, exist_ok=True)
        known = self.results / "stamp"
        if not known.exists() or known.read_text() != stamp(package):
            shutil.rmtree(self.results, ignore_errors=True)
            self.results.mkdir(parents=True)
            known.write_text(stamp(package))
        kept = self.results / "outcomes.json"
        self.outcomes = json.loads(kept.read_text()) if kept.exists() else {}
        lay_out(self.copy)
        listed = self.cargo("mutants", "--list", "--json", *self.selection(), stdout=subprocess.PIPE, check=True)
        self.mutants = json.loads(listed.stdout)

    def selection(self):
        return ["--package", self.package, *(word for pattern in EXCLUDED for word in ("--exclude", pattern))]

    def cargo(self, *words, **more):
        return subprocess.run(["cargo", *words], cwd=self.copy, env=self.environment, text=True, **more)

    def keep(self, name, outcome):
        self.outcomes[name] = outcome
        (self.results / "outcomes.json").write_text(json.dumps(self.outcomes, indent=1))

    def compile_switched(self):
        """The program with all mutants that compile behind a switch, and the numbers of those mutants."""
        tried = list(self.mutants)
        while True:
            lay_out(self.copy)
            listed, written = self.results / "switched.json", self.results / "ranges.json"
            listed.write_text(json.dumps(tried))
            subprocess.run([self.switches, self.copy, listed, written], check=True)
            with (self.copy / "crates" / self.package / "src" / "lib.rs").open("a") as library:
                library.write(SWITCH)
            ranges = {int(number): place for number, place in json.loads(written.read_text()).items()}
            program, broken = self.compile(ranges)
            if program:
                return program, sorted(ranges)
            print(f"{len(broken)} mutants do not compile behind a switch", flush=True)
            for number in broken:
                tried[number - 1] = None

    def compile(self, ranges):
        """The path of the test program, or the numbers of the mutants that the compiler rejects."""
        done = self.cargo("test", "--no-run", "--package", self.package, "--lib", "--locked", "--message-format=json",
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode == 0:
            programs = [one["executable"] for one in messages if one.get("executable")]
            return programs[-1], set()
        told = [one["message"] for one in messages if one.get("reason") == "compiler-message"]
        errors = [message for message in told if message["level"] == "error"]
        broken = {mutant_of(error, ranges) for error in errors}
        broken.discard(None)
        if not broken:
            broken = set().union(*(mutants_of_function(error, ranges) for error in errors))
        if not broken:
            sys.exit("The program does not compile, for no mutant's fault:\n" + "\n".join(error["rendered"] for error in errors))
        return None, broken

    def run_program(self, program, number, slow, seconds):
        skipped = [] if slow else [word for name in SLOW[self.package] for word in ("--skip", name)]
        environment = {**self.environment, VARIABLE: str(number), "RUST_BACKTRACE": "0"}
        try:
            done = subprocess.run([program, "--quiet", *skipped], cwd=self.copy / "crates" / self.package, env=environment,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            return "timeout"
        return "missed" if done.returncode == 0 else "caught"

    def try_switched(self, number, program, seconds):
        name = self.mutants[number - 1]["name"]
        outcome = self.run_program(program, number, not SLOW[self.package], seconds)
        if outcome == "missed" and SLOW[self.package]:
            outcome = self.run_program(program, number, True, seconds)
        return name, outcome

    def run_switched(self):
        program, numbers = self.compile_switched()
        begun = time.monotonic()
        if self.run_program(program, 0, True, None) != "missed":
            sys.exit(f"The tests of {self.package} fail without a mutant.")
        seconds = max(TIMEOUT_SECONDS, PATIENCE * (time.monotonic() - begun))
        left = [number for number in numbers if self.mutants[number - 1]["name"] not in self.outcomes]
        print(f"{len(numbers)} of {len(self.mutants)} mutants are behind a switch, {len(left)} are left to try", flush=True)
        told = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for done, (name, outcome) in enumerate(pool.map(lambda number: self.try_switched(number, program, seconds), left), 1):
                self.keep(name, outcome)
                if time.monotonic() - told > PROGRESS_SECONDS:
                    told = time.monotonic()
                    print(f"  {done} of {len(left)}, {list(self.outcomes.values()).count('missed')} survivors", flush=True)

    def run_alone(self):
        """Those that have no switch, compiled one by one."""
        lay_out(self.copy)
        names = [mutant["name"] for mutant in self.mutants if mutant["name"] not in self.outcomes]
        if not names:
            return
        print(f"{len(names)} mutants are compiled alone", flush=True)
        # The expressions are Rust's, where a space needs no escape.
        pattern = "^(" + "|".join(re.sub(r"\\([ \-&<>=!'\"/:,])", r"\1", re.escape(name)) for name in names) + ")$"
        chosen = ["--re", pattern, "--in-place", "--baseline", "skip", "--timeout", str(TIMEOUT_SECONDS),
                  "--build-timeout", "900", "--no-shuffle", "--caught", "--unviable", "--colors", "never",
                  "--output", str(self.results)]
        done = self.cargo("mutants", *self.selection(), *chosen, "--", "--lib", check=False)
        # 0: all caught, 2: survivors, 3: a timeout; anything else is a fault of the tool.
        if done.returncode not in (0, 2, 3):
            sys.exit(f"cargo mutants ended with {done.returncode}")
        for outcome in OUTCOMES:
            for name in (self.results / "mutants.out" / f"{outcome}.txt").read_text().splitlines():
                self.keep(name, outcome)


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
    arguments = parser.parse_args()
    campaign = Campaign(arguments.package, arguments.tools)
    campaign.run_switched()
    campaign.run_alone()
    by_outcome = {outcome: [name for name, what in campaign.outcomes.items() if what == outcome] for outcome in OUTCOMES}
    unknown = [name for name in sorted(by_outcome["missed"]) if place(name) not in assessed()]
    for name in unknown:
        print(f"not assessed: {name}")
    print(f"figures: {arguments.package}: {len(campaign.outcomes):,} mutants, {len(by_outcome['caught']):,} caught, "
          f"{len(by_outcome['timeout']):,} timeouts, {len(by_outcome['unviable']):,} do not compile, "
          f"{len(by_outcome['missed']):,} survivors, {len(by_outcome['missed']) - len(unknown):,} assessed, "
          f"{len(unknown):,} not assessed")
    sys.exit(1 if unknown else 0)


if __name__ == "__main__":
    main()
