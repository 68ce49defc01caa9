//! Encoding and decoding of values, binary and text.

use model::Argument;

use crate::config::Protocol;
use crate::wire::{Failure, oid, text};

/// Seconds from 1970 to 2000, the epoch of timestamps.
///
/// Source: Postgres' source, `POSTGRES_EPOCH_JDATE` in `timestamp.h`.
const EPOCH_SECONDS: i64 = 946_684_800;
/// Timestamps are in microseconds.
const SECOND_MICROS: i64 = 1_000_000;

/// A value of a key-value operation.
pub(crate) enum Value<'a> {
    /// Bytes: `bytea`.
    Bytes(&'a [u8]),
    /// A whole number: `bigint`.
    Integer(i64),
    /// Keys: `bytea[]`.
    Keys(&'a [&'a [u8]]),
}

impl Value<'_> {
    /// Appends the binary value, its length first.
    ///
    /// # Errors
    /// When it is too long.
    #[inline]
    pub(crate) fn write_binary(&self, out: &mut Vec<u8>) -> Result<(), Failure> {
        match *self {
            Self::Bytes(bytes) => write_bytes(out, bytes),
            Self::Integer(value) => write_bytes(out, &value.to_be_bytes()),
            Self::Keys(keys) => write_keys(out, keys),
        }
    }

    /// Writes the value as a literal.
    pub(crate) fn write_text(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Bytes(bytes) => text::bytea(out, bytes),
            Self::Integer(value) => text::integer(out, value),
            Self::Keys(keys) => {
                out.extend_from_slice(b"ARRAY[");
                for (number, key) in keys.iter().enumerate() {
                    if number > 0 {
                        out.push(b',');
                    }
                    text::bytea(out, key);
                }
                out.extend_from_slice(b"]::bytea[]");
            }
        }
    }
}

#[inline]
fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) -> Result<(), Failure> {
    let Ok(length) = i32::try_from(bytes.len()) else { return Err(too_long(bytes.len())) };
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes);
    Ok(())
}

#[cold]
fn too_long(bytes: usize) -> Failure {
    Failure::Impossible(format!("a value of {bytes} bytes: the limit is 2^31 - 1"))
}

/// Writes a one-dimensional array of non-null values, from index 1.
///
/// Source: Postgres' source, `array_send` in `arrayfuncs.c`.
fn write_keys(out: &mut Vec<u8>, keys: &[&[u8]]) -> Result<(), Failure> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let Ok(count) = i32::try_from(keys.len()) else { return Err(too_long(keys.len())) };
    for number in [1, 0, oid::BYTEA] {
        out.extend_from_slice(&number.to_be_bytes());
    }
    for number in [count, 1] {
        out.extend_from_slice(&number.to_be_bytes());
    }
    for key in keys {
        write_bytes(out, key)?;
    }
    let bytes = out.len() - start - 4;
    let Ok(length) = i32::try_from(bytes) else { return Err(too_long(bytes)) };
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// Returns the bytes of a `bytea` column; text is decoded into `scratch`.
#[inline]
pub(crate) fn bytes<'a>(
    protocol: Protocol,
    column: &'a [u8],
    scratch: &'a mut Vec<u8>,
) -> &'a [u8] {
    match protocol {
        Protocol::Prepared => column,
        Protocol::Text => {
            scratch.clear();
            text::unhex(column, scratch);
            scratch
        }
    }
}

/// Encoding of one parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coder {
    /// 2 bytes.
    Int2,
    /// 4 bytes.
    Int4,
    /// 8 bytes.
    Int8,
    /// 4 bytes of IEEE 754.
    Float4,
    /// 8 bytes of IEEE 754.
    Float8,
    /// Raw bytes.
    Bytes,
    /// Microseconds since 2000.
    Timestamp,
    /// As text, which the server parses for any type.
    Text,
}

impl Coder {
    /// Returns the encoding of `argument` for a parameter of type `oid`.
    pub(crate) fn of(oid: u32, argument: Argument) -> Self {
        let is_number = matches!(argument, Argument::Integer(_) | Argument::Real(_));
        let is_text = matches!(argument, Argument::Text { .. });
        match oid {
            oid::INT2 if is_number => Self::Int2,
            oid::INT4 if is_number => Self::Int4,
            oid::INT8 if is_number => Self::Int8,
            oid::FLOAT4 if is_number => Self::Float4,
            oid::FLOAT8 if is_number => Self::Float8,
            oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::BYTEA if is_text => Self::Bytes,
            oid::TIMESTAMP | oid::TIMESTAMPTZ if matches!(argument, Argument::Moment(_)) => {
                Self::Timestamp
            }
            _ => Self::Text,
        }
    }

