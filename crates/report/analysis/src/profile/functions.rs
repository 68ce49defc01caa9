//! The account of an operation's CPU by function.

use std::collections::BTreeMap;

use model::profile::{Profile, ProfileRecord};
use serde::Serialize;
use stats::family::holm;
use stats::{
    CommonFactor, MeanDifference, RunCounts, ShareComparison, ShareDifference, compare_shares,
    difference,
};

use super::group::{Group, Scope};
use super::shift::{Finding, LEVEL, findings};
use super::unit::{Profiles, Units};

/// Beginnings of the names of timers, whose interrupts the kernel delays.
///
/// Source: `PERF_TYPE_SOFTWARE` [perf_event_open 2].
const CLOCKS: [&str; 2] = ["cpu-clock", "task-clock"];

/// The profile of one run's step.
#[derive(Debug, Clone, Copy)]
pub struct RunProfile<'a> {
    /// The sampled stacks.
    pub profile: &'a Profile,
    /// How they were sampled.
    pub record: &'a ProfileRecord,
    /// CPU of the compared scope per operation, us.
    pub cpu_us_per_op: f64,
}

/// CPU of functions on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FunctionCost {
    /// CPU of the base, us per operation.
    pub base_us: f64,
    /// CPU of the variant, us per operation.
    pub variant_us: f64,
}

/// A function whose CPU per operation differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionDifference {
    /// Its group.
    pub group: Group,
    /// Its normalised name.
    pub name: String,
    /// Its CPU.
    #[serde(flatten)]
    pub cost: FunctionCost,
    /// Difference beyond what is common to all functions, us per operation.
    pub difference_us: f64,
    /// Limits of the difference, at 95 % for all listed functions together, given the CPU per
    /// operation of both sides, us per operation.
    pub interval_us: (f64, f64),
    /// Its p-value, adjusted for the number of functions.
    pub adjusted_p: f64,
    /// Part of the difference of the whole; `None` where that is 0.
    pub share_of_difference: Option<f64>,
    /// The base has no sample of it.
    pub is_new: bool,
    /// The variant has no sample of it.
    pub is_gone: bool,
    /// Functions without a partner that count for it: new where the base has 0, gone where the
    /// variant has 0.
    pub parts: BTreeMap<String, FunctionCost>,
    /// The functions of the sum, where cost moved between related ones.
    pub merged: BTreeMap<String, FunctionCost>,
}

/// The difference of an operation's CPU, by function.
///
/// `total.difference = the listed differences + common_us + rest_us`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionAccount {
    /// What was compared.
    pub scope: Scope,
    /// CPU of the scope, us per operation.
    pub total: MeanDifference,
    /// Functions whose difference is established, the largest difference first.
    pub listed: Vec<FunctionDifference>,
    /// Difference that is common to all functions (clock, neighbours), us per operation.
    pub common_us: f64,
    /// 95 % limits of the common difference; `None` with one run on a side.
    pub common_interval_us: Option<(f64, f64)>,
    /// Difference of all functions that are not listed, beyond the common one, us per operation.
    pub rest_us: f64,
    /// CPU of each group with samples, by the sampled function itself.
    pub by_group: BTreeMap<Group, FunctionCost>,
    /// Number of functions that were tested.
    pub tested: usize,
    /// Functions between which cost moved, without an established difference of their sum.
    pub moved: usize,
    /// Samples of the base and of the variant.
    pub samples: [u64; 2],
    /// Functions that differ together with all they call; they overlap, and do not add up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inclusive: Option<Vec<FunctionDifference>>,
}

