//! What one step shows, in a plain English sentence that claims no more than the runs show.
//!
//! Not a verdict: "more" and "less" are said of runs that were made, and where the ranges of two
//! variants overlap, that is said instead.

use analysis::{CellComparison, Comparison, Measured, StepComparison};

use crate::figure;
use crate::label::{THROUGHPUT, step_heading};

/// Returns the sentences about throughput in one step; `None` when nothing was measured.
pub(crate) fn step_sentence(comparison: &Comparison, step: &StepComparison) -> Option<String> {
    let mut known: Vec<Known<'_>> = step.cells.iter().filter_map(Known::of).collect();
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
        sentences.extend(overlaps(&others));
    }
    sentences.extend(unknown(step));
    Some(sentences.join(" "))
}

/// A variant whose throughput in the step is known.
struct Known<'a> {
    cell: &'a CellComparison,
    measured: &'a Measured,
}

impl<'a> Known<'a> {
    fn of(cell: &'a CellComparison) -> Option<Self> {
        cell.metric(THROUGHPUT).map(|measured| Self { cell, measured })
    }

    fn name(&self) -> &'a str {
        &self.cell.variant
    }

    /// Returns "3.52 times ... (range 3.43 to 3.61, n=3)" without what it is times of.
    fn times(&self) -> String {
        self.measured.versus_base.as_ref().map_or_else(
            || format!("{} (its own figure)", alone(self.measured)),
            |versus| {
                let n = self.measured.spread.n;
                let ratio = figure::ratio(versus.ratio);
                if n < 2 {
                    return format!("{ratio} times (n=1)");
                }
                let (low, high) = (figure::ratio(versus.low), figure::ratio(versus.high));
                format!("{ratio} times (range {low} to {high}, n={n})")
            },
        )
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
    let range = figure::range(unit, spread).replace("..", " to ");
    format!("{median} operations per second (range {range}, n={})", spread.n)
}

/// Returns the sentence of the only comparison there is.
fn pair(heading: &str, only: &Known<'_>, base: &str) -> String {
    let times = only.times();
    let name = only.name();
    let Some(versus) = only.measured.versus_base else {
        return format!("{heading}: {name} did {times}; {base} gives no ratio.");
    };
    let said = format!("{heading}: {name} did {times} the operations per second of {base}");
    if versus.is_separated {
        format!("{said}.")
    } else if only.measured.spread.n < 2 {
        format!("{said}; one run shows no difference to be more than noise.")
    } else {
        format!("{said}; the ranges overlap, so these runs show no difference.")
    }
}

/// Returns the sentence about the highest and the lowest of several variants.
fn extremes(heading: &str, descending: &[Known<'_>], base: &str) -> String {
    let (Some(first), Some(last)) = (descending.first(), descending.last()) else {
        return String::new();
    };
    let rival = |one: &Known<'_>, other: Option<&Known<'_>>, most: &str, highest: &str| match other
        .filter(|other| !one.is_apart_from(other))
    {
        Some(other) => format!("had the {highest} median, overlapping {}", other.name()),
        None => format!("did the {most}"),
    };
    let tell = |one: &Known<'_>, claim: String| {
        if one.name() == base {
            format!("the base {base} {claim}, {}", alone(one.measured))
        } else {
            format!("{} {claim}, {} the base", one.name(), one.times())
        }
    };
    let top = tell(first, rival(first, descending.get(1), "most", "highest"));
    let second_last = descending.len().checked_sub(2).and_then(|index| descending.get(index));
    let bottom = tell(last, rival(last, second_last, "least", "lowest"));
    format!("{heading}: {top}; {bottom}.")
}

/// Returns which variants cannot be told from the base.
fn overlaps(others: &[&Known<'_>]) -> Option<String> {
    let is_close =
        |one: &&&Known<'_>| one.measured.versus_base.is_some_and(|versus| !versus.is_separated);
    let close: Vec<&str> = others.iter().filter(is_close).map(|one| one.name()).collect();
    if close.is_empty() {
        return None;
    }
    if others.iter().all(|one| one.measured.spread.n < 2) {
        return Some("With one run each, no difference is shown to be more than noise.".to_owned());
    }
    let verb = if close.len() == 1 { "overlaps" } else { "overlap" };
    let noun = if close.len() == 1 { "range" } else { "ranges" };
    Some(format!(
        "The {noun} of {} {verb} the base's: these runs show no difference there.",
        list(&close)
    ))
}

/// Returns which variants have no figure.
fn unknown(step: &StepComparison) -> Option<String> {
    let without = step.cells.iter().filter(|cell| cell.metric(THROUGHPUT).is_none());
    let names: Vec<&str> = without.map(|cell| cell.variant.as_str()).collect();
    (!names.is_empty()).then(|| format!("No run of {} finished it.", list(&names)))
}

/// Returns `a`, `a and b`, or `a, b and c`.
fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use analysis::{Spread, Versus};

    use super::*;

    /// A comparison of one step from each variant's median, min and max.
    fn comparison(cells: &[(&str, u32, [f64; 3])]) -> Comparison {
        let spread = |n: u32, [median, min, max]: [f64; 3]| Spread { n, median, min, max };
        let base = spread(cells[0].1, cells[0].2);
        let cell = |(name, n, values): &(&str, u32, [f64; 3])| {
            let spread = spread(*n, *values);
            let versus_base = (*name != cells[0].0).then(|| Versus::of(&spread, &base).unwrap());
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
        let step = StepComparison { index: 0, name: "readrandom".to_owned(), clients: 1, cells };
        Comparison {
            base,
            repetitions: 3,
            variants: Vec::new(),
            steps: vec![step],
            runs: Vec::new(),
            incomplete: Vec::new(),
            doubts: Vec::new(),
        }
    }

    fn said(cells: &[(&str, u32, [f64; 3])]) -> String {
        let comparison = comparison(cells);
        step_sentence(&comparison, &comparison.steps[0]).unwrap()
    }

    const BASE: (&str, u32, [f64; 3]) = ("old", 3, [1_000.0, 990.0, 1_010.0]);

    #[test]
    fn two_variants_whose_ranges_overlap_are_not_told_apart() {
        insta::assert_snapshot!(said(&[BASE, ("new", 3, [1_020.0, 1_005.0, 1_030.0])]), @"");
        insta::assert_snapshot!(said(&[BASE, ("new", 3, [3_500.0, 3_450.0, 3_530.0])]), @"");
        insta::assert_snapshot!(said(&[BASE, ("new", 1, [3_500.0; 3])]), @"");
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
        ];
        insta::assert_snapshot!(said(&cells), @"");
    }

    #[test]
    fn a_base_that_is_the_best_is_called_so() {
        let cells = [BASE, ("a", 3, [500.0, 450.0, 530.0]), ("b", 3, [300.0, 290.0, 320.0])];
        insta::assert_snapshot!(said(&cells), @"");
        insta::assert_snapshot!(said(&[BASE]), @"");
    }
}
