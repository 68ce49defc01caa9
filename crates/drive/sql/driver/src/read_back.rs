//! Values of a call that were read from results of its earlier statements.

use model::sql::{Read, ReadKind};
use model::{Argument, Call};

use crate::template::{Field, Value};

/// Values read by the statements of one call; its memory is used again by the next.
#[derive(Debug, Default)]
pub(crate) struct ReadBack {
    /// By position among the call's values.
    values: Vec<Option<Argument>>,
    /// The bytes of texts.
    bytes: Vec<u8>,
    /// The first row of the current statement.
    row: Vec<u8>,
}

impl ReadBack {
    /// Forgets the values of the last call; `count` are the values of this one.
    #[inline]
    pub(crate) fn begin(&mut self, count: usize) {
        self.values.clear();
        self.values.resize(count, None);
        self.bytes.clear();
    }

    /// Returns whether a value was read.
    #[inline]
    pub(crate) fn is_known(&self, position: usize) -> bool {
        self.values.get(position).is_some_and(Option::is_some)
    }

    /// Returns a value: as read, or else as drawn.
    #[inline]
    pub(crate) fn value<'v>(&'v self, call: &'v Call<'_>, position: usize) -> Value<'v> {
        match self.values.get(position).copied().flatten() {
            None => Value::of(call, position),
            Some(Argument::Integer(value)) => Value::Integer(value),
            Some(Argument::Real(value)) => Value::Real(value),
            Some(Argument::Moment(seconds)) => Value::Moment(seconds),
            Some(Argument::Text { start, end }) => {
                Value::Text(self.bytes.get(start as usize..end as usize).unwrap_or_default())
            }
        }
    }

    /// Returns the memory for a statement's first row, taken out to be written.
    #[inline]
    pub(crate) fn take_row(&mut self) -> Vec<u8> {
        self.row.clear();
        std::mem::take(&mut self.row)
    }

    /// Returns the memory that [`Self::take_row`] has taken.
    #[inline]
    pub(crate) fn put_back(&mut self, row: Vec<u8>) {
        self.row = row;
    }

    /// Sets the values of a row; `false` when a column is null, and then none of them is known.
    ///
    /// # Errors
    /// Names the column that is absent or is of another type.
    #[inline]
    pub(crate) fn set<'r>(
        &mut self,
        reads: &[Read],
        mut fields: impl Iterator<Item = Field<'r>>,
    ) -> Result<bool, String> {
        let mut is_whole = true;
        for (column, read) in (1..).zip(reads) {
            let field = fields.next().ok_or_else(|| absent(column, reads.len()))?;
            let value = self.argument(field, read.kind);
            let value = value.map_err(|()| mistyped(column, read.kind, field))?;
            is_whole &= value.is_some();
            if let Some(slot) = self.values.get_mut(usize::from(read.argument)) {
                *slot = value;
            }
        }
        if !is_whole {
            self.forget(reads);
        }
        Ok(is_whole)
    }

    /// Forgets values of an earlier row.
    #[inline]
    pub(crate) fn forget(&mut self, reads: &[Read]) {
        for read in reads {
            if let Some(slot) = self.values.get_mut(usize::from(read.argument)) {
                *slot = None;
            }
        }
    }

    /// Converts a column; `None` when it is null.
    #[inline]
    fn argument(&mut self, field: Field<'_>, kind: ReadKind) -> Result<Option<Argument>, ()> {
        let text = |bytes| std::str::from_utf8(bytes).map_err(drop);
        Ok(Some(match (kind, field) {
            (_, Field::Null) => return Ok(None),
            (ReadKind::Integer, Field::Integer(value)) => Argument::Integer(value),
            (ReadKind::Integer, Field::Real(value)) => Argument::Integer(whole(value)?),
            (ReadKind::Integer, Field::Text(bytes)) => {
                let text = text(bytes)?;
                match text.parse() {
                    Ok(value) => Argument::Integer(value),
                    Err(_) => Argument::Integer(whole(text.parse().map_err(drop)?)?),
                }
            }
            (ReadKind::Real, Field::Integer(value)) => Argument::Real(value as f64),
            (ReadKind::Real, Field::Real(value)) => Argument::Real(value),
            (ReadKind::Real, Field::Text(bytes)) => {
                Argument::Real(text(bytes)?.parse().map_err(drop)?)
            }
            (ReadKind::Text, Field::Text(bytes)) => {
                let start = self.bytes.len();
                self.bytes.extend_from_slice(bytes);
                let place = |at| u32::try_from(at).map_err(drop);
                Argument::Text { start: place(start)?, end: place(self.bytes.len())? }
            }
            (ReadKind::Text, Field::Integer(_) | Field::Real(_)) => return Err(()),
        }))
    }
}

