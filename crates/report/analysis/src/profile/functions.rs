//! The account of an operation's CPU by function.

use std::collections::BTreeMap;

use serde::Serialize;
use stats::{
    CommonFactor, MeanDifference, RunCounts, ShareComparison, ShareDifference, compare_shares,
    difference,
};

use super::group::{Group, Scope};
use super::shift::{Finding, LEVEL, findings};
use super::side::{ProfiledRun, sampled_differently};
use super::unit::{Profiles, Units};

/// Beginnings of the names of timers, whose interrupts the kernel delays.
///
/// Source: `PERF_TYPE_SOFTWARE` [perf_event_open 2].
const CLOCKS: [&str; 2] = ["cpu-clock", "task-clock"];

/// Share of the samples above which a function stands for the whole.
///
/// Our choice: the client's loop has 96 to 98 % of the samples of an embedded engine.
const WHOLE: f64 = 0.95;

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
    /// Difference beyond the factor of all functions, us per operation.
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

/// Runs of a side without a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The variant.
    pub variant: String,
    /// Its runs.
    pub runs: usize,
    /// Those of them with a profile.
    pub profiled: usize,
    /// Why the first one without a profile has none.
    pub reason: String,
}

/// The difference of an operation's CPU, by function.
///
/// `total.difference = the listed differences + same_factor_us + rest_us`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionAccount {
    /// What was compared.
    pub scope: Scope,
    /// CPU of the scope, us per operation.
    pub total: MeanDifference,
    /// Functions whose difference is established, the largest difference first.
    pub listed: Vec<FunctionDifference>,
    /// Difference by the factor by which unchanged functions differ, us per operation: a slower
    /// clock, neighbours, or code that is slower everywhere.
    pub same_factor_us: f64,
    /// 95 % limits of the difference by that factor; `None` with one run on a side.
    pub same_factor_interval_us: Option<(f64, f64)>,
    /// Difference of all functions that are not listed, beyond the factor, us per operation.
    pub rest_us: f64,
    /// CPU of each group with samples, by the sampled function itself.
    pub by_group: BTreeMap<Group, FunctionCost>,
    /// Number of functions that were tested.
    pub tested: usize,
    /// Functions between which cost moved: sums without an established difference.
    pub moved: Vec<BTreeMap<String, FunctionCost>>,
    /// The sides of which not all runs have a profile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Samples of the base and of the variant.
    pub samples: [u64; 2],
    /// Functions that differ together with all they call; they overlap, and do not add up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inclusive: Option<Vec<FunctionDifference>>,
}

/// Compares the CPU per operation of two sides by function.
///
/// CPU of a function is its share of the samples, times the mean CPU per operation of its side. The
/// first side is the base; runs whose CPU is unknown do not count.
///
/// # Errors
/// A text that names why: profiles of different events, frequencies or unwinders, or too few.
///
/// Source: [`compare_shares`], the test.
pub fn compare(
    sides: [&[ProfiledRun<'_>]; 2],
    scope: Scope,
    with_inclusive: bool,
) -> Result<FunctionAccount, String> {
    let few =
        || "fewer than three profiles, or a side without samples, are not compared".to_owned();
    let (runs, target) = (sides.concat(), scope.target());
    if let Some(ways) = sampled_differently(&runs, &[target]) {
        return Err(format!("the runs were sampled in different ways, {ways}"));
    }
    let mut events = runs.iter().filter_map(|run| Some(&run.step.profile(target)?.event));
    let is_clock = |event: &String| CLOCKS.iter().any(|clock| event.starts_with(clock));
    let is_kernel_resolved = !events.any(is_clock);
    let units = Units::of(Profiles { sides, scope, is_kernel_resolved });
    let own: Vec<RunCounts> = units.units.iter().map(|unit| unit.own.clone()).collect();
    let comparison = compare_shares(&own, &units.totals).ok_or_else(few)?;
    let cpu_us = |run: &ProfiledRun<'_>| scope.cpu_us_per_op(run.step);
    let cpu = sides.map(|side| side.iter().filter_map(cpu_us).collect::<Vec<f64>>());
    let total = difference(&cpu[0], &cpu[1]).ok_or_else(few)?;
    let scale = Scale { units: &units, comparison: &comparison, total };
    Ok(scale.account(scope, with_inclusive))
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
        let same_factor_us = self.comparison.common.factor * total.variant - total.base;
        let sum: f64 = listed.iter().map(|one| one.difference_us).sum();
        let by_group = self.units.by_group.iter();
        FunctionAccount {
            scope,
            total,
            listed,
            same_factor_us,
            same_factor_interval_us: self.same_factor_interval(same_factor_us),
            rest_us: total.difference - same_factor_us - sum,
            by_group: by_group.map(|(group, counts)| (*group, self.cost(counts))).collect(),
            tested: self.comparison.tested,
            moved: found.moved.iter().map(|members| self.members(members)).collect(),
            left_out: Vec::new(),
            samples: self.units.totals.sums(),
            inclusive: with_inclusive.then(|| self.functions(&self.inclusive())),
        }
    }

    /// Returns the limits of the difference by the factor, from the errors of CPU and factor.
    ///
    /// Source: propagation of independent errors [Snedecor Cochran 1989].
    fn same_factor_interval(&self, same_factor_us: f64) -> Option<(f64, f64)> {
        let (low, high) = self.total.interval?;
        let CommonFactor { factor, log_error } = self.comparison.common;
        let own = self.comparison.half_width(factor * log_error, 1.0 - LEVEL) * self.total.variant;
        let half = f64::midpoint(high, -low).hypot(own);
        Some((same_factor_us - half, same_factor_us + half))
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
        let is_sum = finding.members.len() > 1;
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
            merged: if is_sum { self.members(&finding.members) } else { BTreeMap::new() },
        }
    }

    fn members(&self, members: &[usize]) -> BTreeMap<String, FunctionCost> {
        let units = members.iter().map(|unit| &self.units.units[*unit]);
        units.map(|unit| (unit.name.clone(), self.cost(&unit.own))).collect()
    }

    fn cost(&self, counts: &RunCounts) -> FunctionCost {
        let ShareDifference { base, variant, .. } = self.comparison.difference(counts);
        FunctionCost { base_us: base * self.total.base, variant_us: variant * self.total.variant }
    }

    /// Tests the samples of stacks with a function, by the factor of own samples.
    ///
    /// What is below nearly all samples, as the entry of a thread, has the difference of the whole.
    fn inclusive(&self) -> Vec<Finding> {
        let counts: Vec<RunCounts> =
            self.units.units.iter().map(|unit| unit.inclusive.clone()).collect();
        let differences = self.comparison.differences(&counts);
        let all = differences.into_iter().zip(counts).enumerate();
        let finding = |(unit, (difference, counts)): (usize, (ShareDifference, RunCounts))| {
            let is_whole = difference.base.min(difference.variant) > WHOLE;
            let adjusted_p = difference.adjusted_p.filter(|p| *p <= LEVEL && !is_whole)?;
            Some(Finding { members: vec![unit], counts, difference, adjusted_p })
        };
        all.filter_map(finding).collect()
    }
}
