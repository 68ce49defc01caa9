//! Stored tables: columns of Parquet files in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;

use analysis::history::{StepMeans, StepValues, means_of};
use model::metric;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::statistics::Statistics;

use crate::cells::Cells;
use crate::error::ColumnsError;
use crate::schema::Table;

/// A table that was read from a file.
pub struct StoredTable {
    file: SerializedFileReader<File>,
    table: Table,
}

impl StoredTable {
    /// Opens a table in an open file.
    ///
    /// # Errors
    /// When it is damaged, or is another table than this version writes.
    pub fn open(table: Table, file: File) -> Result<Self, ColumnsError> {
        let file = SerializedFileReader::new(file)?;
        let schema = file.metadata().file_metadata().schema_descr().root_schema_ptr();
        if schema.get_fields() != table.schema()?.get_fields() {
            return Err(ColumnsError::Schema);
        }
        Ok(Self { file, table })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        (0..self.groups()).map(|group| self.group_rows(group)).sum()
    }

    /// Returns the metrics of which a counted row of these directories has a value.
    ///
    /// Few values are read: the file has the number of values of each row group.
    ///
    /// # Errors
    /// When the table is damaged, or is not the table of runs.
    pub fn metrics(
        &self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<BTreeSet<&'static str>, ColumnsError> {
        let (directories, counted) = (self.column("directory")?, self.column("is_counted")?);
        let rows = directories.texts()?.into_iter().zip(counted.flags());
        let is_row_wanted = |(directory, is_counted): (Option<&str>, Option<bool>)| {
            is_counted == Some(true) && directory.is_some_and(&is_wanted)
        };
        let wanted: Vec<bool> = rows.map(is_row_wanted).collect();
        let (mut found, mut rest) = (BTreeSet::new(), &wanted[..]);
        for group in 0..self.groups() {
            let (rows, next) = rest.split_at(self.group_rows(group).min(rest.len()));
            rest = next;
            for (place, column) in self.table.columns().iter().enumerate() {
                let name = column.name.as_str();
                let is_new = metric::find(name).is_some() && !found.contains(name);
                if is_new && self.has_value(group, place, rows)? {
                    found.insert(name);
                }
            }
        }
        Ok(found)
    }

    /// Returns whether a column has a value in a wanted row of a row group.
    fn has_value(&self, group: usize, place: usize, wanted: &[bool]) -> Result<bool, ColumnsError> {
        let column = self.file.metadata().row_group(group).column(place);
        let nulls = column.statistics().and_then(Statistics::null_count_opt);
        let nulls = nulls.and_then(|nulls| usize::try_from(nulls).ok());
        let values = nulls.map(|nulls| wanted.len().saturating_sub(nulls));
        let others = wanted.iter().filter(|is_wanted| !**is_wanted).count();
        match values {
            Some(0) => Ok(false),
            _ if others == wanted.len() => Ok(false),
            Some(values) if values > others => Ok(true),
            _ => {
                let mut cells = Cells::new(self.table.columns()[place].kind);
                self.read(group, place, &mut cells)?;
                let mut rows = cells.numbers().into_iter().zip(wanted);
                Ok(rows.any(|(value, is_wanted)| *is_wanted && value.is_some()))
            }
        }
    }

    pub(crate) fn groups(&self) -> usize {
        self.file.num_row_groups()
    }

    pub(crate) fn group_rows(&self, group: usize) -> usize {
        usize::try_from(self.file.metadata().row_group(group).num_rows()).unwrap_or(0)
    }

    /// Appends the cells of a column in a row group to others.
    pub(crate) fn read(
        &self,
        group: usize,
        place: usize,
        to: &mut Cells,
    ) -> Result<(), ColumnsError> {
        let reader = self.file.get_row_group(group)?.get_column_reader(place)?;
        Ok(to.read(reader, self.group_rows(group))?)
    }

