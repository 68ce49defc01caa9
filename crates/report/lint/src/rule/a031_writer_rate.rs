//! A031: the background writer did not reach its rate.

use analysis::RATE_SUSTAINED;
use model::record::Severity;
use model::{Experiment, Readings, StepRecord};

use super::{Rule, Seen};
use crate::context::RunContext;
use crate::look::percent;

/// The background writer fell behind its rate.
pub(crate) static RULE: Rule = Rule {
    code: "A031",
    name: "writer not sustained",
    severity: Severity::Warning,
    trigger: "the background writer reached less than 99 % of its rate; blocking when it is that of \
              the base and reached less than 95 %; beside the queries of an application, background \
              writers that together reached less than 95 %",
    why: "Readers beside a writer that does less were measured under a lighter load than the others: \
          their figures flatter them. Where they are the base, every ratio is to the lighter load. \
          Tables mark the step, whose rate of queries is comparable with nobody's.",
    remedy: "lower the writer's rate, or read the step as overloaded",
    source: "seed 002, \"Insert benchmark on an 8-core AMD server\" (read+write and target insert \
             rate); reference, insert-benchmark (the 95 % rule), and analysis, section 7, L31",
    run: Some(run),
    ..Rule::SILENT
};

/// Share of the wanted rate that it should reach. Source: the reference, analysis, L31.
const REACHED_SHARE: f64 = 0.99;

fn run(context: &RunContext<'_>) -> Vec<Seen> {
    let is_base = context.run.cell.variant == context.experiment.base;
    let steps = context.run.steps.iter();
    let told = steps.map(|step| [missed(step, is_base), failed(step, context.experiment)]);
    told.flatten().flatten().collect()
}

/// Tells of an application's writers that did not sustain their rate.
///
/// Its steps ask for rates from what is easy to what is not, so that one missed, be it the base's,
/// says nothing against the others.
fn failed(step: &StepRecord, experiment: &Experiment) -> Option<Seen> {
    let application = experiment.application.as_ref();
    let asked = analysis::writer_rate_target(step, application)?;
    let known = analysis::with_writers(Readings::new(), step, application);
    let share = *known.get("writer_rate_share")?;
    (share < RATE_SUSTAINED).then(|| {
        let evidence = format!(
            "the background writers reached {:.0} of the {asked:.0} rows/s asked of them, {}: its \
             rate of queries is not comparable",
            asked * share,
            percent(share)
        );
        Seen::new(evidence).step(&step.step.name).sized("application", -share)
    })
}

#[expect(clippy::cast_precision_loss, reason = "rates stay far below 2^53")]
fn missed(step: &StepRecord, is_base: bool) -> Option<Seen> {
    let (reached, wanted) = (step.writer_bytes_per_s?, step.step.writer_bytes_per_s?);
    let share = reached / wanted.0 as f64;
    let is_grave = is_base && share < RATE_SUSTAINED;
    let severity = if is_grave { Severity::Blocking } else { Severity::Warning };
    (share < REACHED_SHARE).then(|| {
        let evidence = format!("the background writer reached {} of its rate", percent(share));
        Seen::new(evidence).step(&step.step.name).graded(severity).sized("", -share)
    })
}

#[cfg(test)]
mod tests {
    use model::{Bytes, OpKind};

    use super::*;
    use crate::testing::{application, experiment, in_runs, runs, summary};

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
        let evidence = "readrandom of b: the background writer reached 80 % of its rate (3 runs)";
        assert_eq!(with("b", 800_000.0), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(with("a", 800_000.0)[0].0, Severity::Blocking);
        assert_eq!(with("a", 960_000.0)[0].0, Severity::Warning);
    }

    #[test]
    fn an_application_s_writers_are_told_below_95_percent_and_block_nothing() {
        let mut asked = experiment(&["a", "b"]);
        asked.application = Some(application("readrandom", 100.0));
        let with = |late: &str, rows| {
            let mut runs = runs(&["a", "b"]);
            for run in &mut runs {
                let mut inserts = summary(120);
                inserts.counts.rows = if run.cell.variant == late { rows } else { 6_000 };
                run.steps[0].writers.insert(OpKind::Insert, inserts);
            }
            in_runs(&RULE, &asked, &runs)
        };
        assert_eq!(with("a", 5_700), []);
        let evidence = "readrandom of a: the background writers reached 70 of the 100 rows/s asked of \
                    them, 70 %: its rate of queries is not comparable (3 runs)";
        assert_eq!(with("a", 4_200), [(Severity::Warning, evidence.to_owned())]);
    }
}
