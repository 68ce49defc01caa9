#!/usr/bin/env python3
"""Installs every package of target/dist where its users would, and runs the program there.

Each Debian has a fresh root by debootstrap: no compiler, Rust, Java or Maven. The network is cut while the
program runs. The ARM program runs under qemu, which takes five to nine times as long: it is tested, not measured.

Needs root, debootstrap, and for ARM qemu-user-static and Maven. Prints what passed and what was skipped, with the
reason; the exit code is 1 if a test failed.
"""

import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from pathlib import Path

import build
from build import ARCHITECTURES, CACHE, DIST, GLIBC

SUITES = ["bookworm", "trixie"]
# What a user's machine lacks.
ABSENT = ["cc", "cargo", "java", "mvn", "python3"]
# A root that is kept is made again after a month, s.
RENEWAL_S = 30 * 86400
# Exit code of runs that decided nothing.
UNDECIDED = 3
# From the package to the first report, s.
FIRST_REPORT_S = 60
IMAGE_PACKED_BYTES = 25_000_000
IMAGE_UNPACKED_BYTES = 60_000_000
# The engines in the program, and RocksDB, whose library Maven has for ARM.
ARM_BUILDS = ["lmdb", "sqlite", "redb", "fjall", "rocksdb@maven"]
ROCKSDB = "9.10.0"
SHORT = ["--rows", "1k", "--duration", "50ms", "--warmup", "10ms"]
# Names of a program of ARM to the kernel. Source: Linux, Documentation/admin-guide/binfmt-misc.rst.
BINFMT = Path("/proc/sys/fs/binfmt_misc")
ARM_MAGIC = r"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00"
ARM_MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"
QEMU = "/usr/bin/qemu-aarch64-static"


class Skipped(Exception):
    """A test that needs what the machine lacks."""


