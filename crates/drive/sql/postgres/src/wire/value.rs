//! Encoding and decoding of values, binary and text.

use driver_sql::{Moment, Value};

use super::failure::Failure;
use super::text;

/// Longest key, bytes: a third of a B-tree page, less the headers of the index entry (8 bytes)
/// and of the value (4).
///
/// Source: Postgres' source, `BTMaxItemSize` in `nbtree.h`, 2704 for pages of 8 KiB.
pub(super) const KEY_BYTES_MAX: usize = 2704 - 8 - 4;
/// Longest value, bytes: half of the longest message, as hex takes two digits per byte.
///
/// Source: Postgres' documentation, "Limits", field size 1 GB.
pub(super) const VALUE_BYTES_MAX: usize = 500 << 20;

/// Seconds from 1970 to 2000, the epoch of timestamps.
///
/// Source: Postgres' source, `POSTGRES_EPOCH_JDATE` in `timestamp.h`.
const EPOCH_SECONDS: i64 = 946_684_800;
/// Timestamps are in microseconds.
const SECOND_MICROS: i64 = 1_000_000;

/// Object ids of the built-in types.
///
/// Source: Postgres' catalogue of types, `pg_type.dat`; equal in every release.
mod oid {
    pub(super) const BYTEA: u32 = 17;
    pub(super) const INT8: u32 = 20;
    pub(super) const INT2: u32 = 21;
    pub(super) const INT4: u32 = 23;
    pub(super) const TEXT: u32 = 25;
    pub(super) const FLOAT4: u32 = 700;
    pub(super) const FLOAT8: u32 = 701;
    pub(super) const BPCHAR: u32 = 1042;
    pub(super) const VARCHAR: u32 = 1043;
    pub(super) const TIMESTAMP: u32 = 1114;
    pub(super) const TIMESTAMPTZ: u32 = 1184;
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
    Failure::Rejected(format!("a value of {bytes} bytes: the limit is 2^31 - 1"))
}

/// Writes what `write` appends, its length first.
#[inline]
fn with_length(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out)?;
    let bytes = out.len() - start - 4;
    let Ok(length) = i32::try_from(bytes) else { return Err(too_long(bytes)) };
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// Writes a one-dimensional array of non-null values, from index 1.
///
/// Source: Postgres' source, `array_send` in `arrayfuncs.c`.
fn write_keys(out: &mut Vec<u8>, keys: &[&[u8]]) -> Result<(), Failure> {
    let Ok(count) = u32::try_from(keys.len()) else { return Err(too_long(keys.len())) };
    with_length(out, |out| {
        for number in [1, 0, oid::BYTEA, count, 1] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        keys.iter().try_for_each(|key| write_bytes(out, key))
    })
}

/// Encoding of one parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coder {
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Bytes,
    /// An array of `bytea`.
    Keys,
    /// Microseconds since 2000.
    Timestamp,
    /// As text, which the server parses for any type.
    Text,
}

impl Coder {
    /// Returns the encoding of `value` for a parameter of type `oid`.
    pub(super) fn of(oid: u32, value: Value<'_>) -> Self {
        let is_number = matches!(value, Value::Integer(_) | Value::Real(_));
        match oid {
            oid::INT2 if is_number => Self::Int2,
            oid::INT4 if is_number => Self::Int4,
            oid::INT8 if is_number => Self::Int8,
            oid::FLOAT4 if is_number => Self::Float4,
            oid::FLOAT8 if is_number => Self::Float8,
            oid::TEXT | oid::VARCHAR | oid::BPCHAR | oid::BYTEA
                if matches!(value, Value::Text(_) | Value::Bytes(_)) =>
            {
                Self::Bytes
            }
            oid::TIMESTAMP | oid::TIMESTAMPTZ if matches!(value, Value::Moment(_)) => {
                Self::Timestamp
            }
            _ if matches!(value, Value::Keys(_)) => Self::Keys,
            _ => Self::Text,
        }
    }

    /// Appends a value, its length first; fails when it does not fit the parameter's type.
    #[inline]
    pub(super) fn write(self, out: &mut Vec<u8>, value: Value<'_>) -> Result<(), Failure> {
        match self {
            Self::Int4 => write_bytes(out, &narrow::<i32>(value)?.to_be_bytes()),
            Self::Int8 => write_bytes(out, &whole(value).to_be_bytes()),
            Self::Int2 => write_bytes(out, &narrow::<i16>(value)?.to_be_bytes()),
            Self::Float4 => {
                #[expect(clippy::cast_possible_truncation, reason = "the column holds no more")]
                let value = real(value) as f32;
                write_bytes(out, &value.to_be_bytes())
            }
            Self::Float8 => write_bytes(out, &real(value).to_be_bytes()),
            Self::Bytes => write_bytes(out, bytes(value)),
            Self::Keys => write_keys(out, if let Value::Keys(keys) = value { keys } else { &[] }),
            Self::Timestamp => {
                let micros = (whole(value) - EPOCH_SECONDS) * SECOND_MICROS;
                write_bytes(out, &micros.to_be_bytes())
            }
            Self::Text => with_length(out, |out| {
                write_unquoted(out, value);
                Ok(())
            }),
        }
    }
}

