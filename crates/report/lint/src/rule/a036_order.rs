//! A036: time and variant cannot be told apart.

use model::RunRecord;
use model::record::Severity;

use super::{Rule, Seen};
use crate::context::ComparisonContext;

/// All runs of one variant came before all runs of another.
pub(crate) static RULE: Rule = Rule {
    code: "A036",
    name: "order confounded",
    severity: Severity::Warning,
    trigger: "at least 2 runs of a variant and of the base, and all runs of one began before all \
              runs of the other",
    why: "Whatever changed on the machine meanwhile (heat, the fill of the SSD, neighbours) is in the \
          difference between the two.",
    remedy: "run both in one experiment: it interleaves them in random blocks",
    source: "seed 003, \"How I do RocksDB performance tests, part 2\" (stable platform); reference, \
             analysis, sections 1.1 and 7, L36",
    comparison: Some(comparison),
    ..Rule::SILENT
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Seen> {
    let span = |name: &str| {
        let own = || context.valid().filter(|run| run.cell.variant == name);
        let began = |run: &'_ RunRecord| run.started_at.clone();
        let (first, last) = (own().map(began).min()?, own().map(began).max()?);
        (own().count() > 1).then_some((first, last))
    };
    let base = context.comparison.base.as_str();
    let Some((base_first, base_last)) = span(base) else { return Vec::new() };
    let tell = |name: &str| {
        let (first, last) = span(name).filter(|_| name != base)?;
        let (before, after) = (last < base_first, base_last < first);
        let when = if before { "before" } else { "after" };
        let evidence = format!("all runs began {when} all of {base}");
        (before || after).then(|| Seen::new(evidence).variant(name))
    };
    let variants = context.comparison.variants.iter();
    variants.filter_map(|variant| tell(&variant.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    #[test]
    fn variants_that_were_run_one_after_the_other_are_told() {
        let (asked, mut runs) = (experiment(&["a", "b"]), runs(&["a", "b"]));
        assert_eq!(in_runs(&RULE, &asked, &runs), []);
        for run in runs.iter_mut().filter(|run| run.cell.variant == "b") {
            run.started_at = run.started_at.replace("11-20", "11-21");
        }
        let evidence = "b: all runs began after all of a";
        assert_eq!(in_runs(&RULE, &asked, &runs), [(Severity::Warning, evidence.to_owned())]);
    }
}
