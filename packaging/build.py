#!/usr/bin/env python3
"""Builds the packages of a release in target/dist: tarball, Debian package, wheel and image of each architecture.

zig links the program against glibc 2.28, so that one file runs on every distribution since 2018, and compiles
for ARM without a second machine. maturin runs zig, and its wheel brings the bill of materials; every other
package takes its program out of the wheel. Two clones of a commit, in any directories, give the same bytes.

Needs Rust with rustup, Python, dpkg-deb, and for the image mmdebstrap and buildah.
"""

import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "target/dist"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay-packaging"
# The compiler's and linker's releases decide every byte of the program.
TOOLS = ["maturin==1.16.0", "ziglang==0.17.1"]
# Oldest glibc on which the program starts.
GLIBC = "2.28"
# Debian's names of the architectures.
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
# The image's base: the libraries that engine builds need, and the certificates of servers.
SUITE = "trixie"
BASE = ["base-files", "ca-certificates", "libc6", "libgcc-s1", "libstdc++6"]
# Files of the base that no program in the image reads.
UNUSED = ["usr/share/doc", "usr/share/locale", "usr/share/man", "usr/share/lintian", "var/lib/apt", "var/lib/dpkg"]
# Conversions between character sets other than UTF-8.
UNUSED += [f"usr/lib/{arch}-linux-gnu/gconv" for arch in ARCHITECTURES]
# Names of the functions that a worker executes: the clients, and the engines in the program. CPU profiles show them.
# All symbols together have 11 MB, these less than one.
PROFILED = re.compile(
    r"^(?!_R|_ZN)|redb|fjall|lsm_tree|indexlog|driver_|sql_run|workload|4load|6engine|5model|6runner"
    r"|hdrhistogram|crossbeam|quick_cache|lz4_flex"
)
# The script of the pages, and the licences of the packages in it.
BUNDLE = ROOT / "crates/tool/serve/web/dist"
# Texts for crates whose archives hold none.
STANDARD_TEXTS = {"Apache-2.0": ROOT / "LICENSE", "0BSD": ROOT / "packaging/licences/0BSD.txt"}


