//! Rows of a CSV file.

use csv::{ReaderBuilder, StringRecord};
use model::spreadsheet::of_cell;

use super::problem::HistoryError;
use super::table::{Cell, Table, quantity};

/// Start of a line that names the separator, for spreadsheets.
const SEPARATOR_LINE: &str = "sep=";

/// Reads a header, labels, and one column each metric.
///
/// Fields are separated by commas, semicolons or tabs and may be quoted. Lines that begin with `#`
/// are comments, rows of empty fields nothing, and so is an empty column at the end.
///
/// # Errors
/// When the text is no such table.
///
/// Source: [RFC 4180]; the line `sep=;` is that of spreadsheets.
pub(super) fn rows(text: &str) -> Result<Table, HistoryError> {
    let mut reader = ReaderBuilder::new()
        .flexible(true)
        .has_headers(false)
        .comment(Some(b'#'))
        .delimiter(delimiter(text))
        .from_reader(text.as_bytes());
    let is_separator_line = |row: &StringRecord| {
        row.get(0).is_some_and(|field| field.starts_with(SEPARATOR_LINE))
            && row.position().is_some_and(|position| position.line() == 1)
    };
    let mut records = reader.records().filter(|row| match row {
        Ok(row) => row.iter().any(|field| !field.trim().is_empty()) && !is_separator_line(row),
        Err(_) => true,
    });
    let format = |error: csv::Error| HistoryError::Format(error.to_string());
    let header = records.next().transpose().map_err(format)?;
    let header = header.ok_or(HistoryError::Empty("header"))?;
    let header: Vec<&str> = header.iter().map(|name| of_cell(name.trim())).collect();
    let width = header.iter().rposition(|name| !name.is_empty()).map_or(0, |at| at + 1);
    let header = &header[..width];
    if is_data(header) {
        return Err(HistoryError::Format(format!(
            "the file has no header: its first line is `{}`; name the columns in a line that does \
             not begin with #",
            header.join(", ")
        )));
    }
    let names = header.iter().skip(1).map(|name| (*name).to_owned()).collect();
    let mut table = Table::named(names, "line")?;
    for row in records {
        let row = row.map_err(format)?;
        let line = row.position().map_or(0, csv::Position::line);
        if row.len() < width || row.iter().skip(width).any(|field| !field.trim().is_empty()) {
            return Err(HistoryError::Fields(line, row.len(), width));
        }
        let cell = |field: &str| match of_cell(field.trim()) {
            "" => Cell::Missing,
            text => Cell::Text(text.to_owned()),
        };
        let cells = row.iter().take(width).skip(1).map(cell).collect();
        table.add(line, of_cell(row[0].trim()).to_owned(), cells);
    }
    Ok(table)
}

/// Returns the separator of fields: as the file states, or as the header has it.
///
/// A number has neither tab nor semicolon: a wrong choice ends with rows of other lengths.
fn delimiter(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or_default();
    if let [one, ..] = first.strip_prefix(SEPARATOR_LINE).unwrap_or_default().as_bytes() {
        return *one;
    }
    let is_row = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let header = text.lines().find(is_row).unwrap_or_default();
    let outside_quotes: Vec<&str> = header.split('"').step_by(2).collect();
    let is_in = |byte: &u8| outside_quotes.iter().any(|part| part.as_bytes().contains(byte));
    [b'\t', b';'].into_iter().find(is_in).unwrap_or(b',')
}

/// Returns whether a first row has no names: all fields but its label are numbers.
fn is_data(header: &[&str]) -> bool {
    let is_label = header.first().is_some_and(|label| label.contains(|c: char| c.is_ascii_digit()));
    is_label && header.len() > 1 && header[1..].iter().all(|field| quantity(field).is_some())
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
    fn every_notation_of_the_same_rows_is_read_alike() {
        let expected = read("time,\"a, b\",c\n2026-01-01,1.5,\n2026-01-02,2,3e2\n").unwrap();
        assert_eq!((expected[0].name.as_str(), expected.len()), ("a, b", 2));
        assert_eq!(expected[1].values, [None, Some(300.0)]);
        for text in [
            "time,\"a, b\",c\r\n2026-01-01,1.5,\r\n2026-01-02,2,3e2\r\n",
            "time,\"a, b\",c\r2026-01-01,1.5,\r2026-01-02,2,3e2\r",
            "time;a, b;c\n2026-01-01;1,5;\n2026-01-02;2;3e2\n",
            "time\ta, b\tc\n2026-01-01\t1.5\t\n2026-01-02\t2\t3e2\n",
            "sep=;\ntime;a, b;c\n2026-01-01;1,5;\n2026-01-02;2;3e2\n",
            "sep=|\ntime|a, b|c\n2026-01-01|1.5|\n2026-01-02|2|3e2\n",
            "# nightly\ntime,\"a, b\",c\n# so far\n2026-01-01,1.5,\n2026-01-02,2,3e2\n",
            "time,\"a, b\",c,\n2026-01-01,1.5,,\n2026-01-02,2,3e2,\n",
            "time,\"a, b\",c\n2026-01-01,1.5,,\n\n2026-01-02,2,3e2,\n,,\n",
        ] {
            assert_eq!(read(text), Ok(expected.clone()), "{text}");
        }
    }

    #[test]
    fn the_quote_before_a_formula_is_no_part_of_a_name() {
        let text = "time,'=a,'b,'-0.5 x\n'-1st,1,2,3\n";
        let read = read(text).unwrap();
        let names: Vec<_> = read.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["=a", "'b", "-0.5 x"]);
    }

    #[test]
    fn what_is_no_table_is_refused_by_its_place() {
        assert!(refused("").contains("no header"));
        assert!(refused("time\n1\n").contains("no metric"));
        assert_eq!(read("time,a\n").map(|all| all[0].known()), Ok(0), "the first run is to come");
        assert!(refused("time,a,a\n1,2,3\n").contains("two columns are named `a`"));
        assert!(refused("time,,a\n1,2,3\n").contains("a column has no name"));
        assert!(refused("time,a\n1,2\n2\n").starts_with("line 3 has 1 fields"));
        assert!(refused("time,a\n1,2\n2,3,4\n").starts_with("line 3 has 3 fields"));
        assert!(refused("time,a\n,2\n").starts_with("line 2 has no label"));
        assert!(refused("time,a\n2026-02-01,2\n2026-01-01,2\n").starts_with("line 3: 2026-01-01"));
        assert!(refused("#time,a\n2026-01-01,2\n").contains("`2026-01-01, 2`"));
    }
}
