//! A015: reads that find nothing.

use model::record::Severity;
use model::sql::CallMix;
use model::step::name;
use model::{Experiment, StepRecord, percent};

use super::{Checks, Observation, Rule};
use crate::context::{ComparisonContext, RunContext};
use crate::facts::Sample;

pub(crate) static RULE: Rule = Rule {
    code: "A015",
    name: "reading nothing",
    severity: Severity::Blocking,
    trigger: "Blocking: more than half of a step's reads found nothing. Warning: more than 0.1 % \
              of a step's reads found nothing. Blocking: the share of reads that found nothing \
              differs between a variant and the base by more than one percentage point. The rule \
              does not report `readmissing`, whose reads are meant to find nothing, rows that are \
              missing after `deleterandom`, and steps of an application whose statements need not \
              return rows",
    why: "A read that finds no row does different work: filters answer it without reading data.",
    remedy: "load with `fillseq` or `filluniquerandom`, so that every row exists",
    source: "[Callaghan 2022-12-02] (reloaded to make sure all keys would exist); our choice: the \
             limit of 0.1 %",
    ..Rule::of(Checks { measured: &[lost], comparison: Some(comparison), ..Checks::NONE })
};

/// Share of reads that may find nothing. Our choice.
const SHARE: f64 = 0.001;
/// Share above which the step is about something else.
const BLOCKING: f64 = 0.5;
/// Difference of the shares of two variants that blocks a verdict: their requests differ.
const APART: f64 = 0.01;

fn lost(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let is_deleting =
        |one: &StepRecord| one.step.name == name::DELETERANDOM && one.index <= step.index;
    let is_expected = step.step.name != name::READMISSING
        && is_to_find(context.experiment, &step.step.name)
        && !context.run.steps.iter().any(is_deleting);
    let share = not_found(step).filter(|share| is_expected && *share > SHARE)?;
    let evidence = format!("{} of the operations found nothing", percent(share));
    Some(Observation::new(evidence).blocking_if(share > BLOCKING).ranked("share", share))
}

/// Returns whether a step's statements are to return rows: an application declares it.
fn is_to_find(experiment: &Experiment, step: &str) -> bool {
    let Some(application) = &experiment.application else { return true };
    let Some(own) = application.step(step) else { return true };
    let positions: Vec<u16> = match &own.clients {
        None => return true,
        Some(CallMix::Mix(weights)) => weights.iter().map(|(position, _)| *position).collect(),
        Some(CallMix::InTurn(list) | CallMix::Once(list)) => list.clone(),
    };
    let finds = |position: &u16| {
        let procedure = application.procedures.get(usize::from(*position));
        procedure.and_then(|known| known.rows_expected).is_some_and(|rows| rows >= 1.0)
    };
    positions.iter().all(finds)
}

fn not_found(step: &StepRecord) -> Option<f64> {
    let sum = |of: fn(&model::record::OpCounts) -> u64| -> u64 {
        step.clients.values().map(|one| of(&one.counts)).sum()
    };
    let done = sum(|counts| counts.done);
    (done > 0).then(|| sum(|counts| counts.not_found) as f64 / done as f64)
}

/// Compares what variants did not find, by their first runs.
fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let samples = context.samples();
    let share = |sample: &Sample<'_>| {
        let (run, _) = sample.runs.first()?;
        not_found(run.steps.iter().find(|step| step.index == sample.step.index)?)
    };
    let base = |sample: &Sample<'_>| {
        let is_base = |other: &&Sample<'_>| {
            other.variant == context.comparison.base
                && (other.step.index, other.step.clients)
                    == (sample.step.index, sample.step.clients)
        };
        samples.iter().find(is_base).and_then(share)
    };
    let is_to_find = |sample: &&Sample<'_>| is_to_find(context.experiment, &sample.step.name);
    let observe = |sample: &Sample<'_>| {
        let (own, base) = (share(sample)?, base(sample)?);
        ((own - base).abs() > APART).then(|| {
            let evidence = format!(
                "{} of the operations found nothing, against {} in the base",
                percent(own),
                percent(base)
            );
            let evidence =
                Observation::new(evidence).step(&sample.step.name).variant(sample.variant);
            evidence.ranked("apart", (own - base).abs())
        })
    };
    samples.iter().filter(is_to_find).filter_map(observe).collect()
}

#[cfg(test)]
mod tests {
    use model::OpKind;
    use model::record::Severity;
    use model::sql::Procedure;

    use super::*;
    use crate::testing::{application, experiment, in_runs, runs};

    fn with(name: &str, of_a: u64, of_b: u64) -> Vec<(Severity, String)> {
        let mut runs = runs(&["a", "b"]);
        for run in &mut runs {
            let missed = if run.cell.variant == "a" { of_a } else { of_b };
            run.steps[0].step.name = name.to_owned();
            run.steps[0].clients.get_mut(&OpKind::Get).unwrap().counts.not_found = missed;
        }
        in_runs(&RULE, &experiment(&["a", "b"]), &runs)
    }

    #[test]
    fn reads_that_find_nothing_are_reported() {
        assert_eq!(with("readrandom", 500, 500), []);
        assert_eq!(with("readmissing", 600_000, 600_000), []);
        let evidence = "readrandom of a: 1.0 % of the operations found nothing, likewise in 1 \
                        other variant (6 runs)";
        assert_eq!(with("readrandom", 6_000, 6_000), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(with("readrandom", 400_000, 400_000)[0].0, Severity::Blocking);
    }

    #[test]
    fn statements_that_may_return_nothing_are_no_reads_that_fail() {
        let mut runs = runs(&["a"]);
        for run in &mut runs {
            let counts = &mut run.steps[0].clients.get_mut(&OpKind::Get).unwrap().counts;
            counts.not_found = counts.done;
        }
        let name = runs[0].steps[0].step.name.clone();
        let found = |returns: Option<f64>| {
            let mut spec = experiment(&["a"]);
            let mut application = application(&name, 1.0);
            application.steps[0].clients = Some(CallMix::InTurn(vec![0]));
            application.procedures =
                vec![Procedure { rows_expected: returns, ..Procedure::new("find", OpKind::Get) }];
            spec.application = Some(application);
            in_runs(&RULE, &spec, &runs).len()
        };
        assert_eq!([found(Some(10.0)), found(Some(0.0)), found(None)], [1, 0, 0]);
    }

    #[test]
    fn variants_that_find_different_shares_are_blocking() {
        let found = with("readmissing", 600_000, 60_000);
        let evidence =
            "readmissing of b: 10 % of the operations found nothing, against 100 % in the base";
        assert_eq!(found, [(Severity::Blocking, evidence.to_owned())]);
    }
}
