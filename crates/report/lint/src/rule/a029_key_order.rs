//! A029: queries right after a load in key order.

use model::Step;
use model::record::Severity;

use super::{Rule, Seen};
use crate::context::PlanContext;
use crate::look::{only_reads, writes};

/// Reads of data that was loaded in key order and never touched again.
pub(crate) static RULE: Rule = Rule {
    code: "A029",
    name: "key-order load",
    severity: Severity::Warning,
    trigger: "a step only reads, and all that was written before it is `fillseq`",
    why: "After a load in key order files do not overlap and pages are full: queries look cheaper \
          than they are on data that lived.",
    remedy: "load with `filluniquerandom`, or put `overwritesome` and `settle` before the reads",
    source: "seed 003, \"How I do RocksDB performance tests, part 2\" (if the load is done in key \
             order ... which hides some of the overhead) and \"How I do performance tests for \
             RocksDB\" (fragment the LSM tree); reference, analysis, section 7, L29",
    plan: Some(plan),
    ..Rule::SILENT
};

/// The load in key order.
const IN_ORDER: &str = "fillseq";

fn plan(context: &PlanContext<'_>) -> Vec<Seen> {
    let steps = &context.experiment.steps;
    let is_before = |index: usize, wanted: fn(&Step) -> bool| steps[..index].iter().any(wanted);
    let tell = |(index, step): (usize, &Step)| {
        let is_loaded = is_before(index, |step| step.name == IN_ORDER);
        let is_touched = is_before(index, |step| step.name != IN_ORDER && writes(step));
        (only_reads(step) && is_loaded && !is_touched)
            .then(|| Seen::new("reads what `fillseq` left, in key order").step(&step.name))
    };
    steps.iter().enumerate().filter_map(tell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{experiment, in_plan, step};

    #[test]
    fn reads_after_a_load_in_key_order_are_told() {
        let with = |names: &[&str]| {
            let mut asked = experiment(&["a"]);
            asked.steps = names.iter().map(|name| step(name).step).collect();
            in_plan(&RULE, &asked)
        };
        assert_eq!(with(&["filluniquerandom", "readrandom"]), []);
        assert_eq!(with(&["fillseq", "overwritesome", "settle", "readrandom"]), []);
        let evidence =
            "readrandom: reads what `fillseq` left, in key order, likewise in 1 other step";
        let told = with(&["fillseq", "settle", "readrandom", "fwdrange", "overwrite"]);
        assert_eq!(told, [(Severity::Warning, evidence.to_owned())]);
    }
}
