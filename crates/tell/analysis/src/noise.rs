//! How much a metric varies from run to run, and where that is known from.

use std::collections::BTreeMap;

use serde::Serialize;
use stats::{CellVariance, Prior, median, prior};

use crate::arms::{Arms, Key, variance};
use crate::ledger::{Ledger, LedgerCell};

/// What is known of one metric's noise before two variants are compared by it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Noise {
    /// The expected variance of its logarithm, and what that expectation is worth.
    #[serde(flatten)]
    pub prior: Prior,
    /// Cells of the runs compared here, of those it was fitted to.
    pub own_cells: u32,
    /// Cells of earlier experiments on this machine, of those it was fitted to.
    pub earlier_cells: u32,
    /// The earlier experiments that these are from.
    pub earlier_experiments: u32,
}

/// How many times as long a step of an earlier experiment may have been measured as one of the
/// same name here, or the other way round, for its noise to count.
///
/// The variance of a run is s_b^2 + S/R at a length of R: twice the length changes a coefficient
/// of variation by a factor of 1.4 at most, which is less than cells differ among themselves.
///
/// Source: the project's reference, analysis, section 2; the factor is ours.
const SPAN_RATIO: f64 = 2.0;

/// A metric's cells under construction.
#[derive(Default)]
struct Cells {
    all: Vec<CellVariance>,
    own: usize,
    earlier_experiments: usize,
}

/// Returns what is known of each metric's noise, by its cells here and in earlier experiments.
///
/// Each metric is a kind of its own: two percentiles, or operations and rows, are not cells of one
/// kind, because the noise of one is that of the other seen twice.
///
/// Source: G. K. Smyth, 2004, "Linear models and empirical Bayes methods for assessing
/// differential expression in microarray experiments", Statistical Applications in Genetics and
/// Molecular Biology 3(1), section 6; the project's reference, analysis, section 1.3.
pub(crate) fn known(steps: &BTreeMap<Key, Arms<'_>>, ledger: &Ledger) -> BTreeMap<String, Noise> {
    let mut cells: BTreeMap<&str, Cells> = BTreeMap::new();
    for arm in steps.values().flat_map(|arms| arms.of_variant.values()) {
        for (metric, values) in &arm.metrics {
            if let Some(own) = variance(values) {
                let cells = cells.entry(metric).or_default();
                cells.all.push(own);
                cells.own += 1;
            }
        }
    }
    let spans = spans(steps);
    for earlier in &ledger.experiments {
        let alike: Vec<&LedgerCell> = earlier.iter().filter(|one| is_alike(one, &spans)).collect();
        let mut before = BTreeMap::new();
        for (metric, variance) in alike.iter().flat_map(|one| &one.metrics) {
            let cells = cells.entry(metric).or_default();
            before.entry(metric).or_insert(cells.all.len());
            cells.all.push(*variance);
        }
        for metric in before.into_keys() {
            cells.entry(metric).or_default().earlier_experiments += 1;
        }
    }
    let fitted = cells.into_iter().filter_map(|(metric, cells)| {
        let prior = prior::fit(&cells.all)?;
        let noise = Noise {
            prior,
            own_cells: count(cells.own),
            earlier_cells: count(cells.all.len() - cells.own),
            earlier_experiments: count(cells.earlier_experiments),
        };
        Some((metric.to_owned(), noise))
    });
    fitted.collect()
}

/// Returns the median length of each step's measured span, in seconds, by the step's name.
fn spans<'a>(steps: &'a BTreeMap<Key, Arms<'_>>) -> BTreeMap<&'a str, Vec<f64>> {
    let mut spans: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (key, arms) in steps {
        let seconds: Vec<f64> =
            arms.of_variant.values().flat_map(|arm| arm.seconds.iter().copied()).collect();
        spans.entry(&key.name).or_default().extend(median(&seconds));
    }
    spans
}

fn is_alike(cell: &LedgerCell, spans: &BTreeMap<&str, Vec<f64>>) -> bool {
    let is_near = |span: &f64| {
        let ratio = cell.seconds / span;
        (1.0 / SPAN_RATIO..=SPAN_RATIO).contains(&ratio)
    };
    spans.get(cell.step.as_str()).is_some_and(|own| own.iter().any(is_near))
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
