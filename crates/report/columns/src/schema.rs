//! The tables and their columns.

use std::sync::{Arc, LazyLock};

use model::OpKind;
use model::metric::{Kind, METRICS};
use parquet::schema::types::{Type, TypePtr};

use crate::column::ColumnKind::{Count, Flag, Number, Text, Time};
use crate::column::{Column, ColumnKind};
use crate::error::ColumnsError;

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

/// Columns that every table has.
const PLACE: [(&str, ColumnKind, &str); 3] = [
    ("directory", Text, "directory of the experiment below the archive: NAME/IDENTIFIER"),
    ("experiment", Text, "name of the experiment"),
    ("experiment_id", Text, "identifier of the experiment"),
];

/// Further columns of experiments.
const EXPERIMENT: [(&str, ColumnKind, &str); 11] = [
    ("created_at", Time, "when the experiment was begun"),
    ("question", Text, "question of the experiment"),
    ("assay_version", Text, "version of Assay that began the experiment"),
    ("host", Text, "fingerprint of the host of the manifest"),
    ("kernel", Text, "kernel of this host"),
    ("memory_bytes", Count, "memory of this host, in bytes"),
    ("cells", Count, "planned runs"),
    ("complete", Count, "complete runs"),
    ("damaged", Count, "runs whose record cannot be read; these runs have no rows"),
    ("summary", Text, "JSON of `assay list --format json`"),
    ("manifest", Text, "JSON of the manifest without the plan's list of runs"),
];

/// Further columns of steps of runs, before the metrics.
const RUN: [(&str, ColumnKind, &str); 19] = [
    ("run", Text, "identifier of the run in its experiment"),
    ("variant", Text, "name of the variant"),
    ("engine", Text, "engine of the variant"),
    ("version", Text, "version that the engine reports; before it was opened, the planned version"),
    ("clients", Count, "level of the factor clients"),
    ("repetition", Count, "repetition, which is also the block of the run"),
    ("host", Text, "fingerprint of the host that did the run"),
    (
        "machine",
        Text,
        "name of the machine in its fleet; null for a run on the host of the manifest",
    ),
    ("started_at", Time, "when the run began"),
    ("ended_at", Time, "when the run ended"),
    ("run_end", Text, "how the run ended: complete, failed, crashed and others, as in record.json"),
    (
        "is_counted",
        Flag,
        "whether the figures of the run count: its client was in time and its \
        answers were right",
    ),
    ("invalid", Text, "why the run is invalid"),
    ("step_index", Count, "position of the step in the run, from 0; null without a finished step"),
    ("step", Text, "name of the step"),
    ("step_clients", Count, "clients of the step"),
    ("step_started_at", Time, "when the measured span of the step began"),
    ("duration_ns", Count, "length of the measured span, in nanoseconds"),
    ("invalid_intervals", Count, "invalid intervals of the step"),
];

/// Further columns of intervals, before operations and readings.
const INTERVAL: [(&str, ColumnKind, &str); 10] = [
    ("run", Text, "identifier of the run in its experiment"),
    ("variant", Text, "name of the variant"),
    ("step_index", Count, "position of the step in the run, from 0"),
    ("step", Text, "name of the step"),
    ("probe", Count, "probe of a search, from 0; null outside of searches"),
    ("is_warmup", Flag, "whether the interval belongs to the warm-up"),
    (
        "start_ns",
        Count,
        "start of the interval since the start of the step or probe, in nanoseconds",
    ),
    ("length_ns", Count, "length of the interval, in nanoseconds"),
    ("invalid", Text, "cause of the client's delay in an invalid interval"),
    ("done_ops", Count, "operations of all kinds that the measured clients completed"),
];

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
        let own = match self {
            Self::Experiments => &EXPERIMENT[..],
            Self::Runs => &RUN,
            Self::Intervals => &INTERVAL,
        };
        let columns = PLACE.iter().chain(own);
        let mut columns: Vec<_> =
            columns.map(|(name, kind, meaning)| Column::new(name, *kind, meaning)).collect();
        if self == Self::Intervals {
            columns.extend(of_operation("KIND"));
        }
        columns
    }

    /// Returns every column, in order.
    pub fn columns(self) -> &'static [Column] {
        static ALL: LazyLock<[Vec<Column>; Table::ALL.len()]> =
            LazyLock::new(|| Table::ALL.map(Table::all_columns));
        &ALL[self as usize]
    }

    fn all_columns(self) -> Vec<Column> {
        let mut columns = self.own_columns();
        if self == Self::Intervals {
            columns.truncate(PLACE.len() + INTERVAL.len());
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
