//! Response times by kind of operation, of clients and of background writers.

use model::record::{OpSummary, Percentiles};
use model::{Nanos, OpKind, StepRecord};

use analysis::metrics::Percentile;

use crate::document::{Part, Table, known};
use crate::figure::count;
use crate::validity;

/// Returns a row for each kind of operation of each step.
///
/// Nothing where every step has one kind and no writers: its times are in the table before.
pub(super) fn kinds(steps: &[&StepRecord]) -> Vec<Part> {
    let has_several = |step: &StepRecord| step.clients.len() > 1 || !step.writers.is_empty();
    if !steps.iter().any(|step| has_several(step) && analysis::is_of_server(step)) {
        return Vec::new();
    }
    let mut table = Table::new([
        "step",
        "<by",
        "<kind",
        "done",
        "failed",
        "rows",
        "response\np50",
        "\np99",
        "\np99.9",
        "\nmax",
        "service\np99",
    ]);
    for step in steps {
        let all = [("clients", &step.clients), ("writers", &step.writers)];
        for (by, of) in all {
            of.iter().for_each(|(kind, one)| table.push(row(&step.step.name, by, *kind, one)));
        }
    }
    let title = "By kind of operation; writers are the background writers";
    vec![Part::Text(title.to_owned()), Part::Table(table)]
}

fn row(step: &str, by: &str, kind: OpKind, summary: &OpSummary) -> Vec<String> {
    let counts = &summary.counts;
    let mut row = vec![step.to_owned(), by.to_owned(), kind.to_string()];
    row.extend([counts.done, counts.failed].map(count));
    // The rows of a definition are not counted.
    row.push(known((kind != OpKind::Define).then(|| count(counts.rows))));
    let times = [Percentile::P50, Percentile::P99, Percentile::P999];
    row.extend(times.map(|one| shown(one, &summary.response)));
    row.push(span((summary.response.count > 0).then_some(Nanos(summary.response.max_ns))));
    row.push(shown(Percentile::P99, &summary.service));
    row
}

/// Returns a percentile with enough operations beyond it.
pub(super) fn shown(percentile: Percentile, times: &Percentiles) -> String {
    span(percentile.shown(times))
}

fn span(time: Option<Nanos>) -> String {
    known(time.map(|time| validity::span(time.0)))
}
