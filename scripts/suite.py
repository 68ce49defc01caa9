#!/usr/bin/env python3
"""Lints, builds and runs every test and check, two programs at once, and counts skipped tests by name.

Prints a line for each program as it ends, the output of failed tests, the longest tests and every
skipped test with its reason. Where CI is `true`, a skip that scripts/skips.txt does not list for
this kind of machine is a failure. Up to five failures of tests and of the pages in a browser are run
once more, alone, and are listed as flaky where they pass then.
"""

import argparse
import contextlib
import dataclasses
import fnmatch
import hashlib
import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The workspace of the engine index+log.
INDEXLOG = ROOT / "indexlog"
LIST = ROOT / "scripts/skips.txt"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "debug"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay"
# Compiled dependencies follow from these and from the compiler.
MANIFESTS = ["Cargo.lock", "Cargo.toml", "indexlog/Cargo.toml", ".cargo/config.toml"]
# The longest programs start first, in this order.
FIRST = [
    "assay/promises",
    "driver-postgres/live",
    "driver-rocksdb/conformance",
    "driver-postgres/conformance",
    "driver-mysql/conformance",
    "assay/bad_days",
    "assay/campaigns",
]
# Their claims are about time: each runs when all others have ended.
ALONE = ["load/pause", "analysis/iostat", "assay/truth"]
# Checks of dependencies.
DENY = "scripts/deny.sh"
# Checks of pages, which depend on the time that a browser takes.
BROWSER = "scripts/browser.sh"
# Checks of dependencies, readers of files, concurrent algorithms, pages and packages.
SCRIPTS = [DENY, "scripts/fuzz.sh", "scripts/models.sh", BROWSER, "packaging/sample.sh"]
# Programs at once: most tests wait for a process that they started.
LANES = 2
# Longest tests that are printed.
LONGEST = 20
# Lines of a panic that are printed again at the end, where an excerpt of the output shows them.
PANIC_LINES = 12
# Last lines of a script that failed, which are printed likewise.
LAST_LINES = 40
# Most failed tests that are run once more: more than these are no matter of a busy machine.
RETRIED = 5
# A program that takes longer hangs and is killed: the longest takes minutes.
LIMIT_S = 1800

TEST = re.compile(r"test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored.*?)(?: <([\d.]+)s>)?$")
SECTION = re.compile(r"---- (.+) stdout ----$")
SKIP = re.compile(r"\bskipped(?: in part)?: .*")
RESULT = re.compile(r"test result: .* (\d+) passed; (\d+) failed;")
PANIC = re.compile(r"thread '.*' (?:\(\d+\) )?panicked at ")


@dataclasses.dataclass
class Program:
    """A command that runs tests; `variables` are those that cargo would set."""

    name: str
    command: list
    directory: str = str(ROOT)
    variables: dict = dataclasses.field(default_factory=dict)

    @staticmethod
    def of(message):
        """Returns the test program of a message of cargo, or `None` if it announces another file."""
        target = message.get("target", {})
        is_test = message.get("executable") and message["profile"]["test"]
        if not is_test or "bench" in target["kind"]:
            return None
        directory = os.path.dirname(message["manifest_path"])
        found = re.search(r"([^/#]+)#(?:(.+)@)?([\d.]+)$", message["package_id"])
        package, version = found[2] or found[1], found[3]
        options = ["-Zunstable-options", "--report-time", "--show-output"]
        # Times of tests and their random order are options that libtest calls unstable.
        variables = {"CARGO": "cargo", "CARGO_MANIFEST_DIR": directory, "RUSTC_BOOTSTRAP": "1"}
        variables |= {"CARGO_PKG_NAME": package, "CARGO_PKG_VERSION": version}
        name = f"{package}/{target['name']}"
        return Program(name, [message["executable"], *options], directory, variables)

    def run(self, options, environment):
        """Runs it; returns its exit code, its CPU time in seconds and what it printed.

        What it wrote to standard error follows, so that it divides no line of results.
        """
        with contextlib.ExitStack() as files:
            log, errors = (
                files.enter_context(tempfile.TemporaryFile("w+", errors="replace")) for _ in range(2)
            )
            process = subprocess.Popen(
                self.command + options,
                cwd=self.directory,
                env=environment | self.variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=errors,
            )
            limit = threading.Timer(LIMIT_S, process.kill)
            limit.start()
            # CPU time of its children, and of theirs, is known when it is waited for.
            _, status, usage = os.wait4(process.pid, 0)
            limit.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            log.seek(0)
            errors.seek(0)
            return process.returncode, usage.ru_utime + usage.ru_stime, log.read() + errors.read()


