//! A011: intervals and runs in which the client was late, and not the engine.

use model::record::Severity;

use super::{Rule, Seen};
use crate::context::RunContext;

/// Part of a run, or all of it, does not count.
pub(crate) static RULE: Rule = Rule {
    code: "A011",
    name: "client late",
    severity: Severity::Blocking,
    trigger: "intervals are void because something kept the client from its work; blocking when a \
              run has so many of them that it is invalid, and fewer than 2 runs of its variant are \
              left",
    why: "Where the client could not do its part, late answers are not the engine's: such intervals \
          are left out, and too many of them leave nothing that speaks for the step.",
    remedy: "find out what kept the client from its work, then run the cell again",
    source: "reference, analysis, sections 5.2 and 7, L11",
    is_recorded: true,
    run: Some(run),
    ..Rule::SILENT
};

/// Runs that count from which a variant can do without those that do not.
const ENOUGH: usize = 2;

fn run(context: &RunContext<'_>) -> Vec<Seen> {
    let tell = |reason: &String| {
        let evidence = format!("the run is invalid and not counted: {reason}");
        let grave = if context.peers < ENOUGH { Severity::Blocking } else { Severity::Warning };
        Seen::new(evidence).graded(grave).sized("invalid", 0.0)
    };
    context.run.invalid.iter().map(tell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::A043;
    use crate::testing::{experiment, in_runs, runs};

    #[test]
    fn of_an_invalid_run_only_that_is_told() {
        let (asked, mut runs) = (experiment(&["a"]), runs(&["a"]));
        assert_eq!(in_runs(&RULE, &asked, &runs), []);
        runs[1].invalid = Some("20 of 60 intervals are void".to_owned());
        runs[1].steps[0].seconds.stalled_seconds = 9;
        let evidence = "a: the run is invalid and not counted: 20 of 60 intervals are void (1 run)";
        assert_eq!(in_runs(&RULE, &asked, &runs), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(in_runs(&A043, &asked, &runs), []);
        runs[0].invalid = runs[1].invalid.clone();
        let told = in_runs(&RULE, &asked, &runs);
        assert_eq!(told[0].0, Severity::Blocking, "one run is left");
    }
}
