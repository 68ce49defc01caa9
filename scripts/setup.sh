#!/usr/bin/env bash
# Installs what building and running Assay needs and this machine lacks. Asks apt only when
# something is missing; without network it works when nothing is. `setup.sh peers` adds what
# `make bench-peers` compares with.
set -euo pipefail

say() { printf 'setup: %s\n' "$*"; }
fail() {
    say "$*" >&2
    exit 1
}

packages=()
lacks() { # WHAT, WHY, PACKAGES...
    say "missing: $1 ($2)"
    packages+=("${@:3}")
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compiles() {
    printf '#include <stdio.h>\nint main(void) { return puts("") < 0; }\n' >"$scratch/probe.c"
    cc -o "$scratch/probe" "$scratch/probe.c" 2>/dev/null
}

command -v cargo >/dev/null || fail "cargo is missing: install Rust 1.90 or newer with rustup"
compiles ||
    lacks "a C compiler named cc" "it links Rust programs and compiles SQLite and LMDB" \
        gcc libc6-dev
command -v git >/dev/null || lacks "git" "cargo tidy lists the sources with it" git
if ! command -v mvn >/dev/null || ! command -v java >/dev/null; then
    lacks "a JDK and Maven" "they obtain RocksDB's released libraries" maven default-jdk-headless
fi
# A released RocksDB library brings everything but the C++ run-time library.
if ! PATH=$PATH:/sbin ldconfig -p 2>/dev/null | grep 'libstdc++\.so\.6' >/dev/null; then
    lacks "libstdc++.so.6" "RocksDB's released libraries need it" libstdc++6
fi
if [ "${1-}" = peers ]; then
    command -v db_bench >/dev/null ||
        lacks "db_bench" "RocksDB's own benchmark, the peer of ours" rocksdb-tools
    command -v sysbench >/dev/null ||
        lacks "sysbench" "a peer that offers a rate" sysbench
    command -v valgrind >/dev/null || lacks "valgrind" "it counts instructions" valgrind
fi
[ "${#packages[@]}" -gt 0 ] || exit 0

command -v apt-get >/dev/null ||
    fail "no apt-get here: install what is named above with your system's package manager"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "run as root: apt-get install ${packages[*]}"
    as_root=(sudo)
fi
say "installing with apt-get: ${packages[*]}"
"${as_root[@]}" apt-get update --quiet ||
    say "the list of packages is not fresh; trying with the one that is here"
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install --yes --no-install-recommends "${packages[@]}" ||
    fail "apt-get failed: see above, then run it by hand: apt-get install ${packages[*]}"
