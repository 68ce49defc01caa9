//! What one step shows, in a plain English sentence that claims no more than the runs show.
//!
//! Not a verdict: "more" and "less" are said of runs that were made, and where the ranges of two
//! variants overlap, that is said instead.

use analysis::{CellComparison, Comparison, Measured, StepComparison};
use stats::{Effect, Verdict};

use crate::figure;
use crate::label::{THROUGHPUT, step_heading};

/// What a sentence is about: a metric in operations per second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) metric: &'static str,
    /// What is said of variants without a figure, with `{}` in place of their names.
    pub(crate) missing: &'static str,
}

impl Claim {
    /// Throughput of a closed loop.
    pub(crate) const THROUGHPUT: Self =
        Self { metric: THROUGHPUT, missing: "No run of {} finished it." };
}

/// Returns the sentences about one step; `None` when nothing was measured of the base.
pub(crate) fn step_sentence(
    comparison: &Comparison,
    step: &StepComparison,
    claim: Claim,
) -> Option<String> {
    let of = |cell| Known::of(cell, claim.metric);
    let mut known: Vec<Known<'_>> = step.cells.iter().filter_map(of).collect();
    known.sort_by(|a, b| b.measured.spread.median.total_cmp(&a.measured.spread.median));
    let base = known.iter().find(|one| one.name() == comparison.base)?.measured;
    let heading = step_heading(comparison, step);
    let others: Vec<&Known<'_>> =
        known.iter().filter(|one| one.name() != comparison.base).collect();
    let mut sentences = match &others[..] {
        [] => vec![format!("{heading}: {} did {}.", comparison.base, alone(base))],
        [only] => vec![pair(&heading, only, &comparison.base)],
        [..] => vec![extremes(&heading, &known, &comparison.base)],
    };
    if others.len() > 1 {
        sentences.extend(not_apart(&others));
    }
    sentences.extend(unknown(step, claim));
    Some(sentences.join(" "))
}

/// A variant whose figure in the step is known.
struct Known<'a> {
    cell: &'a CellComparison,
    measured: &'a Measured,
}

impl<'a> Known<'a> {
    fn of(cell: &'a CellComparison, metric: &str) -> Option<Self> {
        cell.metric(metric).map(|measured| Self { cell, measured })
    }

    fn name(&self) -> &'a str {
        &self.cell.variant
    }

    /// Returns "3.52 times the base (range 3.43 to 3.61, n=3)".
    fn times(&self, base: &str) -> String {
        let Some(versus) = &self.measured.versus_base else { return alone(self.measured) };
        let n = self.measured.spread.n;
        let ratio = figure::ratio(versus.ratio);
        let Some(interval) = versus.interval else {
            return format!("{ratio} times {base} (n={n})");
        };
        let (low, high) = (figure::ratio(interval.low), figure::ratio(interval.high));
        format!("{ratio} times {base} (95 % interval {low} to {high}, n={n})")
    }

    /// Returns whether the runs of both tell them apart.
    fn is_apart_from(&self, other: &Known<'_>) -> bool {
        let (one, two) = (self.measured.spread, other.measured.spread);
        one.n > 1 && two.n > 1 && !one.overlaps(&two)
    }
}

fn alone(measured: &Measured) -> String {
    let unit = model::Unit::OpsPerSecond;
    let spread = &measured.spread;
    let median = figure::figure(unit, spread.median);
    if spread.n < 2 {
        return format!("{median} operations per second (n=1)");
    }
    let (low, high) = (figure::figure(unit, spread.min), figure::figure(unit, spread.max));
    format!("{median} operations per second (range {low} to {high}, n={})", spread.n)
}

/// Returns the sentence of the only comparison there is.
fn pair(heading: &str, only: &Known<'_>, base: &str) -> String {
    let name = only.name();
    let Some(versus) = only.measured.versus_base else {
        return format!("{heading}: {name} did {}; {base} did none.", alone(only.measured));
    };
    let times = only.times("the operations per second");
    let (times, of) = times.split_once(" (").unwrap_or((&times, ""));
    let said = format!("{heading}: {name} did {times} of {base} ({of}");
    if versus.verdict != Verdict::Inconclusive {
        format!("{said}.")
    } else if is_overlap(&versus) {
        format!("{said}; the ranges overlap: these runs do not tell the two apart.")
    } else {
        format!("{said}; with so few runs this may be noise.")
    }
}

