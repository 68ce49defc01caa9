//! A045: a run that did not execute every step.

use super::{Checks, Observation};
use crate::context::RunContext;
use crate::registry::code;

pub(crate) static RULE: Checks = Checks { code: code::A045, run: Some(run), ..Checks::EMPTY };

fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let end = &context.run.end;
    if end.is_complete() { Vec::new() } else { vec![Observation::new(end.phrase())] }
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
        runs[2].end = RunEnd::OutOfMemory { step: "readrandom".to_owned() };
        let evidence = "a: killed for memory in readrandom (1 run)";
        assert_eq!(in_runs(&RULE, &spec, &runs), [(Severity::Warning, evidence.to_owned())]);
    }
}
