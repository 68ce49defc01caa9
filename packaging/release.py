#!/usr/bin/env python3
"""Checks that this commit can be released, and builds its packages twice; publishes nothing.

The tree is clean, the version is the newest of CHANGELOG.md and has no tag, licences and texts are complete, and
two clones in different directories give the same bytes. The packages of the first are tested in target/dist.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import build
from build import DIST, ROOT, log, run


def check_sources(version):
    """Checks the tree, the version, the changelog and the licences, before anything is compiled."""
    changed = run(["git", "status", "--porcelain"], cwd=ROOT)
    if changed:
        sys.exit(f"release.py: commit or remove these files first:\n{changed}")
    released = re.search(r"^## (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE).group(1)
    if released != version:
        sys.exit(f"release.py: CHANGELOG.md begins with {released}, Cargo.toml has {version}: make them equal")
    if run(["git", "tag", "--list", f"v{version}"], cwd=ROOT):
        sys.exit(f"release.py: v{version} is released already: raise the version in Cargo.toml and CHANGELOG.md")
    checked = run([ROOT / "scripts/deny.sh"], cwd=ROOT)
    if "no cargo-deny" in checked:
        sys.exit("release.py: licences are not checked without cargo-deny: scripts/setup.sh test installs it")
    build.third_party()
    log(f"the tree is clean, {version} is the newest in CHANGELOG.md, the licences may be distributed")


def build_in(parent, name):
    """Builds the packages in a clone of this commit and returns its directory of packages."""
    clone = Path(parent) / name
    run(["git", "clone", "--quiet", ROOT, clone])
    log(f"building in {clone}")
    if subprocess.run([sys.executable, clone / "packaging/build.py"]).returncode:
        sys.exit(f"release.py: the build in {clone} failed")
    return clone / "target/dist"


def main():
    version = build.version()
    check_sources(version)
    sums = []
    for name in ["first", "a-second-clone"]:
        with tempfile.TemporaryDirectory(prefix="assay-release-") as parent:
            built = build_in(parent, name)
            sums.append((built / "SHA256SUMS").read_text())
            if len(sums) == 1:
                shutil.rmtree(DIST, ignore_errors=True)
                shutil.copytree(built, DIST)
    different = set(sums[0].splitlines()) ^ set(sums[1].splitlines())
    if different:
        sys.exit("release.py: two clones give different packages:\n" + "\n".join(sorted(different)))
    log(f"two clones give the same {len(sums[0].splitlines())} packages")
    if subprocess.run([sys.executable, ROOT / "packaging/test.py"]).returncode:
        sys.exit("release.py: a package does not work: see above")
    log(f"to publish: git tag v{version}, then upload the files of {DIST}")


if __name__ == "__main__":
    main()
