#!/usr/bin/env bash
# Verifies the models of models/ with SPIN, all states of each, and that each seeded bug is found.
# Skipped without spin.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v spin >/dev/null; then
    echo "skipped: no spin (apt-get install spin)"
    exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A limit that no model reaches: beyond it the search would not be complete.
DEPTH=1000000
# Memory of a search, several times what the largest takes: one that grows fails before it swaps.
MEGABYTES=2048

search() { # MODEL, DEFINITIONS...
    rm -rf "$scratch"/*
    cp "models/$1.pml" "$scratch"
    (
        cd "$scratch"
        spin "${@:2}" -a "$1.pml"
        cc -w -O1 -DSAFETY -DMEMLIM="$MEGABYTES" -o pan pan.c
        ./pan -m"$DEPTH"
    ) >"$scratch/log" 2>&1 || true
}
fail() {
    cat "$scratch/log"
    echo "models: $*" >&2
    exit 1
}

for path in models/*.pml; do
    model=$(basename "$path" .pml)
    search "$model"
    grep -q 'errors: 0$' "$scratch/log" || fail "$model does not hold"
    ! grep -Eq 'not completed|too small' "$scratch/log" || fail "$model: not all states are tried"
    states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' "$scratch/log")
    depth=$(sed -n 's/.*depth reached \([0-9]*\),.*/\1/p' "$scratch/log")
    search "$model" -DBUG
    bug=$(sed -n 's/^pan:[0-9]*: \(.*\) (at depth [0-9]*)$/\1/p' "$scratch/log")
    [ -n "$bug" ] || fail "$model: the seeded bug is not found"
    printf '%-8s holds: %7d states, depth %4d; seeded bug found: %s\n' \
        "$model" "$states" "$depth" "$bug"
done
