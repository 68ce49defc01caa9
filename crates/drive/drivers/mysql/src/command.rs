//! A statement with placeholders, sent prepared or as text.

use std::io::Write;

use crate::wire::{Column, Connection, Done, Failure, Moment, Statement, Value};

/// Error of a statement that cannot be prepared.
///
/// Source: MySQL's server error reference, `ER_UNSUPPORTED_PS`.
const NOT_PREPARED: u16 = 1295;
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// A segment of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    /// SQL text.
    Text(Vec<u8>),
    /// A value, by its position among the arguments.
    Value(usize),
}

/// A statement; prepared when it is first executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    segments: Vec<Segment>,
    positions: Vec<usize>,
    statement: Option<Statement>,
    is_text: bool,
}

impl Command {
    /// Returns the command of these segments.
    pub(crate) fn new(segments: Vec<Segment>, is_text: bool) -> Self {
        let positions = segments.iter().filter_map(|segment| match segment {
            Segment::Value(position) => Some(*position),
            Segment::Text(_) => None,
        });
        Self { positions: positions.collect(), segments, statement: None, is_text }
    }

    /// Parses a command whose `?` are its values, in order.
    pub(crate) fn of(sql: &str, is_text: bool) -> Self {
        let mut segments = Vec::new();
        for (number, text) in sql.split('?').enumerate() {
            if number > 0 {
                segments.push(Segment::Value(number - 1));
            }
            segments.push(Segment::Text(text.as_bytes().to_vec()));
        }
        Self::new(segments, is_text)
    }

    /// Drops the prepared statement, after a reconnect.
    pub(crate) fn reset(&mut self) {
        self.statement = None;
    }

    /// Returns the positions of the values, in the order in which they are sent.
    pub(crate) fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// Executes the command with the values that `value` has at their positions.
    ///
    /// # Errors
    /// When the server refuses it, or the connection is lost.
    #[inline]
    pub(crate) fn run<'v>(
        &mut self,
        connection: &mut Connection,
        value: impl Fn(usize) -> Value<'v> + Copy,
        needs_kind: bool,
        on_row: impl FnMut(Column, &[u8]),
    ) -> Result<Done, Failure> {
        if self.statement.is_none() && !self.is_text {
            self.prepare(connection)?;
        }
        let Self { segments, positions, statement, .. } = self;
        match statement {
            Some(statement) => {
                let values = positions.iter().map(|position| value(*position));
                connection.execute(statement, values, needs_kind, on_row)
            }
            None => {
                write(segments, value, connection.begin_text());
                connection.finish_text(on_row)
            }
        }
    }

    /// Queues the command with its values; `None` when not prepared yet or too long.
    ///
    /// Else returns whether its rows come as text.
    ///
    /// # Errors
    /// When the values are not those of its parameters.
    #[inline]
    pub(crate) fn submit<'v>(
        &mut self,
        connection: &mut Connection,
        value: impl Fn(usize) -> Value<'v> + Copy,
    ) -> Result<Option<bool>, Failure> {
        let Self { segments, positions, statement, is_text } = self;
        let is_queued = match statement {
            Some(statement) => {
                let values = positions.iter().map(|position| value(*position));
                connection.submit(statement, values)?
            }
            None if *is_text => {
                write(segments, value, connection.begin_text());
                connection.submit_text()
            }
            None => return Ok(None),
        };
        Ok(is_queued.then_some(statement.is_none()))
    }

    #[cold]
    fn prepare(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let mut sql = Vec::new();
        for segment in &self.segments {
            match segment {
                Segment::Text(text) => sql.extend_from_slice(text),
                Segment::Value(_) => sql.push(b'?'),
            }
        }
        match connection.prepare(&sql) {
            Ok(statement) => self.statement = Some(statement),
            Err(failure) if failure.number() == Some(NOT_PREPARED) => self.is_text = true,
            Err(failure) => return Err(failure),
        }
        Ok(())
    }
}

/// Appends a command as text.
#[inline]
fn write<'v>(segments: &[Segment], value: impl Fn(usize) -> Value<'v>, out: &mut Vec<u8>) {
    for segment in segments {
        match segment {
            Segment::Text(text) => out.extend_from_slice(text),
            Segment::Value(position) => literal(value(*position), out),
        }
    }
}

/// Appends a value as an SQL literal.
#[inline]
fn literal(value: Value<'_>, out: &mut Vec<u8>) {
    let written = match value {
        Value::Integer(value) => write!(out, "{value}"),
        // Infinities and NaN have no literal.
        Value::Real(value) if value.is_finite() => write!(out, "{value:e}"),
        Value::Real(_) => write!(out, "NULL"),
        Value::Moment(seconds) => {
            let Moment { year, day: [month, day], time: [hour, minute, second] } =
                Moment::of(seconds);
            write!(out, "'{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}'")
        }
        Value::Text(text) => {
            quote(text, out);
            Ok(())
        }
        Value::Bytes(bytes) => {
            out.extend_from_slice(b"x'");
            for byte in bytes {
                let [high, low] = [byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]);
                out.extend_from_slice(&[high, low]);
            }
            out.push(b'\'');
            Ok(())
        }
    };
    written.expect("writing to a vector cannot fail");
}

/// Appends a quoted string literal.
///
/// Source: MySQL's reference manual, "String Literals".
fn quote(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'\'');
    for &byte in text {
        match byte {
            0 => out.extend_from_slice(b"\\0"),
            b'\'' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            _ => out.push(byte),
        }
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal_text(value: Value<'_>) -> String {
        let mut out = Vec::new();
        literal(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_become_sql_literals() {
        assert_eq!(literal_text(Value::Integer(i64::MIN)), "-9223372036854775808");
        assert_eq!(literal_text(Value::Real(0.1)), "1e-1");
        assert_eq!(literal_text(Value::Real(f64::NAN)), "NULL");
        assert_eq!(literal_text(Value::Moment(1_700_000_000)), "'2023-11-14 22:13:20'");
        assert_eq!(literal_text(Value::Text(b"it's \\ \0")), r"'it\'s \\ \0'");
        assert_eq!(literal_text(Value::Bytes(b"\0a'\xff")), "x'006127ff'");
    }

    #[test]
    fn placeholders_are_numbered_in_order() {
        let command = Command::of("a ? b ?", false);
        assert_eq!(command.positions(), [0, 1]);
        let text = |text: &str| Segment::Text(text.as_bytes().to_vec());
        let segments = [text("a "), Segment::Value(0), text(" b "), Segment::Value(1), text("")];
        assert_eq!(command.segments, segments);
    }
}
