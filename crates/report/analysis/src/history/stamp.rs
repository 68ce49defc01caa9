//! Order of labels: times and indexes must rise, commits need not.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};

use super::problem::HistoryError;

/// Rejects labels that are times or numbers and do not rise; equal ones may follow each other.
///
/// `place` formats the position of a row.
pub(super) fn check_order(
    labels: &[String],
    place: impl Fn(usize) -> String,
) -> Result<(), HistoryError> {
    let unsorted = first_fall(labels, |label| label.parse::<f64>().ok().filter(|it| !it.is_nan()))
        .or_else(|| first_fall(labels, |label| label.parse::<Timestamp>().ok()))
        .or_else(|| first_fall(labels, |label| label.parse::<DateTime>().ok()))
        .or_else(|| first_fall(labels, |label| label.parse::<Date>().ok()));
    match unsorted.flatten() {
        Some(at) => {
            let (later, earlier) = (labels[at].clone(), labels[at - 1].clone());
            Err(HistoryError::Unsorted(place(at), later, earlier))
        }
        None => Ok(()),
    }
}

/// Returns the first label below the one before it, if there is one; `None` when some labels are
/// of another kind.
fn first_fall<T: PartialOrd>(
    labels: &[String],
    parse: impl Fn(&str) -> Option<T>,
) -> Option<Option<usize>> {
    let parsed: Vec<T> = labels.iter().map(|label| parse(label)).collect::<Option<_>>()?;
    Some(parsed.windows(2).position(|pair| pair[1] < pair[0]).map(|at| at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fall(labels: &[&str]) -> Option<String> {
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        check_order(&labels, |at| format!("row {at}")).err().map(|error| error.to_string())
    }

    #[test]
    fn times_and_numbers_must_rise_and_commits_need_not() {
        assert_eq!(fall(&["1", "2", "2", "10"]), None);
        assert!(
            fall(&["1", "10", "9"]).is_some_and(|message| message.starts_with("row 2: 9 stands"))
        );
        assert_eq!(fall(&["2026-01-01", "2026-01-02"]), None);
        assert!(fall(&["2026-01-02", "2026-01-01"]).is_some());
        assert!(fall(&["2026-01-02T10:00:00Z", "2026-01-02T09:00:00Z"]).is_some());
        // The second is later in UTC.
        assert_eq!(fall(&["2026-01-02T10:00:00+02:00", "2026-01-02T09:00:00+00:00"]), None);
        assert!(fall(&["2026-01-02 10:00", "2026-01-02 09:00"]).is_some());
        assert_eq!(fall(&["f00d", "beef", "2"]), None);
    }
}