@dataclasses.dataclass
class Results:
    """Outcomes of tests by name, `package/program::module::test`."""

    passed: set = dataclasses.field(default_factory=set)
    failed: set = dataclasses.field(default_factory=set)
    skipped: dict = dataclasses.field(default_factory=dict)
    # Tests that failed, and passed when they were run once more.
    flaky: set = dataclasses.field(default_factory=set)
    # Failed tests and the first lines of their panics.
    panics: dict = dataclasses.field(default_factory=dict)
    seconds: dict = dataclasses.field(default_factory=dict)

    def read(self, program, code, text):
        """Reads the outcomes of a program's tests from its output."""
        section, stated, read = program, 0, 0
        lines = text.splitlines()
        for number, line in enumerate(lines):
            if found := TEST.match(line):
                name = f"{program}::{found[1]}"
                self.seconds[name] = float(found[3] or 0)
                if found[2].startswith("ignored"):
                    self.skipped[name] = f"skipped: {found[2]}"
                else:
                    (self.passed if found[2] == "ok" else self.failed).add(name)
                    read += 1
            elif found := SECTION.match(line):
                section = f"{program}::{found[1]}"
            elif found := RESULT.match(line):
                stated += int(found[1]) + int(found[2])
            elif PANIC.match(line):
                self.panics.setdefault(section, "\n".join(lines[number : number + PANIC_LINES]))
            elif found := SKIP.search(line):
                self.skipped.setdefault(section, found[0])
        if code != 0 and not any(name.startswith(program) for name in self.failed):
            failed = f"{program} (exit code {code})"
            self.failed.add(failed)
            self.panics[failed] = "\n".join(lines[-LAST_LINES:])
        if stated != read:
            self.failed.add(f"{program} (it states {stated} tests, {read} were read)")

    def merge(self, other):
        """Adds the outcomes of other tests."""
        self.passed |= other.passed
        self.failed |= other.failed
        self.skipped |= other.skipped
        self.panics |= other.panics
        self.seconds |= other.seconds


