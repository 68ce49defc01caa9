//! A044: variants with fewer runs than were planned.

use analysis::VariantRuns;

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;

pub(crate) static RULE: Rule = Rule {
    code: "A044",
    name: "runs missing",
    trigger: "a variant has fewer recorded runs than the plan has runs of this variant",
    why: "Figures of variants with fewer runs are less certain, and blocks with missing runs do \
          not cancel drift.",
    remedy: "resume the experiment to execute the missing runs (assay run --resume)",
    source: "our choice: a comparison needs all planned runs",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let lacking = |runs: &VariantRuns| {
        let VariantRuns { name, recorded, planned, .. } = runs;
        (recorded < planned).then(|| {
            let evidence =
                Observation::new(format!("the variant has {recorded} of {planned} planned runs"));
            evidence.variant(name).ranked("", f64::from(planned - recorded))
        })
    };
    context.comparison.variants.iter().filter_map(lacking).collect()
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    #[test]
    fn variants_that_lack_runs_are_reported() {
        let (spec, mut runs) = (experiment(&["a", "b"]), runs(&["a", "b"]));
        assert_eq!(in_runs(&RULE, &spec, &runs), []);
        runs.truncate(5);
        let evidence = "b: the variant has 2 of 3 planned runs";
        assert_eq!(in_runs(&RULE, &spec, &runs), [(Severity::Warning, evidence.to_owned())]);
    }
}
