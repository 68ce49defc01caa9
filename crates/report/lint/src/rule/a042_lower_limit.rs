//! A042: a rate without a failing rate above it.

use model::{Load, StepRecord};

use super::{Checks, Observation, Rule};
use crate::context::RunContext;

pub(crate) static RULE: Rule = Rule {
    code: "A042",
    name: "lower limit only",
    trigger: "a search found a rate that meets the limit, and no probe at a higher rate failed",
    why: "The engine may reach a higher rate: the client or the upper limit of the search ended \
          the search.",
    remedy: "read the rate as a lower bound: the engine did not end the search",
    source: "our choice: a rate is the highest rate only if a probe at a higher rate failed",
    ..Rule::of(Checks { steps: &[unlimited], ..Checks::NONE })
};

fn unlimited(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let is_rate = matches!(step.step.load, Load::FindRate(_));
    let search = step.search.as_ref().filter(|_| is_rate)?;
    search.found.filter(|found| found.failed_ops_per_s.is_none())?;
    Some(Observation::new(format!("no rate above the result failed: {}", search.ended)))
}

#[cfg(test)]
mod tests {
    use model::Pace;
    use model::record::Severity;
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
        let evidence = "readrandom of b: no rate above the result failed: the clients' ceiling was \
                        reached (3 runs)";
        assert_eq!(with(None), [(Severity::Warning, evidence.to_owned())]);
    }
}
