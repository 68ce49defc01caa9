#!/usr/bin/env bash
# Feeds mutated files to every fuzz target: a second each, or minutes with ASSAY_CAMPAIGN=long. Prints
# executions and crashes, and fails on a crash. Skipped without cargo-fuzz.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "skipped: no cargo-fuzz (cargo install cargo-fuzz)"
    exit 0
fi
# The coverage that libFuzzer follows is no stable option of the compiler.
export RUSTC_BOOTSTRAP=1
# The dependencies are those of the program. Our code is safe: no sanitizer.
cp Cargo.lock fuzz/Cargo.lock
# A sample takes seconds, and its build unoptimised half as long.
build=(--dev) profile=debug
if [ "${ASSAY_CAMPAIGN-}" = long ]; then
    build=() profile=release
fi
CARGO_PROFILE_DEV_DEBUG=0 cargo fuzz build "${build[@]}" --sanitizer none --target-dir fuzz/target
programs=fuzz/target/$(rustc -vV | sed -n 's/^host: //p')/$profile

TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
log=$TMPDIR/log
# A sample begins with the seeds alone; a campaign goes on where the last one ended.
seconds=1 corpus=$TMPDIR/corpus
if [ "${ASSAY_CAMPAIGN-}" = long ]; then
    seconds=300 corpus=fuzz/corpus
fi
executions=0 crashes=0
for target in $(cargo fuzz list); do
    mkdir -p "$corpus/$target" "fuzz/artifacts/$target"
    folders=("$corpus/$target" "fuzz/seeds/$target")
    # The shipped experiments, profiles and applications are seeds too.
    [ ! -d "${target}s" ] || folders+=("${target}s")
    crash=0
    nice -n 19 "$programs/$target" "${folders[@]}" -dict="fuzz/dictionaries/$target" \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
        -artifact_prefix="fuzz/artifacts/$target/" -print_final_stats=1 >"$log" 2>&1 || crash=1
    count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    printf '%-12s %9d executions, %d crashes\n' "$target" "${count:-0}" "$crash"
    [ "$crash" -eq 0 ] || tail -n 40 "$log"
    executions=$((executions + ${count:-0})) crashes=$((crashes + crash))
done
printf '%-12s %9d executions, %d crashes\n' "in all" "$executions" "$crashes"
if [ "$crashes" -gt 0 ]; then
    echo "mend each cause, then move its input from fuzz/artifacts/ to fuzz/seeds/" >&2
    exit 1
fi
