//! Histories from CSV and JSON.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use serde_json::Value;

use super::problem::HistoryError;
use super::series::History;

/// Columns under construction.
struct Columns {
    names: Vec<String>,
    labels: Vec<String>,
    values: Vec<Vec<Option<f64>>>,
}

impl Columns {
    fn named(names: Vec<String>) -> Result<Self, HistoryError> {
        if names.is_empty() {
            return Err(HistoryError::Empty("metric"));
        }
        let mut known = BTreeSet::new();
        match names.iter().find(|name| !known.insert(*name)) {
            Some(name) => Err(HistoryError::Twice(name.clone())),
            None => Ok(Self { values: vec![Vec::new(); names.len()], names, labels: Vec::new() }),
        }
    }

    fn label(&mut self, label: &str, place: impl Fn() -> String) -> Result<(), HistoryError> {
        if label.is_empty() {
            return Err(HistoryError::NoLabel(place()));
        }
        self.labels.push(label.to_owned());
        Ok(())
    }

    fn histories(self, place: impl Fn(usize) -> String) -> Result<Vec<History>, HistoryError> {
        if self.labels.is_empty() {
            return Err(HistoryError::Empty("rows"));
        }
        check_order(&self.labels, place)?;
        let history = |(name, values): (String, Vec<Option<f64>>)| History {
            name,
            subject: None,
            unit: None,
            better: None,
            labels: self.labels.clone(),
            values,
        };
        Ok(self.names.into_iter().zip(self.values).map(history).collect())
    }
}

/// Reads histories from CSV: a header, labels, one column each metric.
///
/// An empty field is a missing value. Fields may be quoted.
///
/// # Errors
/// When the text is no such table, a value is no number, or the labels are times or numbers that
/// do not rise.
///
/// Source: [RFC 4180].
pub fn read_csv(text: &str) -> Result<Vec<History>, HistoryError> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let format = |error: csv::Error| HistoryError::Format(error.to_string());
    let header = reader.headers().map_err(format)?.clone();
    if header.is_empty() {
        return Err(HistoryError::Empty("header"));
    }
    let names = header.iter().skip(1).map(|name| name.trim().to_owned()).collect();
    let mut columns = Columns::named(names)?;
    let mut lines = Vec::new();
    for row in reader.records() {
        let row = row.map_err(format)?;
        let line = row.position().map_or(0, csv::Position::line);
        if row.len() != header.len() {
            return Err(HistoryError::Fields(line, row.len(), header.len()));
        }
        columns.label(row[0].trim(), || format!("line {line}"))?;
        for (index, field) in row.iter().skip(1).enumerate() {
            let value = number(field.trim()).map_err(|()| {
                let (place, column) = (format!("line {line}"), columns.names[index].clone());
                HistoryError::NoNumber(place, field.to_owned(), column)
            })?;
            columns.values[index].push(value);
        }
        lines.push(line);
    }
    columns.histories(|row| format!("line {}", lines[row]))
}

/// Returns the number in a field; `None` for an empty one.
fn number(field: &str) -> Result<Option<f64>, ()> {
    if field.is_empty() {
        return Ok(None);
    }
    match field.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Some(value)),
        Ok(_) | Err(_) => Err(()),
    }
}

/// Reads histories from JSON: a list of row objects, labels first.
///
/// Every further entry is one metric's value; `null`, or an entry that a row lacks, is missing.
///
/// # Errors
/// As [`read_csv`].
pub fn read_json(text: &str) -> Result<Vec<History>, HistoryError> {
    const SHAPE: &str = "a history in JSON is a list of rows, [{\"time\": \"2026-11-20\", \
                         \"throughput\": 251000.0}, ...]: the first entry is the label, every \
                         further one a metric";
    let shape = |why: String| HistoryError::Format(format!("{why}: {SHAPE}"));
    let json: Value = serde_json::from_str(text).map_err(|error| shape(error.to_string()))?;
    let rows = json.as_array().ok_or_else(|| shape("this is no list".to_owned()))?;
    let mut names: Vec<String> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let row = row.as_object().ok_or_else(|| shape(format!("row {index} is no object")))?;
        for name in row.keys().skip(1).filter(|name| !names.contains(name)).collect::<Vec<_>>() {
            names.push(name.clone());
        }
    }
    if rows.is_empty() {
        return Err(HistoryError::Empty("rows"));
    }
    let mut columns = Columns::named(names)?;
    for (index, row) in rows.iter().enumerate() {
        let place = || format!("row {index}");
        let label = row.as_object().and_then(|row| row.values().next());
        let label = match label {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => {
                String::new()
            }
        };
        columns.label(&label, place)?;
        for column in 0..columns.names.len() {
            let value = row.get(&columns.names[column]).unwrap_or(&Value::Null);
            let known = value.as_f64().filter(|one| one.is_finite());
            if known.is_none() && !value.is_null() {
                let (column, text) = (columns.names[column].clone(), value.to_string());
                return Err(HistoryError::NoNumber(place(), text, column));
            }
            columns.values[column].push(known);
        }
    }
    columns.histories(|row| format!("row {row}"))
}

/// Rejects labels that are times or numbers and do not rise; equal ones may follow each other.
///
/// `place` formats the position of a row.
fn check_order(labels: &[String], place: impl Fn(usize) -> String) -> Result<(), HistoryError> {
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

    fn refused(text: &str) -> String {
        read_csv(text).map_err(|error| error.to_string()).expect_err("it is wrong")
    }

    #[test]
    fn csv_and_json_of_the_same_rows_are_the_same() {
        let csv = "time,\"a, b\",c\n2026-01-01,1.5,\n2026-01-02,2,3e2\r\n";
        let json = r#"[{"time": "2026-01-01", "a, b": 1.5, "c": null},
                       {"time": "2026-01-02", "a, b": 2, "c": 300}]"#;
        let of_csv = read_csv(csv).unwrap();
        assert_eq!(of_csv, read_json(json).unwrap());
        assert_eq!(of_csv[0].name, "a, b");
        assert_eq!(of_csv[1].values, [None, Some(300.0)]);
        assert_eq!((of_csv[1].known(), of_csv[1].labels.len()), (1, 2));
    }

    #[test]
    fn what_is_no_history_is_refused_by_its_place() {
        assert!(refused("").contains("no header"));
        assert!(refused("time\n1\n").contains("no metric"));
        assert!(refused("time,a\n").contains("no rows"));
        assert!(refused("time,a,a\n1,2,3\n").contains("two columns are named `a`"));
        assert!(refused("time,a\n1,2\n2\n").starts_with("line 3 has 1 fields"));
        assert!(refused("time,a\n1,NaN\n").starts_with("line 2: `NaN` in column `a`"));
        assert!(refused("time,a\n1,inf\n").contains("no finite number"));
        assert!(refused("time,a\n1,12ms\n").contains("`12ms`"));
        assert!(refused("time,a\n,2\n").starts_with("line 2 has no label"));
        assert!(refused("time,a\n2026-02-01,2\n2026-01-01,2\n").starts_with("line 3: 2026-01-01"));
        let refused = |text: &str| read_json(text).map_err(|error| error.to_string()).unwrap_err();
        assert!(refused("{}").contains("this is no list"));
        assert!(refused("[1]").contains("row 0 is no object"));
        assert!(refused("[").contains("EOF"));
        assert!(refused(r#"[{"time": 1, "a": "x"}]"#).contains("column `a`"));
    }

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