/// Returns whether the ranges behind a ratio have a value in common, where there are ranges.
fn is_overlap(versus: &Effect) -> bool {
    versus.interval.is_some_and(|interval| interval.low <= 1.0 && interval.high >= 1.0)
}

/// Returns the sentence about the highest and the lowest of several variants.
fn extremes(heading: &str, descending: &[Known<'_>], base: &str) -> String {
    let (Some(first), Some(last)) = (descending.first(), descending.last()) else {
        return String::new();
    };
    let claim = |one: &Known<'_>, rival: Option<&Known<'_>>, sure: &str, unsure: &str| {
        let Some(rival) = rival.filter(|rival| !one.is_apart_from(rival)) else {
            return format!("did the {sure} operations per second");
        };
        let (name, overlaps) = (rival.name(), one.measured.spread.overlaps(&rival.measured.spread));
        let why = if overlaps {
            format!("its range overlaps {name}'s")
        } else {
            format!("with too few runs to tell it from {name}")
        };
        format!("had the {unsure} median throughput ({why})")
    };
    let tell = |one: &Known<'_>, claim: String| {
        if one.name() == base {
            let figure = alone(one.measured).replace(" operations per second", "");
            format!("the base, {base}, {claim}: {figure}")
        } else {
            format!("{} {claim}: {}", one.name(), one.times("the base"))
        }
    };
    let top = tell(first, claim(first, descending.get(1), "most", "highest"));
    let before_last = descending.len().checked_sub(2).and_then(|index| descending.get(index));
    let bottom = tell(last, claim(last, before_last, "fewest", "lowest"));
    let bottom = bottom.replace("did the fewest operations per second", "did the fewest");
    format!("{heading}: {top}; {bottom}.")
}

/// Returns which variants the runs do not tell from the base, and why not.
fn not_apart(others: &[&Known<'_>]) -> Vec<String> {
    let names = |is: fn(&Effect) -> bool| {
        let is = |one: &&&Known<'_>| {
            one.measured
                .versus_base
                .is_some_and(|versus| versus.verdict == Verdict::Inconclusive && is(&versus))
        };
        others.iter().filter(is).map(|one| one.name()).collect::<Vec<_>>()
    };
    let mut sentences = Vec::new();
    match &names(is_overlap)[..] {
        [] => {}
        [only] => sentences.push(format!(
            "The range of {only} overlaps the base's: these runs do not tell the two apart."
        )),
        many => sentences.push(format!(
            "The ranges of {} overlap the base's: these runs do not tell them from the base.",
            list(many)
        )),
    }
    let few = names(|versus| !is_overlap(versus));
    if !few.is_empty() {
        sentences.push(format!(
            "With so few runs the ratio of {} to the base may be noise.",
            list(&few)
        ));
    }
    sentences
}

/// Returns which variants have no figure.
fn unknown(step: &StepComparison, claim: Claim) -> Option<String> {
    let without = step.cells.iter().filter(|cell| cell.metric(claim.metric).is_none());
    let names: Vec<&str> = without.map(|cell| cell.variant.as_str()).collect();
    (!names.is_empty()).then(|| claim.missing.replace("{}", &list(&names)))
}

