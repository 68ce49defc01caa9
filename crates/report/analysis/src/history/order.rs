//! Order of labels: whether the rows of a file are oldest first.

use super::problem::HistoryError;
use super::rank::{Rank, number, version};
use super::time::{DATE_ORDERS, time};

/// Checks that labels are oldest first; returns whether they have an order at all.
///
/// Equal labels may follow each other. `place` formats the position of a row.
///
/// # Errors
/// When labels that are numbers, times or versions fall, or dates have two meanings of which one
/// falls.
pub(super) fn check_order(
    labels: &[String],
    place: impl Fn(usize) -> String,
) -> Result<bool, HistoryError> {
    let all = readings(labels);
    let first_fall = |ranks: &Vec<Rank>| ranks.windows(2).position(|pair| pair[1] < pair[0]);
    let falls: Vec<usize> = all.iter().filter_map(first_fall).collect();
    match falls[..] {
        // Rows with one label all through have no order, even if the label has.
        [] => Ok(all.iter().any(|ranks| ranks.first() < ranks.last()) || labels.len() < 2),
        [at, ..] if falls.len() == all.len() => {
            let (later, earlier) = (labels[at + 1].clone(), labels[at].clone());
            Err(HistoryError::Unsorted(place(at + 1), later, earlier))
        }
        [at, ..] => Err(HistoryError::Format(format!(
            "{}: {} can mean two dates, and one is out of order: write dates as 2026-12-31",
            place(at + 1),
            labels[at + 1]
        ))),
    }
}

/// Returns the ranks of all labels, once for each meaning; none where they are of no one kind.
///
/// The kind follows from the labels alone, never from their sequence: no file is accepted in both
/// directions.
pub(super) fn readings(labels: &[String]) -> Vec<Vec<Rank>> {
    let all = |rank: &dyn Fn(&str) -> Option<Rank>| -> Option<Vec<Rank>> {
        labels.iter().map(|label| rank(label)).collect()
    };
    if let Some(numbers) = all(&number) {
        return vec![numbers];
    }
    let shared = shared_start(labels);
    let times = |start: usize| -> Vec<Vec<Rank>> {
        let in_order = |order: &str| all(&|label: &str| time(&label[start..], order));
        let mut readings: Vec<_> = DATE_ORDERS.iter().filter_map(|order| in_order(order)).collect();
        readings.dedup();
        readings
    };
    let found = [0, shared].map(times).into_iter().find(|readings| !readings.is_empty());
    found.unwrap_or_else(|| {
        let versions: Option<Vec<_>> = labels.iter().map(|label| version(label)).collect();
        let versions = versions.filter(|all| all.iter().all(|(prefix, _)| *prefix == all[0].0));
        let ranks = |all: Vec<(&str, Rank)>| all.into_iter().map(|(_, rank)| rank).collect();
        versions.map(ranks).into_iter().collect()
    })
}

/// Returns the length of the text without digits that all labels begin with; 0 without one.
fn shared_start(labels: &[String]) -> usize {
    let start = |label: &str| label.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let Some(first) = labels.first().map(|label| &label[..start(label)]) else { return 0 };
    if labels.iter().all(|label| label.starts_with(first)) { first.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(labels: &[&str]) -> Result<bool, String> {
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        check_order(&labels, |at| format!("row {at}")).map_err(|error| error.to_string())
    }

    /// Files whose labels have an order, oldest first, with a part of the refusal of the reverse.
    const ORDERED: [&[&str]; 16] = [
        &["1", "2", "2", "10"],
        &["1700000000", "1700086400", "1700172800"],
        &["1700000000123", "1700000000124"],
        &["2026-01-01", "2026-01-02", "2026-02-01"],
        &["2026-01-02T10:00:00+02:00", "2026-01-02T09:00:00Z", "2026-01-03"],
        &["2026-01-02 10:00", "2026-01-02 11:00"],
        &["2026-11-26 23:10:34 +0100", "2026-11-26 22:20:00 +0000", "2026-11-27 01:00:00 +0100"],
        &["Fri, 27 Nov 2026 19:10:34 +0000", "Tue, 1 Dec 2026 08:00:00 +0100"],
        &["Fri Nov 27 19:10:34 2026 +0000", "Tue Dec 1 08:00:00 2026 +0100"],
        &["30.11.2026", "01.12.2026"],
        &["11/30/2026", "12/1/2026"],
        &["nightly 30.11.2026", "nightly 01.12.2026"],
        &["8.9", "8.10", "8.11"],
        &["v8.9.0-rc1", "v8.9.0", "v8.9.0-2-gabc1234", "v8.9.0-10-gdef5678", "v8.10.0"],
        &["b8", "b9", "b10"],
        &["rocksdb@9.10.0", "rocksdb@9.11.2", "rocksdb@10.2.1"],
    ];

    #[test]
    fn labels_with_an_order_are_accepted_in_that_order_only() {
        for labels in ORDERED {
            assert_eq!(check(labels), Ok(true), "{labels:?}");
            let reversed: Vec<&str> = labels.iter().rev().copied().collect();
            let refusal = check(&reversed).expect_err("newest first");
            assert!(refusal.contains(" follows "), "{refusal}");
        }
    }

    #[test]
    fn labels_without_an_order_are_accepted_as_not_checked() {
        for labels in [
            &["f00d", "beef", "2"][..],
            &["main", "feature"],
            &["mysql-8.0", "mariadb-10.5"],
            &["2026-01-01", "2026-01-01"],
            &["2026-01-01", "yesterday"],
            &["8c1f00d", "4a5b6c7", "0123456"],
        ] {
            assert_eq!(check(labels), Ok(false), "{labels:?}");
        }
        assert_eq!(check(&["f00d"]), Ok(true), "one row needs no order");
    }

    #[test]
    fn date_with_two_meanings_is_refused_where_they_disagree() {
        assert_eq!(check(&["04/01/2026", "05/01/2026", "06/01/2026"]), Ok(true));
        for labels in [["01/02/2026", "02/01/2026"], ["02/01/2026", "01/02/2026"]] {
            let refusal = check(&labels).expect_err("two meanings");
            assert!(refusal.contains("can mean two dates"), "{refusal}");
        }
    }

    proptest! {
        /// Goal: no file is accepted as checked in both directions.
        #[test]
        fn no_order_is_checked_in_both_directions(
            labels in prop::collection::vec("[v]?[0-9a-c]{1,4}[./-]?[0-9]{0,2}[./-]?[0-9]{0,4}", 2..5),
        ) {
            let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
            let reversed: Vec<&str> = labels.iter().rev().copied().collect();
            prop_assert!([check(&labels), check(&reversed)] != [Ok(true), Ok(true)], "{labels:?}");
        }
    }
}
