//! Service times in ten buckets, as insert benchmark reports have them; finer ones in process.
//!
//! Source: [Callaghan 2022-11-29], response-time histograms: there the time of `execute` alone,
//! which is a service time here.

use model::buckets::{BUCKET_BOUNDS, BUCKETS, FINE_BOUNDS};
use model::record::OpSummary;
use model::{Nanos, OpKind, StepRecord, float};
use serde::Serialize;

use super::section::Section;
use crate::document::Table;
use crate::input::Compared;
use crate::label::{measured_steps, step_heading, variant_label};
use crate::validity::span;

/// Kinds of operation that share a histogram.
const GROUPS: [(&str, &[OpKind]); 4] = [
    ("inserts", &[OpKind::Insert, OpKind::Put, OpKind::PartialUpdate, OpKind::Append]),
    ("deletes", &[OpKind::Delete]),
    (
        "queries",
        &[OpKind::Get, OpKind::Scan, OpKind::MultiGet, OpKind::FieldRead, OpKind::ScanSequence],
    ),
    ("transactions", &[OpKind::Transaction]),
];

/// Operations of one group in one step of one variant, all of its runs together.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Histogram<'a> {
    /// Position of the step in the run, 0-based.
    pub(super) step_index: u32,
    /// The step's name.
    pub(super) step: &'a str,
    /// Level of the clients factor.
    pub(super) clients: u32,
    /// The variant's name.
    pub(super) variant: &'a str,
    /// The group: `inserts`, `deletes`, `queries`, `transactions`.
    pub(super) operations: &'static str,
    /// Runs behind it.
    pub(super) runs: usize,
    /// Bounds of all buckets but the last, which has none.
    pub(super) bounds_ns: [Nanos; BUCKETS - 1],
    /// Operations in each bucket.
    pub(super) counts: [u64; BUCKETS],
    /// The longest service time.
    pub(super) max_ns: Nanos,
    #[serde(skip)]
    heading: String,
}

impl Histogram<'_> {
    /// Returns the shares of the buckets; none when nothing was done.
    pub(super) fn shares(&self) -> [f64; BUCKETS] {
        let all = self.counts.iter().map(|count| float(*count)).sum::<f64>().max(1.0);
        self.counts.map(|count| float(count) / all)
    }
}

/// Returns the histograms of every step, by group, step and variant.
pub(super) fn histograms<'a>(compared: &Compared<'a>) -> Vec<Histogram<'a>> {
    let mut all = Vec::new();
    for (operations, kinds) in GROUPS {
        for step in measured_steps(compared.comparison) {
            for cell in &step.cells {
                let records = compared.records(step, &cell.variant);
                let is_served = records.iter().any(|record| analysis::is_of_server(record));
                let bounds_ns = if is_served { BUCKET_BOUNDS } else { FINE_BOUNDS };
                let counts = counts(&records, kinds, is_served);
                if counts.iter().all(|count| *count == 0) {
                    continue;
                }
                all.push(Histogram {
                    step_index: step.index,
                    step: &step.name,
                    clients: step.clients.level,
                    variant: &cell.variant,
                    operations,
                    runs: records.len(),
                    bounds_ns,
                    counts,
                    max_ns: longest(&records, kinds),
                    heading: step_heading(compared.comparison, step),
                });
            }
        }
    }
    all
}

fn counts(records: &[&StepRecord], kinds: &[OpKind], is_served: bool) -> [u64; BUCKETS] {
    let mut sum = [0; BUCKETS];
    let own = records.iter().flat_map(|record| match is_served {
        true => &record.buckets,
        false => &record.fine_buckets,
    });
    for (_, counts) in own.filter(|(kind, _)| kinds.contains(kind)) {
        for (sum, count) in sum.iter_mut().zip(counts) {
            *sum = u64::saturating_add(*sum, *count);
        }
    }
    sum
}

