//! Rows: fields of the text and binary protocols.

/// Offset of a binary row's null bitmap: two bits are reserved.
pub(super) const NULL_OFFSET: usize = 2;

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
pub(super) const fn first_field(columns: usize) -> usize {
    1 + (columns + NULL_OFFSET).div_ceil(8)
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
}