/// Returns `a`, `a and b`, or `a, b and c`.
pub(crate) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use analysis::Spread;

    use super::*;
    use crate::comparison::fill;

    /// A comparison of one step from each variant's median, min and max.
    fn comparison(cells: &[(&str, u32, [f64; 3])]) -> Comparison {
        let spread = |n: u32, [median, min, max]: [f64; 3]| Spread { n, median, min, max };
        let base = spread(cells[0].1, cells[0].2);
        let runs_of = |spread: &Spread| match spread.n {
            0 | 1 => vec![spread.median],
            _ => vec![spread.min, spread.median, spread.max],
        };
        let cell = |(name, n, values): &(&str, u32, [f64; 3])| {
            let spread = spread(*n, *values);
            let versus_base = (*name != cells[0].0).then(|| {
                stats::judge(
                    &runs_of(&base),
                    &runs_of(&spread),
                    &stats::Design {
                        margin: 0.02,
                        prior: None,
                        is_paired: false,
                        assumed_cov: 0.02,
                    },
                )
                .unwrap()
            });
            let measured = Measured { spread, versus_base };
            CellComparison {
                variant: (*name).to_owned(),
                runs: *n,
                metrics: if *n == 0 {
                    BTreeMap::new()
                } else {
                    BTreeMap::from([(THROUGHPUT.to_owned(), measured)])
                },
            }
        };
        let cells: Vec<CellComparison> = cells.iter().map(cell).collect();
        let base = cells[0].variant.clone();
        let step = StepComparison {
            index: 0,
            name: "readrandom".to_owned(),
            clients: 1,
            cells,
            ..StepComparison::default()
        };
        Comparison { base, repetitions: 3, steps: vec![step], ..Comparison::default() }
    }

    fn said(cells: &[(&str, u32, [f64; 3])]) -> String {
        let comparison = comparison(cells);
        fill(&step_sentence(&comparison, &comparison.steps[0], Claim::THROUGHPUT).unwrap(), 72)
    }

    const BASE: (&str, u32, [f64; 3]) = ("old", 3, [1_000.0, 990.0, 1_010.0]);

    #[test]
    fn two_variants_whose_ranges_overlap_are_not_told_apart() {
        insta::assert_snapshot!(said(&[BASE, ("new", 3, [1_020.0, 1_005.0, 1_030.0])]), @r"
        readrandom: new did 1.02 times the operations per second of old (range
        1.00 to 1.04, n=3); the ranges overlap: these runs do not tell the two
        apart.
        ");
        insta::assert_snapshot!(said(&[BASE, ("new", 3, [3_500.0, 3_450.0, 3_530.0])]), @r"
        readrandom: new did 3.50 times the operations per second of old (range
        3.42 to 3.57, n=3).
        ");
        insta::assert_snapshot!(said(&[BASE, ("new", 1, [3_500.0; 3])]), @r"
        readrandom: new did 3.50 times the operations per second of old (n=1);
        with so few runs this may be noise.
        ");
    }

    #[test]
    fn of_several_the_extremes_are_named_and_ties_are_admitted() {
        let cells = [
            BASE,
            ("a", 3, [3_500.0, 3_450.0, 3_530.0]),
            ("b", 3, [3_400.0, 3_300.0, 3_460.0]),
            ("c", 3, [1_005.0, 980.0, 1_020.0]),
            ("d", 3, [300.0, 290.0, 320.0]),
            ("e", 0, [0.0; 3]),
            ("f", 1, [1_200.0; 3]),
        ];
        insta::assert_snapshot!(said(&cells), @r"
        readrandom: a had the highest median throughput (its range overlaps
        b's): 3.50 times the base (range 3.42 to 3.57, n=3); d did the fewest:
        0.30 times the base (range 0.29 to 0.32, n=3). The range of c overlaps
        the base's: these runs do not tell the two apart. With so few runs the
        ratio of f to the base may be noise. No run of e finished it.
        ");
    }

    #[test]
    fn a_base_that_is_the_best_is_called_so() {
        let cells = [BASE, ("a", 3, [500.0, 450.0, 530.0]), ("b", 3, [300.0, 290.0, 320.0])];
        insta::assert_snapshot!(said(&cells), @r"
        readrandom: the base, old, did the most operations per second: 1.00 k
        (range 990 to 1.01 k, n=3); b did the fewest: 0.30 times the base (range
        0.29 to 0.32, n=3).
        ");
        insta::assert_snapshot!(said(&[BASE]), @r"
        readrandom: old did 1.00 k operations per second (range 990 to 1.01 k,
        n=3).
        ");
    }
}
