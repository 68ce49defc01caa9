//! Cost that moved between related functions, tested as a sum.

use std::collections::BTreeSet;

use stats::{RunCounts, ShareComparison, ShareDifference};

use super::unit::Unit;

/// Level at which a function is listed.
pub(super) const LEVEL: f64 = 0.05;
/// Least difference of a function that cost may have moved from or to, in standard errors.
///
/// Our choice: the 5 % level of a normal variable for one function alone.
const RELATED_FROM: f64 = 1.96;
/// Least difference of the first caller or callee, in standard errors.
///
/// Our choice: of two functions between which cost moved, a test at the limit of its power finds
/// one; in simulations every tenth campaign then listed it.
const CLOSE_FROM: f64 = 1.0;

/// An established difference of one function, or of several between which cost moved.
#[derive(Debug)]
pub(super) struct Finding {
    /// Positions of the functions, the most significant one first.
    pub members: Vec<usize>,
    /// Their samples.
    pub counts: RunCounts,
    /// The difference of their sum.
    pub difference: ShareDifference,
    /// Its p-value, adjusted for the number of functions.
    pub adjusted_p: f64,
}

/// The established differences.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// The differences, the most significant one first.
    pub listed: Vec<Finding>,
    /// Functions that differ, each with related ones, whose sum is not established.
    pub moved: Vec<Vec<usize>>,
}

/// Returns the established differences, after cost that moved is summed.
///
/// A function that differs is summed with its callers, its callees and the other callees of its
/// callers, if they differ in the opposite direction, as long as one brings the sum nearer to 0.
/// The sum is tested at Bonferroni's level, as the choice of its members depends on the samples.
/// Where it is established, the members that noise alone may have chosen are left out.
///
/// Source: our choice; [Holm 1979] for single functions.
pub(super) fn findings(units: &[Unit], comparison: &ShareComparison) -> Findings {
    let all = &comparison.categories;
    let is_listed = |unit: &usize| all[*unit].adjusted_p.is_some_and(|p| p <= LEVEL);
    let mut seeds: Vec<usize> = (0..units.len()).filter(is_listed).collect();
    seeds.sort_by(|a, b| all[*b].t().abs().total_cmp(&all[*a].t().abs()));
    let mut used = BTreeSet::new();
    let mut found = Findings::default();
    for seed in seeds {
        if used.contains(&seed) {
            continue;
        }
        let finding = sum_with_related(seed, &used, units, comparison);
        used.extend(&finding.members);
        if finding.adjusted_p <= LEVEL {
            found.listed.push(finding);
        } else {
            found.moved.push(finding.members);
        }
    }
    found
}

fn sum_with_related(
    seed: usize,
    used: &BTreeSet<usize>,
    units: &[Unit],
    comparison: &ShareComparison,
) -> Finding {
    let all = &comparison.categories;
    let opposite = |unit: &usize| -all[*unit].t() * all[seed].t().signum();
    let (mut sum, mut large) = (all[seed].difference, 0);
    let mut members = vec![seed];
    // Callers and callees first: among many siblings noise often fits better.
    for (is_related, first_from) in
        [(is_caller_or_callee as Relation, Some(CLOSE_FROM)), (has_same_caller, None)]
    {
        let mut related: Vec<usize> = (0..units.len())
            .filter(|unit| !used.contains(unit) && !members.contains(unit))
            .filter(|unit| is_related(seed, *unit, units))
            .collect();
        let tested = related.iter().filter(|unit| all[**unit].adjusted_p.is_some()).count();
        large += tested;
        let mut from = first_from.unwrap_or(RELATED_FROM);
        // Of forty siblings one differs by two standard errors by chance.
        let is_clear =
            |unit: &usize| first_from.is_some() || all[*unit].p * model::float(tested) <= LEVEL;
        loop {
            let rest = |unit: &usize| (sum + all[*unit].difference).abs();
            let is_next =
                |unit: &&usize| opposite(unit) >= from && rest(unit) < sum.abs() && is_clear(unit);
            let next = related.iter().filter(is_next).min_by(|a, b| rest(a).total_cmp(&rest(b)));
            let Some(next) = next.copied() else { break };
            related.retain(|unit| *unit != next);
            sum += all[next].difference;
            members.push(next);
            from = RELATED_FROM;
        }
    }
    let finding = test_sum(members.clone(), units, comparison);
    if finding.adjusted_p > LEVEL {
        return finding;
    }
    members.retain(|unit| *unit == seed || all[*unit].p * model::float(large) <= LEVEL);
    let clear = test_sum(members, units, comparison);
    if clear.adjusted_p <= LEVEL { clear } else { finding }
}

/// Tests the sum of functions; one alone has Holm's p-value.
fn test_sum(members: Vec<usize>, units: &[Unit], comparison: &ShareComparison) -> Finding {
    let mut counts = units[members[0]].own.clone();
    members[1..].iter().for_each(|unit| counts.add(&units[*unit].own));
    let difference = comparison.difference(&counts);
    let own = comparison.categories[members[0]].adjusted_p.filter(|_| members.len() == 1);
    let bonferroni = (difference.p * model::float(comparison.tested)).min(1.0);
    Finding { members, counts, difference, adjusted_p: own.unwrap_or(bonferroni) }
}

/// Whether two functions are related.
type Relation = fn(usize, usize, &[Unit]) -> bool;

fn is_caller_or_callee(one: usize, other: usize, units: &[Unit]) -> bool {
    units[one].callers.contains(&other) || units[other].callers.contains(&one)
}

fn has_same_caller(one: usize, other: usize, units: &[Unit]) -> bool {
    !units[one].callers.is_disjoint(&units[other].callers)
}
