//! Rows of fields as comma-separated values.

use super::visible::visible;

/// Returns the header and the rows; an unknown value is an empty field.
///
/// Source: [RFC 4180], as the `csv` crate writes it.
pub(crate) fn csv<H: AsRef<str>>(
    header: impl IntoIterator<Item = H>,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header: Vec<String> = header.into_iter().map(|name| name.as_ref().to_owned()).collect();
    for row in std::iter::once(header).chain(rows) {
        let row = row.iter().map(|field| visible(field).into_owned());
        writer.write_record(row).expect("rows are as long as the header, and memory takes them");
    }
    let bytes = writer.into_inner().expect("memory takes every line");
    String::from_utf8(bytes).expect("fields are text")
}

/// Returns an enum value of the model as records write it.
pub(crate) fn snake(word: impl serde::Serialize) -> String {
    let value = serde_json::to_value(word);
    value.ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
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
        assert_eq!(csv(["one", "two"], rows), "one,two\nplain,\"a, \"\"b\"\"\"\n");
    }
}
