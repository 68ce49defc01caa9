#!/usr/bin/env bash
# Packages the program of the tests, and installs the packages in a fresh Debian 12 and as an image: what
# `make dist` does with programs of a release for two architectures. Skipped without debootstrap or root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for needed in debootstrap mmdebstrap buildah; do
    if [ "$(id -u)" -ne 0 ] || ! command -v "$needed" >/dev/null; then
        echo "skipped: no $needed, or not root (scripts/setup.sh dist)"
        exit 0
    fi
done
python3 packaging/build.py --program "${CARGO_TARGET_DIR:-target}/debug/assay"
python3 packaging/test.py checksums 'debian_package bookworm' image
