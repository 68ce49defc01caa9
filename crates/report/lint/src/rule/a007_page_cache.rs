//! A007: some variants bypass the page cache, and others do not.

use model::record::Severity;

use super::{Rule, Seen};
use crate::context::PlanContext;

/// Direct IO on one side only.
pub(crate) static RULE: Rule = Rule {
    code: "A007",
    name: "page cache on one side",
    severity: Severity::Warning,
    trigger: "direct IO is asked of some variants and not of others",
    why: "The page cache is a second cache, of all the memory that is left: whoever reads through it \
          reads storage less often.",
    remedy: "ask all variants for direct IO, or none, or waive A007 when that is the question",
    source: "seed 000, \"SSD read response time: raw device vs a filesystem\" (buffered reads \
             benefit from hits in the page cache); reference, analysis, section 7, L07",
    plan: Some(plan),
    ..Rule::SILENT
};

fn plan(context: &PlanContext<'_>) -> Vec<Seen> {
    let variants = &context.experiment.variants;
    let direct = variants.iter().filter(|variant| variant.settings.direct_io).count();
    let evidence = format!("direct IO is asked of {direct} of {} variants", variants.len());
    if (1..variants.len()).contains(&direct) { vec![Seen::new(evidence)] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{experiment, in_plan};

    #[test]
    fn direct_io_on_one_side_is_told() {
        let mut asked = experiment(&["a", "b"]);
        assert_eq!(in_plan(&RULE, &asked), []);
        asked.variants[0].settings.direct_io = true;
        let evidence = "direct IO is asked of 1 of 2 variants";
        assert_eq!(in_plan(&RULE, &asked), [(Severity::Warning, evidence.to_owned())]);
        asked.variants[1].settings.direct_io = true;
        assert_eq!(in_plan(&RULE, &asked), []);
    }
}
