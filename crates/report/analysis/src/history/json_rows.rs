//! Rows of a JSON file.

use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Number, Value};

use super::problem::HistoryError;
use super::table::{Cell, Table, quantity};

/// Names of entries that are labels, in lower case.
const LABELS: &str = "time timestamp ts date datetime day commit sha hash revision rev version \
                      release tag build label name index run run_id id";
/// What a file is to be.
const SHAPE: &str = "a history in JSON is a list of rows, [{\"time\": \"2026-11-20\", \
                     \"ops\": 251000}, ...], or one row each line";
/// Numbers from which on a label with a fraction is a time since 1970, and no version.
const EPOCH_S: f64 = 1e8;

/// One row: names and values as written.
struct Row(Vec<(String, Value)>);

impl Row {
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RowVisitor;
        impl<'de> Visitor<'de> for RowVisitor {
            type Value = Row;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a row, {\"time\": ..., \"ops\": ...}")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row, A::Error> {
                let mut row = Row(Vec::new());
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if row.get(&name).is_some() {
                        return Err(A::Error::custom(format!("`{name}` is twice in one row")));
                    }
                    row.0.push((name, value));
                }
                Ok(row)
            }
        }
        deserializer.deserialize_map(RowVisitor)
    }
}

/// Reads a list of row objects, or one object each line.
///
/// The label is the entry with the name of one, else the only entry of text; every further entry is
/// one metric. `null`, or an entry that a row lacks, is missing.
///
/// # Errors
/// When the text is no such list, no entry or several can be the label, or a row lacks it.
pub(super) fn rows(text: &str) -> Result<Table, HistoryError> {
    let read: Result<Vec<Row>, _> = match text.trim_start().starts_with('[') {
        true => serde_json::from_str(text),
        false => serde_json::Deserializer::from_str(text).into_iter().collect(),
    };
    let rows = read.map_err(|error| HistoryError::Format(format!("{error}: {SHAPE}")))?;
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.0) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return Err(HistoryError::Format(format!("the file has no rows: {SHAPE}")));
    }
    let label = label_name(&rows, &names)?;
    names.retain(|name| *name != label);
    let mut table = Table::named(names.iter().map(|name| (*name).to_owned()).collect(), "row")?;
    for (number, row) in (0..).zip(&rows) {
        let text = match row.get(label) {
            Some(Value::String(text)) => text.trim().to_owned(),
            Some(Value::Number(value)) if is_rounded(value) => {
                let why = "may have lost zeros: write it as text, such as \"8.10\"";
                return Err(HistoryError::Format(format!("row {number}: the label {value} {why}")));
            }
            Some(Value::Number(value)) => value.to_string(),
            Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) | None => {
                return Err(HistoryError::NoLabel(format!("row {number}")));
            }
        };
        table.add(number, text, names.iter().map(|name| cell(row.get(name))).collect());
    }
    Ok(table)
}

/// Returns whether a number may have lost zeros, as the version 8.10 does.
fn is_rounded(value: &Number) -> bool {
    value.is_f64() && value.as_f64().is_none_or(|value| value.abs() < EPOCH_S)
}

/// Returns the name of the entry that labels the rows, whatever their sequence.
fn label_name<'a>(rows: &[Row], names: &[&'a str]) -> Result<&'a str, HistoryError> {
    let is_label = |name: &&&str| LABELS.split(' ').any(|label| name.to_lowercase() == label);
    let is_text = |name: &&&str| {
        let mut texts = rows.iter().filter_map(|row| row.get(name)?.as_str());
        texts.any(|text| !text.trim().is_empty() && quantity(text).is_none())
    };
    let labels: Vec<&&str> = names.iter().filter(is_label).collect();
    let candidates = if labels.is_empty() { names.iter().collect() } else { labels };
    let texts: Vec<&&str> = candidates.iter().copied().filter(is_text).collect();
    match (&candidates[..], &texts[..]) {
        ([one], _) if is_label(one) => Ok(one),
        (_, [one]) => Ok(one),
        _ => Err(HistoryError::Format(format!(
            "no entry is the label of the rows, or several can be: name one of them `time`, \
             `commit`, `version`, `build` or `index`; the rows have {}",
            names.join(", ")
        ))),
    }
}

fn cell(value: Option<&Value>) -> Cell {
    match value {
        None | Some(Value::Null) => Cell::Missing,
        Some(Value::String(text)) if text.trim().is_empty() => Cell::Missing,
        Some(Value::String(text)) => Cell::Text(text.trim().to_owned()),
        Some(Value::Number(number)) => {
            number.as_f64().map_or_else(|| Cell::Text(number.to_string()), Cell::Number)
        }
        Some(other) => Cell::Text(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::series::History;

    fn read(text: &str) -> Result<Vec<History>, String> {
        let table = rows(text).and_then(Table::histories);
        table.map_err(|error| error.to_string())
    }

    fn refused(text: &str) -> String {
        read(text).expect_err("it is wrong")
    }

    #[test]
    fn label_is_found_by_its_name_or_kind_wherever_it_stands() {
        let expected = read(r#"[{"time": "2026-01-01", "ops": 5}, {"time": "2026-01-02"}]"#);
        let expected = expected.unwrap();
        assert_eq!((&*expected[0].name, &expected[0].values[..]), ("ops", &[Some(5.0), None][..]));
        for text in [
            r#"[{"ops": 5, "time": "2026-01-01"}, {"ops": null, "time": "2026-01-02"}]"#,
            r#"[{"ops": 5.0, "night": "2026-01-01"}, {"night": "2026-01-02", "ops": ""}]"#,
            "{\"Time\": \"2026-01-01\", \"ops\": 5}\n{\"Time\": \"2026-01-02\"}\n",
        ] {
            assert_eq!(read(text), Ok(expected.clone()), "{text}");
        }
        let named = read(r#"[{"commit": "f00d", "time": 1.5}, {"commit": "1234", "time": 1.4}]"#);
        assert_eq!(named.map(|all| all[0].name.clone()), Ok("time".to_owned()));
        let units = read(r#"[{"p99": "0.07 ms", "version": "8.9"}]"#);
        assert_eq!(units.map(|all| all[0].values.clone()), Ok(vec![Some(0.07)]));
    }

    #[test]
    fn what_is_no_list_of_rows_is_refused_by_its_place() {
        assert!(refused("[").contains("EOF"));
        assert!(refused("[1]").contains("expected a row"));
        assert!(refused("{}").contains("the file has no rows"));
        assert!(refused(r#"[{"time": 1, "a": 2},]"#).contains("trailing comma"));
        assert!(refused(r#"[{"time": 1, "a": 2, "a": 3}]"#).contains("`a` is twice in one row"));
        assert!(refused(r#"[{"time": 1, "a": "x"}]"#).contains("column `a`"));
        assert!(refused(r#"[{"time": 1, "a": true}]"#).contains("`true` in column `a`"));
        assert!(refused(r#"[{"time": 1, "a": 2}, {"a": 3}]"#).starts_with("row 1 has no label"));
        let unlabelled = refused(r#"[{"ops": 1, "size": 2}]"#);
        assert!(unlabelled.contains("no entry is the label of the rows"), "{unlabelled}");
        assert!(refused(r#"[{"version": 8.10, "ops": 1}]"#).contains("8.1"));
        assert!(refused(r#"[{"build": 1, "time": 2, "ops": 1}]"#).contains("build, time, ops"));
    }
}
