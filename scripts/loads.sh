#!/usr/bin/env bash
# Prints how fresh and restored databases differ: ten runs of each, by engine; a quarter of an hour.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v jq >/dev/null; then
    echo 'not measured: no jq (apt-get install jq)'
    exit 0
fi
cargo build --quiet --release --package assay
scratch=$(mktemp -d /var/tmp/assay-loads.XXXXXX)
chmod o+x "$scratch" # servers run as an account of their own
trap 'rm -rf "$scratch"' EXIT

# An experiment with one variant, whose name has the mode; those of one mode are joined, and compared with the other.
file() { # MODE, LOAD, NAME, ENGINE, PROFILE, BLOCK
    cat <<TOML
[experiment]
name     = "$3-$1-$6"
question = "How fast are reads of a $1 database?"
margin   = "5%"
measure  = ["readrandom", "fwdrange"]

[benchmark]
steps       = ["filluniquerandom", "settle", "readrandom", "fwdrange"]
rows        = "100k"
value_bytes = 400
duration    = "3s"
warmup      = "2s"
cache       = "256MiB"
load        = "$2"

[factors]
repetitions = 2

[[variant]]
name    = "$3-$1"
engine  = "$4"
TOML
    [ -z "$5" ] || echo "profile = \"$5\""
}

assay() { ./target/release/assay "$@" --results "$scratch/results" --data-dir "$scratch/data"; }

# Prints throughput of a step in each run of an experiment's variant, from the records.
throughputs() { # MODE, ENGINE, STEP
    cat "$scratch/results/$2-$1"-*/*/runs/*/record.json |
        jq --arg step "$3" '.steps[] | select(.step.name == $step)
            | ([.clients[].counts.done] | add) / (.duration_ns / 1e9)'
}
cov() { jq -rs '(add / length) as $mean
    | (map(pow(. - $mean; 2)) | add / (length - 1) | sqrt) / $mean * 100 * 100 | round / 100'; }

printf '| engine | step | CoV of fresh runs, %% | CoV of restored runs, %% | throughput, restored / fresh | CPU per operation, restored / fresh |\n'
printf '|---|---|---|---|---|---|\n'
for variant in rocksdb@9.10.0:rocksdb-leveled lmdb: sqlite: postgres@15.10:postgres mysql@8.0.31:innodb; do
    engine=${variant%%[@:]*}
    names=()
    # In turn, so that a drift of the machine is in both. All of one mode begin from one load.
    for block in 1 2 3 4 5; do
        for mode in fresh:fresh restored:per-variant; do
            file "${mode%:*}" "${mode#*:}" "$engine" "${variant%:*}" "${variant#*:}" "$block" >"$scratch/file.toml"
            assay run "$scratch/file.toml" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
            names+=("$engine-${mode%:*}-$block")
        done
    done
    assay compare "${names[@]}" --base "$engine-fresh" --format json >"$scratch/json"
    assay snapshot remove --all >"$scratch/log" 2>&1
    for step in readrandom fwdrange; do
        effect=$(jq -r --arg step "$step" --arg variant "$engine-restored" 'def two: . * 100 | round / 100;
            .comparison.steps[] | select(.name == $step) | .cells[] | select(.variant == $variant)
            | [.metrics.throughput_ops_per_s, .metrics.cpu_us_per_op] | map(.versus_base
            | "\(.ratio | two) [\(.interval.low | two), \(.interval.high | two)] \(.verdict)") | join(" | ")' "$scratch/json")
        printf '| %s | %s | %s | %s | %s |\n' "$engine" "$step" "$(throughputs fresh "$engine" "$step" | cov)" \
            "$(throughputs restored "$engine" "$step" | cov)" "$effect"
    done
done
