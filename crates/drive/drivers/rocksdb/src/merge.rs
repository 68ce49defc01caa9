//! Merge operands: changes of parts of values, and their application.

/// An operand that lengthens the value: this byte, then the bytes to add.
const APPEND: u8 = 0;
/// An operand that replaces bytes: this byte, the offset (4 bytes, little-endian), the bytes.
const REPLACE: u8 = 1;
/// Bytes before those of a replacement.
const HEAD: usize = 5;

/// Writes to `operand` that bytes are replaced from an offset on, or added to the end.
pub(crate) fn encode(operand: &mut Vec<u8>, offset: Option<u32>, bytes: &[u8]) {
    operand.clear();
    match offset {
        None => operand.push(APPEND),
        Some(offset) => {
            operand.push(REPLACE);
            operand.extend_from_slice(&offset.to_le_bytes());
        }
    }
    operand.extend_from_slice(bytes);
}

/// Applies operands, oldest first, to a value; returns `None` when one is none of ours.
///
/// An absent value is an empty one. A replacement beyond the end is left out: it was written
/// without reading the value, and a row that cannot be read would be worse.
pub(crate) fn apply<'o>(
    base: Option<&[u8]>,
    operands: impl Iterator<Item = &'o [u8]>,
) -> Option<Vec<u8>> {
    let mut value = base.unwrap_or_default().to_vec();
    for operand in operands {
        match operand {
            [APPEND, bytes @ ..] => value.extend_from_slice(bytes),
            [REPLACE, a, b, c, d, bytes @ ..] => {
                let start = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
                let part = start.checked_add(bytes.len()).and_then(|end| value.get_mut(start..end));
                if let Some(part) = part {
                    part.copy_from_slice(bytes);
                }
            }
            _ => return None,
        }
    }
    Some(value)
}

/// Combines operands of a key, oldest first; `None` when they are not of one kind and place.
pub(crate) fn combine<'o>(operands: impl Iterator<Item = &'o [u8]>) -> Option<Vec<u8>> {
    operands.map(<[u8]>::to_vec).map(Some).reduce(|older, newer| {
        let (mut older, newer) = (older?, newer?);
        match (older.first()?, newer.first()?) {
            (&APPEND, &APPEND) => older.extend_from_slice(&newer[1..]),
            // The newer one hides the older: the same bytes are replaced.
            (&REPLACE, &REPLACE)
                if older.len() == newer.len() && older[..HEAD] == newer[..HEAD] =>
            {
                older = newer;
            }
            _ => return None,
        }
        Some(older)
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn append(bytes: &[u8]) -> Vec<u8> {
        let mut operand = vec![9; 3];
        encode(&mut operand, None, bytes);
        operand
    }

    fn replace(offset: u32, bytes: &[u8]) -> Vec<u8> {
        let mut operand = vec![9; 30];
        encode(&mut operand, Some(offset), bytes);
        operand
    }

    fn applied(base: Option<&[u8]>, operands: &[Vec<u8>]) -> Option<Vec<u8>> {
        apply(base, operands.iter().map(Vec::as_slice))
    }

    fn combined(operands: &[Vec<u8>]) -> Option<Vec<u8>> {
        combine(operands.iter().map(Vec::as_slice))
    }

    #[test]
    fn operands_are_applied_in_order_and_what_does_not_fit_is_left_out() {
        let operands = [replace(1, b"XY"), append(b"z"), replace(4, b"!"), replace(4, b"!!")];
        assert_eq!(applied(Some(b"abcd"), &operands).unwrap(), b"aXYd!");
        assert_eq!(applied(None, &[append(b"new"), replace(u32::MAX, b"far")]).unwrap(), b"new");
        assert_eq!(applied(Some(b"abcd"), &[vec![]]), None);
        assert_eq!(applied(Some(b"abcd"), &[vec![REPLACE, 0]]), None);
    }

    #[test]
    fn combined_operands_have_the_effect_of_all_of_them() {
        assert_eq!(combined(&[append(b"a"), append(b"bc")]), Some(append(b"abc")));
        assert_eq!(combined(&[replace(2, b"xx"), replace(2, b"yy")]), Some(replace(2, b"yy")));
        for other in [replace(3, b"yy"), replace(2, b"y"), append(b"yy"), vec![REPLACE]] {
            assert_eq!(combined(&[replace(2, b"xx"), other]), None);
        }
        assert_eq!(combined(&[]), None);
    }
}
