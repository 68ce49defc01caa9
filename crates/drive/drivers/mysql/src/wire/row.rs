//! Rows: fields of the text and binary protocols.

use std::io::Write;

/// Flag of a column whose numbers have no sign.
const UNSIGNED: u16 = 32;
/// Offset of a binary row's null bitmap: two bits are reserved.
const NULL_OFFSET: usize = 2;

/// Parses a length-encoded integer; returns it with the rest.
///
/// `None` for null or too few bytes.
///
/// Source: MySQL's protocol documentation, "Length-Encoded Integer".
#[inline]
pub(super) fn length(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let width = match first {
        0..=250 => return Some((u64::from(first), rest)),
        252 => 2,
        253 => 3,
        254 => 8,
        251 | 255 => return None,
    };
    let (number, rest) = rest.split_at_checked(width)?;
    let mut whole = [0; 8];
    whole[..width].copy_from_slice(number);
    Some((u64::from_le_bytes(whole), rest))
}

/// Parses a length-encoded string; returns it with the rest.
///
/// `None` for null or too few bytes.
#[inline]
pub(super) fn text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (bytes_of_text, rest) = length(bytes)?;
    rest.split_at_checked(usize::try_from(bytes_of_text).ok()?)
}

/// The fields of a row of text columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'r>(&'r [u8]);

impl<'r> Fields<'r> {
    /// Returns the fields of a row of the text protocol.
    #[inline]
    pub(crate) const fn of_text(row: &'r [u8]) -> Self {
        Self(row)
    }

    /// Returns the fields of a non-null binary row of `columns` columns.
    #[inline]
    pub(crate) fn of_binary(row: &'r [u8], columns: usize) -> Self {
        Self(row.get(first_field(columns)..).unwrap_or_default())
    }
}

impl<'r> Iterator for Fields<'r> {
    /// `None` for null.
    type Item = Option<&'r [u8]>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.first() == Some(&251) {
            self.0 = &self.0[1..];
            return Some(None);
        }
        let (field, rest) = text(self.0)?;
        self.0 = rest;
        Some(Some(field))
    }
}

/// Returns the offset of a binary row's first field.
const fn first_field(columns: usize) -> usize {
    1 + (columns + NULL_OFFSET).div_ceil(8)
}

/// A column's type, as the server describes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) code: u8,
    pub(super) flags: u16,
}

/// Writes the first field of a binary row to `out` as text.
pub(super) fn binary_as_text(row: &[u8], columns: usize, kind: Kind, out: &mut Vec<u8>) {
    out.clear();
    let is_null = row.get(1).is_some_and(|nulls| nulls >> NULL_OFFSET & 1 == 1);
    let Some(field) = row.get(first_field(columns)..).filter(|_| !is_null) else { return };
    let number = |width: usize| {
        let mut whole = [0; 8];
        let given = field.len().min(width);
        whole[..given].copy_from_slice(&field[..given]);
        let (raw, unused) = (u64::from_le_bytes(whole), 64 - 8 * width);
        if kind.flags & UNSIGNED == 0 {
            i128::from((raw << unused).cast_signed() >> unused)
        } else {
            i128::from(raw)
        }
    };
    let written = match kind.code {
        1 => write!(out, "{}", number(1)),
        2 | 13 => write!(out, "{}", number(2)),
        3 | 9 => write!(out, "{}", number(4)),
        8 => write!(out, "{}", number(8)),
        4 => write!(out, "{}", f32::from_le_bytes(first(field))),
        5 => write!(out, "{}", f64::from_le_bytes(first(field))),
        7 | 10 | 12 => write_moment(field, kind.code == 10, out),
        _ => {
            out.extend_from_slice(text(field).map_or(field, |(text, _)| text));
            Ok(())
        }
    };
    written.expect("writing to a vector cannot fail");
}

