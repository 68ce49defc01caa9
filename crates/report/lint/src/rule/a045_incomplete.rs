//! A045: a run that did not execute every step.

use super::{Checks, Observation, Rule};
use crate::context::RunContext;

/// Runs of a variant are missing.
pub static RULE: Rule = Rule {
    code: "A045",
    name: "incomplete run",
    trigger: "a run was interrupted, failed, crashed, hung, or was stopped for memory or disk",
    why: "Only the finished steps of the run are counted. An engine that does not finish a run has \
          shown a result too.",
    remedy: "read the engine's log of the run, then resume the experiment (assay run --resume)",
    source: "[Callaghan 2022-08-23] (make the DBMS unhappy)",
    ..Rule::of(Checks { run: Some(run), ..Checks::NONE })
};

fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let end = &context.run.end;
    let is_listed = !end.is_complete() && context.run.is_counted();
    if is_listed { vec![Observation::new(end.phrase())] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use model::record::RunEnd;
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    #[test]
    fn a_run_that_did_not_end_well_is_reported() {
        let (spec, mut runs) = (experiment(&["a"]), runs(&["a"]));
        assert_eq!(in_runs(&RULE, &spec, &runs), []);
        runs[2].end = RunEnd::OutOfMemory { step: "readrandom".to_owned(), reason: String::new() };
        let evidence = "a: killed for memory in readrandom (1 run)";
        assert_eq!(in_runs(&RULE, &spec, &runs), [(Severity::Warning, evidence.to_owned())]);
    }
}
