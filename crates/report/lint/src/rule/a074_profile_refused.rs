//! A074: a step of a profiled experiment has no CPU profile.

use model::StepRecord;
use model::record::Severity;

use super::{Checks, Observation, Rule};
use crate::context::RunContext;

pub(crate) static RULE: Rule = Rule {
    code: "A074",
    name: "no profile",
    severity: Severity::Note,
    trigger: "a step of a run with CPU profiles has no profile of any process",
    why: "`assay explain` and `assay flame` show no functions of this step. The other figures of \
          the step are not affected.",
    remedy: "measure for longer (--duration 60s) if the samples are too few; `assay show \
             EXPERIMENT RUN` lists the samples and the reasons of all steps",
    source: "our choice: the shares of functions in a refused profile may be wrong",
    ..Rule::of(Checks { steps: &[refused], ..Checks::NONE })
};

fn refused(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let reason = step.profile_refusal()?;
    Some(Observation::new(format!("the step has no CPU profile: {reason}")))
}

#[cfg(test)]
mod tests {
    use model::{Nanos, ProfileRecord, ProfileTarget, RunRecord, Unwinder};

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    /// Sets the profiles of the first step: of each target, its reason.
    fn set(run: &mut RunRecord, profiles: &[(ProfileTarget, Option<&str>)]) {
        let record = |(target, reason): &(ProfileTarget, Option<&str>)| ProfileRecord {
            target: *target,
            event: "cpu-clock".to_owned(),
            hz: 199,
            unwinder: Unwinder::FramePointers,
            sample_cost_ns: Nanos(25_000),
            samples: 800,
            lost: 0,
            expected: Some(1_000.0),
            rooted_share: None,
            storage_engine_share: None,
            kernel_note: None,
            refusal: reason.map(str::to_owned),
        };
        run.steps[0].profiles = profiles.iter().map(record).collect();
    }

    #[test]
    fn a_step_without_any_profile_has_a_note_with_the_reason() {
        let mut all = runs(&["a"]);
        assert_eq!(in_runs(&RULE, &experiment(&["a"]), &all), []);
        let few = Some("perf took 80 % of the samples");
        set(&mut all[0], &[(ProfileTarget::Worker, few), (ProfileTarget::Server, None)]);
        assert_eq!(in_runs(&RULE, &experiment(&["a"]), &all), []);
        set(&mut all[0], &[(ProfileTarget::Worker, few)]);
        let found = in_runs(&RULE, &experiment(&["a"]), &all);
        let [(severity, evidence)] = &found[..] else { panic!("one: {found:?}") };
        assert_eq!(*severity, Severity::Note);
        assert!(evidence.contains("no CPU profile: perf took 80 % of the samples"), "{evidence}");
    }
}
