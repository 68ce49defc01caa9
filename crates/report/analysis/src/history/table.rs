//! Rows of a file on the way to histories: values as numbers, labels in their order.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::order::check_order;
use super::problem::HistoryError;
use super::series::History;

/// Smallest and largest size of a value that is not 0.
///
/// Our choice: what is measured lies within, and so do the fourth powers that statistics take.
const SIZES: RangeInclusive<f64> = 1e-50..=1e50;
/// Why a field is no value.
const NO_NUMBER: &str = "is not a finite number such as 1234.5 or 0.07 ms: leave the field empty \
                         if there is no measurement";
const COMMA: &str = "has a comma that can separate decimals or thousands: write 1234.5";
const SIZE: &str = "is not between 1e-50 and 1e50 in size: choose another unit";

/// A field of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    /// An empty field, or none.
    Missing,
    /// A number.
    Number(f64),
    /// Text, which may be a number with its unit.
    Text(String),
}

/// A file's rows.
pub(super) struct Table {
    names: Vec<String>,
    /// What its rows are called: lines or rows.
    row: &'static str,
    /// Number of each row in the file.
    numbers: Vec<u64>,
    labels: Vec<String>,
    /// Fields by row, as many as names.
    cells: Vec<Vec<Cell>>,
}

/// How the numbers of a file write their fractions.
struct Fractions {
    /// Whether some number has a point.
    has_point: bool,
    /// Whether some comma can only separate decimals: `0,07`, not `251,000`.
    has_decimal_comma: bool,
}

impl Table {
    /// Begins a table whose metrics have these names.
    ///
    /// # Errors
    /// Without a name, or when two are equal or one is empty.
    pub(super) fn named(names: Vec<String>, row: &'static str) -> Result<Self, HistoryError> {
        if names.is_empty() {
            return Err(HistoryError::Empty("metric"));
        }
        let mut known = BTreeSet::new();
        match names.iter().find(|name| name.is_empty() || !known.insert(*name)) {
            Some(name) if name.is_empty() => {
                let why = "a column has no name: give each metric a different name";
                Err(HistoryError::Format(why.to_owned()))
            }
            Some(name) => Err(HistoryError::Twice(name.clone())),
            None => {
                Ok(Self { names, row, numbers: Vec::new(), labels: Vec::new(), cells: Vec::new() })
            }
        }
    }

    /// Adds a row with its number in the file.
    pub(super) fn add(&mut self, number: u64, label: String, cells: Vec<Cell>) {
        self.numbers.push(number);
        self.labels.push(label);
        self.cells.push(cells);
    }

    /// Returns a history for each metric.
    ///
    /// # Errors
    /// Without a label, when a value is no number, or the order is wrong.
    pub(super) fn histories(self) -> Result<Vec<History>, HistoryError> {
        if let Some(row) = self.labels.iter().position(String::is_empty) {
            return Err(HistoryError::NoLabel(self.place(row)));
        }
        let is_order_checked = check_order(&self.labels, |row| self.place(row))?;
        let fractions = self.fractions();
        let history = |(column, name): (usize, &String)| -> Result<History, HistoryError> {
            Ok(History {
                name: name.clone(),
                subject: None,
                unit: None,
                better: None,
                labels: self.labels.clone(),
                is_order_checked,
                values: self.column(column, &fractions)?,
                origins: Vec::new(),
            })
        };
        self.names.iter().enumerate().map(history).collect()
    }

    fn place(&self, row: usize) -> String {
        format!("{} {}", self.row, self.numbers[row])
    }

    fn fractions(&self) -> Fractions {
        let texts = self.cells.iter().flatten().filter_map(|cell| match cell {
            Cell::Text(text) => quantity(text),
            Cell::Missing | Cell::Number(_) => None,
        });
        let mut found = Fractions { has_point: false, has_decimal_comma: false };
        for (number, _) in texts {
            found.has_point |= number.contains('.');
            if let Some((whole, decimals)) = number.split_once(',') {
                let whole = whole.trim_start_matches(['-', '+']);
                let is_group = (1..=3).contains(&whole.len()) && !whole.starts_with('0');
                found.has_decimal_comma |= decimals.len() != 3 || !is_group;
            }
        }
        found
    }

    /// Returns the values of a column, which have one unit.
    fn column(&self, column: usize, style: &Fractions) -> Result<Vec<Option<f64>>, HistoryError> {
        let mut first: Option<&str> = None;
        let value = |row: usize| -> Result<Option<f64>, HistoryError> {
            let Some((value, unit)) = self.value(row, column, style)? else { return Ok(None) };
            let first = *first.get_or_insert(unit);
            if first != unit {
                let named = |unit: &str| if unit.is_empty() { "none" } else { unit }.to_owned();
                let [first, unit] = [first, unit].map(named);
                let (place, name) = (self.place(row), &self.names[column]);
                return Err(HistoryError::Format(format!(
                    "{place}: column `{name}` has the units {first} and {unit}: write all values \
                     of the column in one unit"
                )));
            }
            Ok(Some(value))
        };
        (0..self.cells.len()).map(value).collect()
    }

