//! A011: intervals and runs in which the client was late.

use super::{Checks, Observation, Rule, code};
use crate::context::RunContext;
use model::record::Severity;

pub(crate) static RULE: Rule = Rule {
    code: code::A011,
    name: "client late",
    severity: Severity::Blocking,
    trigger: "Warning: intervals of a step are invalid because the client was delayed. Blocking: a \
              run is invalid because the client was delayed, and the variant of the run has fewer \
              than 2 valid runs",
    why: "When the client is delayed, late answers are not the engine's fault. Intervals in which \
          the client was delayed are excluded. If too many intervals are excluded, the step shows \
          nothing about the engine.",
    remedy: "find what delayed the client, then run the cell again",
    source: "our choice: responses to a late client are late, and the engine did not delay them",
    ..Rule::of(Checks { run: Some(run), ..Checks::NONE })
};

/// Runs that count from which a variant can do without those that do not.
const ENOUGH: usize = 2;

fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let observe = |reason: &String| {
        let evidence = format!("the run is invalid and is not counted: {reason}");
        Observation::new(evidence).blocking_if(context.peers < ENOUGH).ranked("invalid", 0.0)
    };
    context.run.invalid.iter().map(observe).collect()
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::rule::a043_stalls;
    use crate::testing::{experiment, in_runs, runs};

    #[test]
    fn an_invalid_run_has_no_other_finding() {
        let (spec, mut runs) = (experiment(&["a"]), runs(&["a"]));
        assert_eq!(in_runs(&RULE, &spec, &runs), []);
        runs[1].invalid = Some("20 of 60 intervals are invalid".to_owned());
        runs[1].steps[0].seconds.stalled_seconds = 9;
        let evidence =
            "a: the run is invalid and is not counted: 20 of 60 intervals are invalid (1 run)";
        assert_eq!(in_runs(&RULE, &spec, &runs), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(in_runs(&a043_stalls::RULE, &spec, &runs), []);
        runs[0].invalid = runs[1].invalid.clone();
        let found = in_runs(&RULE, &spec, &runs);
        assert_eq!(found[0].0, Severity::Blocking, "one run is left");
    }
}