fn longest(records: &[&StepRecord], kinds: &[OpKind]) -> Nanos {
    let all = records.iter().flat_map(|record| record.clients.iter().chain(&record.writers));
    let own = all.filter(|(kind, _)| kinds.contains(kind));
    Nanos(own.map(|(_, OpSummary { service, .. })| service.max_ns).max().unwrap_or(0))
}

/// Returns the name of a bucket: `<=256us`, `>16s`.
pub(super) fn bucket_name(bounds: &[Nanos; BUCKETS - 1], bucket: usize) -> String {
    let above = || format!(">{}", short(bounds[BUCKETS - 2]));
    bounds.get(bucket).map_or_else(above, |bound| format!("<={}", short(*bound)))
}

/// Returns a bound without decimals: `256us`, `4ms`, `16s`.
fn short(bound: Nanos) -> String {
    match bound.0 {
        ns if ns < 1_000_000 => format!("{}us", ns / 1_000),
        ns if ns < 1_000_000_000 => format!("{}ms", ns / 1_000_000),
        ns => format!("{}s", ns / 1_000_000_000),
    }
}

/// Returns a table for each group of operations, as one part; `None` where no record has buckets.
pub(crate) fn part(compared: &Compared<'_>) -> Option<Section> {
    let all = histograms(compared);
    let mut tables = Vec::new();
    for bounds in [BUCKET_BOUNDS, FINE_BOUNDS] {
        for (operations, _) in GROUPS {
            let is_own =
                |one: &&Histogram<'_>| one.operations == operations && one.bounds_ns == bounds;
            let own: Vec<&Histogram<'_>> = all.iter().filter(is_own).collect();
            tables.extend((!own.is_empty()).then(|| table(compared, operations, &own)));
        }
    }
    let of = match all.iter().any(|one| one.bounds_ns == BUCKET_BOUNDS) {
        true => "the ten buckets of insert benchmark reports",
        false => "ten buckets",
    };
    let remark = "Percent of the operations in each bucket, over all runs, clients and background \
                  writers. As in reports of the insert benchmark, the times do not include the \
                  wait before an operation. Percentiles are in the tables of each run.";
    let section = Section::of(format!("Service times in {of}"), tables);
    section.map(|section| Section { remarks: vec![remark.to_owned()], ..section })
}

fn table(compared: &Compared<'_>, operations: &str, all: &[&Histogram<'_>]) -> Table {
    let mut table = Table::named(operations, all.iter().map(|one| one.heading.as_str()));
    let variants = all.iter().map(|one| variant_label(compared.comparison, one.variant));
    table.labels("variant", variants);
    for bucket in 0..BUCKETS {
        let shares = all.iter().map(|one| percent(one.counts[bucket], one.shares()[bucket]));
        table.figures(bucket_name(&all[0].bounds_ns, bucket), shares);
    }
    table.figures("max", all.iter().map(|one| span(one.max_ns.0)));
    table
}

/// Returns a share as the reports have it: three decimals, nothing for none, `nonzero` for less.
fn percent(count: u64, share: f64) -> String {
    match (count, format!("{:.3}", 100.0 * share)) {
        (0, _) => String::new(),
        (_, text) if text == "0.000" => "nonzero".to_owned(),
        (_, text) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_named_by_their_bounds_and_small_shares_are_not_nothing() {
        let names: Vec<String> =
            (0..BUCKETS).map(|bucket| bucket_name(&BUCKET_BOUNDS, bucket)).collect();
        let expected = [
            "<=256us", "<=1ms", "<=4ms", "<=16ms", "<=64ms", "<=256ms", "<=1s", "<=4s", "<=16s",
            ">16s",
        ];
        assert_eq!(names, expected);
        let fine = [3, 9].map(|bucket| bucket_name(&FINE_BOUNDS, bucket));
        assert_eq!(fine, ["<=10us", ">10ms"]);
        assert_eq!((percent(0, 0.0).as_str(), percent(1, 1e-7).as_str()), ("", "nonzero"));
        assert_eq!(percent(3, 0.5), "50.000");
    }
}
