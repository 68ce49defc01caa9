//! One statement with its gaps, sent prepared or as text.

use std::io::Write;

use crate::wire::{Column, Connection, Done, Failure, Moment, Statement, Value};

/// Errors of a server that cannot prepare a statement of that sort.
///
/// Source: MySQL's server error reference, `ER_UNSUPPORTED_PS`.
const NOT_PREPARED: u16 = 1295;
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// A piece of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bit {
    /// Words.
    Words(Vec<u8>),
    /// A value, by its position among those given.
    Value(usize),
}

/// A statement; prepared when it is first executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    bits: Vec<Bit>,
    positions: Vec<usize>,
    statement: Option<Statement>,
    is_text: bool,
}

impl Command {
    /// Returns the command of these pieces.
    pub(crate) fn new(bits: Vec<Bit>, is_text: bool) -> Self {
        let positions = bits.iter().filter_map(|bit| match bit {
            Bit::Value(position) => Some(*position),
            Bit::Words(_) => None,
        });
        Self { positions: positions.collect(), bits, statement: None, is_text }
    }

    /// Returns the command of a text in which each `?` is a value, in order.
    pub(crate) fn of(sql: &str, is_text: bool) -> Self {
        let mut bits = Vec::new();
        for (number, words) in sql.split('?').enumerate() {
            if number > 0 {
                bits.push(Bit::Value(number - 1));
            }
            bits.push(Bit::Words(words.as_bytes().to_vec()));
        }
        Self::new(bits, is_text)
    }

    /// Forgets what was prepared: the connection is another.
    pub(crate) fn forget(&mut self) {
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
        wants_kind: bool,
        on_row: impl FnMut(Column, &[u8]),
    ) -> Result<Done, Failure> {
        if self.statement.is_none() && !self.is_text {
            self.prepare(connection)?;
        }
        let Self { bits, positions, statement, .. } = self;
        match statement {
            Some(statement) => {
                let values = positions.iter().map(|position| value(*position));
                connection.execute(statement, values, wants_kind, on_row)
            }
            None => {
                write(bits, value, connection.begin_text());
                connection.finish_text(on_row)
            }
        }
    }

    /// Keeps the command, with its values, to be sent with others; `None` when it is not prepared
    /// yet or too long, else whether its rows come as text.
    ///
    /// # Errors
    /// When the values are not those of its parameters.
    #[inline]
    pub(crate) fn submit<'v>(
        &mut self,
        connection: &mut Connection,
        value: impl Fn(usize) -> Value<'v> + Copy,
    ) -> Result<Option<bool>, Failure> {
        let Self { bits, positions, statement, is_text } = self;
        let is_kept = match statement {
            Some(statement) => {
                let values = positions.iter().map(|position| value(*position));
                connection.submit(statement, values)?
            }
            None if *is_text => {
                write(bits, value, connection.begin_text());
                connection.submit_text()
            }
            None => return Ok(None),
        };
        Ok(is_kept.then_some(statement.is_none()))
    }

    #[cold]
    fn prepare(&mut self, connection: &mut Connection) -> Result<(), Failure> {
        let mut sql = Vec::new();
        for bit in &self.bits {
            match bit {
                Bit::Words(words) => sql.extend_from_slice(words),
                Bit::Value(_) => sql.push(b'?'),
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
fn write<'v>(bits: &[Bit], value: impl Fn(usize) -> Value<'v>, out: &mut Vec<u8>) {
    for bit in bits {
        match bit {
            Bit::Words(words) => out.extend_from_slice(words),
            Bit::Value(position) => literal(value(*position), out),
        }
    }
}

/// Appends a value as SQL has it.
#[inline]
fn literal(value: Value<'_>, out: &mut Vec<u8>) {
    let told = match value {
        Value::Integer(value) => write!(out, "{value}"),
        // Infinities and what is no number have no literal.
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
    told.expect("a vector takes what is written to it");
}

/// Appends text between quotes.
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

    fn said(value: Value<'_>) -> String {
        let mut out = Vec::new();
        literal(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn values_are_said_as_sql_has_them() {
        assert_eq!(said(Value::Integer(i64::MIN)), "-9223372036854775808");
        assert_eq!(said(Value::Real(0.1)), "1e-1");
        assert_eq!(said(Value::Real(f64::NAN)), "NULL");
        assert_eq!(said(Value::Moment(1_700_000_000)), "'2023-11-14 22:13:20'");
        assert_eq!(said(Value::Text(b"it's \\ \0")), r"'it\'s \\ \0'");
        assert_eq!(said(Value::Bytes(b"\0a'\xff")), "x'006127ff'");
    }

    #[test]
    fn gaps_are_numbered_in_order() {
        let command = Command::of("a ? b ?", false);
        assert_eq!(command.positions(), [0, 1]);
        let words = |text: &str| Bit::Words(text.as_bytes().to_vec());
        let bits = [words("a "), Bit::Value(0), words(" b "), Bit::Value(1), words("")];
        assert_eq!(command.bits, bits);
    }
}
