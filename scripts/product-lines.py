#!/usr/bin/env python3
"""Counts the lines of product code: lines of `*.rs` that are neither blank, comment nor test.

Prints them for each crate, the sum of what `assay` is built from, and `indexlog` and the folder
`workshop` apart. Names of folders as arguments restrict the count to them.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Files and folders that hold only tests, examples and benchmarks.
TEST_PARTS = {"tests", "benches", "examples", "fuzz_targets", "model_check"}
TEST_FILES = {"tests.rs", "build.rs", "model_check.rs"}
# A module that only tests are built with, in a file of its own.
TEST_MODULE = re.compile(r"#\[cfg\((?!not)[^]]*\btest\b[^]]*\)\]\s*(?:#\[[^]]*\]\s*)*(?:pub(?:\(\w+\))? )?mod (\w+);")
APART = re.compile(r"(^|/)(indexlog|workshop)(/|$)")


def is_test(path):
    return bool(TEST_PARTS & set(path.parts)) or path.name in TEST_FILES


def test_modules(path, text):
    """Returns the files, and the folders, of the modules that a file declares for tests alone."""
    folder = path.parent if path.name in {"lib.rs", "main.rs", "mod.rs"} else path.with_suffix("")
    modules = [folder / name for name in TEST_MODULE.findall(text)]
    return {module.with_suffix(".rs") for module in modules} | set(modules)


def product_lines(text):
    """Returns the number of lines outside of comments, blank lines and `#[cfg(test)]` modules."""
    count, depth, in_test, in_comment = 0, 0, None, False
    is_test_next = False
    for line in text.splitlines():
        code = line.strip()
        if in_comment:
            in_comment = "*/" not in code
            continue
        if code.startswith("/*"):
            in_comment = "*/" not in code
            continue
        if not code or code.startswith("//"):
            continue
        if in_test is None and code.startswith("#[cfg(test)]"):
            is_test_next = True
            continue
        # Braces in strings and characters do not nest.
        bare = re.sub(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'', "", code)
        before = depth
        depth += bare.count("{") - bare.count("}")
        if is_test_next and not code.startswith("#["):
            is_test_next = False
            if "{" in bare:
                in_test = before
                continue
            if bare.endswith(";"):
                continue
        if in_test is not None:
            if depth <= in_test:
                in_test = None
            continue
        count += 1
    return count


def crate_of(path):
    """Returns the folder above `src`."""
    return path.as_posix().split("/src/")[0]


def main():
    command = ["git", "ls-files", "--", *(sys.argv[1:] or ["crates"])]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = [Path(line) for line in listed.splitlines() if line.endswith(".rs")]
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in paths if not is_test(path)}
    tests = set().union(*(test_modules(path, text) for path, text in texts.items()))
    lines = Counter()
    for path, text in texts.items():
        if not tests & {path, *path.parents}:
            lines[crate_of(path)] += product_lines(text)
    for crate, count in sorted(lines.items()):
        print(f"{count:7,}  {crate}")
    apart = sum(count for crate, count in lines.items() if APART.search(crate))
    print(f"{sum(lines.values()) - apart:7,}  product")
    print(f"{apart:7,}  indexlog and workshop, apart")


if __name__ == "__main__":
    main()
