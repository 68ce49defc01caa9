//! Report of the SQL comparisons: Markdown, for METHODOLOGY.

use super::comparison::Comparison;
use super::pairs::{Figure, PairedFigures};
use super::work::{FEW, ROWS, Work};
use crate::instructions::Counted;
use crate::interval::Median;
use crate::throughput::PAIRS;

/// Returns the head of a comparison's table.
pub(super) fn head(comparison: &Comparison, server: &str) -> String {
    let peer = comparison.peer;
    format!(
        "\n{peer} and our client on {server}: one client, unix socket, prepared statements, \
         {ROWS} rows, all cached,\ncommits not synced; client and server on one CPU. Medians of \
         {PAIRS} pairs in the order ABBA, with an interval\nof at least 95 % for the median; CPU is \
         user and system of the whole process, as the slope between\n{FEW} statements and many. \
         Target: client CPU of a point select at most {:.1} of {peer}'s.\n\n\
         | statement | figure | {peer} | ours | ours / {peer} | interval | target |\n\
         |---|---|--:|--:|--:|---|---|\n",
        comparison.target,
    )
}

/// Returns the rows of one statement's figures.
pub(super) fn figure_rows(comparison: &Comparison, work: &Work, pairs: &PairedFigures) -> String {
    let target = work.has_target.then_some(comparison.target);
    let rows = [
        ("client CPU, us", &pairs.client_us, 2, target),
        ("client CPU, us: an exchange without work in our place", &pairs.exchange_us, 2, None),
        ("server CPU, us", &pairs.server_us, 2, None),
        ("statements/s", &pairs.per_s, 0, None),
        ("start and end, client CPU, ms", &pairs.start_ms, 0, None),
    ];
    rows.map(|(name, figure, digits, target)| row(work, name, figure, digits, target)).concat()
}

fn row(work: &Work, name: &str, figure: &Figure, digits: usize, target: Option<f64>) -> String {
    let Median { value, low, high } = figure.ratio;
    format!(
        "| {} | {name} | {} | {} | {value:.2} | {low:.2} to {high:.2} | {} |\n",
        work.name,
        spread(&figure.peer, digits),
        spread(&figure.ours, digits),
        target.map_or_else(|| "-".to_owned(), |most| verdict(&figure.ratio, most)),
    )
}

fn spread(median: &Median, digits: usize) -> String {
    let Median { value, low, high } = median;
    format!("{value:.digits$} ({low:.digits$} to {high:.digits$})")
}

/// Returns the row of the instructions of one statement.
pub(super) fn instructions_row(work: &Work, counted: &Counted) -> String {
    let Counted { peer, ours } = counted;
    format!(
        "| {} | client instructions, user space | {:.0} | {:.0} | {:.2} | - | - |\n",
        work.name,
        peer.total,
        ours.total,
        ours.total / peer.total,
    )
}

/// Formats the verdict on a target: met by the whole interval, by part of it, or missed.
fn verdict(ratio: &Median, most: f64) -> String {
    match ratio {
        ratio if ratio.high <= most => "met".to_owned(),
        ratio if ratio.low <= most => format!("open: the interval contains {most}"),
        ratio => format!("MISSED by {:.2}", ratio.value - most),
    }
}

/// Returns the notes on differences between the clients.
pub(super) fn notes() -> &'static str {
    "\nNotes:\n\
     - Throughput on one CPU is that of client and server together; it is no claim about either.\n\
     - An exchange without work is a send, a sleep and a receive, with a process on the same CPU \
     that only\n  answers: no client that waits for each answer takes less, so its ratio is the least \
     there can be.\n\
     - Ours takes two stamps per statement, records to 0.1 %, counts the rows and bytes that came \
     back, and\n  must find every row.\n\
     - Instructions are counted by callgrind, in user space only, on all threads of the peer and \
     on all of ours\n  but the first, which starts and ends the others.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_is_met_by_the_whole_interval_only() {
        let ratio = |low, value, high| Median { value, low, high };
        assert_eq!(verdict(&ratio(0.6, 0.7, 0.8), 1.0), "met");
        assert_eq!(verdict(&ratio(0.9, 0.97, 1.1), 1.0), "open: the interval contains 1");
        assert_eq!(verdict(&ratio(0.58, 0.62, 0.7), 0.5), "MISSED by 0.12");
    }
}