/// Writes a date, or a date and a time of day.
///
/// Source: MySQL's protocol documentation, "Binary Protocol Value", `MYSQL_TYPE_DATETIME`.
fn write_moment(field: &[u8], is_date: bool, out: &mut Vec<u8>) -> std::io::Result<()> {
    let (_, parts) = field.split_first().unwrap_or((&0, &[]));
    let bytes = usize::from(field.first().copied().unwrap_or(0)).min(parts.len());
    let mut whole = [0; 11];
    whole[..bytes.min(11)].copy_from_slice(&parts[..bytes.min(11)]);
    let [y, z, month, day, hour, minute, second, micros @ ..] = whole;
    write!(out, "{:04}-{month:02}-{day:02}", u16::from_le_bytes([y, z]))?;
    if !is_date {
        write!(out, " {hour:02}:{minute:02}:{second:02}")?;
    }
    match u32::from_le_bytes(micros) {
        0 => Ok(()),
        micros => write!(out, ".{micros:06}"),
    }
}

/// Returns the first `N` bytes, padded with zeros.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    let given = bytes.len().min(N);
    out[..given].copy_from_slice(&bytes[..given]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_in_all_four_widths() {
        assert_eq!(length(b"\xfarest"), Some((250, &b"rest"[..])));
        assert_eq!(length(b"\xfc\x34\x12"), Some((0x1234, &b""[..])));
        assert_eq!(length(b"\xfd\x56\x34\x12!"), Some((0x0012_3456, &b"!"[..])));
        assert_eq!(length(b"\xfe\x01\0\0\0\0\0\0\x02"), Some((0x0200_0000_0000_0001, &b""[..])));
        for none in [&b""[..], b"\xfb", b"\xff", b"\xfc\x01", b"\xfe\0"] {
            assert_eq!(length(none), None);
        }
    }

    #[test]
    fn fields_end_where_the_row_does() {
        let row = b"\x02ab\xfb\0\x01c";
        let fields: Vec<_> = Fields::of_text(row).collect();
        assert_eq!(fields, [Some(&b"ab"[..]), None, Some(&b""[..]), Some(&b"c"[..])]);
        assert_eq!(Fields::of_text(b"\x05ab").count(), 0);
        let fields: Vec<_> = Fields::of_binary(b"\0\0\x01k\x02vv", 2).collect();
        assert_eq!(fields, [Some(&b"k"[..]), Some(&b"vv"[..])]);
    }

    #[test]
    fn first_field_of_a_binary_row_is_decoded_to_text() {
        let text_of = |code: u8, flags: u16, field: &[u8]| {
            let (mut row, mut out) = (vec![0, 0], vec![b'x']);
            row.extend_from_slice(field);
            binary_as_text(&row, 1, Kind { code, flags }, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text_of(8, 0, &(-5i64).to_le_bytes()), "-5");
        assert_eq!(text_of(8, UNSIGNED, &u64::MAX.to_le_bytes()), u64::MAX.to_string());
        assert_eq!(text_of(3, 0, &(-7i32).to_le_bytes()), "-7");
        assert_eq!(text_of(2, UNSIGNED, &[0xff, 0xff]), "65535");
        assert_eq!(text_of(1, 0, &[0xff]), "-1");
        assert_eq!(text_of(5, 0, &0.5f64.to_le_bytes()), "0.5");
        assert_eq!(text_of(4, 0, &1.25f32.to_le_bytes()), "1.25");
        assert_eq!(text_of(253, 0, b"\x03abc"), "abc");
        assert_eq!(text_of(12, 0, &[7, 0xe7, 7, 1, 2, 3, 4, 5]), "2023-01-02 03:04:05");
        assert_eq!(text_of(12, 0, &[4, 0xe7, 7, 1, 2]), "2023-01-02 00:00:00");
        assert_eq!(text_of(10, 0, &[4, 0xe7, 7, 1, 2]), "2023-01-02");
        let micros = [11, 0xe7, 7, 1, 2, 3, 4, 5, 1, 0, 0, 0];
        assert_eq!(text_of(12, 0, &micros), "2023-01-02 03:04:05.000001");
        let mut out = Vec::new();
        binary_as_text(&[0, 4], 1, Kind { code: 8, flags: 0 }, &mut out);
        assert_eq!(out, b"", "null");
    }
}
