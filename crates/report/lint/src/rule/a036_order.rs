//! A036: order of runs confounded with variants.

use model::RunRecord;

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;

pub(crate) static RULE: Rule = Rule {
    code: "A036",
    name: "order confounded",
    trigger: "a variant and the base have at least 2 runs each, and all runs of the variant began \
              before all runs of the base or after all runs of the base",
    why: "If the machine changed between the runs of the variant and the runs of the base (heat, \
          fill of the SSD, neighbours), this change is part of the measured difference.",
    remedy: "run variant and base in one experiment, which interleaves their runs in random blocks",
    source: "[Callaghan 2022-08-23] (stable platform)",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let span = |name: &str| {
        let own = || context.valid().filter(|run| run.cell.variant == name);
        let began = |run: &'_ RunRecord| run.started_at.clone();
        let (first, last) = (own().map(began).min()?, own().map(began).max()?);
        (own().count() > 1).then_some((first, last))
    };
    let base = context.comparison.base.as_str();
    let Some((base_first, base_last)) = span(base) else { return Vec::new() };
    let observe = |name: &str| {
        let (first, last) = span(name).filter(|_| name != base)?;
        let (before, after) = (last < base_first, base_last < first);
        let when = if before { "before" } else { "after" };
        let evidence = format!("all runs of the variant began {when} all runs of {base}");
        (before || after).then(|| Observation::new(evidence).variant(name))
    };
    let variants = context.comparison.variants.iter();
    variants.filter_map(|variant| observe(&variant.name)).collect()
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    #[test]
    fn variants_that_were_run_one_after_the_other_are_reported() {
        let (spec, mut runs) = (experiment(&["a", "b"]), runs(&["a", "b"]));
        assert_eq!(in_runs(&RULE, &spec, &runs), []);
        for run in runs.iter_mut().filter(|run| run.cell.variant == "b") {
            run.started_at = run.started_at.replace("11-20", "11-21");
        }
        let evidence = "b: all runs of the variant began after all runs of a";
        assert_eq!(in_runs(&RULE, &spec, &runs), [(Severity::Warning, evidence.to_owned())]);
    }
}
