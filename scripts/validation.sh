#!/usr/bin/env bash
# Writes docs/validation.md, -histories.md, -loads.md and -machines.md: simulations of verdicts, steady states,
# histories, shared loads and machines, fresh and restored databases, and what the client costs.
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
    printf '# Validation\n\n`make validation` generates this page. The page tests the statistics of Assay on simulated data whose truth is known, with fixed seeds, and measures the cost of the client. [Histories](validation-histories.md), [shared loads](validation-loads.md) and [machines](validation-machines.md) have separate pages.\n'
    printf '\n## Verdicts\n\nA campaign is a simulated experiment of 4 to 12 steps, 1 to 3 variants and 2 to 10 repetitions. The guarantee to test is: at most 5 %% of the campaigns report any difference where none exists. The simulated run-to-run CoVs are 0.5 to 5 %% and differ from step to step (standard deviation of ln sigma 0.4). The noise "15 %% slow runs" is lognormal, and 15 %% of the runs are slower by four CoVs. `Slow(c)` is AR(1) noise from step to step with the correlation c. `Bursts(p)` is noise with two states, where p is the chance that a state stays.\n'
    simulated --package stats --test quality -- --skip shared_loads --skip machines
    printf '\n## Steady states\n\nEach simulated series has 1,800 s with 4 %% of noise a second and a correlation of 0.6 between neighbouring seconds. There are 100 series of each shape. The column *not steady* has the share of series that were reported as not steady. The columns *bias* have the bias of the mean of the steady part.\n'
    simulated --package stats --test steady --
    printf '\n## Designs from a pilot\n\nA pilot is a first experiment from which Assay chooses the number of repetitions. The simulated noise is 1 %% from run to run, and 5 %% from second to second with a correlation of 0.9. Each figure comes from 200 simulated experiments.\n'
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
    printf 'Two measures show how well `assay history` finds changes: the number of false changes in series without changes, and recall and precision on 18 families of 20 labelled series. Apache Otava 0.8.0 is measured on the same series if it is installed. The authors of Assay made the set of series, and chose the rule for ramps with this set in view.\n'
    simulated --package stats --test history --
} >"$scratch/histories"
{
    printf '# Validation of shared loads\n\n`make validation` generates this page. [Shared loads](method/shared-loads.md) describes the method.\n'
    printf '\n## Coverage\n\nThe simulated loads differ by the CoV in the first column, and runs of one load differ by 1 %%. A *false campaign* is a simulated experiment that reports a difference where none exists.\n'
    simulated --package stats --test quality -- shared_loads
    printf '\n## Fresh and restored databases\n\nFor each engine, ten fresh runs, which each load their data, alternate with ten restored runs, which begin from one load. There are 100,000 rows of 400 bytes. A step takes 3 s after 2 s of warm-up. The margin is 5 %%.\n\n'
    ./scripts/loads.sh
} >"$scratch/loads"
{
    printf '# Validation of machines\n\n`make validation` generates this page. [Machines](method/machines.md) describes the method.\n'
    printf '\nThe deviation of a block is 2 %%, and the true difference is 0. The column *between / block* has the deviation between machines in deviations of a block. *Heavy* tails are Student'"'"'s t with three degrees of freedom, scaled to the same deviation, for machines and blocks. The columns *machines*, *ignored* and *weighted* have the coverage of three intervals: by the means of machines (the method of Assay), of all blocks as if one machine had run them, and by weights from estimated variances (Hartung and Knapp, tau² of Paule and Mandel). *Width* is the median half-width. *Deviation* is the coverage of the limits of the deviation between machines.\n'
    simulated --package stats --test quality -- machines
} >"$scratch/machines"
cp "$scratch/machines" docs/validation-machines.md
cp "$scratch/page" docs/validation.md
cp "$scratch/histories" docs/validation-histories.md
cp "$scratch/loads" docs/validation-loads.md
