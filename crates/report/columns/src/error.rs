//! Errors of tables.

use parquet::errors::ParquetError;

/// A table that cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnsError {
    /// The library reports an error of the file, or of the bytes in it.
    #[error(transparent)]
    Parquet(#[from] ParquetError),
    /// The table has other columns than this version writes.
    #[error("the table has the columns of another version of Assay")]
    Schema,
    /// The table has no column of that name.
    #[error("the table has no column `{0}`")]
    Unknown(String),
}
