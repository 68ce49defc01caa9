//! A051: a code that no rule has.

use model::record::Finding;
use model::record::Severity;

use super::{Checks, Observation, Rule};
use crate::context::{PlanContext, RunContext};

pub(crate) static RULE: Rule = Rule {
    code: "A051",
    name: "unknown code",
    severity: Severity::Note,
    trigger: "a waiver, or a finding in a record, has a code that no rule of this version of Assay \
              has",
    why: "A waiver of an unknown code has no effect. A finding that another version of Assay \
          recorded is shown as it was recorded.",
    remedy: "find the code in the list of rules (assay lint --rules)",
    source: "our choice: records outlive the program that wrote them",
    ..Rule::of(Checks { plan: Some(plan), run: Some(run), ..Checks::NONE })
};

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let waivers =
        context.experiment.waivers.iter().filter(|waiver| !(context.has_rule)(&waiver.code));
    let observe =
        |code: &String| Observation::new(format!("`{code}` is waived, but no rule has this code"));
    waivers.map(|waiver| observe(&waiver.code)).collect()
}

fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let steps = context.run.steps.iter();
    let all = steps.flat_map(|step| step.findings.iter().map(move |one| (step, one)));
    let foreign = all.filter(|(_, one)| !(context.has_rule)(&one.code));
    foreign.map(|(step, one)| passed_on(one).step(&step.step.name)).collect()
}

fn passed_on(finding: &Finding) -> Observation {
    let evidence = Observation::new(format!("{} {}", finding.code, finding.evidence));
    evidence.severity(finding.severity).remedy(&finding.remedy)
}

#[cfg(test)]
mod tests {
    use model::Waiver;
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_plan, when};

    #[test]
    fn a_waiver_of_an_unknown_code_is_a_note() {
        let mut spec = experiment(&["a"]);
        let reason = "because".to_owned();
        spec.waivers.push(Waiver { code: "A001".to_owned(), reason: reason.clone() });
        assert_eq!(in_plan(&RULE, &spec), []);
        spec.waivers.push(Waiver { code: "A999".to_owned(), reason });
        let evidence = "`A999` is waived, but no rule has this code";
        assert_eq!(in_plan(&RULE, &spec), [(Severity::Note, evidence.to_owned())]);
    }

    #[test]
    fn a_finding_of_another_version_is_passed_on() {
        let found = when(&RULE, |step| {
            step.findings.push(Finding {
                code: "A999".to_owned(),
                severity: Severity::Warning,
                evidence: "something odd".to_owned(),
                remedy: "repair it".to_owned(),
            });
        });
        let evidence = "readrandom of b: A999 something odd (3 runs)";
        assert_eq!(found, [(Severity::Warning, evidence.to_owned())]);
    }
}
