//! A031: the background writer did not reach its rate.

use model::StepRecord;
use model::record::Severity;

use super::{Rule, Seen};
use crate::context::RunContext;
use crate::look::percent;

/// The background writer fell behind its rate.
pub(crate) static RULE: Rule = Rule {
    code: "A031",
    name: "writer not sustained",
    severity: Severity::Doubt,
    trigger: "the background writer reached less than 99 % of its rate; blocking when it is that of \
              the base and reached less than 95 %",
    why: "Readers beside a writer that does less were measured under a lighter load than the others: \
          their figures flatter them. Where they are the base, every ratio is to the lighter load.",
    remedy: "lower the writer's rate, or read the step as overloaded",
    source: "seed 002, \"Insert benchmark on an 8-core AMD server\" (read+write and target insert \
             rate); reference, insert-benchmark (the 95 % rule), and analysis, section 7, L31",
    run: Some(run),
    ..Rule::SILENT
};

/// Share of the wanted rate below which a background writer counts as not sustained.
/// Source: Callaghan, insert benchmark reports (the 95 % rule).
const SUSTAINED_SHARE: f64 = 0.95;
/// Share of the wanted rate that it should reach. Source: the reference, analysis, L31.
const REACHED_SHARE: f64 = 0.99;

fn run(context: &RunContext<'_>) -> Vec<Seen> {
    let is_base = context.run.cell.variant == context.experiment.base;
    context.run.steps.iter().filter_map(|step| missed(step, is_base)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "rates stay far below 2^53")]
fn missed(step: &StepRecord, is_base: bool) -> Option<Seen> {
    let (reached, wanted) = (step.writer_bytes_per_s?, step.step.writer_bytes_per_s?);
    let share = reached / wanted.0 as f64;
    let is_grave = is_base && share < SUSTAINED_SHARE;
    let severity = if is_grave { Severity::Blocking } else { Severity::Doubt };
    (share < REACHED_SHARE).then(|| {
        let seen = format!("the background writer reached {} of its rate", percent(share));
        Seen::new(seen).step(&step.step.name).graded(severity).sized("", -share)
    })
}

#[cfg(test)]
mod tests {
    use model::Bytes;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    #[test]
    fn a_writer_below_its_rate_is_told_and_the_base_s_is_blocking() {
        let with = |late: &str, reached| {
            let mut runs = runs(&["a", "b"]);
            for run in &mut runs {
                let step = &mut run.steps[0];
                step.step.writer_bytes_per_s = Some(Bytes(1_000_000));
                let rate = if run.cell.variant == late { reached } else { 1_000_000.0 };
                step.writer_bytes_per_s = Some(rate);
            }
            in_runs(&RULE, &experiment(&["a", "b"]), &runs)
        };
        assert_eq!(with("b", 995_000.0), []);
        let seen = "readrandom of b: the background writer reached 80 % of its rate (3 runs)";
        assert_eq!(with("b", 800_000.0), [(Severity::Doubt, seen.to_owned())]);
        assert_eq!(with("a", 800_000.0)[0].0, Severity::Blocking);
        assert_eq!(with("a", 960_000.0)[0].0, Severity::Doubt);
    }
}