    /// Returns the value and the unit of a field; `None` where it is missing.
    fn value(
        &self,
        row: usize,
        column: usize,
        style: &Fractions,
    ) -> Result<Option<(f64, &str)>, HistoryError> {
        let refused = |text: &str, why: &'static str| {
            let (text, column) = (text.to_owned(), self.names[column].clone());
            HistoryError::Value { place: self.place(row), text, column, why }
        };
        let (value, unit, text) = match &self.cells[row][column] {
            Cell::Missing => return Ok(None),
            Cell::Number(value) => (Some(*value), "", value.to_string()),
            Cell::Text(text) => {
                let (number, unit) = quantity(text).ok_or_else(|| refused(text, NO_NUMBER))?;
                if number.contains(',') && (style.has_point || !style.has_decimal_comma) {
                    return Err(refused(text, COMMA));
                }
                (number.replace(',', ".").parse::<f64>().ok(), unit, text.clone())
            }
        };
        let value = value.filter(|value| value.is_finite());
        let value = value.ok_or_else(|| refused(&text, NO_NUMBER))?;
        if value != 0.0 && !SIZES.contains(&value.abs()) {
            return Err(refused(&text, SIZE));
        }
        Ok(Some((value, unit)))
    }
}

/// Splits a text into its number and its unit; `None` where it is neither.
pub(super) fn quantity(text: &str) -> Option<(&str, &str)> {
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let end = end + usize::from(text[end..].starts_with('.'));
    let (number, unit) = text.split_at(end);
    let (number, unit) = (number.trim(), unit.trim());
    let is_number = number.replace(',', ".").parse::<f64>().is_ok();
    let is_unit = |c: char| c.is_alphabetic() || matches!(c, '%' | '/' | ' ' | '\u{b0}');
    (is_number && unit.chars().all(is_unit)).then_some((number, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the values of one column, or the refusal.
    fn values(fields: &[&str]) -> Result<Vec<Option<f64>>, String> {
        let mut table = Table::named(vec!["p99".to_owned()], "line").unwrap();
        for (row, field) in (2..).zip(fields) {
            let cell = if field.is_empty() { Cell::Missing } else { Cell::Text((*field).into()) };
            table.add(row, row.to_string(), vec![cell]);
        }
        let histories = table.histories().map_err(|error| error.to_string())?;
        Ok(histories[0].values.clone())
    }

    #[test]
    fn values_may_have_one_unit() {
        let [one, two] = [Some(0.07), Some(0.08)];
        assert_eq!(values(&["0.07 ms", "", "0.08 ms"]), Ok(vec![one, None, two]));
        assert_eq!(values(&["69.38%", "7e1%"]), Ok(vec![Some(69.38), Some(70.0)]));
        assert_eq!(values(&["12\u{b5}s"]), Ok(vec![Some(12.0)]));
        let refusal = values(&["900 us", "1.2 ms"]).unwrap_err();
        assert!(refusal.starts_with("line 3: column `p99` has the units us and ms"), "{refusal}");
        assert!(values(&["0.07 ms", "0.08"]).unwrap_err().contains("ms and none"));
    }

    #[test]
    fn commas_are_read_as_decimals_where_they_can_be_nothing_else() {
        assert_eq!(values(&["0,07", "1,251"]), Ok(vec![Some(0.07), Some(1.251)]));
        assert_eq!(values(&["1234,5 ms"]), Ok(vec![Some(1234.5)]));
        for fields in [&["251,000"][..], &["251,000", "250,500"], &["1,5", "1.5"]] {
            let refusal = values(fields).unwrap_err();
            assert!(refusal.contains("decimals or thousands"), "{refusal}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused_by_its_place() {
        for field in ["ten", "NaN", "-inf", "1,234,567", "1.234,5", "10:30", "2026-01-01", "$5"] {
            let refusal = values(&[field]).unwrap_err();
            let expected = format!("line 2: `{field}` in column `p99` is not a finite number");
            assert!(refusal.starts_with(&expected), "{refusal}");
        }
        for field in ["1e308", "-1e308", "1e-300"] {
            let refusal = values(&["1", field]).unwrap_err();
            assert!(
                refusal.starts_with(&format!("line 3: `{field}` in column `p99`")),
                "{refusal}"
            );
        }
    }
}
