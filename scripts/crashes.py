#!/usr/bin/env python3
"""Writes docs/validation-crashes.md: what engines and servers lose in simulated crashes.

  scripts/crashes.py          as in the page, an hour
  CUTS=20 scripts/crashes.py  a seventh of the cuts

Run it as root on a machine with FUSE. Builds are fetched; one that cannot be had is named in the page. ASSAY names
the program (else target/release/assay, which is built). Counts do not depend on the speed of the machine.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "validation-crashes.md"
CUTS = int(os.environ.get("CUTS", "145"))
ENGINES = ["sqlite", "lmdb", "redb", "fjall", "leveldb@system", "wiredtiger@system"]
RELEASES = ["rocksdb@5.18.4", "rocksdb@system", "rocksdb@9.10.0", "rocksdb@11.8.1"]
SERVERS = ["postgres@11.22", "postgres@15.10", "postgres@18.0", "mysql@8.0.31", "mariadb@10.11"]
INTRODUCTION = """# Validation of simulated crashes

`scripts/crashes.py` generates this page. [What survives a crash](guide/durability.md) describes the method. The
figures are counts, which do not depend on the speed of a machine. Each section has its command; builds that could not
be had are left out.
"""
# Heading, sentence, cuts as a part of CUTS, engines, further options.
SECTIONS = [
    ("Strict settings of engines", "Every write is synced before it is acknowledged.", 1, ENGINES + RELEASES,
     ["--durability", "sync", "--level", "file"]),
    ("Strict settings of servers", "The defaults of the class `sync`.", 9, SERVERS,
     ["--durability", "sync", "--level", "file"]),
    ("Half of the unsynced pages survive", "A disk may write what was not flushed.", 9,
     ["sqlite", "lmdb", "redb", "fjall", "rocksdb@11.8.1"],
     ["--durability", "sync", "--level", "file", "--survivors", "half"]),
    ("One fsync fails", "The kernel drops the pages of a failed fsync, and the next one succeeds.", 9,
     ["sqlite", "lmdb", "redb", "fjall", "rocksdb@11.8.1", "postgres@15.10"],
     ["--durability", "sync", "--level", "file", "--fault", "fsync"]),
    ("A disk below a file system", "ext4 and XFS flush the disk; ext4 without barriers does not.", 14,
     ["sqlite", "lmdb", "redb", "postgres@15.10"], ["--durability", "sync", "--level", "block"]),
    ("A disk below XFS", "", 14, ["sqlite", "lmdb"],
     ["--durability", "sync", "--level", "block", "--file-system", "xfs"]),
    ("A disk below ext4 without barriers", "The file system loses what engines sync.", 14, ["sqlite", "redb"],
     ["--durability", "sync", "--level", "block", "--file-system", "ext4-nobarrier"]),
    ("Class os", "Writes survive the process, and not the machine.", 7, ENGINES + ["rocksdb@11.8.1"],
     ["--durability", "os", "--level", "process", "--level", "file"]),
    ("MySQL that syncs its log once a second", "", 14, ["mysql@8.0.31"],
     ["--durability", "os", "--level", "file", "--option", "innodb_flush_log_at_trx_commit=2"]),
    ("MySQL that leaves the sync of its binary log to the kernel", "", 14, ["mysql@8.0.31"],
     ["--durability", "os", "--level", "file", "--option", "innodb_flush_log_at_trx_commit=1", "--option",
      "log_bin=binlog", "--option", "sync_binlog=0"]),
    ("MySQL without doublewrite, half of the unsynced pages survive", "", 14, ["mysql@8.0.31"],
     ["--durability", "sync", "--level", "file", "--survivors", "half", "--option", "innodb_doublewrite=OFF"]),
    ("Postgres without full pages in its log, half of the unsynced pages survive", "", 14, ["postgres@15.10"],
     ["--durability", "sync", "--level", "file", "--survivors", "half", "--option", "full_page_writes=off"]),
    ("Postgres that does not wait for its log", "", 14, ["postgres@15.10"],
     ["--durability", "none", "--level", "file", "--option", "synchronous_commit=off"]),
]
CRASHES = {"process": "kill of the process", "file": "power cut", "block": "power cut of the disk"}


def seconds(value):
    """Returns a time of nanoseconds as text."""
    value = value / 1e9
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.0f} ms"


def lost(summary):
    """Returns what the cuts of a campaign lost, as text."""
    what = summary["lost"]
    more = [f"{summary['refused']} did not open"] if summary["refused"] else []
    more += [f"{summary['gaps']} lost a write before one that survived"] if summary["gaps"] else []
    if what["lost"] == "nothing":
        text = f"nothing: fewer than {what['below'] * 100:.2g} % of the cuts"
    elif what["lost"] == "everything":
        is_kill = summary["kind"]["level"] == "process"
        text = "everything that the process had in memory" if is_kill else "everything since the last sync"
    elif what["lost"] == "window":
        text = f"up to {seconds(what['longest'])}"
        if median := what.get("median"):
            text += f", in the median {seconds(median['value'])} [{seconds(median['low'])}, {seconds(median['high'])}]"
    else:
        text = "a damaged store"
    return "; ".join([text, *more])


def command(part, engines, options):
    """Returns a command of Assay."""
    named = [word for engine in engines for word in ("--engine", engine)]
    return ["durability", *named, *options, "--cuts", str(max(2, CUTS // part))]


def measured(program, arguments):
    """Runs a command; returns its campaigns, or why there are none."""
    print("assay", *arguments, file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="assay-crashes.", dir="/var/tmp") as scratch:
        os.chmod(scratch, 0o711)  # servers run as an account of their own
        run = subprocess.run([program, *arguments, "--format", "json"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, cwd=scratch, text=True)
    try:
        return json.loads(run.stdout)["campaigns"], None
    except (json.JSONDecodeError, KeyError):
        return [], run.stderr.strip().splitlines()[-1:]


def section(program, heading, sentence, part, engines, options):
    """Measures a section of the page and returns its lines."""
    lines = ["", f"## {heading}", "", *([sentence, ""] if sentence else [])]
    lines += ["```text", " ".join(["assay", *command(part, engines, options)]), "```", ""]
    rows, absent, total, acknowledged = [], [], 0, 0
    together = measured(program, command(part, engines, options))
    # One that is absent fails the command of all.
    alone = [engines] if together[1] is None else [[engine] for engine in engines]
    for some in alone:
        campaigns, reason = together if some is engines else measured(program, command(part, some, options))
        if reason is not None:
            absent.append(f"{some[0]}: {' '.join(reason)}")
        for one in campaigns:
            summary = one["summary"]
            total += summary["cuts"]
            acknowledged += sum(cut["acknowledged"] for cut in one["campaign"]["cuts"])
            crash = CRASHES[summary["kind"]["level"]]
            rows.append(f"| {summary['engine']} | {crash} | {summary['losing']} of {summary['cuts']} | {lost(summary)} |")
    lines += ["| engine | crash | cuts that lost a write | lost |", "|---|---|---|---|", *rows, ""]
    lines += [f"{total:,} cuts after {acknowledged:,} acknowledged writes."]
    return lines + [line for reason in absent for line in ("", f"Not measured: {reason}")]


def main():
    """Writes the page."""
    program = os.environ.get("ASSAY")
    if not program:
        subprocess.run(["cargo", "build", "--quiet", "--release", "--package", "assay"], cwd=ROOT, check=True)
        program = str(ROOT / "target" / "release" / "assay")
    lines = [INTRODUCTION.rstrip()]
    for one in SECTIONS:
        lines += section(program, *one)
    PAGE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
