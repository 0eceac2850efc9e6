"""Plants the mistakes of scripts/mutants in a copy of the tree, and runs the tests that must fail."""

import argparse
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COPY = ROOT / "target" / "mutants"
# What other crates are compiled to is the same for the copy.
ENVIRONMENT = {"CARGO_TARGET_DIR": str(ROOT / "target"), **os.environ}
ENVIRONMENT["BUILT"] = ENVIRONMENT["CARGO_TARGET_DIR"] + "/debug"
# Each mistake changes one file.
ENVIRONMENT["CARGO_INCREMENTAL"] = "1"
PROGRAMS = ("cargo", "build", "--quiet", "-p", "server", "-p", "sandbox", "--bins", "--examples")
MARK = re.compile(r"\s*// (begin )?mutant: (.*)")
END = "// end mutant"
FAILED = re.compile(r"test (\S+) \.\.\. FAILED\n")
# Each run of scripts/test tries one of these parts, in one or two minutes.
PARTS = 36


class Suite(collections.namedtuple("Suite", "package target filters")):
    """Tests of one target alone, so that each mistake is compiled and tried in seconds."""

    def build(self):
        return command("cargo", "test", "--quiet", "-p", self.package, *self.target, "--no-run")

    def run(self):
        """Until the first test fails: with some mistakes the others take minutes."""
        words = ("cargo", "test", "-p", self.package, *self.target, "--", *self.filters)
        lines = []
        with subprocess.Popen(words, cwd=COPY, env=ENVIRONMENT, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, start_new_session=True) as tests:
            for line in tests.stdout:
                lines.append(line)
                if FAILED.fullmatch(line):
                    os.killpg(tests.pid, signal.SIGKILL)
                    break
        return subprocess.CompletedProcess(words, tests.returncode, "".join(lines), "")

    def check(self):
        """Every filter selects some tests."""
        listed = command("cargo", "test", "--quiet", "-p", self.package, *self.target, "--",
                         "--list")
        if listed.returncode != 0:
            sys.exit(f"the tests of {self.package} do not compile:\n{listed.stderr}")
        names = re.findall(r"^(\S+): test$", listed.stdout, re.MULTILINE)
        for word in self.filters:
            if not any(word in name for name in names):
                sys.exit(f"no test of {self.package} has `{word}` in its name; "
                         "change scripts/mutants")

    def caught_by(self, output):
        failed = (FAILED.fullmatch(line + "\n") for line in output.splitlines())
        names = [match[1].split("::tests::")[-1] for match in failed if match]
        return names[0] if names else "the exit code"


class Campaign(collections.namedtuple("Campaign", "name")):
    """The short version of a campaign, with the programs of a debug build."""

    def build(self):
        return command(*PROGRAMS)

    def run(self):
        return command("bash", "-c", self.entry()["short"])

    def check(self):
        built = self.build()
        if built.returncode != 0:
            sys.exit(f"the service does not compile:\n{built.stderr}")

    def entry(self):
        for file in ROOT.glob("tests/*/campaign.toml"):
            entries = tomllib.loads(file.read_text())
            if self.name in entries:
                return entries[self.name]
        sys.exit(f"no tests/*/campaign.toml has a campaign {self.name}")

    def caught_by(self, output):
        failures = [line.strip() for line in output.splitlines() if re.search("FAIL|rror", line)]
        return f"{self.name}: {failures[0] if failures else 'the exit code'}"


def command(*words):
    return subprocess.run(words, cwd=COPY, env=ENVIRONMENT, capture_output=True, text=True,
                          check=False)


Mutant = collections.namedtuple("Mutant", "name mistake suite wrong")
Place = collections.namedtuple("Place", "file first last")


def places(root):
    """Where each mistake is planted, and what is wrong with the marks."""
    found, wrong = {}, []
    for path in sorted(root.glob("crates/*/src/**/*.rs")):
        file, lines = path.relative_to(root), path.read_text().splitlines()
        for number, line in enumerate(lines):
            mark = MARK.fullmatch(line)
            if not mark:
                if "mutant:" in line:
                    wrong.append(f"{file}:{number + 1}: a mark stands alone on its line")
                continue
            last = number + 1
            if mark[1]:
                rest = (at for at in range(number + 1, len(lines))
                        if lines[at].strip() == END or MARK.fullmatch(lines[at]))
                last = next(rest, len(lines)) - 1
                if last + 1 == len(lines) or lines[last + 1].strip() != END:
                    wrong.append(f"{file}:{number + 1}: `{END}` is missing")
            for name in mark[2].split(", "):
                if name in found:
                    wrong.append(f"{file}:{number + 1}: {name} is marked twice")
                found[name] = Place(file, number + 1, last)
    return found, wrong


