//! A042: a rate above which nothing was seen to fail.

use model::record::Severity;
use model::{Load, StepRecord};

use super::{Rule, Seen};
use crate::context::RunContext;

/// The rate found is only a lower limit.
pub(crate) static RULE: Rule = Rule {
    code: "A042",
    name: "lower limit only",
    severity: Severity::Warning,
    trigger: "a search found a rate, and no rate above it was seen to fail",
    why: "The engine could do more: what ended the search was the client or its ceiling.",
    remedy: "read the rate as \"at least\": what ended the search was not the engine",
    source: "reference, analysis, section 5.3",
    run: Some(run),
    ..Rule::SILENT
};

fn run(context: &RunContext<'_>) -> Vec<Seen> {
    let tell = |step: &StepRecord| {
        let is_rate = matches!(step.step.load, Load::FindRate(_));
        let search = step.search.as_ref().filter(|_| is_rate)?;
        search.found.filter(|found| found.failed_ops_per_s.is_none())?;
        let evidence = format!("no rate above the one found failed: {}", search.ended);
        Some(Seen::new(evidence).step(&step.step.name))
    };
    context.run.steps.iter().filter_map(tell).collect()
}

#[cfg(test)]
mod tests {
    use model::Pace;
    use model::validity::Outcome;

    use super::*;
    use crate::testing::{search, when};

    #[test]
    fn a_rate_without_one_above_that_failed_is_a_lower_limit() {
        let with = |failed_ops_per_s| {
            when(&RULE, |step| {
                let mut search = search(&[Outcome::Passed], Some(900.0));
                search.ended = "the clients' ceiling was reached".to_owned();
                search.found.as_mut().unwrap().failed_ops_per_s = failed_ops_per_s;
                step.step.load = Load::FindRate(Pace::default());
                step.search = Some(search);
            })
        };
        assert_eq!(with(Some(1_000.0)), []);
        let evidence = "readrandom of b: no rate above the one found failed: the clients' ceiling was \
                    reached (3 runs)";
        assert_eq!(with(None), [(Severity::Warning, evidence.to_owned())]);
    }
}
