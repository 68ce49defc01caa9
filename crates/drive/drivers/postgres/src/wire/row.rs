//! Columns of a data row.

/// Iterates over the columns of a data row; `None` is null. Allocates nothing.
///
/// A truncated row yields fewer columns.
#[inline]
pub(super) fn columns(row: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    // The first two bytes are the number of columns.
    let mut rest = row.get(2..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            rest = after;
            return Some(None);
        };
        let (column, after) = after.split_at_checked(length)?;
        rest = after;
        Some(Some(column))
    })
}

/// Returns the first column of a row; empty when null.
#[inline]
pub(super) fn first_column(row: &[u8]) -> &[u8] {
    columns(row).next().flatten().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_split_and_null_is_none() {
        let row = b"\0\x03\0\0\0\x02ab\xff\xff\xff\xff\0\0\0\0";
        let found: Vec<_> = columns(row).collect();
        assert_eq!(found, [Some(&b"ab"[..]), None, Some(&b""[..])]);
        assert_eq!(first_column(row), b"ab");
        assert_eq!(columns(b"\0\x01\0\0\0\x09short").count(), 0);
        assert_eq!(first_column(b""), b"");
    }
}