    /// Appends a value, its length first; `text` is the bytes of a text argument.
    ///
    /// # Errors
    /// When the value does not fit the parameter's type.
    #[inline]
    pub(crate) fn write(
        self,
        out: &mut Vec<u8>,
        argument: Argument,
        text: &[u8],
    ) -> Result<(), Failure> {
        match self {
            Self::Int4 => write_bytes(out, &narrow::<i32>(argument)?.to_be_bytes()),
            Self::Int8 => write_bytes(out, &whole(argument).to_be_bytes()),
            Self::Int2 => write_bytes(out, &narrow::<i16>(argument)?.to_be_bytes()),
            Self::Float4 => {
                #[expect(clippy::cast_possible_truncation, reason = "the column holds no more")]
                let value = real(argument) as f32;
                write_bytes(out, &value.to_be_bytes())
            }
            Self::Float8 => write_bytes(out, &real(argument).to_be_bytes()),
            Self::Bytes => write_bytes(out, text),
            Self::Timestamp => {
                let micros = (whole(argument) - EPOCH_SECONDS) * SECOND_MICROS;
                write_bytes(out, &micros.to_be_bytes())
            }
            Self::Text => {
                let start = out.len();
                out.extend_from_slice(&[0; 4]);
                write_unquoted(out, argument, text);
                let bytes = out.len() - start - 4;
                let Ok(length) = i32::try_from(bytes) else { return Err(too_long(bytes)) };
                out[start..start + 4].copy_from_slice(&length.to_be_bytes());
                Ok(())
            }
        }
    }
}

/// Appends a value as text, unquoted.
fn write_unquoted(out: &mut Vec<u8>, argument: Argument, text: &[u8]) {
    match argument {
        Argument::Integer(value) => text::integer(out, value),
        Argument::Real(value) => text::real(out, value),
        Argument::Moment(seconds) => text::moment(out, seconds),
        Argument::Text { .. } => out.extend_from_slice(text),
    }
}

/// Appends a value as a literal.
pub(crate) fn write_literal(out: &mut Vec<u8>, argument: Argument, text: &[u8]) {
    match argument {
        Argument::Integer(_) | Argument::Real(_) => write_unquoted(out, argument, text),
        Argument::Moment(_) => {
            out.push(b'\'');
            write_unquoted(out, argument, text);
            out.push(b'\'');
        }
        Argument::Text { .. } => text::quoted(out, text),
    }
}

/// Returns the argument as an integer; a text is 0, and never encoded as one.
#[inline]
fn whole(argument: Argument) -> i64 {
    match argument {
        Argument::Integer(value) | Argument::Moment(value) => value,
        #[expect(clippy::cast_possible_truncation, reason = "rounded; too large ones are clamped")]
        Argument::Real(value) => value.round() as i64,
        Argument::Text { .. } => 0,
    }
}

#[inline]
fn real(argument: Argument) -> f64 {
    match argument {
        Argument::Real(value) => value,
        Argument::Integer(value) | Argument::Moment(value) => value as f64,
        Argument::Text { .. } => 0.0,
    }
}

#[inline]
fn narrow<T: TryFrom<i64>>(argument: Argument) -> Result<T, Failure> {
    let value = whole(argument);
    T::try_from(value).map_err(|_error| out_of_range(value))
}

#[cold]
fn out_of_range(value: i64) -> Failure {
    Failure::Impossible(format!(
        "{value} does not fit the type of its column: draw smaller values or cast the parameter"
    ))
}

