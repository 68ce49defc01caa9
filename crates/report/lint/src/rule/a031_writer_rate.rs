//! A031: the background writer did not reach its rate.

use analysis::RATE_SUSTAINED;
use model::load::SERVED_SHARE;
use model::{Readings, StepRecord, metric, percent};

use super::{Checks, Observation, Rule};
use crate::context::RunContext;

pub(crate) static RULE: Rule = Rule {
    code: "A031",
    name: "writer not sustained",
    trigger: "Warning: the background writer of a step reached less than 99 % of its rate. \
              Blocking: the background writer of the base reached less than 95 % of its rate. \
              Warning: next to the queries of an application, all background writers together, or \
              one background writer with a separate connection, reached less than 95 % of the \
              requested rate",
    why: "Readers next to a slow writer run under a lighter load than readers next to a writer \
          that reaches its rate, so the readers' figures are too good. If the writer of the base \
          is slow, every ratio is relative to the lighter load. Tables mark the step, because its \
          query rate is not comparable with the query rate of a step whose writers reached their \
          rate.",
    remedy: "lower the writer's rate, or read the step as overloaded",
    source: "[Callaghan 2023-01-05] (read+write and target insert rate); the 95 % rule of the \
             insert benchmark",
    ..Rule::of(Checks { steps: &[missed, failed], ..Checks::NONE })
};

/// Reports an application's writers that did not sustain their rate.
///
/// Its steps have rates from easy to hard, so that one missed, even by the base, does not affect
/// the others.
fn failed(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let application = context.experiment.application.as_ref();
    let target = analysis::writer_rate_target(step, application)?;
    let known = analysis::with_writers(Readings::new(), step, application);
    let share = known.value(metric::WRITER_RATE_SHARE)?;
    (share < RATE_SUSTAINED).then(|| {
        let evidence = format!(
            "the background writers reached {:.0} of the {target:.0} rows/s requested, {}: the \
             query rate of the step is not comparable with steps whose writers reached their rate",
            target * share,
            percent(share)
        );
        Observation::new(evidence).ranked("application", -share)
    })
}

fn missed(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let is_base = context.run.cell.variant == context.experiment.base;
    let (reached, target) = (step.writer_bytes_per_s?, step.step.writer_bytes_per_s?);
    let share = reached / target.0 as f64;
    let is_severe = is_base && share < RATE_SUSTAINED;
    (share < SERVED_SHARE).then(|| {
        let evidence = format!("the background writer reached {} of its rate", percent(share));
        Observation::new(evidence).blocking_if(is_severe).ranked("", -share)
    })
}

#[cfg(test)]
mod tests {
    use model::record::Severity;
    use model::{Bytes, OpKind};

    use super::*;
    use crate::testing::{application, experiment, in_runs, runs, summary};

    #[test]
    fn a_writer_below_its_rate_is_reported_and_the_base_s_is_blocking() {
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
    fn an_application_s_writers_are_reported_below_95_percent_and_block_nothing() {
        let mut spec = experiment(&["a", "b"]);
        spec.application = Some(application("readrandom", 100.0));
        let with = |late: &str, rows| {
            let mut runs = runs(&["a", "b"]);
            for run in &mut runs {
                let mut inserts = summary(120);
                inserts.counts.rows = if run.cell.variant == late { rows } else { 6_000 };
                run.steps[0].writers.insert(OpKind::Insert, inserts);
            }
            in_runs(&RULE, &spec, &runs)
        };
        assert_eq!(with("a", 5_700), []);
        let evidence = "readrandom of a: the background writers reached 70 of the 100 rows/s \
                        requested, 70 %: the query rate of the step is not comparable with steps \
                        whose writers reached their rate (3 runs)";
        assert_eq!(with("a", 4_200), [(Severity::Warning, evidence.to_owned())]);
    }
}
