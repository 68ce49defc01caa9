//! A column: its name, type, unit and meaning.

use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use parquet::errors::Result;
use parquet::schema::types::Type;

/// Type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// UTF-8 text.
    Text,
    /// Moment in UTC, in microseconds since 1970.
    Time,
    /// Signed whole number.
    Count,
    /// Floating point number.
    Number,
    /// True or false.
    Flag,
}

model::names!(ColumnKind, "a type of column":
    Text "VARCHAR", Time "TIMESTAMPTZ", Count "BIGINT", Number "DOUBLE", Flag "BOOLEAN");

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name; the unit is last.
    pub name: String,
    /// Type of its values.
    pub kind: ColumnKind,
    /// Meaning, in one sentence without a full stop.
    pub meaning: String,
}

impl Column {
    pub(crate) fn new(name: &str, kind: ColumnKind, meaning: &str) -> Self {
        Self { name: name.to_owned(), kind, meaning: meaning.to_owned() }
    }

    /// Returns the column's type in a schema; every column may be null.
    pub(crate) fn schema(&self) -> Result<Type> {
        let (physical, logical) = match self.kind {
            ColumnKind::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
            ColumnKind::Time => {
                (PhysicalType::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS)))
            }
            ColumnKind::Count => (PhysicalType::INT64, None),
            ColumnKind::Number => (PhysicalType::DOUBLE, None),
            ColumnKind::Flag => (PhysicalType::BOOLEAN, None),
        };
        Type::primitive_type_builder(&self.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()
    }
}