/// Appends the first column of a row to `out` as text, for known types.
#[cold]
pub(crate) fn write_column(oid: u32, column: &[u8], out: &mut Vec<u8>) {
    let number = column.iter().fold(0, |sum: u64, byte| sum << 8 | u64::from(*byte));
    let unused = 64 - 8 * column.len().min(8);
    // Sign extension.
    let signed = (number << (unused % 64)).cast_signed() >> (unused % 64);
    match (oid, column.len()) {
        (oid::INT2, 2) | (oid::INT4, 4) | (oid::INT8, 8) => text::integer(out, signed),
        (oid::FLOAT8, 8) => text::real(out, f64::from_bits(number)),
        (oid::TIMESTAMP | oid::TIMESTAMPTZ, 8) => {
            text::moment(out, signed.div_euclid(SECOND_MICROS) + EPOCH_SECONDS);
        }
        _ => out.extend_from_slice(column),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(oid: u32, argument: Argument, text: &[u8]) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        let coder = Coder::of(oid, argument);
        coder.write(&mut out, argument, text).map_err(|failure| failure.to_string())?;
        Ok(out)
    }

    #[test]
    fn values_are_encoded_for_the_parameter_type() {
        let (integer, real) = (Argument::Integer(-2), Argument::Real(2.5));
        let text = Argument::Text { start: 0, end: 2 };
        for (oid, argument, expected) in [
            (oid::INT2, integer, &b"\0\0\0\x02\xff\xfe"[..]),
            (oid::INT4, integer, b"\0\0\0\x04\xff\xff\xff\xfe"),
            (oid::INT8, integer, b"\0\0\0\x08\xff\xff\xff\xff\xff\xff\xff\xfe"),
            (oid::INT4, real, b"\0\0\0\x04\0\0\0\x03"),
            (oid::FLOAT4, real, b"\0\0\0\x04\x40\x20\0\0"),
            (oid::FLOAT8, real, b"\0\0\0\x08\x40\x04\0\0\0\0\0\0"),
            (oid::TEXT, text, b"\0\0\0\x02ab"),
            (oid::BPCHAR, text, b"\0\0\0\x02ab"),
            (oid::TEXT, integer, b"\0\0\0\x02-2"),
            (1700, real, b"\0\0\0\x032.5"),
            (
                oid::TIMESTAMP,
                Argument::Moment(EPOCH_SECONDS + 1),
                b"\0\0\0\x08\0\0\0\0\0\x0f\x42\x40",
            ),
            (1082, Argument::Moment(0), b"\0\0\0\x131970-01-01 00:00:00"),
        ] {
            let found = binary(oid, argument, b"ab").unwrap();
            assert_eq!(found.escape_ascii().to_string(), expected.escape_ascii().to_string());
        }
        let error = binary(oid::INT4, Argument::Integer(1 << 40), b"").unwrap_err();
        assert!(error.starts_with("1099511627776 does not fit"), "{error}");
    }

    #[test]
    fn literals_are_escaped() {
        let literal = |argument| {
            let mut out = Vec::new();
            write_literal(&mut out, argument, b"o'c");
            String::from_utf8(out).unwrap()
        };
        assert_eq!(literal(Argument::Integer(7)), "7");
        assert_eq!(literal(Argument::Moment(0)), "'1970-01-01 00:00:00'");
        assert_eq!(literal(Argument::Text { start: 0, end: 3 }), "'o''c'");
    }

    #[test]
    fn first_column_is_decoded_to_text() {
        let shown = |oid, column: &[u8]| {
            let mut out = Vec::new();
            write_column(oid, column, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown(oid::INT2, b"\xff\xfe"), "-2");
        assert_eq!(shown(oid::INT4, b"\0\0\x01\0"), "256");
        assert_eq!(shown(oid::INT8, &(-5i64).to_be_bytes()), "-5");
        assert_eq!(shown(oid::FLOAT8, &2.5f64.to_be_bytes()), "2.5");
        assert_eq!(shown(oid::TEXT, b"word"), "word");
        assert_eq!(shown(oid::TIMESTAMP, &1_500_000i64.to_be_bytes()), "2000-01-01 00:00:01");
        assert_eq!(shown(oid::INT4, b""), "");
    }

    #[test]
    fn key_array_equals_array_send() {
        let mut out = Vec::new();
        Value::Keys(&[b"a", b""]).write_binary(&mut out).unwrap();
        let expected = b"\0\0\0\x1d\0\0\0\x01\0\0\0\0\0\0\0\x11\0\0\0\x02\0\0\0\x01\
                         \0\0\0\x01a\0\0\0\0";
        assert_eq!(out.escape_ascii().to_string(), expected.escape_ascii().to_string());
        out.clear();
        Value::Keys(&[b"a", b"\xff"]).write_text(&mut out);
        assert_eq!(out, b"ARRAY['\\x61'::bytea,'\\xff'::bytea]::bytea[]");
    }
}
