#!/usr/bin/env bash
# Runs every shipped experiment at one size, one after the other, and renews docs/reproduced/ from the archive.
#
#   scripts/reproduce.sh              all of experiments/, at size minutes
#   scripts/reproduce.sh hot-row ...  these
#   SIZE=night scripts/reproduce.sh splinterdb-vs-rocksdb
#   REPETITIONS=6 scripts/reproduce.sh ibench-small-server
#
# What was completed is not run again; what was interrupted goes on. An experiment that fails, takes longer than
# LIMIT, or lacks a build (SplinterDB, FB MySQL, builds of one's own flags) is reported with its reason, and the
# next one begins. Each ends with its own data removed; saved loads are removed before the next.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

size=${SIZE:-minutes}
limit=${LIMIT:-$([ "$size" = minutes ] && echo 60m || echo 10h)}
assay=${ASSAY:-target/release/assay}
[ -n "${ASSAY:-}" ] || cargo build --quiet --release --package assay || exit 1
results=${RESULTS:-results}
log=$results/.reproduce-$size.log
mkdir -p "$results"

# Prints the name under which the results of a file at this size are stored.
stored() {
    if grep -q "^size *= *\"$size\"" "$1"; then basename "$1" .toml; else echo "$(basename "$1" .toml)-$size"; fi
}

[ $# -gt 0 ] || set -- $(cd experiments && basename --suffix .toml -- *.toml)
failed=()
for name in "$@"; do
    file=experiments/$name.toml
    stored=$(stored "$file")
    echo "== $stored ($(date --utc +%H:%M))" | tee -a "$log"
    if [ -d "$results/$stored" ]; then
        how=(run --resume "$stored")
    else
        how=(run "$file" --size "$size" ${REPETITIONS:+--repetitions "$REPETITIONS"})
    fi
    timeout --signal INT --kill-after 60 "$limit" "$assay" --results "$results" "${how[@]}" >"$log.last" 2>&1 </dev/null
    code=$?
    tail -n 40 "$log.last" >>"$log"
    if [ "$code" -ne 0 ]; then
        failed+=("$stored (exit $code): $(grep -m 1 -E '[^[:space:]]' "$log.last")")
    fi
    "$assay" snapshot remove --all >>"$log" 2>&1
done

# Every experiment that has runs here, at each of its sizes; the pages keep those whose results are gone.
stored=()
for file in experiments/*.toml; do
    experiment=$(basename "$file" .toml)
    for name in "$experiment" $(sed -n "s/^\[size\.\(.*\)\]$/$experiment-\1/p" "$file"); do
        if grep -q '^\[\[published\]\]' "$file" && ls "$results/$name"/*/runs/*/record.json >/dev/null 2>&1; then
            stored+=("$name")
        fi
    done
done
if [ "${#stored[@]}" -gt 0 ]; then
    "$assay" --results "$results" report "${stored[@]}" --reproduced docs/reproduced
fi
if [ "${#failed[@]}" -gt 0 ]; then
    printf 'not completed:\n'
    printf '  %s\n' "${failed[@]}"
fi
