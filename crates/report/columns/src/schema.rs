//! The tables and their columns.

use std::sync::{Arc, LazyLock};

use model::OpKind;
use model::metric::{Kind, METRICS};
use parquet::schema::types::{Type, TypePtr};

use crate::column::ColumnKind::{Count, Number};
use crate::column::{Column, ColumnKind};
use crate::error::ColumnsError;
use crate::fields::{EXPERIMENTS, Field, INTERVALS, RUNS};

/// A table of the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// One row for each experiment.
    Experiments,
    /// One row for each step of each run; a run without a finished step has one row.
    Runs,
    /// One row for each interval.
    Intervals,
}

model::names!(Table, "a table":
    Experiments "experiments", Runs "runs", Intervals "intervals");

/// Columns of each kind of operation, after the name of the kind.
const OPERATION: [(&str, ColumnKind, &str); 6] = [
    ("done_ops", Count, "completed operations"),
    ("failed_ops", Count, "failed operations"),
    ("response_ns_p50", Number, "median response time, in nanoseconds"),
    ("response_ns_p99", Number, "99th percentile of the response time, in nanoseconds"),
    ("response_ns_p999", Number, "99.9th percentile of the response time, in nanoseconds"),
    ("response_ns_max", Number, "longest response time, in nanoseconds"),
];

impl Table {
    /// Returns the columns that are not metrics, in the order of the table.
    ///
    /// Columns of operations have the name `KIND` in place of the kind of operation.
    pub fn own_columns(self) -> Vec<Column> {
        let mut columns = self.fields();
        if self == Self::Intervals {
            columns.extend(of_operation("KIND"));
        }
        columns
    }

    fn fields(self) -> Vec<Column> {
        match self {
            Self::Experiments => EXPERIMENTS.iter().map(Field::column).collect(),
            Self::Runs => RUNS.iter().map(Field::column).collect(),
            Self::Intervals => INTERVALS.iter().map(Field::column).collect(),
        }
    }

    /// Returns every column, in order.
    pub fn columns(self) -> &'static [Column] {
        static ALL: LazyLock<[Vec<Column>; Table::ALL.len()]> =
            LazyLock::new(|| Table::ALL.map(Table::all_columns));
        &ALL[self as usize]
    }

    fn all_columns(self) -> Vec<Column> {
        let mut columns = self.fields();
        if self == Self::Intervals {
            columns.extend(OpKind::ALL.iter().flat_map(|kind| of_operation(kind.name())));
        }
        let metrics = METRICS.iter().filter(|metric| match self {
            Self::Experiments => false,
            Self::Runs => true,
            Self::Intervals => metric.kind != Kind::Derived,
        });
        columns.extend(metrics.map(|metric| Column::new(metric.name, Number, metric.meaning)));
        columns
    }

    pub(crate) fn schema(self) -> Result<TypePtr, ColumnsError> {
        let fields = self.columns().iter().map(|column| column.schema().map(Arc::new));
        let fields = fields.collect::<Result<Vec<_>, _>>()?;
        let schema = Type::group_type_builder(self.name()).with_fields(fields).build()?;
        Ok(Arc::new(schema))
    }
}

fn of_operation(kind: &str) -> impl Iterator<Item = Column> {
    OPERATION.iter().map(move |(name, value, meaning)| {
        Column::new(&format!("{kind}_{name}"), *value, &format!("{meaning} of this kind"))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_metric_is_a_column_of_runs_and_no_name_is_used_twice() {
        for table in Table::ALL {
            let columns = table.columns();
            let names: BTreeSet<_> = columns.iter().map(|column| &column.name).collect();
            assert_eq!(names.len(), columns.len(), "{table}");
            assert!(table.schema().is_ok());
        }
        let runs = Table::Runs.columns();
        assert!(METRICS.iter().all(|metric| runs.iter().any(|one| one.name == metric.name)));
    }
}
