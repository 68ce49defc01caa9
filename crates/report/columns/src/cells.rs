//! The cells of one column: values, and which rows have one.

use parquet::column::reader::{ColumnReader, get_typed_column_reader};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::SerializedColumnWriter;

use crate::column::ColumnKind;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Text(String),
    /// Of columns of whole numbers and of moments.
    Count(i64),
    Number(f64),
    Flag(bool),
}

/// Values of a column that are not null.
#[derive(Debug)]
enum Values {
    Text(Vec<ByteArray>),
    Count(Vec<i64>),
    Number(Vec<f64>),
    Flag(Vec<bool>),
}

/// Does the same with the values of each type.
macro_rules! each {
    ($values:expr, $all:ident, $type:ident => $action:expr) => {
        match $values {
            Values::Text($all) => {
                type $type = ByteArrayType;
                $action
            }
            Values::Count($all) => {
                type $type = Int64Type;
                $action
            }
            Values::Number($all) => {
                type $type = DoubleType;
                $action
            }
            Values::Flag($all) => {
                type $type = BoolType;
                $action
            }
        }
    };
}

/// The cells of one column.
#[derive(Debug)]
pub(crate) struct Cells {
    values: Values,
    /// For each row 1 with a value and 0 without one; rows at the end may be absent.
    levels: Vec<i16>,
}

impl Cells {
    pub(crate) const fn new(kind: ColumnKind) -> Self {
        let values = match kind {
            ColumnKind::Text => Values::Text(Vec::new()),
            ColumnKind::Time | ColumnKind::Count => Values::Count(Vec::new()),
            ColumnKind::Number => Values::Number(Vec::new()),
            ColumnKind::Flag => Values::Flag(Vec::new()),
        };
        Self { values, levels: Vec::new() }
    }

    /// Sets the value of the last row; a second value and one of another type are left out.
    pub(crate) fn set(&mut self, row: usize, value: Value) {
        if self.levels.len() > row {
            return;
        }
        match (&mut self.values, value) {
            (Values::Text(all), Value::Text(text)) => all.push(text.into_bytes().into()),
            (Values::Count(all), Value::Count(count)) => all.push(count),
            (Values::Number(all), Value::Number(number)) => all.push(number),
            (Values::Flag(all), Value::Flag(flag)) => all.push(flag),
            _ => return,
        }
        self.levels.resize(row, 0);
        self.levels.push(1);
    }

    /// Makes the column as long as the table.
    pub(crate) fn fill(&mut self, rows: usize) {
        self.levels.resize(rows, 0);
    }

    /// Takes the first rows out.
    pub(crate) fn take(&mut self, rows: usize) -> Self {
        let mut first = self.levels.split_off(rows);
        std::mem::swap(&mut first, &mut self.levels);
        let present = first.iter().filter(|level| **level > 0).count();
        fn split<T>(all: &mut Vec<T>, at: usize) -> Vec<T> {
            let rest = all.split_off(at);
            std::mem::replace(all, rest)
        }
        let values = match &mut self.values {
            Values::Text(all) => Values::Text(split(all, present)),
            Values::Count(all) => Values::Count(split(all, present)),
            Values::Number(all) => Values::Number(split(all, present)),
            Values::Flag(all) => Values::Flag(split(all, present)),
        };
        Self { values, levels: first }
    }

    /// Appends the rows of a column in a file.
    pub(crate) fn read(&mut self, reader: ColumnReader, rows: usize) -> Result<()> {
        fn read<T: DataType>(
            reader: ColumnReader,
            rows: usize,
            values: &mut Vec<T::T>,
            levels: &mut Vec<i16>,
        ) -> Result<()> {
            let mut typed = get_typed_column_reader::<T>(reader);
            while typed.read_records(rows, Some(levels), None, values)?.0 > 0 {}
            Ok(())
        }
        each!(&mut self.values, all, T => read::<T>(reader, rows, all, &mut self.levels))
    }

    /// Writes the cells, and ends the column in the file.
    pub(crate) fn write(&self, mut to: SerializedColumnWriter<'_>) -> Result<()> {
        each!(&self.values, all, T => {
            to.typed::<T>().write_batch(all, Some(&self.levels), None)?;
        });
        to.close()
    }

    /// Returns the text of each row; none of a column of another type.
    pub(crate) fn texts(&self) -> Result<Vec<Option<&str>>> {
        let Values::Text(all) = &self.values else { return Ok(Vec::new()) };
        let texts = all.iter().map(ByteArray::as_utf8).collect::<Result<Vec<_>>>()?;
        Ok(self.by_row(&texts))
    }

    /// Returns the whole number of each row; none of a column of another type.
    pub(crate) fn counts(&self) -> Vec<Option<i64>> {
        let Values::Count(all) = &self.values else { return Vec::new() };
        self.by_row(all)
    }

    /// Returns the number of each row; none of a column of another type.
    pub(crate) fn numbers(&self) -> Vec<Option<f64>> {
        let Values::Number(all) = &self.values else { return Vec::new() };
        self.by_row(all)
    }

    /// Returns the flag of each row; none of a column of another type.
    pub(crate) fn flags(&self) -> Vec<Option<bool>> {
        let Values::Flag(all) = &self.values else { return Vec::new() };
        self.by_row(all)
    }

    fn by_row<T: Copy>(&self, values: &[T]) -> Vec<Option<T>> {
        let mut values = values.iter().copied();
        let value = |level: &i16| if *level > 0 { values.next() } else { None };
        self.levels.iter().map(value).collect()
    }
}

/// Makes values of the types of records.
macro_rules! values {
    ($($type:ty, $value:ident => $made:expr;)*) => {
        $(impl From<$type> for Value {
            fn from($value: $type) -> Self {
                $made
            }
        })*
    };
}

values! {
    &str, text => Self::Text(text.to_owned());
    u64, count => Self::Count(i64::try_from(count).unwrap_or(i64::MAX));
    u32, count => Self::Count(count.into());
    f64, number => Self::Number(number);
    bool, flag => Self::Flag(flag);
}
