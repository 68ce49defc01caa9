//! Cells of CSV and TSV files, which spreadsheets must not take for formulas.

use std::borrow::Cow;

/// First signs of a formula. Source: OWASP, CSV Injection, 2024.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Returns text as a cell: a quote before what a spreadsheet would take for a formula.
///
/// Numbers stay numbers.
pub fn to_cell(text: &str) -> Cow<'_, str> {
    match is_formula(text) && text.parse::<f64>().is_err() {
        true => format!("'{text}").into(),
        false => text.into(),
    }
}

/// Returns the text of a cell, without the quote of [`to_cell`].
pub fn of_cell(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| is_formula(text)).unwrap_or(cell)
}

/// Returns whether text begins with a sign of a formula, behind any quotes.
fn is_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(FORMULA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text_and_numbers_stay_numbers() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("-rf", "'-rf"),
            ("-0.4 %", "'-0.4 %"),
            ("+49", "+49"),
            ("-0.38", "-0.38"),
            ("-2e-9", "-2e-9"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
            ("'=1", "''=1"),
            ("'a", "'a"),
            ("a=1", "a=1"),
            ("", ""),
        ] {
            assert_eq!(to_cell(text), cell);
            assert_eq!(of_cell(cell), text);
        }
    }
}
