//! A007: some variants bypass the page cache, and others do not.

use super::{Checks, Observation, Rule};
use crate::context::PlanContext;

pub(crate) static RULE: Rule = Rule {
    code: "A007",
    name: "page cache in some variants",
    trigger: "in an experiment on engines, some variants use direct IO and others do not",
    why: "The page cache is a second cache that uses all free memory. Variants that read through \
          it read storage less often.",
    remedy: "use direct IO in all variants or in none, or waive A007 if direct IO is what the \
             experiment compares",
    source: "[Callaghan 2022-11-18] (buffered reads benefit from hits in the page cache)",
    ..Rule::of(Checks { plan: Some(plan), ..Checks::NONE })
};

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let variants = &context.experiment.variants;
    let direct = variants.iter().filter(|variant| variant.settings.direct_io).count();
    let evidence = format!("{direct} of {} variants use direct IO", variants.len());
    // Of storage, the page cache is the question.
    if context.experiment.device.is_none() && (1..variants.len()).contains(&direct) {
        vec![Observation::new(evidence)]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_plan};

    #[test]
    fn direct_io_on_one_side_is_reported() {
        let mut spec = experiment(&["a", "b"]);
        assert_eq!(in_plan(&RULE, &spec), []);
        spec.variants[0].settings.direct_io = true;
        let evidence = "1 of 2 variants use direct IO";
        assert_eq!(in_plan(&RULE, &spec), [(Severity::Warning, evidence.to_owned())]);
        spec.variants[1].settings.direct_io = true;
        assert_eq!(in_plan(&RULE, &spec), []);
    }
}