class Suite:
    """Runs programs and prints what they gave."""

    def __init__(self, environment):
        self.environment = environment
        self.results = Results()
        self.lock = threading.Lock()

    def run(self, program, options=()):
        """Runs a program, adds its results and prints a line of them."""
        start = time.monotonic()
        code, cpu, text = program.run(list(options), self.environment)
        one = Results()
        one.read(program.name, code, text)
        with self.lock:
            self.results.merge(one)
            counts = f"{len(one.passed)} passed, {len(one.failed)} failed, {len(one.skipped)} skipped"
            name = " ".join([program.name, *options])
            print(f"{time.monotonic() - start:6.1f} s, {cpu:6.1f} s of CPU  {name}: {counts}", flush=True)
            if one.failed:
                print("".join(text.partition("\nfailures:\n\n----")[1:]) or text, flush=True)

    def run_all(self, *lanes):
        """Runs lanes at once: iterators of pairs of a program and its options, which they may share."""

        def work(lane):
            while True:
                with self.lock:
                    job = next(lane, None)
                if job is None:
                    return
                self.run(*job)

        threads = [threading.Thread(target=work, args=[lane]) for lane in lanes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def retry(self, programs):
        """Runs each test that failed, and the browser, once more, alone: what passes then is flaky."""
        known = {program.name: program for program in programs}
        known[BROWSER] = Program(BROWSER, [BROWSER])
        failed = self.results.failed
        for name in sorted(failed) if len(failed) <= RETRIED else []:
            program, _, test = name.partition("::")
            program = known.get(program.removesuffix(" (exit code 1)"))
            if not program or not (test or program.name == BROWSER):
                continue
            code, _, text = program.run(["--exact", test] if test else [], self.environment)
            again = Results()
            again.read(program.name, code, text)
            if again.passed == ({name} if test else set()) and not again.failed:
                failed.remove(name)
                self.results.skipped |= again.skipped
                self.results.flaky.add(name)
                self.results.passed |= again.passed

    def end(self):
        """Prints the longest tests, the skips and the counts; returns whether all is well."""
        results = self.results
        longest = sorted(results.seconds.items(), key=lambda item: -item[1])[:LONGEST]
        print("== the longest tests")
        for name, seconds in longest:
            print(f"{seconds:7.1f} s  {name}")
        print(f"== {len(results.skipped)} skipped on {kind()}")
        listed = listed_skips()
        unlisted = []
        for name, reason in sorted(results.skipped.items()):
            print(f"{name}: {reason}")
            if not any(fnmatch.fnmatchcase(f"{name} {reason}", pattern) for pattern in listed):
                unlisted.append(f"NOT LISTED: {name}: {reason}")
        for name in sorted(results.failed | results.flaky):
            print(f"FAILED: {name}" if name in results.failed else f"FLAKY: {name} passed when it was run once more")
            if name in results.panics:
                print(results.panics[name])
        passed = len(results.passed - set(results.skipped))
        is_refused = unlisted and os.environ.get("CI") == "true"
        if is_refused:
            print(f"{len(unlisted)} skips are not in {LIST.relative_to(ROOT)} for this kind of machine")
            print("\n".join(unlisted))
        if DENY in results.skipped:
            print(f"KNOWN VULNERABILITIES OF DEPENDENCIES WERE NOT CHECKED: {results.skipped[DENY]}")
            print("CONTRIBUTING.md, section Tests, states how to provide a copy of their database")
        counts = f"{passed} passed ({len(results.flaky)} flaky), {len(results.failed)} failed, "
        counts += f"{len(results.skipped)} skipped"
        print(f"{counts} in {time.monotonic() - START:.0f} s", flush=True)
        return not results.failed and not is_refused


def kind():
    """Returns the kind of machine, such as `debian-12 x86_64 root`."""
    with contextlib.suppress(OSError):
        release = platform.freedesktop_os_release()
        system = f"{release.get('ID')}-{release.get('VERSION_ID', 'rolling')}"
        return f"{system} {platform.machine()} {'user' if os.geteuid() else 'root'}"
    return f"{platform.system()} {platform.machine()}"


def listed_skips():
    """Returns the patterns of skips that are expected on this kind of machine."""
    lines = (line.split("#")[0].strip() for line in LIST.read_text().splitlines())
    entries = (line.split(":", 1) for line in lines if line)
    return [skip.strip() for where, skip in entries if fnmatch.fnmatchcase(kind(), where.strip())]


def environment():
    """Returns the variables of every command."""
    env = dict(os.environ, RUST_TEST_THREADS=str(2 * os.cpu_count()), CARGO_TARGET_DIR=str(TARGET.parent))
    if subprocess.run(["clippy-driver", "--version"], capture_output=True).returncode == 0:
        # Lints and checks of documentation compile nothing a second time this way.
        env["RUSTC_WORKSPACE_WRAPPER"] = str(ROOT / "scripts/rustc.sh")
        # Cargo compiles everything again when these change.
        env["CLIPPY_ARGS"] = "-Dwarnings__CLIPPY_HACKERY__"
    else:
        print("no clippy here (rustup component add clippy): our crates are not linted")
    return env


class Dependencies:
    """Compiled dependencies in the cache: a new clone copies them, which saves a third of its build.

    Our own crates are always compiled.
    """

    def __init__(self):
        content = subprocess.run(["rustc", "-vV"], capture_output=True, check=True).stdout
        content += b"".join((ROOT / name).read_bytes() for name in MANIFESTS)
        self.directory = CACHE / f"dependencies-{hashlib.sha256(content).hexdigest()[:16]}"
        self.is_clean = not TARGET.exists()

    def restore(self):
        """Copies them to a clone that has built nothing."""
        if self.is_clean and self.directory.exists():
            try:
                shutil.copytree(self.directory, TARGET, symlinks=True)
            except (OSError, shutil.Error):
                shutil.rmtree(TARGET)

    def store(self, messages):
        """Stores them after the first suite of a clone, in place of those of an older lock file."""
        if not self.is_clean or self.directory.exists():
            return
        own = [message for message in messages if message.get("package_id", "").startswith("path+")]
        names = {re.split("[#@/]", message["package_id"])[-2] for message in own}
        names |= {message["target"]["name"] for message in own if "target" in message}
        names = {name.replace("-", "_") for name in names}

        def ignored(directory, entries):
            if Path(directory) == TARGET:
                return set(entries) - {".fingerprint", "build", "deps"}
            if Path(directory).parent != TARGET:
                return []
            crates = {entry: entry.rpartition("-")[0].replace("-", "_") for entry in entries}
            return [entry for entry, crate in crates.items() if {crate, crate.removeprefix("lib")} & names]

        CACHE.mkdir(parents=True, exist_ok=True)
        for old in CACHE.glob("dependencies-*"):
            shutil.rmtree(old, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix="dependencies-", dir=CACHE) as made:
            shutil.copytree(TARGET, Path(made) / "debug", symlinks=True, ignore=ignored)
            # Another clone may have stored them meanwhile.
            with contextlib.suppress(OSError):
                (Path(made) / "debug").rename(self.directory)


def build(env):
    """Builds all tests and benchmarks of both workspaces; returns the messages of cargo."""
    # Pages have their script where npm is.
    subprocess.run(["scripts/web.sh", "test"], cwd=ROOT, check=True)
    # The dependencies of the engine index+log are those of the program, compiled once.
    shutil.copy(ROOT / "Cargo.lock", INDEXLOG)
    messages = []
    for directory in (ROOT, INDEXLOG):
        command = ["cargo", "build", "--workspace", "--all-targets", "--keep-going"]
        command += ["--message-format", "json-render-diagnostics"]
        output = subprocess.run(command, cwd=directory, env=env, stdout=subprocess.PIPE, text=True)
        if output.returncode != 0:
            sys.exit("the tests do not compile without warnings: see above")
        messages += map(json.loads, output.stdout.splitlines())
    return messages


def other_programs():
    """Returns the checks that are not test programs, the shortest first."""
    # The program is named for its features of dependencies, which are compiled already.
    model_check = ["--features", "load/model-check", "--lib", "model_check"]
    of_indexlog = ["--features", "model-check", "--lib", "model_check"]
    return [
        Program("format", ["cargo", "fmt", "--all", "--check"]),
        Program("tidy", [str(TARGET / "tidy")]),
        Program("doc tests", ["cargo", "test", "--workspace", "--doc"]),
        Program("model checks", ["cargo", "test", "--package", "load", "--package", "assay", *model_check]),
        Program("model checks of indexlog", ["cargo", "test", *of_indexlog], str(INDEXLOG)),
        *(Program(script, [script]) for script in SCRIPTS),
    ]


def by_length(program):
    """Returns the place of a program in the order of starts."""
    return FIRST.index(program.name) if program.name in FIRST else len(FIRST)


def tests_of(program, env):
    """Returns the names of a program's tests."""
    lines = program.run(["--list", "--format", "terse"], env)[2].splitlines()
    return [line.removesuffix(": test") for line in lines if line.endswith(": test")]


@contextlib.contextmanager
def hogs(are_wanted):
    """Runs two processes that use a CPU each, and one that writes to the disk, meanwhile."""
    # They end with this process, however it ends.
    loops = ["while kill -0 $PPID; do :; done"] * 2
    loops.append('while kill -0 $PPID; do dd if=/dev/zero of="$0" bs=1M count=256 conv=fsync status=none; done')
    with tempfile.NamedTemporaryFile() as file:
        running = [subprocess.Popen(["sh", "-c", loop, file.name]) for loop in loops if are_wanted]
        try:
            yield
        finally:
            for process in running:
                process.kill()
                process.wait()


def arguments():
    """Returns the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program", nargs="*", help="programs to run, such as assay/truth (default: all)")
    parser.add_argument("--build", action="store_true", help="lint and build only")
    parser.add_argument("--each", action="store_true", help="run each test in a process of its own, one after another")
    parser.add_argument("--seed", type=int, help="run programs and tests in a random order")
    parser.add_argument("--busy", action="store_true", help="run next to two CPU hogs and a disk hog")
    return parser.parse_args()


def run(args, env, messages):
    """Runs the programs that were built; returns whether all is well."""
    programs = [program for program in map(Program.of, messages) if program]
    unknown = set(args.program) - {one.name for one in programs}
    if unknown or not programs:
        known = " ".join(sorted(one.name for one in programs))
        sys.exit(f"no test program is named {' '.join(sorted(unknown))}; there are: {known}")
    programs = [one for one in programs if not args.program or one.name in args.program]
    programs.sort(key=by_length)
    options = []
    if args.seed is not None:
        random.Random(args.seed).shuffle(programs)
        options = ["--shuffle-seed", str(args.seed)]
    suite = Suite(env)
    with hogs(args.busy):
        if args.each:
            jobs = [(one, ["--exact", test]) for one in programs for test in tests_of(one, env)]
            if args.seed is not None:
                random.Random(args.seed).shuffle(jobs)
            suite.run_all(iter(jobs))
        else:
            jobs = [(one, options) for one in programs]
            alone = iter([job for job in jobs if job[0].name in ALONE])
            shared = iter([job for job in jobs if job[0].name not in ALONE])
            # What cargo runs waits for the lock of the build: it has a lane for itself.
            others = [] if args.program else other_programs()
            suite.run_all(*[shared] * LANES, iter([(one, []) for one in others]))
            suite.run_all(alone)
    suite.retry(programs)
    return suite.end()


def main():
    """Runs the suite; exits with 1 when a test fails or a skip is not listed."""
    args = arguments()
    env = environment()
    dependencies = Dependencies()
    dependencies.restore()
    messages = build(env)
    print(f"{time.monotonic() - START:6.1f} s  build", flush=True)
    if args.build:
        return
    has_passed = run(args, env, messages)
    # Those of the model checks are compiled only now.
    dependencies.store(messages)
    sys.exit(0 if has_passed else 1)


START = time.monotonic()
if __name__ == "__main__":
    main()
