//! Statements as text, with escaped literals.

use super::failure::Failure;

/// Tag of a text statement.
///
/// Source: Postgres' documentation, "Message Formats", `Query`.
const QUERY: u8 = b'Q';
/// Bytes before the text: tag and length.
const HEADER_BYTES: usize = 5;
/// Digits of base 16.
const HEX: &[u8; 16] = b"0123456789abcdef";
/// Seconds of a day.
const DAY_SECONDS: i64 = 86_400;

/// Appends the head of a statement, which its text must follow; returns its start.
#[inline]
pub(crate) fn begin(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[QUERY, 0, 0, 0, 0]);
    start
}

/// Completes the statement that began at `start`.
///
/// # Errors
/// When it is too long, or contains a zero byte.
#[inline]
pub(crate) fn end(out: &mut Vec<u8>, start: usize) -> Result<(), Failure> {
    let text = start + HEADER_BYTES;
    if out[text..].contains(&0) {
        return Err(Failure::Impossible("a statement cannot contain a zero byte".to_owned()));
    }
    out.push(0);
    let Ok(length) = i32::try_from(out.len() - start - 1) else {
        return Err(Failure::Impossible("a statement too long for one message".to_owned()));
    };
    out[start + 1..text].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// Appends a `bytea` literal.
#[inline]
pub(crate) fn bytea(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(b"'\\x");
    for byte in bytes {
        let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
        out.extend_from_slice(&digits);
    }
    out.extend_from_slice(b"'::bytea");
}

/// Appends a string literal with doubled quotes.
///
/// Sufficient while `standard_conforming_strings` is on.
#[inline]
pub(crate) fn quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'\'');
    for piece in text.split_inclusive(|byte| *byte == b'\'') {
        out.extend_from_slice(piece);
        if piece.ends_with(b"'") {
            out.push(b'\'');
        }
    }
    out.push(b'\'');
}

/// Appends an integer.
#[inline]
pub(crate) fn integer(out: &mut Vec<u8>, value: i64) {
    const DIGITS_MAX: usize = 20;
    let mut digits = [0; DIGITS_MAX];
    let (mut at, mut rest) = (DIGITS_MAX, value.unsigned_abs());
    loop {
        at -= 1;
        digits[at] = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends a real number, in the shortest form that parses back.
pub(crate) fn real(out: &mut Vec<u8>, value: f64) {
    use std::io::Write;
    // Writing to memory does not fail.
    drop(write!(out, "{value:?}"));
}

/// Appends a timestamp, seconds since 1970, as `2026-11-21 08:30:00`.
///
/// Source: Howard Hinnant, 2013, "chrono-compatible low-level date algorithms", `civil_from_days`.
pub(crate) fn moment(out: &mut Vec<u8>, seconds: i64) {
    let (days, clock) = (seconds.div_euclid(DAY_SECONDS), seconds.rem_euclid(DAY_SECONDS));
    let from_march = days + 719_468;
    let (era, of_era) = (from_march.div_euclid(146_097), from_march.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    integer(out, year);
    let parts = [(b'-', month), (b'-', day), (b' ', clock / 3600)];
    for (separator, part) in parts.into_iter().chain([(b':', clock / 60 % 60), (b':', clock % 60)])
    {
        out.push(separator);
        if part < 10 {
            out.push(b'0');
        }
        integer(out, part);
    }
}

/// Decodes `\x...` from the server, appending to `out`.
#[inline]
pub(crate) fn unhex(column: &[u8], out: &mut Vec<u8>) {
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
        for value in [0, -1, 7, i64::MAX, i64::MIN, 1_000_000] {
            assert_eq!(written(|out| integer(out, value)), value.to_string());
        }
        assert_eq!(written(|out| real(out, 2.5)), "2.5");
        assert_eq!(written(|out| real(out, 1e300)), "1e300");
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00"),
            (951_782_399, "2000-02-28 23:59:59"),
            (951_782_400, "2000-02-29 00:00:00"),
            (1_735_689_599, "2024-12-31 23:59:59"),
            (1_795_248_005, "2026-11-21 08:00:05"),
            (-1, "1969-12-31 23:59:59"),
        ] {
            assert_eq!(written(|out| moment(out, seconds)), text);
        }
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
        assert!(matches!(end(&mut out, start), Err(Failure::Impossible(_))));
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
