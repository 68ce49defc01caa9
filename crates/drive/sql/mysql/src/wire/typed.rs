//! Fields of binary rows by the types of their columns.
//!
//! Source: MySQL's source documentation, "Column Definition Protocol" and "Binary Protocol
//! Resultset Row", `enum_field_types`.

use driver_sql::Field;

use super::row::{NULL_OFFSET, first_field, text};

/// Flag of a column without negative numbers.
const UNSIGNED: u16 = 0x20;

/// How a column's values are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnType {
    /// An integer of so many bytes.
    Integer {
        /// Bytes.
        width: usize,
        /// Whether it has a sign.
        is_signed: bool,
    },
    /// A number of single precision.
    Float,
    /// A number of double precision.
    Double,
    /// Bytes after their length: texts, decimals, and moments, which are not read as numbers.
    Text,
    /// Always null.
    Null,
}

/// Parses a column's description.
pub(super) fn column_type(packet: &[u8]) -> Option<ColumnType> {
    let mut rest = packet;
    // Catalogue, schema, table, original table, name, original name.
    for _ in 0..6 {
        rest = text(rest)?.1;
    }
    // The length of what follows, the character set, and the length of the column.
    let &[code, low, high, ..] = rest.get(7..)? else { return None };
    let is_signed = u16::from_le_bytes([low, high]) & UNSIGNED == 0;
    let integer = |width| ColumnType::Integer { width, is_signed };
    Some(match code {
        1 => integer(1),
        2 | 13 => integer(2),
        3 | 9 => integer(4),
        8 => integer(8),
        4 => ColumnType::Float,
        5 => ColumnType::Double,
        6 => ColumnType::Null,
        _ => ColumnType::Text,
    })
}

/// Iterates over the fields of a binary row; ends early where the row does.
pub(super) fn typed_fields<'r>(
    row: &'r [u8],
    types: &'r [ColumnType],
) -> impl Iterator<Item = Field<'r>> {
    let mut rest = row.get(first_field(types.len())..).unwrap_or_default();
    types.iter().enumerate().map_while(move |(column, kind)| {
        let bit = column + NULL_OFFSET;
        if row.get(1 + bit / 8)? >> (bit % 8) & 1 == 1 {
            return Some(Field::Null);
        }
        let (field, behind) = field(*kind, rest)?;
        rest = behind;
        Some(field)
    })
}

/// Parses one field; returns it with the rest.
fn field(kind: ColumnType, bytes: &[u8]) -> Option<(Field<'_>, &[u8])> {
    Some(match kind {
        ColumnType::Integer { width, is_signed } => {
            let (number, rest) = bytes.split_at_checked(width)?;
            let is_negative = is_signed && number.last().is_some_and(|last| last & 0x80 != 0);
            let mut whole = if is_negative { [0xff; 8] } else { [0; 8] };
            whole[..width].copy_from_slice(number);
            (Field::Integer(i64::from_le_bytes(whole)), rest)
        }
        ColumnType::Float => {
            let (number, rest) = bytes.split_first_chunk()?;
            (Field::Real(f64::from(f32::from_le_bytes(*number))), rest)
        }
        ColumnType::Double => {
            let (number, rest) = bytes.split_first_chunk()?;
            (Field::Real(f64::from_le_bytes(*number)), rest)
        }
        ColumnType::Text => {
            let (value, rest) = text(bytes)?;
            (Field::Text(value), rest)
        }
        ColumnType::Null => (Field::Null, bytes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(code: u8, flags: u8) -> Option<ColumnType> {
        let mut packet = b"\x03def\x01d\x01t\x01t\x02id\x02id\x0c\x3f\0\x14\0\0\0".to_vec();
        packet.extend_from_slice(&[code, flags, 0, 0, 0, 0]);
        column_type(&packet)
    }

    #[test]
    fn fields_are_read_by_the_types_of_their_columns() {
        let integer = |width| ColumnType::Integer { width, is_signed: true };
        assert_eq!(described(8, 0), Some(integer(8)));
        assert_eq!(described(1, 0x20), Some(ColumnType::Integer { width: 1, is_signed: false }));
        assert_eq!(described(246, 0), Some(ColumnType::Text));
        assert_eq!(column_type(b"\x03def"), None);
        let unsigned = ColumnType::Integer { width: 1, is_signed: false };
        let types = [integer(4), ColumnType::Text, unsigned, ColumnType::Double, integer(2)];
        // The second of five columns is null.
        let mut row = vec![0, 0b0000_1000];
        row.extend_from_slice(&(-7i32).to_le_bytes());
        row.push(0xff);
        row.extend_from_slice(&2.5f64.to_le_bytes());
        row.extend_from_slice(&3i16.to_le_bytes());
        let fields: Vec<_> = typed_fields(&row, &types).collect();
        let expected = [
            Field::Integer(-7),
            Field::Null,
            Field::Integer(255),
            Field::Real(2.5),
            Field::Integer(3),
        ];
        assert_eq!(fields, expected);
        assert_eq!(typed_fields(&row[..9], &types).count(), 3, "a row that ends early");
        let text: Vec<_> = typed_fields(b"\0\0\x0212", &[ColumnType::Text]).collect();
        assert_eq!(text, [Field::Text(b"12")]);
    }
}
