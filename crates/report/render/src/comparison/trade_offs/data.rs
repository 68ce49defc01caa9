//! The table for programs: a line per size, level of clients, variant and metric.

use analysis::MeanOfRuns;
use model::metric;
use serde_json::{Value, json};

use super::row::{COLUMNS, Row, rows};
use crate::document::Rows;
use crate::input::Compared;
use crate::trust::waived;

/// The columns of CSV: the fields of a line.
const CSV: &str = "experiment,id,value_bytes,data_bytes,memory_bytes,clients,variant,column,metric,\
                   n,mean,low,high,min,max,rank,label";

/// Returns the lines for spreadsheets; an unknown value is an empty field.
pub(super) fn table(sizes: &[Compared<'_>]) -> Rows {
    Rows::of(CSV.split(','), rows(sizes).iter().flat_map(lines))
}

/// Returns the sizes with their labels, and the lines.
pub(super) fn data(sizes: &[Compared<'_>]) -> Value {
    let size = |one: &Compared<'_>| json!({ "label": one.label, "waived": waived(one), "experiment": one.meta });
    json!({
        "sizes": sizes.iter().map(size).collect::<Value>(),
        "rows": rows(sizes).iter().flat_map(lines).collect::<Value>(),
    })
}

/// Returns a line for each metric of a row that is known.
fn lines(row: &Row<'_>) -> Vec<Value> {
    let meta = row.compared.meta;
    let line = |(index, column): (usize, &super::row::Column)| {
        let bound =
            || row.lower_bound(index).map(|one| MeanOfRuns { spread: one.spread, interval: None });
        let (metric, MeanOfRuns { spread, interval }) = match row.mean(index) {
            Some(mean) => (column.metric, *mean),
            None => (metric::BYTES_WRITTEN_PER_BYTE_PUT_MIN.name, bound()?),
        };
        Some(json!({
            "experiment": meta.name,
            "id": meta.id,
            "value_bytes": meta.shape.value_bytes,
            "data_bytes": meta.shape.live_bytes().0,
            "memory_bytes": meta.memory_bytes.map(|memory| memory.0),
            "clients": row.clients(),
            "variant": row.name(),
            "column": column.name,
            "metric": metric,
            "n": spread.n,
            "mean": spread.mean,
            // Limits of the 95 % interval of the mean.
            "low": interval.map(|it| it.low),
            "high": interval.map(|it| it.high),
            "min": spread.min,
            "max": spread.max,
            "rank": row.rank(index),
            "label": row.compared.label,
        }))
    };
    COLUMNS.iter().enumerate().filter_map(line).collect()
}