/// Compares the CPU per operation of two sides by function.
///
/// CPU of a function is its share of the samples, times the mean CPU per operation of its side.
///
/// # Errors
/// A text that names why: profiles of different events, frequencies or unwinders, or too few.
///
/// Source: [`compare_shares`], the test.
pub fn compare(
    base: &[RunProfile<'_>],
    variant: &[RunProfile<'_>],
    scope: Scope,
    with_inclusive: bool,
) -> Result<FunctionAccount, String> {
    let few =
        || "fewer than three profiles, or a side without samples, are not compared".to_owned();
    let first = base.first().ok_or_else(few)?.record;
    let kinds = base.iter().chain(variant).map(|run| kind(run.record));
    if let Some(other) = kinds.into_iter().find(|other| *other != kind(first)) {
        return Err(format!("profiles of {} and of {other} are not compared", kind(first)));
    }
    let sides = [base, variant];
    let profiles = sides.map(|side| side.iter().map(|run| run.profile).collect::<Vec<_>>());
    let units = Units::of(Profiles {
        base: &profiles[0],
        variant: &profiles[1],
        scope,
        is_kernel_resolved: !CLOCKS.iter().any(|clock| first.event.starts_with(clock)),
    });
    let own: Vec<RunCounts> = units.units.iter().map(|unit| unit.own.clone()).collect();
    let comparison = compare_shares(&own, &units.totals).ok_or_else(few)?;
    let cpu = sides.map(|side| side.iter().map(|run| run.cpu_us_per_op).collect::<Vec<f64>>());
    let total = difference(&cpu[0], &cpu[1]).ok_or_else(few)?;
    let scale = Scale { units: &units, comparison: &comparison, total };
    Ok(scale.account(scope, with_inclusive))
}

/// Returns how a profile was sampled: what two that are compared have in common.
fn kind(record: &ProfileRecord) -> String {
    format!("{} at {} Hz with {}", record.event, record.hz, record.unwinder.phrase())
}

/// Shares, and what they are shares of.
#[derive(Clone, Copy)]
struct Scale<'a> {
    units: &'a Units,
    comparison: &'a ShareComparison,
    total: MeanDifference,
}

impl Scale<'_> {
    fn account(&self, scope: Scope, with_inclusive: bool) -> FunctionAccount {
        let found = findings(&self.units.units, self.comparison);
        let listed = self.functions(&found.listed);
        let total = self.total;
        let common_us = self.comparison.common.factor * total.variant - total.base;
        let sum: f64 = listed.iter().map(|one| one.difference_us).sum();
        let by_group = self.units.by_group.iter();
        FunctionAccount {
            scope,
            total,
            listed,
            common_us,
            common_interval_us: self.common_interval(common_us),
            rest_us: total.difference - common_us - sum,
            by_group: by_group.map(|(group, counts)| (*group, self.cost(counts))).collect(),
            tested: self.comparison.tested,
            moved: found.moved,
            samples: self.units.totals.sums(),
            inclusive: with_inclusive.then(|| self.functions(&self.inclusive())),
        }
    }

    /// Returns the limits of the common difference: errors of the CPU and of the factor.
    ///
    /// Source: propagation of independent errors [Snedecor Cochran 1989].
    fn common_interval(&self, common_us: f64) -> Option<(f64, f64)> {
        let (low, high) = self.total.interval?;
        let CommonFactor { factor, log_error } = self.comparison.common;
        let own = self.comparison.half_width(factor * log_error, 1.0 - LEVEL) * self.total.variant;
        let half = f64::midpoint(high, -low).hypot(own);
        Some((common_us - half, common_us + half))
    }

    /// Returns the functions of findings, the largest difference first.
    fn functions(&self, findings: &[Finding]) -> Vec<FunctionDifference> {
        let mut all: Vec<_> = findings.iter().map(|finding| self.function(finding)).collect();
        all.sort_by(|a, b| b.difference_us.abs().total_cmp(&a.difference_us.abs()));
        all
    }

    fn function(&self, finding: &Finding) -> FunctionDifference {
        let Finding { difference, adjusted_p, counts, .. } = finding;
        let members = || finding.members.iter().map(|unit| &self.units.units[*unit]);
        let first = &self.units.units[finding.members[0]];
        let difference_us = difference.difference * self.total.variant;
        // The interval has the level of the test, so that it excludes 0 where that lists.
        let most = model::float(self.units.units.len());
        let tests = adjusted_p / difference.p;
        let tests = if tests.is_finite() { tests.clamp(1.0, most) } else { most };
        let half = self.comparison.half_width(difference.error, 1.0 - LEVEL / tests);
        let half = half * self.total.variant;
        let share = difference_us / self.total.difference;
        let [base, variant] = counts.sums();
        let merged = members().filter(|_| finding.members.len() > 1);
        let parts = members().flat_map(|unit| &unit.parts);
        FunctionDifference {
            group: first.group,
            name: first.name.clone(),
            cost: self.cost(counts),
            difference_us,
            interval_us: (difference_us - half, difference_us + half),
            adjusted_p: *adjusted_p,
            share_of_difference: share.is_finite().then_some(share),
            is_new: base == 0,
            is_gone: variant == 0,
            parts: parts.map(|(name, counts)| (name.clone(), self.cost(counts))).collect(),
            merged: merged.map(|unit| (unit.name.clone(), self.cost(&unit.own))).collect(),
        }
    }

    fn cost(&self, counts: &RunCounts) -> FunctionCost {
        let ShareDifference { base, variant, .. } = self.comparison.difference(counts);
        FunctionCost { base_us: base * self.total.base, variant_us: variant * self.total.variant }
    }

    /// Tests the samples of stacks with a function, by the factor of own samples.
    fn inclusive(&self) -> Vec<Finding> {
        let units = self.units.units.iter().map(|unit| &unit.inclusive).enumerate();
        let large = units.filter(|(_, counts)| self.comparison.is_large(counts));
        let mut findings: Vec<Finding> = large
            .map(|(unit, counts)| Finding {
                members: vec![unit],
                counts: counts.clone(),
                difference: self.comparison.difference(counts),
                adjusted_p: 1.0,
            })
            .collect();
        let adjusted = holm(&findings.iter().map(|one| one.difference.p).collect::<Vec<f64>>());
        findings.iter_mut().zip(adjusted).for_each(|(one, p)| one.adjusted_p = p);
        findings.retain(|one| one.adjusted_p <= LEVEL);
        findings
    }
}