def check(mutants):
    """Every mistake can be planted, also those that are not chosen this time."""
    found, wrong = places(ROOT)
    names = [mutant.name for mutant in mutants]
    wrong += [f"{name}: no mark in the source" for name in names if name not in found]
    wrong += [f"{found[name].file}:{found[name].first}: {name} is not in scripts/mutants"
              for name in found if name not in names]
    wrong += [f"{name}: twice in scripts/mutants" for name in set(names) if names.count(name) > 1]
    if wrong:
        sys.exit("\n".join(wrong))
    return found


def lay_out():
    """A fresh copy of the tree. With fresh times too: the compiler goes by them, and would take
    an older mistake for the newest code."""
    shutil.rmtree(COPY, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True,
                            check=True)
    for name in filter(None, listed.stdout.split("\0")):
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, COPY / name)
    # Packages that campaigns have installed are the same for the copy.
    (COPY / "target").symlink_to(ROOT / "target")


def try_without(suite):
    """The tests pass without a mistake."""
    suite.check()
    done = suite.run()
    if done.returncode != 0:
        sys.exit(f"{suite} fails without a mistake:\n{done.stdout}{done.stderr}")


def plant(mutant, place):
    path = COPY / place.file
    text = path.read_text()
    lines = text.splitlines()
    right = "\n".join(lines[place.first:place.last + 1])
    lines[place.first:place.last + 1] = [mutant.wrong.replace("{right}", right)]
    path.write_text("\n".join(lines) + "\n")
    return path, text


def attempt(mutant, place):
    """`caught`, `escaped` or `broken`, and by what."""
    path, text = plant(mutant, place)
    built = mutant.suite.build()
    if built.returncode != 0:
        outcome = "broken", f"does not compile; change scripts/mutants\n{built.stderr}"
    else:
        done = mutant.suite.run()
        passed = done.returncode == 0
        outcome = ("escaped", "") if passed else ("caught", f"by {mutant.suite.caught_by(done.stdout)}")
    path.write_text(text)
    return outcome


def commits():
    """A number that grows by one with each commit, so that 36 in a row try everything."""
    counted = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=ROOT, capture_output=True,
                             text=True, check=False)
    return int(counted.stdout or 0)


def choose(mutants, arguments):
    known = {mutant.name for mutant in mutants}
    for name in arguments.names:
        if name not in known:
            sys.exit(f"there is no mistake {name}")
    kind = Campaign if arguments.campaigns else Suite
    chosen = [m for m in mutants if m.name in arguments.names]
    if not arguments.names:
        chosen = [m for m in mutants if isinstance(m.suite, kind)]
    if arguments.part:
        parts = arguments.of
        number = (commits() if arguments.start is None else arguments.start) % parts
        # Neighbours, because they mostly have one suite, which is compiled once.
        chosen = chosen[len(chosen) * number // parts:len(chosen) * (number + 1) // parts]
        print(f"a part of the mistakes: scripts/mutants --part --of {parts} --from {number}")
    return chosen


def main(description, mutants):
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--part", action="store_true")
    parser.add_argument("--of", type=int, default=PARTS, metavar="PARTS")
    parser.add_argument("--from", type=int, dest="start", metavar="N")
    parser.add_argument("--tested", action="store_true")
    parser.add_argument("--campaigns", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    found = check(mutants)
    if arguments.check:
        print(f"{len(mutants)} mistakes, each with its mark")
        return
    chosen = choose(mutants, arguments)
    lay_out()
    if not arguments.tested:
        print("without a mistake", end=" ... ", flush=True)
        for suite in dict.fromkeys(mutant.suite for mutant in chosen):
            try_without(suite)
        print("passes")
    counts = collections.Counter()
    for mutant in chosen:
        print(f"{mutant.name}: {mutant.mistake}", end=" ... ", flush=True)
        outcome, words = attempt(mutant, found[mutant.name])
        counts[outcome] += 1
        print(outcome if outcome == "caught" else outcome.upper(), words)
    if any(isinstance(mutant.suite, Campaign) for mutant in chosen):
        # The last program that was built has a mistake.
        subprocess.run(PROGRAMS, cwd=ROOT, env=ENVIRONMENT, check=True)
    print(", ".join(f"{counts[outcome]} {outcome}" for outcome in ("caught", "escaped", "broken")))
    sys.exit(1 if counts["escaped"] + counts["broken"] else 0)