/// Appends a value as text, unquoted.
fn write_unquoted(out: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Integer(value) => text::number(out, value),
        Value::Real(value) => text::number(out, value),
        Value::Moment(seconds) => Moment::clamped(seconds).write(out),
        Value::Text(_) | Value::Bytes(_) | Value::Keys(_) => out.extend_from_slice(bytes(value)),
    }
}

#[inline]
pub(crate) fn write_literal(out: &mut Vec<u8>, value: Value<'_>) {
    match value {
        Value::Integer(_) | Value::Real(_) => write_unquoted(out, value),
        Value::Moment(_) => {
            out.push(b'\'');
            write_unquoted(out, value);
            out.push(b'\'');
        }
        Value::Text(text) => text::quoted(out, text),
        Value::Bytes(bytes) => text::bytea(out, bytes),
        Value::Keys(keys) => {
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

/// Returns the bytes of a text or of bytes; nothing of any other.
#[inline]
const fn bytes(value: Value<'_>) -> &[u8] {
    match value {
        Value::Text(bytes) | Value::Bytes(bytes) => bytes,
        Value::Integer(_) | Value::Real(_) | Value::Moment(_) | Value::Keys(_) => &[],
    }
}

/// Returns the value as an integer; a text is 0, and never encoded as one.
#[inline]
fn whole(value: Value<'_>) -> i64 {
    match value {
        Value::Integer(value) | Value::Moment(value) => value,
        #[expect(clippy::cast_possible_truncation, reason = "rounded; too large ones are clamped")]
        Value::Real(value) => value.round() as i64,
        Value::Text(_) | Value::Bytes(_) | Value::Keys(_) => 0,
    }
}

#[inline]
fn real(value: Value<'_>) -> f64 {
    match value {
        Value::Real(value) => value,
        Value::Integer(value) | Value::Moment(value) => value as f64,
        Value::Text(_) | Value::Bytes(_) | Value::Keys(_) => 0.0,
    }
}

#[inline]
fn narrow<T: TryFrom<i64>>(value: Value<'_>) -> Result<T, Failure> {
    let value = whole(value);
    T::try_from(value).map_err(|_error| out_of_range(value))
}

#[cold]
fn out_of_range(value: i64) -> Failure {
    Failure::Rejected(format!(
        "{value} does not fit the type of the column: draw smaller values or cast the parameter"
    ))
}

/// Returns the most rows of an execution; 0 is all. No answer has more than fit the protocol.
#[inline]
pub(super) fn rows_max(value: Value<'_>) -> i32 {
    let Value::Integer(rows) = value else { return 0 };
    i32::try_from(rows).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(oid: u32, value: Value<'_>) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        Coder::of(oid, value).write(&mut out, value).map_err(|failure| failure.to_string())?;
        Ok(out)
    }

    #[test]
    fn values_are_encoded_for_the_parameter_type() {
        let (integer, real, text) = (Value::Integer(-2), Value::Real(2.5), Value::Text(b"ab"));
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
            (oid::TIMESTAMP, Value::Moment(EPOCH_SECONDS + 1), b"\0\0\0\x08\0\0\0\0\0\x0f\x42\x40"),
            (1082, Value::Moment(0), b"\0\0\0\x131970-01-01 00:00:00"),
        ] {
            let found = binary(oid, argument).unwrap();
            assert_eq!(found.escape_ascii().to_string(), expected.escape_ascii().to_string());
        }
        let error = binary(oid::INT4, Value::Integer(1 << 40)).unwrap_err();
        assert!(error.starts_with("1099511627776 does not fit"), "{error}");
    }

    #[test]
    fn literals_are_escaped() {
        let literal = |value| {
            let mut out = Vec::new();
            write_literal(&mut out, value);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(literal(Value::Integer(7)), "7");
        assert_eq!(literal(Value::Moment(0)), "'1970-01-01 00:00:00'");
        assert_eq!(literal(Value::Text(b"o'c")), "'o''c'");
    }

    #[test]
    fn key_array_equals_array_send() {
        let found = binary(1001, Value::Keys(&[b"a", b""])).unwrap();
        let expected = b"\0\0\0\x1d\0\0\0\x01\0\0\0\0\0\0\0\x11\0\0\0\x02\0\0\0\x01\
                         \0\0\0\x01a\0\0\0\0";
        assert_eq!(found.escape_ascii().to_string(), expected.escape_ascii().to_string());
        let mut out = Vec::new();
        write_literal(&mut out, Value::Keys(&[b"a", b"\xff"]));
        assert_eq!(out, b"ARRAY['\\x61'::bytea,'\\xff'::bytea]::bytea[]");
    }
}
