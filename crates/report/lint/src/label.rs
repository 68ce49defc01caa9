//! Labels of comparisons, runs and plans, and the verdicts that findings block.

use analysis::{CellComparison, Comparison};
use model::{Experiment, Label, RunRecord, StepRecord};

use crate::finding::LintFinding;

/// Returns the label that follows from these findings alone.
pub fn label(found: &[LintFinding]) -> Label {
    Label::of(found.iter().map(LintFinding::weight).max())
}

/// Returns the label of a comparison: that of the steps its question is about.
///
/// Findings that concern only steps that prepare these do not count.
pub fn comparison_label(comparison: &Comparison, found: &[LintFinding]) -> Label {
    if comparison.has_nothing() {
        return Label::Nothing;
    }
    let label = worst(found, |step| comparison.is_preparatory(step));
    if comparison.has_decided_nothing() { label.max(Label::Undecided) } else { label }
}

/// Returns the label of one run: that of the steps its experiment's question is about.
pub fn run_label(experiment: &Experiment, run: &RunRecord, found: &[LintFinding]) -> Label {
    let has_result = |step: &StepRecord| {
        let has_found = step.search.as_ref().is_none_or(|search| search.found.is_some());
        let has_done = step.settle.is_some() || crate::facts::operations(step).is_some();
        has_found && has_done && experiment.answers_question(&step.step.name)
    };
    if run.invalid.is_some() || !run.steps.iter().any(has_result) {
        return Label::Nothing;
    }
    worst(found, |step| experiment.is_preparatory(step))
}

/// Returns the label of the findings that are about more than preparatory steps.
fn worst(found: &[LintFinding], is_preparatory: impl Fn(&str) -> bool) -> Label {
    let counts = |one: &&LintFinding| is_about(one, &is_preparatory);
    Label::of(found.iter().filter(counts).map(LintFinding::weight).max())
}

/// Returns whether a finding is about more than preparatory steps.
fn is_about(one: &LintFinding, is_preparatory: &impl Fn(&str) -> bool) -> bool {
    one.place.steps.is_empty() || !one.place.steps.iter().all(|step| is_preparatory(step))
}

/// Marks the verdicts that findings block: those of their steps and variants, the base's too.
///
/// Whole runs are blocked by what is about more than preparatory steps.
pub fn block_verdicts(comparison: &mut Comparison, found: &[LintFinding]) {
    let blocking: Vec<&LintFinding> = found.iter().filter(|one| one.is_blocking()).collect();
    if blocking.is_empty() {
        return;
    }
    let of_runs: Vec<&LintFinding> = blocking
        .iter()
        .filter(|one| is_about(one, &|step: &str| comparison.is_preparatory(step)))
        .copied()
        .collect();
    let base = comparison.base.clone();
    for step in &mut comparison.steps {
        let of_parts = step.parts.iter_mut().flat_map(|part| &mut part.cells);
        for cell in step.cells.iter_mut().chain(of_parts) {
            block_cell(cell, &base, |name| {
                blocking.iter().any(|one| one.concerns(Some(&step.name), name))
            });
        }
    }
    for cell in comparison.runs.iter_mut().flat_map(|runs| &mut runs.cells) {
        block_cell(cell, &base, |name| of_runs.iter().any(|one| one.concerns(None, name)));
    }
    for pair in comparison.trade_offs.iter_mut().flat_map(|one| &mut one.pairs) {
        let names = [pair.variant, pair.base].map(|at| &comparison.variants[at].name);
        let is_blocked = |name: &String| of_runs.iter().any(|one| one.concerns(None, name));
        pair.effect.is_blocked |= names.into_iter().any(is_blocked);
    }
    for held in comparison.published.iter_mut().flat_map(|one| &mut one.findings) {
        let published = &held.published;
        let is_blocked = [&published.variant, &published.base]
            .iter()
            .any(|name| blocking.iter().any(|one| one.concerns(Some(&published.step), name)));
        if let Ok(here) = &mut held.here {
            here.effect.is_blocked |= is_blocked;
        }
    }
}