class Root:
    """A directory that programs see as `/`.

    With a directory of the host as `/work`, that one and `/tmp` alone can be written.
    """

    def __init__(self, path, work=None, variables=None):
        self.path = path
        self.work = work
        self.variables = variables or {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}

    def run(self, *command, user=0, home="/root", is_online=False):
        """Runs a command and returns its exit code and output; nothing is mounted afterwards."""
        script = f"""set -e
            PATH=/usr/sbin:/usr/bin:/sbin:/bin
            mount --bind $R $R; mount -t proc proc $R/proc
            mount --rbind /dev $R/dev; mount -t tmpfs tmpfs $R/tmp
            [ -z "$W" ] || {{ mount --bind $W $R/work; mount -o remount,bind,ro $R; }}
            exec env -i "$@" """
        variables = [f"{name}={value}" for name, value in {"HOME": home, **self.variables}.items()]
        entered = ["unshare", f"--root={self.path}", f"--wd={home}", "-S", str(user), "-G", str(user)]
        names = ["--mount", "--pid", "--fork", "--kill-child"] + ([] if is_online else ["--net"])
        places = {"R": str(self.path), "W": str(self.work or "")}
        started = ["unshare", *names, "sh", "-c", script, "sh", *variables, *entered, *command]
        env = dict(os.environ, **places)
        done = subprocess.run(started, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def succeed(self, *command, **options):
        """Runs a command that ends well, and returns its output."""
        code, output = self.run(*command, **options)
        assert code in codes(command), f"{' '.join(command)}: exit code {code}\n{output}"
        return output


def codes(command):
    """Returns the exit codes of a command that ends well: on a busy host, runs may decide nothing."""
    return (0, UNDECIDED) if "run" in command else (0,)


@contextlib.contextmanager
def fresh_root(suite):
    """Makes the root of a Debian that has nothing but its base."""
    if os.geteuid() or not shutil.which("debootstrap"):
        raise Skipped("no debootstrap, or not root")
    packed = CACHE / f"{suite}-{platform.machine()}.tar"
    with tempfile.TemporaryDirectory(prefix="assay-root-") as place:
        root = Path(place) / "root"
        if not packed.exists() or time.time() - packed.stat().st_mtime > RENEWAL_S:
            made = ["debootstrap", "--variant=minbase", suite, root]
            done = subprocess.run(made, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                raise Skipped(f"debootstrap made no {suite}: {done.stdout[-200:]}")
            CACHE.mkdir(parents=True, exist_ok=True)
            partial = packed.with_suffix(".partial")
            build.run(["tar", "--create", "--file", partial, "--directory", root, "."])
            partial.rename(packed)
        else:
            root.mkdir()
            build.run(["tar", "--extract", "--file", packed, "--directory", root])
        yield Root(root)


def only(pattern):
    """Returns the one package of a name."""
    found = sorted(DIST.glob(pattern))
    if not found:
        raise Skipped(f"no {pattern} in {DIST}")
    assert len(found) == 1, found
    return found[0]


def is_release():
    """Returns whether the packages hold the program of a release, not that of the tests, which is larger."""
    return any(DIST.glob("*.whl"))


def first_report(root, begin, **options):
    """Checks the first report of a user, and that it came soon."""
    output = root.succeed("assay", "run", "readrandom", "--engine", "lmdb", **options)
    seconds = time.monotonic() - begin
    assert "Verdict:" in output and "readrandom" in output, output
    # Next to other tests, and without optimisation, time shows nothing.
    assert seconds < FIRST_REPORT_S or not is_release(), f"the first report came after {seconds:.0f} s"
    return f"first report after {seconds:.0f} s"


def debian_package(suite):
    """The Debian package: installed, measured with, removed."""
    package = only(f"assay_*_{ARCHITECTURES[platform.machine()]}.deb")
    with fresh_root(suite) as root:
        for name in ABSENT:
            assert root.run("sh", "-c", f"command -v {name}")[0], f"{suite} has {name}"
        begin = time.monotonic()
        shutil.copy(package, root.path / "opt/assay.deb")
        root.succeed("dpkg", "--install", "/opt/assay.deb")
        report = first_report(root, begin)
        assert (root.path / "usr/share/man/man1/assay-run.1.gz").exists()
        quickstart(root)
        missing_builds(root)
        added(root)
        root.succeed("dpkg", "--remove", "assay")
        left = [path for path in (root.path / "usr").rglob("*assay*") if "dpkg" not in str(path)]
        assert not left, left
        return report


def quickstart(root):
    """Checks that the quickstart measures what is there, and says in one line what would add the rest."""
    output = root.succeed("assay", "run", "quickstart", *SHORT)
    lines = [line for line in output.splitlines() if line.startswith("left out")]
    assert len(lines) == 1 and "apt install" in lines[0] and "maven" in lines[0], lines
    for engine in ["sqlite", "lmdb", "redb", "fjall"]:
        assert re.search(rf"^{engine} .* k", output, re.MULTILINE), output


def missing_builds(root):
    """Checks that a build that needs a download says so, and what installs its client."""
    for build_name, remedy in [("rocksdb@9.10.0", "maven"), ("postgres@15.10", "npm"), ("mysql@8.0.31", "maven")]:
        code, output = root.run("assay", "run", "readrandom", "--engine", build_name, "--rows", "1k")
        assert code and "apt install" in output and remedy in output, output
        assert "nothing was run" in output, output


def added(root):
    """Checks that the command of the quickstart's line adds the distribution's engines."""
    code, output = root.run("sh", "-c", "apt-get update && apt-get install -y librocksdb-dev libleveldb1d", is_online=True)
    if code:
        print(f"    skipped in part: apt-get in the root: {output.splitlines()[-1] if output else code}")
        return
    output = root.succeed("assay", "run", "quickstart", *SHORT)
    for engine in ["leveldb", "rocksdb"]:
        assert re.search(rf"^{engine} .* k", output, re.MULTILINE), output


def tarball(suite):
    """The tarball: unpacked by an ordinary account in its home directory."""
    package = only(f"assay-*-{platform.machine()}-linux.tar.gz")
    with fresh_root(suite) as root:
        home = root.path / "home/user"
        (home / ".local").mkdir(parents=True)
        begin = time.monotonic()
        build.run(["tar", "-xzf", package, "--strip-components=1", "-C", home / ".local"])
        build.run(["chown", "-R", "1000:1000", home])
        options = {"user": 1000, "home": "/home/user"}
        command = ["/home/user/.local/bin/assay", "run", "readrandom", "--engine", "lmdb"]
        output = root.succeed(*command, **options)
        assert "Verdict:" in output, output
        pages = root.succeed("ls", "/home/user/.local/share/man/man1", **options)
        assert "assay-run.1.gz" in pages, pages
        return f"report after {time.monotonic() - begin:.0f} s, as uid 1000"


class Image:
    """The image of an architecture, whose layers are unpacked."""

    def __init__(self, arch, place):
        package = only(f"assay-*-{arch}-image.tar")
        if os.geteuid():
            raise Skipped("not root")
        self.path, self.work, self.layout = (Path(place) / name for name in ["root", "work", "layout"])
        with tarfile.open(package) as archive:
            archive.extractall(self.layout, filter="data")
        index = json.loads((self.layout / "index.json").read_text())
        self.manifest = json.loads(self.blob(index["manifests"][0]).read_text())
        self.config = json.loads(self.blob(self.manifest["config"]).read_text())["config"]
        self.path.mkdir()
        for layer in self.manifest["layers"]:
            build.run(["tar", "--extract", "--file", self.blob(layer), "--directory", self.path])
        # What a container's run time makes.
        for directory in ["proc", "dev", "tmp"]:
            (self.path / directory).mkdir(exist_ok=True)
        self.work.mkdir()
        os.chown(self.work, 65532, 65532)

    def blob(self, entry):
        """Returns the file of a digest, which is that of its bytes."""
        path = self.layout / "blobs" / entry["digest"].replace(":", "/")
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name, path
        return path

    def run(self, *arguments):
        """Runs the program as a container would: no network, uid 65532, a read-only root."""
        root = Root(self.path, self.work, dict(pair.split("=", 1) for pair in self.config["Env"]))
        return root.succeed(*self.config["Entrypoint"], *arguments, user=65532, home=self.config["WorkingDir"])


def image():
    """The image: its sizes, and the program as an ordinary account on a read-only root."""
    with tempfile.TemporaryDirectory(prefix="assay-image-") as place:
        made = Image(platform.machine(), place)
        assert made.config["User"] == "65532:65532", made.config
        packed = sum(layer["size"] for layer in made.manifest["layers"])
        unpacked = int(build.run(["du", "--summarize", "--apparent-size", "--bytes", made.path]).split()[0])
        sizes = f"{packed / 1e6:.1f} MB compressed, {unpacked / 1e6:.1f} MB unpacked"
        if is_release():
            assert packed <= IMAGE_PACKED_BYTES and unpacked <= IMAGE_UNPACKED_BYTES, sizes
        assert not (made.path / "bin/sh").exists(), "the image has a shell"
        begin = time.monotonic()
        output = made.run("run", "readrandom", "--engine", "lmdb")
        assert "Verdict:" in output and (made.work / "results").is_dir(), output
        return f"{sizes}; report after {time.monotonic() - begin:.0f} s, as uid 65532"


def wheel():
    """The wheel: installed without an index."""
    package = only(f"*{platform.machine()}.whl")
    with tempfile.TemporaryDirectory(prefix="assay-wheel-") as place:
        venv.create(place, with_pip=True)
        build.run([Path(place) / "bin/pip", "install", "--quiet", "--no-index", package])
        command = [Path(place) / "bin/assay", "run", "readrandom", "--engine", "lmdb", *SHORT]
        assert subprocess.run(command, cwd=place).returncode in codes(command), command


def checksums():
    """SHA256SUMS names every package."""
    build.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=DIST)
    named = {line.split()[1] for line in (DIST / "SHA256SUMS").read_text().splitlines()}
    assert named == {path.name for path in DIST.iterdir() if path.is_file()} - {"SHA256SUMS"}, named


def bill_of_materials(arch):
    """The bill of materials: CycloneDX, with the crates that are linked."""
    bill = json.loads(only(f"assay-*-{arch}-linux.bom.json").read_text())
    names = {component["name"] for component in bill["components"]}
    assert bill["bomFormat"] == "CycloneDX" and {"redb", "fjall", "rustls"} <= names, bill["bomFormat"]
    return f"{len(names)} components"


def program_of(arch, place):
    """Unpacks the program of a tarball."""
    build.run(["tar", "-xzf", only(f"assay-*-{arch}-linux.tar.gz"), "--strip-components=1", "-C", place])
    return Path(place) / "bin/assay"


def symbols(arch):
    """The program needs no glibc newer than the oldest that is promised."""
    if not is_release():
        raise Skipped("the program of the tests needs the glibc of this host")
    with tempfile.TemporaryDirectory(prefix="assay-symbols-") as place:
        program = program_of(arch, place).read_bytes()
    numbers = lambda version: [int(part) for part in version.split(".")]
    newest = max((text.decode() for text in re.findall(rb"\0GLIBC_([\d.]+)(?=\0)", program)), key=numbers)
    assert numbers(newest) <= numbers(GLIBC), newest
    return f"newest symbol GLIBC_{newest}"


@contextlib.contextmanager
def qemu():
    """Has the kernel run programs of ARM by qemu, which it opens now: no root has to hold it."""
    if os.geteuid() or not Path(QEMU).exists():
        raise Skipped("no qemu-user-static, or not root")
    was_mounted = (BINFMT / "register").exists()
    if not was_mounted:
        build.run(["mount", "-t", "binfmt_misc", "binfmt_misc", BINFMT])
    handler = BINFMT / "assay-aarch64"
    try:
        (BINFMT / "register").write_text(f":{handler.name}:M::{ARM_MAGIC}:{ARM_MASK}:{QEMU}:F")
        yield
    finally:
        if handler.exists():
            handler.write_text("-1")
        if not was_mounted:
            build.run(["umount", BINFMT])


def rocksdb_library(place):
    """Puts RocksDB's library for ARM into a directory, out of the archive that Maven has for all machines.

    Maven is the host's: in the image there is none, and qemu starts no program of another root.
    """
    if not shutil.which("mvn"):
        raise Skipped("no mvn")
    artifact = f"org.rocksdb:rocksdbjni:{ROCKSDB}"
    build.run(["mvn", "-q", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={place}"])
    (archive,) = Path(place).glob("rocksdbjni-*.jar")
    with zipfile.ZipFile(archive) as files:
        files.extract("librocksdbjni-linux-aarch64.so", place)
    return "librocksdbjni-linux-aarch64.so"


def arm():
    """The image for ARM: the conformance battery of the embedded engines, and what no server offers."""
    with qemu(), tempfile.TemporaryDirectory(prefix="assay-arm-") as place:
        made = Image("aarch64", place)
        for name in ARM_BUILDS:
            if "@" in name:
                made.run("engine", "add", name, rocksdb_library(made.work))
            output = made.run("engine", "test", name)
            passed, total = re.search(r"(\d+) of (\d+) checks passed", output).groups()
            assert passed == total, output
            print(f"    {name}: {passed} of {total} checks", flush=True)
        listed = made.run("engine", "list")
        for line in listed.splitlines():
            if "no known release" in line:
                assert "assay engine add" in line or "apt install" in line, line
        assert "no known release for aarch64" in listed, listed


def main():
    os.environ["LC_ALL"] = "C.UTF-8"
    tests = [(checksums, [])]
    tests += [(test, [suite]) for suite in SUITES for test in [debian_package, tarball]]
    tests += [(image, []), (wheel, [])]
    tests += [(test, [arch]) for arch in ARCHITECTURES for test in [symbols, bill_of_materials]]
    tests += [(arm, [])]
    wanted = sys.argv[1:]
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for test, arguments in tests:
        name = " ".join([test.__name__, *arguments])
        if wanted and test.__name__ not in wanted and name not in wanted:
            continue
        begin = time.monotonic()
        try:
            detail = test(*arguments)
            outcome, text = "passed", f" ({detail})" if detail else ""
        except Skipped as reason:
            outcome, text = "skipped", f": {reason}"
        except (AssertionError, SystemExit, OSError) as error:
            outcome, text = "failed", f": {error}"
        counts[outcome] += 1
        print(f"{name}: {outcome}{text} {time.monotonic() - begin:.0f} s", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
