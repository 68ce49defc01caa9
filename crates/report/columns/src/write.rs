//! Rows to the bytes of Parquet files.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;

use crate::cells::{Cells, Value};
use crate::error::ColumnsError;
use crate::read::StoredTable;
use crate::schema::Table;

/// Rows of a row group: queries in parallel take one each, and its columns are in memory at once.
///
/// Our choice: 100 MB of intervals with 60 readings.
const GROUP_ROWS: usize = 1 << 16;
/// Name of the writer in each file: without a version, which changes no table.
const CREATED_BY: &str = "assay";

/// Writes the tables of one part, in the order of [`Table::ALL`].
pub struct PartWriter<W: Write + Send> {
    pub(crate) tables: [TableWriter<W>; Table::ALL.len()],
}

impl<W: Write + Send> PartWriter<W> {
    /// Begins the tables; `open` returns the output of each.
    ///
    /// # Errors
    /// When an output cannot be written.
    pub fn begin(open: impl Fn(Table) -> std::io::Result<W>) -> Result<Self, ColumnsError> {
        let [experiments, runs, intervals] = Table::ALL.map(|table| {
            let out = open(table).map_err(|error| ColumnsError::Parquet(error.into()))?;
            TableWriter::begin(table, out)
        });
        Ok(Self { tables: [experiments?, runs?, intervals?] })
    }

    /// Appends all rows of an earlier part.
    ///
    /// # Errors
    /// When a table is damaged or an output cannot be written.
    pub fn append(&mut self, part: &[StoredTable; Table::ALL.len()]) -> Result<(), ColumnsError> {
        self.tables.iter_mut().zip(part).try_for_each(|(to, from)| to.append(from))
    }

    /// Writes what remains; returns the rows of each table.
    ///
    /// # Errors
    /// When an output cannot be written.
    pub fn finish(self) -> Result<[usize; Table::ALL.len()], ColumnsError> {
        let mut rows = [0; Table::ALL.len()];
        for (rows, table) in rows.iter_mut().zip(self.tables) {
            *rows = table.finish()?;
        }
        Ok(rows)
    }
}

/// Writes the rows of one table.
pub(crate) struct TableWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    places: BTreeMap<&'static str, usize>,
    columns: Vec<Cells>,
    /// Rows in memory, and those written.
    rows: usize,
    written: usize,
}

impl<W: Write + Send> TableWriter<W> {
    fn begin(table: Table, out: W) -> Result<Self, ColumnsError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(CREATED_BY.to_owned())
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true)
            .build();
        let file = SerializedFileWriter::new(out, table.schema()?, Arc::new(properties))?;
        let columns = table.columns();
        let places = columns.iter().enumerate().map(|(at, column)| (column.name.as_str(), at));
        let places = places.collect();
        let columns = columns.iter().map(|column| Cells::new(column.kind)).collect();
        Ok(Self { file, places, columns, rows: 0, written: 0 })
    }

    /// Sets the first columns of the row in hand.
    pub(crate) fn set_own(&mut self, values: impl Iterator<Item = Option<Value>>) {
        for (cells, value) in self.columns.iter_mut().zip(values) {
            value.into_iter().for_each(|value| cells.set(self.rows, value));
        }
    }

    /// Sets a value of the row in hand by name, if there is such a column.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<Value>) {
        if let Some(place) = self.places.get(name) {
            self.columns[*place].set(self.rows, value.into());
        }
    }

    /// Ends the row in hand.
    pub(crate) fn end_row(&mut self) -> Result<(), ColumnsError> {
        self.rows += 1;
        self.write_whole_groups()
    }

    fn append(&mut self, table: &StoredTable) -> Result<(), ColumnsError> {
        for group in 0..table.groups() {
            self.fill();
            for (place, cells) in self.columns.iter_mut().enumerate() {
                table.read(group, place, cells)?;
            }
            self.rows += table.group_rows(group);
            self.write_whole_groups()?;
        }
        Ok(())
    }

    fn fill(&mut self) {
        self.columns.iter_mut().for_each(|cells| cells.fill(self.rows));
    }

    fn write_whole_groups(&mut self) -> Result<(), ColumnsError> {
        while self.rows >= GROUP_ROWS {
            self.write_group(GROUP_ROWS)?;
        }
        Ok(())
    }

    fn write_group(&mut self, rows: usize) -> Result<(), ColumnsError> {
        self.fill();
        let mut group = self.file.next_row_group()?;
        for cells in &mut self.columns {
            if let Some(column) = group.next_column()? {
                cells.take(rows).write(column)?;
            }
        }
        group.close()?;
        self.rows -= rows;
        self.written += rows;
        Ok(())
    }

    fn finish(mut self) -> Result<usize, ColumnsError> {
        if self.rows > 0 {
            self.write_group(self.rows)?;
        }
        self.file.close()?;
        Ok(self.written)
    }
}