/// Marks the verdicts of one variant where it or the base is blocked.
fn block_cell(cell: &mut CellComparison, base: &str, is_blocked: impl Fn(&str) -> bool) {
    if !is_blocked(&cell.variant) && !is_blocked(base) {
        return;
    }
    for effect in cell.metrics.values_mut().filter_map(|one| one.versus_base.as_mut()) {
        effect.is_blocked = true;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use analysis::{NoiseHistory, PartComparison, PartKind, PartName, compare};
    use model::StepRecord;
    use model::record::Severity;

    use super::*;
    use crate::finding::Place;
    use crate::testing::{experiment, runs, step};

    /// A blocking finding in a step of a variant.
    fn blocking(step: &str, variant: &str) -> LintFinding {
        let names = |name: &str| if name.is_empty() { vec![] } else { vec![name.to_owned()] };
        LintFinding {
            code: "A008",
            name: "client-bound",
            severity: Severity::Blocking,
            evidence: String::new(),
            remedy: String::new(),
            place: Place { steps: names(step), variants: names(variant), runs: Vec::new() },
            places: Vec::new(),
            waived: None,
        }
    }

    /// An experiment of `fillseq` and `readrandom` with three variants.
    fn compared() -> (Experiment, Comparison) {
        let (mut spec, mut runs) = (experiment(&["a", "b", "c"]), runs(&["a", "b", "c"]));
        let load = StepRecord { index: 0, ..step("fillseq") };
        spec.steps.insert(0, load.step.clone());
        for run in &mut runs {
            run.steps[0].index = 1;
            run.steps.insert(0, load.clone());
        }
        let mut comparison = compare(&runs, &spec, "a", &NoiseHistory::default()).unwrap();
        for step in &mut comparison.steps {
            let name = PartName { kind: PartKind::Procedure, name: "order".to_owned() };
            let cells = step.cells.clone();
            step.parts = vec![PartComparison { name, cells, plans: BTreeMap::new() }];
        }
        (spec, comparison)
    }

    /// Returns the blocked steps and variants.
    fn blocked(found: &LintFinding) -> Vec<(String, String)> {
        let (_, mut comparison) = compared();
        block_verdicts(&mut comparison, std::slice::from_ref(found));
        let mut all = Vec::new();
        for step in &comparison.steps {
            assert_eq!(step.parts[0].cells, step.cells, "a part is blocked as its step");
            for cell in &step.cells {
                let mut effects = cell.metrics.values().filter_map(|one| one.versus_base);
                if effects.any(|effect| effect.is_blocked) {
                    all.push((step.name.clone(), cell.variant.clone()));
                }
            }
        }
        all
    }

    #[test]
    fn finding_blocks_its_own_step_and_comparison_only() {
        let pair = |step: &str, variant: &str| (step.to_owned(), variant.to_owned());
        let both = |step: &str| vec![pair(step, "b"), pair(step, "c")];
        assert_eq!(blocked(&blocking("fillseq", "b")), [pair("fillseq", "b")]);
        assert_eq!(blocked(&blocking("readrandom", "a")), both("readrandom"), "of the base");
        assert_eq!(blocked(&blocking("", "")), [both("fillseq"), both("readrandom")].concat());
    }

    #[test]
    fn comparison_that_cannot_show_a_doubling_decides_nothing() {
        let (_, mut comparison) = compared();
        for cell in &mut comparison.steps[1].cells {
            for effect in cell.metrics.values_mut().filter_map(|one| one.versus_base.as_mut()) {
                (effect.detectable, effect.verdict) = (4.96, stats::Verdict::Inconclusive);
            }
        }
        assert_eq!(comparison_label(&comparison, &[]), Label::Undecided);
        let blocking = [blocking("readrandom", "b")];
        assert_eq!(comparison_label(&comparison, &blocking), Label::Bogus);
        let cell = &mut comparison.steps[1].cells[2];
        for effect in cell.metrics.values_mut().filter_map(|one| one.versus_base.as_mut()) {
            effect.verdict = stats::Verdict::Above;
        }
        assert_eq!(comparison_label(&comparison, &[]), Label::True, "one was found");
    }

    #[test]
    fn label_is_that_of_the_steps_the_question_is_about() {
        let (spec, mut comparison) = compared();
        let label = |comparison: &Comparison, step: &str| {
            comparison_label(comparison, &[blocking(step, "b")])
        };
        assert_eq!(label(&comparison, "fillseq"), Label::True);
        assert_eq!(label(&comparison, "readrandom"), Label::Bogus);
        assert_eq!(label(&comparison, ""), Label::Bogus);
        comparison.steps.retain(|step| step.name == "fillseq");
        assert_eq!(label(&comparison, "fillseq"), Label::Nothing, "only the load has figures");
        let mut run = runs(&["a"]).remove(0);
        assert_eq!(run_label(&spec, &run, &[]), Label::True);
        run.invalid = Some("60 of 60 intervals are invalid".to_owned());
        assert_eq!(run_label(&spec, &run, &[]), Label::Nothing);
        run.invalid = None;
        run.steps[0].step.name = "fillseq".to_owned();
        assert_eq!(run_label(&spec, &run, &[]), Label::Nothing, "it crashed in `readrandom`");
    }
}
