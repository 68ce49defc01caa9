//! A069: a run whose answers were wrong, whose rows were lost, or whose checks did not hold.

use model::record::Severity;

use super::{Checks, Observation, Rule};
use crate::context::RunContext;

pub(crate) static RULE: Rule = Rule {
    code: "A069",
    name: "failed check",
    trigger: "an answer was wrong, rows were lost, or a check of the application failed",
    why: "Work that is done wrong, or not at all, costs less. No figure of the run is counted.",
    remedy: "find what the engine lost or changed (assay show NAME), and repeat the run",
    source: "[TPC-C 5.11], clause 3.3.2 (consistency)",
    severity: Severity::Blocking,
    ..Rule::of(Checks { run: Some(run), ..Checks::NONE })
};

fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let failed = context.run.has_failed_check();
    failed.then(|| Observation::new(context.run.end.phrase())).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use model::record::RunEnd;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    #[test]
    fn a_failed_check_blocks_and_other_ends_do_not() {
        let (spec, mut runs) = (experiment(&["a"]), runs(&["a"]));
        let (step, reason) = ("readrandom".to_owned(), "9 rows, not 10".to_owned());
        runs[1].end = RunEnd::Failed { step: step.clone(), reason: reason.clone() };
        assert_eq!(in_runs(&RULE, &spec, &runs), []);
        runs[1].end = RunEnd::FailedCheck { step, reason };
        let evidence = "a: failed a check in readrandom: 9 rows, not 10 (1 run)";
        assert_eq!(in_runs(&RULE, &spec, &runs), [(Severity::Blocking, evidence.to_owned())]);
    }
}