    fn column(&self, name: &str) -> Result<Cells, ColumnsError> {
        let mut columns = self.table.columns().iter().enumerate();
        let found = columns.find(|(_, column)| column.name == name);
        let (place, column) = found.ok_or_else(|| ColumnsError::Unknown(name.to_owned()))?;
        let mut cells = Cells::new(column.kind);
        (0..self.groups()).try_for_each(|group| self.read(group, place, &mut cells))?;
        Ok(cells)
    }

    /// Returns a column of texts by directory, of the table of experiments.
    ///
    /// # Errors
    /// When the table is damaged, or has no such column.
    pub fn texts(&self, name: &str) -> Result<BTreeMap<String, String>, ColumnsError> {
        let [directories, texts] = [self.column("directory")?, self.column(name)?];
        let pairs = directories.texts()?.into_iter().zip(texts.texts()?);
        Ok(pairs.filter_map(|(key, text)| Some((key?.to_owned(), text?.to_owned()))).collect())
    }

    /// Returns the means of metrics by directory, of the table of runs.
    ///
    /// They are those of [`step_means`](analysis::history::step_means), of these metrics alone.
    ///
    /// # Errors
    /// When the table is damaged, or a metric is unknown.
    pub fn means(
        &self,
        metrics: &[&str],
    ) -> Result<BTreeMap<String, Vec<StepMeans>>, ColumnsError> {
        let texts = ["directory", "variant", "step"].map(|name| self.column(name));
        let [directories, variants, steps] = texts;
        let (directories, variants, steps) = (directories?, variants?, steps?);
        let (directories, variants, steps) =
            (directories.texts()?, variants.texts()?, steps.texts()?);
        let counts = |name| Ok::<_, ColumnsError>(self.column(name)?.counts());
        let (levels, indexes) = (counts("clients")?, counts("step_index")?);
        let clients = counts("step_clients")?;
        let counted = self.column("is_counted")?.flags();
        let mut values = Vec::new();
        for name in metrics {
            values.push((*name, self.column(name)?.numbers()));
        }
        let row = |at: usize| {
            let count = |of: &[Option<i64>]| u32::try_from(of[at]?).ok();
            counted[at].filter(|is_counted| *is_counted)?;
            Some(StepValues {
                variant: variants[at]?,
                level: count(&levels)?,
                index: count(&indexes)?,
                step: steps[at]?,
                clients: count(&clients)?,
                values: values.iter().filter_map(move |(name, all)| Some((*name, all[at]?))),
            })
        };
        let mut means = BTreeMap::new();
        let mut begin = 0;
        for rows in directories.chunk_by(|one, next| one == next) {
            let end = begin + rows.len();
            if let Some(directory) = rows[0] {
                means.insert(directory.to_owned(), means_of((begin..end).filter_map(row)));
            }
            begin = end;
        }
        Ok(means)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::PartWriter;

    /// Goal: a page offers only metrics with a value in a history.
    #[test]
    fn metrics_are_those_of_counted_rows_of_the_wanted_directories() {
        let files = Table::ALL.map(|_| tempfile::tempfile().unwrap());
        let open = |table: Table| files[table as usize].try_clone();
        let mut writer = PartWriter::begin(open).unwrap();
        let [_, runs, _] = &mut writer.tables;
        for (directory, is_counted, metric) in [
            ("fresh", true, "throughput_ops_per_s"),
            ("fresh", false, "response_ns_p99"),
            ("stale", true, "cpu_us_per_op"),
        ] {
            runs.set("directory", directory);
            runs.set("is_counted", is_counted);
            runs.set(metric, 1.0);
            runs.end_row().unwrap();
        }
        writer.finish().unwrap();
        let [_, runs, _] = files;
        let table = StoredTable::open(Table::Runs, runs).unwrap();
        let metrics = |wanted: &[&str]| table.metrics(|one| wanted.contains(&one)).unwrap();
        assert_eq!(metrics(&["fresh"]), ["throughput_ops_per_s"].into());
        assert_eq!(metrics(&["stale"]), ["cpu_us_per_op"].into());
        assert_eq!(metrics(&["fresh", "stale"]).len(), 2);
        assert!(metrics(&[]).is_empty());
    }
}
