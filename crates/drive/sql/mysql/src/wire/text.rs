//! Statements as text, with escaped literals.

use std::io::Write;

use driver_sql::{Moment, Value, write_hex};

/// Appends a value as an SQL literal.
#[inline]
pub(crate) fn literal(value: Value<'_>, out: &mut Vec<u8>) {
    let written = match value {
        Value::Integer(value) => write!(out, "{value}"),
        // Infinities and NaN have no literal.
        Value::Real(value) if value.is_finite() => write!(out, "{value:e}"),
        Value::Real(_) => write!(out, "NULL"),
        Value::Moment(seconds) => {
            out.push(b'\'');
            Moment::clamped(seconds).write(out);
            out.push(b'\'');
            Ok(())
        }
        Value::Text(text) => {
            quote(text, out);
            Ok(())
        }
        Value::Bytes(bytes) => {
            out.extend_from_slice(b"x'");
            write_hex(bytes, out);
            out.push(b'\'');
            Ok(())
        }
        Value::Keys(_) => unreachable!("MySQL has no arrays"),
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
}
