//! Comparisons of one step, made for the tests of sentences.

use std::collections::BTreeMap;

use analysis::{CellComparison, Comparison, Measured, Noise, StepComparison, VariantRuns};
use lint::{LintFinding, Place};
use model::record::Severity;
use model::{DataShape, Durability, Host, StepClients};
use stats::{Effect, Interval, Method, Prior, SecondEstimate, Spread, Verdict, Why};

use crate::input::Compared;
use crate::label::THROUGHPUT;
use crate::meta::Meta;

/// A comparison with the data it borrows.
pub(crate) struct Sample {
    pub(crate) comparison: Comparison,
    meta: Meta,
    findings: Vec<LintFinding>,
}

impl Sample {
    /// A step `readrandom` whose base `old` did 1,000 operations per second in three runs.
    pub(crate) fn of(others: &[(&str, u32, Option<Effect>)]) -> Self {
        let mut cells = vec![cell("old", 3, 1_000.0, None)];
        for (name, n, effect) in others {
            let ratio = effect.map_or(1.0, |effect| effect.ratio);
            cells.push(cell(name, *n, 1_000.0 * ratio, *effect));
        }
        let variants = cells.iter().map(|cell| VariantRuns {
            name: cell.variant.clone(),
            durability: Durability::default(),
            planned: 3,
            recorded: cell.runs,
            complete: cell.runs,
        });
        let mut comparison = Comparison {
            base: "old".to_owned(),
            margin: 0.02,
            repetitions: 3,
            variants: variants.collect(),
            ..Comparison::default()
        };
        comparison.families.primary.comparisons = 12;
        comparison.answering.insert("readrandom".to_owned());
        comparison.steps = vec![StepComparison {
            name: "readrandom".to_owned(),
            clients: StepClients { level: 1, number: 1 },
            primary: Some(THROUGHPUT),
            cells,
            ..StepComparison::default()
        }];
        let prior = Prior { variance: 0.000_121, df: 14.0, cells: 24 };
        let noise = Noise { prior, own_cells: 24, earlier_cells: 0, earlier_experiments: 0 };
        comparison.noise.insert(THROUGHPUT.to_owned(), noise);
        let meta = Meta {
            disclaimer: None,
            id: "sample/1".to_owned(),
            name: "sample".to_owned(),
            selection: vec!["sample".to_owned()],
            question: "Which?".to_owned(),
            title: "sample: Which?".to_owned(),
            size: None,
            host: String::new(),
            data: String::new(),
            shape: DataShape { rows: 1, key_bytes: 1, value_bytes: 1, compressible_to: 1.0 },
            memory_bytes: None,
            durability: String::new(),
            waivers: Vec::new(),
            pilot_repetitions: None,
        };
        Self { comparison, meta, findings: Vec::new() }
    }

    /// With a finding that makes it bogus.
    pub(crate) fn bogus(self) -> Self {
        self.blocked("A001", "durability mismatch", &[])
    }

    /// With a blocking finding in these steps.
    pub(crate) fn blocked(
        mut self,
        code: &'static str,
        name: &'static str,
        steps: &[&str],
    ) -> Self {
        let steps = steps.iter().map(|step| (*step).to_owned()).collect();
        self.findings.push(LintFinding {
            code,
            name,
            severity: Severity::Blocking,
            evidence: "durability classes differ: os, sync".to_owned(),
            remedy: "give all one class".to_owned(),
            place: Place { steps, ..Place::default() },
            places: Vec::new(),
            waived: None,
        });
        lint::block_verdicts(&mut self.comparison, &self.findings);
        self
    }

    /// With these findings.
    pub(crate) fn found(self, findings: Vec<LintFinding>) -> Self {
        Self { findings, ..self }
    }

    /// With a variant that is a copy of the base.
    pub(crate) fn control(mut self, name: &str) -> Self {
        self.comparison.control = Some(name.to_owned());
        self
    }

    /// Returns the value of `at` for this comparison.
    pub(crate) fn with<T>(&self, at: impl FnOnce(&Compared<'_>) -> T) -> T {
        let host = Host::default();
        at(&Compared::of(&self.comparison, &self.meta, &[], &host, &self.findings))
    }
}

fn cell(name: &str, n: u32, mean: f64, effect: Option<Effect>) -> CellComparison {
    let wide = if n > 1 { 0.01 } else { 0.0 };
    let (min, max) = (mean * (1.0 - wide), mean * (1.0 + wide));
    let spread = Spread { n, mean, median: mean, min, max };
    let measured = Measured { spread, versus_base: effect };
    let metrics = [(THROUGHPUT.to_owned(), measured)];
    CellComparison {
        variant: name.to_owned(),
        runs: n,
        loads: None,
        metrics: if n == 0 { BTreeMap::new() } else { metrics.into() },
    }
}

/// An effect of this ratio and 95 % interval; its 90 % interval is nearer by a fifth.
pub(crate) fn effect(ratio: f64, low: f64, high: f64, verdict: Verdict) -> Option<Effect> {
    let nearer = |end: f64| ratio + 0.8 * (end - ratio);
    Some(Effect {
        ratio,
        interval: Some(Interval { low, high }),
        interval90: Some(Interval { low: nearer(low), high: nearer(high) }),
        method: Method::Moderated,
        df: Some(18.0),
        p: Some(0.03),
        q: Some(0.04),
        second_estimate: None,
        detectable: 0.027,
        run_cov: 0.011,
        verdict,
        why: None,
        is_blocked: false,
    })
}

/// The same, inconclusive.
pub(crate) fn open(ratio: f64, low: f64, high: f64, why: Why) -> Option<Effect> {
    let second_estimate =
        SecondEstimate { ratio: 1.02, interval: Interval { low: 0.995, high: 1.059 } };
    let effect = effect(ratio, low, high, Verdict::Inconclusive)?;
    Some(Effect { why: Some(why), second_estimate: Some(second_estimate), ..effect })
}

/// One run each.
pub(crate) fn one_run(ratio: f64) -> Option<Effect> {
    let effect = effect(ratio, ratio, ratio, Verdict::Inconclusive)?;
    Some(Effect {
        interval: None,
        interval90: None,
        method: Method::None,
        df: None,
        p: None,
        q: None,
        why: Some(Why::OneRun),
        detectable: 0.104,
        run_cov: 0.025,
        ..effect
    })
}
