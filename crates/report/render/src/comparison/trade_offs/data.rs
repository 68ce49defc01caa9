//! The table for programs: a line per size, level of clients, variant and metric.

use analysis::{MeanOfRuns, Rank};
use model::{Label, Waiver, metric};
use serde::Serialize;

use super::row::{COLUMNS, Row, rows};
use crate::document::{Rows, number};
use crate::input::Compared;
use crate::meta::Meta;
use crate::trust::waived;

/// Returns the lines for spreadsheets; an unknown value is an empty field.
pub(super) fn table(rows: &[Row<'_>]) -> Rows {
    Rows::new(CSV_COLUMNS, rows.iter().flat_map(lines).map(|line| fields(&line)))
}

/// Returns the sizes with their labels, and the lines.
pub(super) fn data(sizes: &[Compared<'_>]) -> impl Serialize {
    let size = |one: &Compared<'_>| Size {
        label: one.label,
        waived: waived(one),
        experiment: one.meta.clone(),
    };
    let rows = rows(sizes);
    let rows = rows.iter().flat_map(lines).collect();
    let data = Data { sizes: sizes.iter().map(size).collect(), rows };
    // The lines borrow from rows that end here.
    serde_json::to_value(data).expect("keys are texts")
}

/// One metric of one row, in CSV and JSON.
#[derive(Serialize)]
struct Line<'a> {
    experiment: &'a str,
    id: &'a str,
    value_bytes: u32,
    data_bytes: u64,
    memory_bytes: Option<u64>,
    clients: u32,
    variant: &'a str,
    column: &'static str,
    metric: &'static str,
    n: u32,
    mean: f64,
    /// Limits of the 95 % interval of the mean.
    low: Option<f64>,
    high: Option<f64>,
    min: f64,
    max: f64,
    rank: Option<Rank>,
    label: Label,
}

/// The columns of CSV: the fields of a [`Line`].
const CSV_COLUMNS: [&str; 17] = [
    "experiment",
    "id",
    "value_bytes",
    "data_bytes",
    "memory_bytes",
    "clients",
    "variant",
    "column",
    "metric",
    "n",
    "mean",
    "low",
    "high",
    "min",
    "max",
    "rank",
    "label",
];

/// Returns the fields of a line in the order of the columns.
fn fields(line: &Line<'_>) -> Vec<String> {
    let line = serde_json::to_value(line).expect("its numbers are finite");
    let field = |name| {
        let text = line[name].as_str().map(str::to_owned);
        text.unwrap_or_else(|| number(line[name].as_f64()))
    };
    CSV_COLUMNS.map(field).into()
}

/// The JSON format: the sizes with their labels, then the lines.
#[derive(Serialize)]
struct Data<'a> {
    sizes: Vec<Size>,
    rows: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Size {
    label: Label,
    waived: Vec<Waiver>,
    experiment: Meta,
}

/// Returns a line for each metric of a row that is known.
fn lines<'a>(row: &'a Row<'_>) -> impl Iterator<Item = Line<'a>> {
    let meta = row.compared.meta;
    COLUMNS.iter().enumerate().filter_map(move |(index, column)| {
        let bound =
            || row.lower_bound(index).map(|one| MeanOfRuns { spread: one.spread, interval: None });
        let (metric, MeanOfRuns { spread, interval }) = match row.mean(index) {
            Some(mean) => (column.metric, *mean),
            None => (metric::BYTES_WRITTEN_PER_BYTE_PUT_MIN.name, bound()?),
        };
        Some(Line {
            experiment: &meta.name,
            id: &meta.id,
            value_bytes: meta.shape.value_bytes,
            data_bytes: meta.shape.live_bytes().0,
            memory_bytes: meta.memory_bytes.map(|memory| memory.0),
            clients: row.clients(),
            variant: row.name(),
            column: column.name,
            metric,
            n: spread.n,
            mean: spread.mean,
            low: interval.map(|it| it.low),
            high: interval.map(|it| it.high),
            min: spread.min,
            max: spread.max,
            rank: row.rank(index),
            label: row.compared.label,
        })
    })
}
