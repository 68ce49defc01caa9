//! A045: a run that did not execute every step.

use model::record::Severity;

use super::{Rule, Seen};
use crate::context::RunContext;

/// A run ended before its last step.
pub(crate) static RULE: Rule = Rule {
    code: "A045",
    name: "incomplete run",
    severity: Severity::Warning,
    trigger: "a run was interrupted, failed, crashed, hung, or was stopped for memory or disk",
    why: "Only the steps it finished are counted; that an engine did not live to the end is a result \
          by itself.",
    remedy: "read the engine's log of the run, then resume the experiment (assay run --resume)",
    source: "seed 003, \"How I do RocksDB performance tests, part 2\" (make the DBMS unhappy); \
             reference, analysis, section 0, rule 5",
    run: Some(run),
    ..Rule::SILENT
};

fn run(context: &RunContext<'_>) -> Vec<Seen> {
    let end = &context.run.end;
    if end.is_complete() { Vec::new() } else { vec![Seen::new(end.phrase())] }
}

#[cfg(test)]
mod tests {
    use model::record::RunEnd;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    #[test]
    fn a_run_that_did_not_end_well_is_told() {
        let (asked, mut runs) = (experiment(&["a"]), runs(&["a"]));
        assert_eq!(in_runs(&RULE, &asked, &runs), []);
        runs[2].end = RunEnd::OutOfMemory { step: "readrandom".to_owned() };
        let evidence = "a: killed for memory in readrandom (1 run)";
        assert_eq!(in_runs(&RULE, &asked, &runs), [(Severity::Warning, evidence.to_owned())]);
    }
}