/// Returns a number without a fraction as an integer.
fn whole(value: f64) -> Result<i64, ()> {
    let is_whole = value.fract() == 0.0 && value.abs() < 9e15;
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and in range")]
    is_whole.then_some(value as i64).ok_or(())
}

#[cold]
fn absent(column: usize, count: usize) -> String {
    format!("`into` names {count} columns, but the rows of the statement have no column {column}")
}

#[cold]
fn mistyped(column: usize, kind: ReadKind, field: Field<'_>) -> String {
    let found = match field {
        Field::Null => "null".to_owned(),
        Field::Integer(value) => value.to_string(),
        Field::Real(value) => value.to_string(),
        Field::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    };
    format!("column {column} is read as {kind}, but contains `{found}`")
}

#[cfg(test)]
mod tests {
    use model::{Nanos, OpKind};

    use super::*;

    const CALL: Call<'_> = Call {
        procedure: 0,
        kind: OpKind::Transaction,
        table: 0,
        arguments: &[Argument::Integer(7), Argument::Integer(0), Argument::Integer(0)],
        bytes: b"",
        pause: Nanos(0),
    };

    fn read(argument: u16, kind: ReadKind) -> Read {
        Read { argument, kind }
    }

    #[test]
    fn values_are_those_of_the_last_row_or_as_drawn() {
        let mut values = ReadBack::default();
        values.begin(3);
        let reads = [read(1, ReadKind::Integer), read(2, ReadKind::Text)];
        let row = [Field::Text(b"12.00"), Field::Text(b"GC")];
        assert_eq!(values.set(&reads, row.into_iter()), Ok(true));
        let value = |position| values.value(&CALL, position);
        assert_eq!([value(0), value(1)], [Value::Integer(7), Value::Integer(12)]);
        assert_eq!(value(2), Value::Text(b"GC"));
        assert!(values.is_known(2) && !values.is_known(0));
        values.begin(3);
        assert!(!values.is_known(1));
    }

    #[test]
    fn a_null_column_is_no_row() {
        let mut values = ReadBack::default();
        values.begin(3);
        let reads = [read(1, ReadKind::Integer), read(2, ReadKind::Real)];
        let row = [Field::Integer(1), Field::Null];
        assert_eq!(values.set(&reads, row.into_iter()), Ok(false));
        assert!(!values.is_known(1));
    }

    #[test]
    fn a_column_of_another_type_is_named() {
        let mut values = ReadBack::default();
        values.begin(3);
        let mut wrong = |kind, field: Option<Field<'static>>| {
            values.set(&[read(1, kind)], field.into_iter()).unwrap_err()
        };
        let text = wrong(ReadKind::Integer, Some(Field::Text(b"abc")));
        assert_eq!(text, "column 1 is read as integer, but contains `abc`");
        assert!(wrong(ReadKind::Integer, Some(Field::Real(0.5))).contains("`0.5`"));
        assert!(wrong(ReadKind::Text, Some(Field::Integer(5))).contains("as text"));
        assert!(wrong(ReadKind::Real, None).contains("no column 1"));
    }
}
