//! Rows of fields below a header.

use model::spreadsheet::to_cell;
use model::visible;
use serde_json::{Value, json};
use stats::Effect;

/// A header with rows that are as long; an unknown value is an empty field.
#[derive(Debug)]
pub struct Rows(Vec<Vec<String>>);

impl Rows {
    /// Returns the rows below their header.
    pub(crate) fn new<H: AsRef<str>>(
        header: impl IntoIterator<Item = H>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        let header = header.into_iter().map(|name| name.as_ref().to_owned()).collect();
        Self(std::iter::once(header).chain(rows).collect())
    }

    /// Returns the fields of objects by the names of the header; a field that one lacks is empty.
    pub(crate) fn of<'h>(
        header: impl IntoIterator<Item = &'h str>,
        lines: impl IntoIterator<Item = Value>,
    ) -> Self {
        let header: Vec<&str> = header.into_iter().collect();
        let row = |line: Value| header.iter().map(|name| field(&line[*name])).collect();
        Self::new(&header, lines.into_iter().map(row))
    }

    /// Returns the rows that have a value in a column.
    pub(crate) fn with(mut self, column: &str, value: &str) -> Self {
        let at = self.0[0].iter().position(|name| name == column);
        let mut is_header = true;
        self.0
            .retain(|row| std::mem::take(&mut is_header) || at.is_some_and(|at| row[at] == value));
        self
    }

    /// Returns them as text.
    ///
    /// Source: [RFC 4180], as the `csv` crate writes it; quoted in the same way between tabs.
    pub(crate) fn text(&self, delimiter: u8) -> String {
        let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
        for row in &self.0 {
            let row = row.iter().map(|field| visible(&to_cell(field)).into_owned());
            writer.write_record(row).expect("rows are as long as the header, in memory");
        }
        let bytes = writer.into_inner().expect("memory takes every line");
        String::from_utf8(bytes).expect("fields are text")
    }
}

fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(figure) if figure.is_f64() => number(figure.as_f64()),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Returns an enum value of the model as records write it.
pub(crate) fn snake(word: impl serde::Serialize) -> String {
    let value = serde_json::to_value(word);
    value.ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Returns a ratio with the limits of its interval, as fields.
pub(crate) fn ratio_fields(effect: Option<&Effect>) -> Value {
    let interval = effect.and_then(|effect| effect.interval);
    json!({
        "ratio": effect.map(|effect| effect.ratio),
        "ratio_low": interval.map(|it| it.low),
        "ratio_high": interval.map(|it| it.high),
    })
}

/// Returns a number, or an empty field.
pub(crate) fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        let rows = [vec!["plain".to_owned(), "a, \"b\"".to_owned()]];
        let text = Rows::new(["one", "two"], rows).text(b',');
        assert_eq!(text, "one,two\nplain,\"a, \"\"b\"\"\"\n");
    }

    #[test]
    fn no_field_is_a_formula() {
        let rows = [vec!["=cmd|x".to_owned(), "-0.38".to_owned(), "\r=1".to_owned()]];
        let text = Rows::new(["@one", "two", "three"], rows).text(b',');
        assert_eq!(text, "'@one,two,three\n'=cmd|x,-0.38,'\\u{d}=1\n");
    }

    #[test]
    fn fields_with_tabs_and_line_breaks_are_quoted_between_tabs() {
        let rows = [vec!["a, b".to_owned(), "c\td".to_owned(), "e\nf".to_owned()]];
        let text = Rows::new(["one", "two", "three"], rows).text(b'\t');
        assert_eq!(text, "one\ttwo\tthree\na, b\t\"c\td\"\t\"e\nf\"\n");
    }
}
