//! Report of the RocksDB comparison: Markdown, for METHODOLOGY.

use crate::environment::Environment;
use crate::instructions::Counted;
use crate::interval::Median;
use crate::task::{CACHE_BYTES, KEY_BYTES, RANGE_ROWS, ROWS, VALUE_BYTES, Work};
use crate::throughput::{PAIRS, PairedThroughput};

/// Target: our own instructions relative to the peer's, at most.
const OWN_MAX: f64 = 0.3;
/// Target: throughput ratio that the interval must reach.
const RATIO_MIN: f64 = 1.0;

/// Returns the description of the comparison.
pub(crate) fn head(environment: &Environment, differences: &[String]) -> String {
    let differences = match differences {
        [] => "none".to_owned(),
        some => some.join("; "),
    };
    format!(
        "db_bench and our client on `{}`: profile rocksdb-dbbench, no WAL, no compression,\n\
         {ROWS} rows, keys of {KEY_BYTES} and values of {VALUE_BYTES} bytes, block cache {} MiB (holds \
         all),\none client, db_bench with histogram=1, both at perf level 1.\n\
         Differences of the two OPTIONS files: {differences}.\n",
        environment.library.display(),
        CACHE_BYTES >> 20,
    )
}

/// Returns the head of the instruction table.
pub(crate) fn instructions_head() -> String {
    format!(
        "\nInstructions per operation (callgrind, slope between two operation counts).\n\
         Own: in the client's program itself, not in RocksDB or another library; \
         target <= {OWN_MAX} of db_bench's.\n\
         Last column: with db_bench's histogram, which lies in RocksDB's library; ours is in our \
         own part.\n\n\
         | work | db_bench | ours | ratio | db_bench own | ours own | ratio | target | with \
         histogram |\n|---|--:|--:|--:|--:|--:|--:|---|---|\n"
    )
}

/// Returns one row of it.
pub(crate) fn instructions_row(work: &Work, counted: &Counted) -> String {
    let Counted { peer, ours } = counted;
    let own = ours.own / peer.own;
    format!(
        "| {} | {:.0} | {:.0} | {:.3} | {:.0} | {:.0} | {own:.2} | {} | {:.0}, ratio {:.2} |\n",
        work.step,
        peer.total,
        ours.total,
        ours.total / peer.total,
        peer.own,
        ours.own,
        verdict(own - OWN_MAX),
        peer.own + peer.histogram,
        ours.own / (peer.own + peer.histogram),
    )
}

/// Returns the head of the throughput table.
pub(crate) fn throughput_head() -> String {
    format!(
        "\nThroughput, {PAIRS} pairs in the order ABBA on one core: medians, \
         with an interval\nof at least 95 % for the median ratio; target: the interval reaches \
         {RATIO_MIN:.1}.\n\n\
         | work | db_bench, ops/s | ours, ops/s | ours / db_bench | interval | target |\n\
         |---|--:|--:|--:|---|---|\n",
    )
}

/// Returns one row of it.
pub(crate) fn throughput_row(work: &Work, pairs: &PairedThroughput) -> String {
    let Median { value, low, high } = pairs.ratio;
    format!(
        "| {} | {:.0} | {:.0} | {value:.3} | {low:.3} to {high:.3} | {} |\n",
        work.step,
        pairs.peer.value,
        pairs.ours.value,
        verdict(RATIO_MIN - high),
    )
}

/// Formats the verdict on a target, given the shortfall.
fn verdict(missed_by: f64) -> String {
    if missed_by <= 0.0 { "met".to_owned() } else { format!("MISSED by {missed_by:.3}") }
}

/// Returns the notes on differences between the clients.
pub(crate) fn notes() -> String {
    format!(
        "\nNotes:\n\
         - Both read the same rows, each in a copy of its own, and must find every key.\n\
         - A range of {RANGE_ROWS} rows: db_bench steps {RANGE_ROWS} times, beyond the last row \
         it reads; ours {} times.\n\
         - Ours takes two stamps, records to 0.1 % and checks one answer in 64; db_bench takes \
         one, to 1 us in\n  buckets 1.5 wide, and checks nothing but that the key is there.\n\
         - The first thread of each process (start, end, merging) is not counted in the \
         instructions.\n\
         - Debian builds db_bench with assertions, as it prints at start.\n",
        RANGE_ROWS - 1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_target_reports_the_shortfall() {
        assert_eq!((verdict(-0.01), verdict(0.0)), ("met".to_owned(), "met".to_owned()));
        assert_eq!(verdict(0.0336), "MISSED by 0.034");
    }
}
