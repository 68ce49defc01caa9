//! SQL text with the positions of its values, and those values.

use std::borrow::Cow;

use model::sql::{Piece, Procedure, Statement};
use model::{Argument, Call};

/// Text of a statement with the positions of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// Text and values, in order.
    pub(crate) parts: Vec<Part>,
    /// Whether columns of its rows are read.
    pub is_read: bool,
    /// The value with the most rows that an execution returns; none of the text.
    pub rows_at: Option<usize>,
}

/// SQL text, or the position of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// SQL text.
    Text(String),
    /// A value, by its position among the arguments.
    Value(usize),
}

impl Template {
    /// Parses a text whose `?` are its values, in order, and `?2` the value at position 2.
    pub(crate) fn parse(sql: &str) -> Self {
        let text = |text: &str| Part::Text(text.to_owned());
        let mut pieces = sql.split('?');
        let mut parts: Vec<_> = pieces.next().map(text).into_iter().collect();
        parts.extend(pieces.enumerate().flat_map(|(at, piece)| {
            let (at, piece) = match piece.as_bytes().first() {
                Some(digit @ b'0'..=b'9') => (usize::from(digit - b'0'), &piece[1..]),
                _ => (at, piece),
            };
            [Part::Value(at), text(piece)]
        }));
        Self { parts, is_read: false, rows_at: None }
    }

    /// Returns the template after a text.
    pub(crate) fn after(&self, text: &str) -> Self {
        let text = Part::Text(text.to_owned());
        let parts = [text].into_iter().chain(self.parts.iter().cloned()).collect();
        Self { parts, ..*self }
    }

    /// Renders `statement` of `procedure`; `table` names the table at a position.
    pub(crate) fn render(
        statement: &Statement,
        procedure: &Procedure,
        table: impl Fn(u16) -> String,
    ) -> Self {
        let mut parts: Vec<Part> = Vec::new();
        for piece in statement.pieces(procedure) {
            let text = match piece {
                Piece::Argument(position) => {
                    parts.push(Part::Value(position));
                    continue;
                }
                Piece::Text(text) => Cow::Borrowed(text),
                Piece::Table(position) => Cow::Owned(table(position)),
            };
            match parts.last_mut() {
                Some(Part::Text(before)) => before.push_str(&text),
                _ => parts.push(Part::Text(text.into_owned())),
            }
        }
        Self { parts, is_read: !statement.reads.is_empty(), rows_at: None }
    }

    /// Renumbers the values by their first use; returns the former positions.
    ///
    /// Statements that differ in positions only are then equal, and prepared once.
    pub(crate) fn renumber(&mut self) -> Vec<usize> {
        let mut positions = Vec::new();
        for part in &mut self.parts {
            let Part::Value(position) = part else { continue };
            let known = positions.iter().position(|known| known == position);
            *position = known.unwrap_or_else(|| {
                positions.push(*position);
                positions.len() - 1
            });
        }
        positions
    }

    /// Appends the text with each value as `literal` writes it; returns the bytes of the values.
    #[inline]
    pub fn write<'v>(
        &self,
        value: impl Fn(usize) -> Value<'v>,
        out: &mut Vec<u8>,
        literal: impl Fn(Value<'v>, &mut Vec<u8>),
    ) -> u64 {
        let mut bytes = 0;
        for part in &self.parts {
            match part {
                Part::Text(text) => out.extend_from_slice(text.as_bytes()),
                Part::Value(position) => {
                    let value = value(*position);
                    bytes += value.bytes();
                    literal(value, out);
                }
            }
        }
        bytes
    }

    /// Returns the text with placeholders, and the argument of each parameter.
    ///
    /// `placeholder` writes that of a parameter's number, from 1. An argument used twice is one
    /// parameter when `is_shared`, else two.
    pub fn with_placeholders(
        &self,
        is_shared: bool,
        placeholder: impl Fn(usize) -> String,
    ) -> (String, Vec<usize>) {
        let (mut sql, mut arguments) = (String::new(), Vec::new());
        for part in &self.parts {
            match part {
                Part::Text(text) => sql.push_str(text),
                Part::Value(position) => {
                    let known = arguments.iter().position(|known| is_shared && known == position);
                    let number = known.unwrap_or_else(|| {
                        arguments.push(*position);
                        arguments.len() - 1
                    });
                    sql.push_str(&placeholder(number + 1));
                }
            }
        }
        (sql, arguments)
    }
}

