#!/usr/bin/env bash
# Writes docs/validation.md, -histories.md and -loads.md: simulations of verdicts, steady states, histories and
# shared loads, fresh and restored databases, and what the client costs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# Runs simulations and prints what they print, without the runner's own lines.
simulated() {
    printf '\n```\n'
    ASSAY_CAMPAIGN=long cargo test --quiet "$@" --nocapture --test-threads 1 2>/dev/null |
        sed -E 's/^(test [^ ]+ \.\.\. |\.+)//' | grep -vE '^(running |ok$|test result|test |$)'
    printf '```\n'
}

{
    printf '# Validation\n\n`make validation` generates this page. It tests the statistics on simulated data whose truth is known, with fixed seeds, and measures the cost of the client. [Histories](validation-histories.md) and [shared loads](validation-loads.md) have separate pages.\n'
    printf '\n## Verdicts\n\nRun-to-run CoVs are 0.5 to 5 %% and differ from step to step (sd of ln sigma 0.4). "Slow runs" are lognormal runs of which 15 %% are slower by four CoVs. The guarantee holds per campaign of 4 to 12 steps, 1 to 3 variants and 2 to 10 repetitions: at most 5 %% of the campaigns report any difference where none exists. `Slow(c)` is AR(1) noise from step to step with the correlation c. `Bursts(p)` is noise with two states, where p is the chance that a state stays.\n'
    simulated --package stats --test quality -- --skip shared_loads
    printf '\n## Steady states\n\nThe series have 1,800 s with 4 %% of noise a second and a correlation of 0.6, and there are 100 series of each shape. The column *not steady* has the share of series that were reported as not steady. The bias is the bias of the mean of the steady part.\n'
    simulated --package stats --test steady --
    printf '\n## Designs from a pilot\n\nThe noise is 1 %% from run to run, and 5 %% from second to second with a correlation of 0.9. Each figure comes from 200 experiments.\n'
    simulated --package analysis --lib injected --
    printf '\n## What the client costs\n\n```\n'
    cargo bench --quiet --package load --bench null_loop 2>/dev/null
    printf '```\n'
    if command -v db_bench >/dev/null; then
        printf '\n## Next to db_bench, pgbench and sysbench\n\n'
        cargo run --quiet --release --package bench-peers 2>/dev/null || printf 'not measured: bench-peers failed\n'
    else
        printf '\nThe comparison with db_bench, pgbench and sysbench was not measured, because db_bench is not installed (`make bench-peers`).\n'
    fi
} >"$scratch/page"
{
    printf '# Validation of histories\n\n`make validation` generates this page. [History](method/history.md) describes the method.\n\n'
    printf 'This page has two measures of `assay history`, next to Apache Otava 0.8.0 on the same series: the number of false changes in series without changes, and recall and precision on 18 families of 20 labelled series. The set of series is ours, and the ramp rule was made with this set in view.\n'
    simulated --package stats --test history --
} >"$scratch/histories"
{
    printf '# Validation of shared loads\n\n`make validation` generates this page. [Shared loads](method/shared-loads.md) describes the method.\n'
    printf '\n## Coverage\n\nLoads differ by the CoV in the first column, and runs within a load by 1 %%. A false campaign reports a difference where none exists.\n'
    simulated --package stats --test quality -- shared_loads
    printf '\n## Fresh and restored databases\n\nFor each engine, ten runs that each load their data alternate with ten runs that begin from one load. There are 100,000 rows of 400 bytes, 3 s a step after 2 s of warm-up, and a margin of 5 %%.\n\n'
    ./scripts/loads.sh
} >"$scratch/loads"
cp "$scratch/page" docs/validation.md
cp "$scratch/histories" docs/validation-histories.md
cp "$scratch/loads" docs/validation-loads.md
