//! Report of the lag comparison: Markdown, for METHODOLOGY.

use super::times::Times;

/// Returns the head of the generator table.
pub(super) fn generators_head(rounds: usize, seconds: u32) -> String {
    format!(
        "\nLateness of the generators: one client, an event that does nothing; medians of \
         {rounds} rounds of {seconds} s,\nin turn; us.\n\n\
         | offered | client | p50 | p99 | p99.9 | max |\n|--:|---|--:|--:|--:|--:|\n"
    )
}

/// Returns one row of it.
pub(super) fn generators_row(rate: u32, client: &str, times: &Times) -> String {
    format!("| {rate}/s | {client} | {} |\n", figures(times))
}

/// Returns the note on the generator table.
pub(super) fn generators_note() -> &'static str {
    "\nEverything sysbench reports here is its own lateness, reported as if the system under test \
     had taken it;\nours is reported as start lag, apart from the engine's service time.\n"
}

/// Returns the head of the stall table.
pub(super) fn stalls_head(rate: u32, seconds: u32) -> String {
    format!(
        "\nReport of a one-second stall: {rate} reads/s for {seconds} s, one \
         client; us.\n\n\
         | client | stalled | reads | p50 | p99 | p99.9 | max |\n\
         |---|---|--:|--:|--:|--:|--:|\n"
    )
}

/// Returns one row of it.
pub(super) fn stalls_row(client: &str, stalled: &str, reads: u64, times: &Times) -> String {
    format!("| {client} | {stalled} | {reads} | {} |\n", figures(times))
}

/// Returns the note on the stall table.
///
/// Source: RocksDB, `tools/db_bench_tool.cc`, `ReadRandom` and `Stats::FinishedOps`.
pub(super) fn stalls_note() -> &'static str {
    "\nThe reads that db_bench would have sent during the stall are sent late or never, and none \
     of their times are\nreported; waits for its own rate limiter count as read time. Ours records \
     every arrival: a stopped client is\nreported as such and its seconds do not count; an engine \
     stall shows in the response time of all late arrivals, and\nin the service time of one read \
     only.\n"
}

fn figures(times: &Times) -> String {
    let Times { p50, p99, p999, max } = times;
    let text = |us: f64| match us {
        us if us < 10.0 => format!("{us:.2}"),
        us => format!("{us:.0}"),
    };
    [p50, p99, p999, max].map(|us| text(*us)).join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_below_ten_have_two_decimals() {
        let times = Times { p50: 0.04, p99: 9.26, p999: 10.2, max: 1_000_000.4 };
        let row = generators_row(10_000, "ours", &times);
        assert_eq!(row, "| 10000/s | ours | 0.04 | 9.26 | 10 | 1000000 |\n");
    }
}
