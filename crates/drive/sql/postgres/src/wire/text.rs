//! Statements as text, with escaped literals.

use std::fmt::Debug;
use std::io::Write;

use driver_sql::write_hex;

use super::failure::Failure;

/// Tag of a text statement.
///
/// Source: Postgres' documentation, "Message Formats", `Query`.
const QUERY: u8 = b'Q';
/// Bytes before the text: tag and length.
const HEADER_BYTES: usize = 5;

/// Appends the head of a statement, which its text must follow; returns its start.
#[inline]
pub(super) fn begin(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[QUERY, 0, 0, 0, 0]);
    start
}

/// Completes the statement that began at `start`; fails with a zero byte in it.
#[inline]
pub(super) fn end(out: &mut Vec<u8>, start: usize) -> Result<(), Failure> {
    let text = start + HEADER_BYTES;
    if out[text..].contains(&0) {
        return Err(Failure::Rejected(
            "a statement cannot contain a zero byte: remove the zero byte from the application's \
             SQL"
            .to_owned(),
        ));
    }
    out.push(0);
    let Ok(length) = i32::try_from(out.len() - start - 1) else {
        return Err(Failure::Rejected(
            "a statement is too long for one message of the protocol".to_owned(),
        ));
    };
    out[start + 1..text].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// Appends a `bytea` literal.
#[inline]
pub(super) fn bytea(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(b"'\\x");
    write_hex(bytes, out);
    out.extend_from_slice(b"'::bytea");
}

/// Appends a string literal with doubled quotes.
///
/// Sufficient while `standard_conforming_strings` is on.
#[inline]
pub(super) fn quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'\'');
    for piece in text.split_inclusive(|byte| *byte == b'\'') {
        out.extend_from_slice(piece);
        if piece.ends_with(b"'") {
            out.push(b'\'');
        }
    }
    out.push(b'\'');
}

/// Appends a number; a real one in the shortest form that parses back.
pub(super) fn number(out: &mut Vec<u8>, value: impl Debug) {
    write!(out, "{value:?}").expect("writing to a vector cannot fail");
}

/// Decodes `\x...` from the server, appending to `out`.
#[inline]
pub(super) fn unhex(column: &[u8], out: &mut Vec<u8>) {
    let digits = column.strip_prefix(b"\\x").unwrap_or_default();
    let nibble = |digit: u8| match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => 0,
    };
    out.extend(
        digits.as_chunks::<2>().0.iter().map(|[high, low]| nibble(*high) << 4 | nibble(*low)),
    );
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn literals_are_encoded_for_the_server() {
        assert_eq!(written(|out| quoted(out, b"it's 'so'")), "'it''s ''so'''");
        assert_eq!(written(|out| quoted(out, b"")), "''");
        assert_eq!(written(|out| bytea(out, b"\x00\xffk")), "'\\x00ff6b'::bytea");
        assert_eq!(written(|out| number(out, i64::MIN)), i64::MIN.to_string());
        assert_eq!(written(|out| number(out, 2.5)), "2.5");
        assert_eq!(written(|out| number(out, 1e300)), "1e300");
    }

    #[test]
    fn statement_is_one_message_without_zero_bytes() {
        let mut out = Vec::new();
        let start = begin(&mut out);
        out.extend_from_slice(b"SELECT 1");
        end(&mut out, start).unwrap();
        assert_eq!(out, b"Q\0\0\0\x0dSELECT 1\0");
        let start = begin(&mut out);
        quoted(&mut out, b"a\0b");
        assert!(matches!(end(&mut out, start), Err(Failure::Rejected(_))));
    }

    proptest! {
        #[test]
        fn bytea_literal_round_trips(bytes in vec(any::<u8>(), 0..300)) {
            let mut out = Vec::new();
            bytea(&mut out, &bytes);
            let inner = out.strip_prefix(b"'").unwrap().strip_suffix(b"'::bytea").unwrap();
            let mut back = Vec::new();
            unhex(inner, &mut back);
            prop_assert_eq!(back, bytes);
        }
    }
}