def run(command, **options):
    """Runs a command that must succeed, and returns what it printed."""
    command = [str(part) for part in command]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode:
        sys.exit(f"build.py: {' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def log(text):
    print(f"build.py: {text}", flush=True)


def tools():
    """Returns the directory of maturin and zig, which are installed once."""
    place = CACHE / "-".join(TOOLS).replace("==", "-")
    if not (place / "bin/maturin").exists():
        log(f"installing {' and '.join(TOOLS)} in {place}")
        run([sys.executable, "-m", "venv", place])
        run([place / "bin/pip", "install", "--quiet", *TOOLS])
    return place / "bin"


def stamp():
    """Returns the time of the commit, which every file of a package has."""
    return int(run(["git", "log", "-1", "--format=%ct"], cwd=ROOT))


def environment():
    """Returns the variables of a compiler that writes no path of this machine into the program."""
    cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    places = {ROOT: "/assay", cargo: "/cargo"}
    mapped = [f"--remap-path-prefix={place}={name}" for place, name in places.items()]
    # They replace those of .cargo/config.toml.
    mapped.append("-Cforce-frame-pointers=yes")
    return dict(
        os.environ,
        PATH=f"{tools()}:{os.environ['PATH']}",
        CARGO_INCREMENTAL="0",
        CARGO_TARGET_DIR=str(ROOT / "target/packaging"),
        CARGO_ENCODED_RUSTFLAGS="\x1f".join(mapped),
        CFLAGS=" ".join(f"-ffile-prefix-map={place}={name}" for place, name in places.items()),
        SOURCE_DATE_EPOCH=str(stamp()),
    )


def wheel(arch):
    """Compiles the program and returns its wheel."""
    target = f"{arch}-unknown-linux-gnu"
    run(["rustup", "--quiet", "target", "add", target], cwd=ROOT)
    log(f"compiling for {target} and glibc {GLIBC}")
    compatibility = f"manylinux_{GLIBC.replace('.', '_')}"
    run(
        ["maturin", "build", "--quiet", "--release", "--locked", "--zig", "--target", target]
        # The linker of zig removes all symbols where only debug information is to be removed.
        + ["--config", 'profile.release.package.assay.strip="none"']
        + ["--compatibility", compatibility, "--out", DIST],
        cwd=ROOT / "packaging",
        env=environment(),
    )
    (built,) = DIST.glob(f"*{arch}.whl")
    rewrite(built, arch)
    return built


def strip(program, to, arch):
    """Writes the program with the symbols of the functions in `PROFILED` alone."""
    listed = run([f"{arch}-linux-gnu-nm", "--defined-only", program]).splitlines()
    names = (parts[2] for parts in map(str.split, listed) if len(parts) == 3 and parts[1] in "tTwW")
    names = sorted({name for name in names if PROFILED.search(name)})
    if not names:
        sys.exit(f"build.py: {program} has no symbols of a worker: it was stripped when it was linked")
    wanted = to.with_name(f"{to.name}.symbols")
    wanted.write_text("".join(f"{name}\n" for name in names))
    run([f"{arch}-linux-gnu-objcopy", "--strip-all", f"--keep-symbols={wanted}", program, to])
    wanted.unlink()


def rewrite(built, arch):
    """Strips the program in a wheel, and takes the clone's directory out of its bill of materials."""
    with zipfile.ZipFile(built) as files:
        entries = [(entry, files.read(entry)) for entry in files.infolist()]
    lines = {}
    for number, (entry, content) in enumerate(entries):
        if "/sboms/" in entry.filename:
            content = content.replace(str(ROOT).encode(), b"/assay")
        elif Path(entry.filename).name == "assay":
            program = DIST / f"unstripped-{arch}"
            program.write_bytes(content)
            strip(program, DIST / f"stripped-{arch}", arch)
            content = (DIST / f"stripped-{arch}").read_bytes()
            for file in (program, DIST / f"stripped-{arch}"):
                file.unlink()
        else:
            continue
        entries[number] = (entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines[entry.filename] = f"{entry.filename},sha256={digest},{len(content)}"
    with zipfile.ZipFile(built, "w") as files:
        for entry, content in entries:
            if entry.filename.endswith("/RECORD"):
                old = content.decode().splitlines()
                content = "".join(f"{lines.get(line.split(',')[0], line)}\n" for line in old)
            files.writestr(entry, content, entry.compress_type)


def unpack_program(built, place):
    """Takes the program and the bill of materials out of a wheel."""
    place.mkdir(parents=True)
    with zipfile.ZipFile(built) as files:
        for name in files.namelist():
            wanted = {"assay": "assay"}.get(Path(name).name) or ("bom.json" if "/sboms/" in name else None)
            if wanted:
                (place / wanted).write_bytes(files.read(name))
    (place / "assay").chmod(0o755)


def third_party():
    """Returns the licence texts of every crate in the program.

    scripts/deny.sh checks that each licence is one that may be distributed with Assay.
    """
    targets = [f"{arch}-unknown-linux-gnu" for arch in ARCHITECTURES]
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    metadata = json.loads(run([*command, *(f"--filter-platform={target}" for target in targets)], cwd=ROOT))
    command = ["cargo", "tree", "--package", "assay", "--edges", "normal,build", "--prefix", "none", "--locked"]
    lines = run([*command, "--format", "{p}", *(f"--target={target}" for target in targets)], cwd=ROOT)
    linked = {tuple(line.split()[:2]) for line in lines.splitlines()}
    crates = {}
    for package in sorted(metadata["packages"], key=lambda package: (package["name"], package["version"])):
        if package["source"] and (package["name"], f"v{package['version']}") in linked:
            title = f"{package['name']} {package['version']} ({package['license']})"
            for text in licence_texts(package, title):
                crates.setdefault(text, []).append(title)
    parts = ["\n".join(["=" * 80, *titles, "", text, ""]) for text, titles in crates.items()]
    licences = BUNDLE / "licences.txt"
    parts += ["=" * 80 + "\n" + licences.read_text()] if licences.exists() else []
    return "\n".join(parts)


def licence_texts(package, title):
    """Returns the texts in a crate's archive, or else the text of a licence that may be chosen."""
    names = re.compile(r"(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)
    files = [path for path in sorted(Path(package["manifest_path"]).parent.iterdir()) if names.match(path.name)]
    if not files:
        named = re.split(r"[ /()]+", package["license"] or "")
        files = [path for name, path in STANDARD_TEXTS.items() if name in named][:1]
    if not files:
        sys.exit(f"build.py: {title} has no licence text: add the text to packaging/licences/")
    return [path.read_text(errors="replace").strip() for path in files if path.is_file()]


def tree(place, program, bill, texts):
    """Fills a directory with the files that a package installs below its prefix."""
    shutil.rmtree(place, ignore_errors=True)
    doc = place / "share/doc/assay"
    for folder in [place / "bin", doc]:
        folder.mkdir(parents=True)
    shutil.copy(program, place / "bin/assay")
    for name in ["LICENSE", "README.md", "CHANGELOG.md"]:
        shutil.copy(ROOT / name, doc / name)
    (doc / "THIRD-PARTY.txt").write_text(texts["licences"])
    if bill:
        shutil.copy(bill, doc / "bom.json")
    for path, text in texts["files"].items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(text)


def generated(program):
    """Returns the completions and man pages that a program prints, by path."""
    shells = {
        "bash": "share/bash-completion/completions/assay",
        "zsh": "share/zsh/site-functions/_assay",
        "fish": "share/fish/vendor_completions.d/assay.fish",
    }
    files = {path: run([program, "completions", shell]).encode() for shell, path in shells.items()}
    pages = DIST / "man"
    run([program, "man", pages])
    for page in sorted(pages.iterdir()):
        files[f"share/man/man1/{page.name}.gz"] = gzip.compress(page.read_bytes(), mtime=0)
    shutil.rmtree(pages)
    return files


def entry(info):
    """Returns an entry of an archive without its owner, and with the time of the commit."""
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    info.mtime = stamp()
    info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
    return info


def packed(place, name=""):
    """Returns the archive of a directory, whose entries are sorted and lie below a name."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for path in [*([place] if name else []), *sorted(place.rglob("*"))]:
            archive.add(path, Path(name) / path.relative_to(place), recursive=False, filter=entry)
    return content.getvalue()


def tarball(place, name, effort):
    """Packs the files of a package."""
    (DIST / f"{name}.tar.gz").write_bytes(gzip.compress(packed(place, name), effort, mtime=0))


def debian(place, version, arch, effort):
    """Makes a Debian package of a directory."""
    root = DIST / "debian"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(place, root / "usr")
    shutil.move(root / "usr/share/doc/assay/LICENSE", root / "usr/share/doc/assay/copyright")
    size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) // 1024
    control = (ROOT / "packaging/control").read_text()
    control = control.format(version=version, architecture=ARCHITECTURES[arch], size=size, glibc=GLIBC)
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text(control)
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    package = DIST / f"assay_{version}_{ARCHITECTURES[arch]}.deb"
    env = dict(os.environ, SOURCE_DATE_EPOCH=str(stamp()))
    run(["dpkg-deb", "--root-owner-group", "-Zxz", f"-z{effort}", "--build", root, package], env=env)
    shutil.rmtree(root)
    return package


def image(program, version, arch):
    """Makes an image (OCI archive) by packaging/Containerfile, without a daemon."""
    context = DIST / "image"
    shutil.rmtree(context, ignore_errors=True)
    base = context / "root"
    base.mkdir(parents=True)
    env = dict(os.environ, SOURCE_DATE_EPOCH=str(stamp()))
    run(
        ["mmdebstrap", "--quiet", "--variant=extract", f"--architectures={ARCHITECTURES[arch]}"]
        + [f"--include={','.join(BASE)}", SUITE, base],
        env=env,
    )
    for name in UNUSED:
        shutil.rmtree(base / name, ignore_errors=True)
    # What the package of certificates does when it is installed.
    certificates = sorted((base / "usr/share/ca-certificates").rglob("*.crt"))
    bundle = base / "etc/ssl/certs/ca-certificates.crt"
    bundle.write_bytes(b"".join(path.read_bytes() for path in certificates))
    with (base / "etc/passwd").open("w") as accounts:
        accounts.write("root:x:0:0::/root:/sbin/nologin\nassay:x:65532:65532::/work:/sbin/nologin\n")
    (base / "etc/group").write_text("root:x:0:\nassay:x:65532:\n")
    (base / "work").mkdir()
    os.chown(base / "work", 65532, 65532)
    shutil.copy(program, base / "usr/bin/assay")
    name = f"localhost/assay:{version}-{arch}"
    storage = ["--storage-driver", "vfs", "--root", DIST / "storage", "--runroot", DIST / "storage-run"]
    buildah = ["buildah", *storage]
    run(
        [*buildah, "build", "--quiet", "--isolation", "chroot", "--arch", ARCHITECTURES[arch]]
        + ["--timestamp", stamp(), "--label", f"org.opencontainers.image.version={version}"]
        + ["--tag", name, "--file", ROOT / "packaging/Containerfile", context]
    )
    # What buildah archives has the time of now.
    run([*buildah, "push", "--quiet", name, f"oci:{DIST / 'layout'}:{version}"])
    (DIST / f"assay-{version}-{arch}-image.tar").write_bytes(packed(DIST / "layout"))
    run([*buildah, "rmi", "--all", "--force"])
    for left in ["image", "layout", "storage", "storage-run"]:
        shutil.rmtree(DIST / left, ignore_errors=True)


def version():
    """Returns the version of the release."""
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--arch", choices=ARCHITECTURES, action="append", help="only this architecture")
    parser.add_argument("--program", type=Path, help="package this program of this machine: tests of the packages")
    parser.add_argument("--no-image", action="store_true", help="make no image")
    options = parser.parse_args()
    host = platform.machine()
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir(parents=True)
    run([ROOT / "scripts/web.sh"], cwd=ROOT)
    if not (BUNDLE / "app.js").exists() and not options.program:
        sys.exit("build.py: the script of the pages is not built: install npm, then repeat scripts/web.sh")
    programs = {}
    if options.program:
        strip(options.program, DIST / "assay", host)
        programs[host] = (DIST / "assay", None)
    for arch in [] if options.program else options.arch or ARCHITECTURES:
        parts = DIST / f"program-{arch}"
        unpack_program(wheel(arch), parts)
        programs[arch] = (parts / "assay", parts / "bom.json")
    if host not in programs:
        sys.exit(f"build.py: completions and man pages are printed by the program of {host}: build it too")
    texts = {"licences": third_party(), "files": generated(programs[host][0])}
    for arch, (program, bill) in programs.items():
        name = f"assay-{version()}-{arch}-linux"
        tree(DIST / name, program, bill, texts)
        # A test of the packages saves a minute of compressing.
        effort = 1 if options.program else 9
        tarball(DIST / name, name, effort)
        debian(DIST / name, version(), arch, effort)
        if not options.no_image:
            log(f"making the image for {arch}")
            image(program, version(), arch)
        if bill:
            shutil.copy(bill, DIST / f"{name}.bom.json")
        shutil.rmtree(DIST / name)
        shutil.rmtree(DIST / f"program-{arch}", ignore_errors=True)
    (DIST / "assay").unlink(missing_ok=True)
    files = sorted(path for path in DIST.iterdir() if path.is_file())
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    (DIST / "SHA256SUMS").write_text(sums)
    for path in files:
        log(f"{path.stat().st_size / 1e6:6.1f} MB  {path.name}")


if __name__ == "__main__":
    main()