/// Appends two digits of base 16 for each byte.
#[inline]
pub fn write_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        let digits = [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
        out.extend_from_slice(&digits);
    }
}

/// A value of a statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'v> {
    /// An integer.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// Seconds since 1970.
    Moment(i64),
    /// Text in the connection's character set.
    Text(&'v [u8]),
    /// Bytes.
    Bytes(&'v [u8]),
    /// An array of keys, where [`crate::Sql::has_arrays`].
    Keys(&'v [&'v [u8]]),
}

impl<'v> Value<'v> {
    /// Returns the size in bytes: 8 for a number or a moment.
    #[inline]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Integer(_) | Self::Real(_) | Self::Moment(_) => 8,
            Self::Text(bytes) | Self::Bytes(bytes) => bytes.len() as u64,
            Self::Keys(_) => 0,
        }
    }

    /// Returns the value of a call's argument; an absent one is empty.
    #[inline]
    pub(crate) fn of(call: &'v Call<'_>, position: usize) -> Self {
        match call.arguments.get(position) {
            Some(&Argument::Integer(value)) => Self::Integer(value),
            Some(&Argument::Real(value)) => Self::Real(value),
            Some(&Argument::Moment(seconds)) => Self::Moment(seconds),
            Some(&text @ Argument::Text { .. }) => Self::Text(call.text(text)),
            None => Self::Text(&[]),
        }
    }
}

/// A column of a row that is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Field<'r> {
    /// Null.
    Null,
    /// An integer.
    Integer(i64),
    /// A real number.
    Real(f64),
    /// Text, or a number as text.
    Text(&'r [u8]),
}

#[cfg(test)]
mod tests {
    use model::OpKind;
    use model::sql::{Draw, Part as SourcePart};

    use super::*;

    fn procedure(rows: u32) -> Procedure {
        Procedure {
            arguments: vec![Draw::Id],
            row: vec![Draw::Id],
            rows,
            ..Procedure::new("p", OpKind::Insert)
        }
    }

    #[test]
    fn argument_used_twice_is_one_parameter_or_two() {
        let text = |text: &str| SourcePart::Text(text.to_owned());
        let statement = Statement {
            parts: vec![
                text("SELECT "),
                SourcePart::Argument(0),
                text(" FROM "),
                SourcePart::Table,
                text(", "),
                SourcePart::OtherTable(3),
                text(" WHERE id IN ("),
                SourcePart::Rows(vec![SourcePart::RowArgument(0)]),
                text(") AND x > "),
                SourcePart::Argument(0),
            ],
            ..Statement::default()
        };
        let template = Template::render(&statement, &procedure(2), |table| format!("pi{table}"));
        let merged = Part::Text(" FROM pi0, pi3 WHERE id IN (".to_owned());
        assert_eq!(template.parts[2], merged);
        let numbered = |is_shared| template.with_placeholders(is_shared, |at| format!("${at}"));
        let (sql, arguments) = numbered(true);
        assert_eq!(sql, "SELECT $1 FROM pi0, pi3 WHERE id IN ($2, $3) AND x > $1");
        assert_eq!(arguments, [0, 1, 2]);
        let (sql, arguments) = numbered(false);
        assert_eq!(sql, "SELECT $1 FROM pi0, pi3 WHERE id IN ($2, $3) AND x > $4");
        assert_eq!(arguments, [0, 1, 2, 0]);
    }

    #[test]
    fn statements_that_differ_in_positions_only_are_equal() {
        let template = |positions: [usize; 3]| {
            let text = |text: &str| Part::Text(text.to_owned());
            let [a, b, c] = positions.map(Part::Value);
            let parts = vec![a, text(" = "), b, text(" = "), c];
            let mut template = Template { parts, is_read: false, rows_at: None };
            let positions = template.renumber();
            (template, positions)
        };
        let (one, positions) = template([7, 3, 7]);
        let (other, others) = template([8, 4, 8]);
        assert_eq!((one == other, positions, others), (true, vec![7, 3], vec![8, 4]));
        assert!(one != template([8, 4, 4]).0);
    }

    #[test]
    fn placeholders_are_numbered_in_order() {
        let text = |text: &str| Part::Text(text.to_owned());
        let parts = [text("a "), Part::Value(0), text(" b "), Part::Value(1), text("")];
        assert_eq!(Template::parse("a ? b ?").parts, parts);
        let parts = [text("a "), Part::Value(3), text(" b "), Part::Value(0), text(")")];
        assert_eq!(Template::parse("a ?3 b ?0)").parts, parts);
    }
}
