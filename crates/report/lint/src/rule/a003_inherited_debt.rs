//! A003: deferred work that a step inherits.

use model::{Experiment, Metric, StepRecord, StepRole, metric, percent};

use super::{Checks, Observation, Rule, code};
use crate::context::RunContext;
use crate::facts::bytes;

pub(crate) static RULE: Rule = Rule {
    code: code::A003,
    name: "inherited debt",
    trigger: "a step begins with deferred work of more than 5 % of the data; or the deferred work \
              of an engine falls by more than half while a step only reads; or a step that queries \
              a server begins with garbage (row versions that vacuum or purge has yet to remove) \
              of more than 5 % of the rows; or a step that queries a server begins with changed \
              pages of more than 5 % of the data in memory, and the server writes more than half \
              of these pages during the step; or a settle step reaches its cap; or the result of a \
              search depends on the order of its probes",
    why: "The step pays for work that the previous step deferred. The amount of deferred work \
          depends on chance, and differs between engines and repetitions.",
    remedy: "put `settle` before the step; raise `settle_cap` if a settle step reached the cap",
    source: "[Callaghan 2022-08-23] (testing an LSM is complicated); our choice: deferred work of \
             a twentieth of the data is reported",
    ..Rule::of(Checks { steps: &[capped, inherited, paid, dirty, garbage], ..Checks::NONE })
};

/// The gauge of deferred work.
const DEBT: Metric = metric::ENGINE_DEBT_BYTES;
/// Share of the data above which debt is reported. Our choice.
const SHARE: f64 = 0.05;
/// Share of its debt that a step which only reads may pay. Our choice.
const PAID: f64 = 0.5;
/// Share of the data below which paid debt is not reported: a single file.
const PAID_FROM: f64 = 0.01;

/// Returns whether a step queries the data.
///
/// The loads of an application follow one another without rest, by its definition.
fn is_queried(step: &StepRecord, experiment: &Experiment) -> bool {
    let application = experiment.application.as_ref();
    let role = step.role.unwrap_or_else(|| step.step.role(application));
    let is_query = application.is_none() || matches!(role, StepRole::Read | StepRole::ReadWrite);
    is_query && !step.clients.is_empty()
}

/// Reports changed pages in the cache of a server that the step writes for another.
///
/// Pages that stay changed cost the step nothing; with background writers there are always some.
fn dirty(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    if !is_queried(step, context.experiment) {
        return None;
    }
    let [dirty, after] =
        [&step.before, &step.after].map(|state| state.readings.value(metric::ENGINE_DIRTY_BYTES));
    let (dirty, after) = (dirty?, after?);
    let end = |metric| step.gauges_end.value(metric);
    let files = || {
        Some(end(metric::DATA_DIR_BYTES)? - end(metric::LOG_BYTES)?).filter(|bytes| *bytes > 0.0)
    };
    let known = step.before.readings.value(metric::ENGINE_DISK_BYTES).or_else(files);
    let share =
        known.map_or_else(|| share_of(dirty, step, context), |stored| Some(dirty / stored))?;
    (share > SHARE && after < dirty * PAID).then(|| {
        let evidence = format!(
            "the step began with {} of changed pages in memory, which are {} of the data, and \
             wrote these pages",
            bytes(dirty),
            percent(share)
        );
        Observation::new(evidence).ranked("dirty", dirty)
    })
}

/// Reports rows that vacuum or purge had yet to remove.
fn garbage(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let rows = step.before.readings.value(metric::ENGINE_GARBAGE_ROWS)?;
    let share = rows / (context.experiment.data.rows as f64).max(1.0);
    (share > SHARE && is_queried(step, context.experiment)).then(|| {
        let evidence = format!(
            "the step began with {rows:.0} row versions that vacuum or purge had yet to remove; \
             they are {} of the rows",
            percent(share)
        );
        Observation::new(evidence).ranked("garbage", rows)
    })
}

/// Reports a settle that ended before the engine was idle.
fn capped(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let settle = step.settle.as_ref().filter(|settle| settle.is_capped)?;
    let evidence = format!(
        "the settle step reached its cap after {}, while the engine was not yet idle",
        settle.took_ns
    );
    let remedy = "raise `settle_cap`: the next steps pay for the work that the settle step did not \
                  finish";
    Some(Observation::new(evidence).remedy(remedy).ranked("capped", 0.0))
}

fn inherited(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let debt = step.before.readings.value(DEBT)?;
    let share = share_of(debt, step, context)?;
    // A step without operations exists to pay debt.
    (share > SHARE && !step.clients.is_empty()).then(|| {
        let evidence = format!(
            "the step began with {} of deferred work, which is {} of the data",
            bytes(debt),
            percent(share)
        );
        Observation::new(evidence).ranked("inherited", debt)
    })
}

fn paid(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let (before, after) = (step.before.readings.value(DEBT)?, step.after.readings.value(DEBT)?);
    let is_reported = step.role() == StepRole::Read && share_of(before, step, context)? > PAID_FROM;
    (is_reported && after < before * PAID).then(|| {
        let evidence = format!(
            "deferred work fell from {} to {} while the step only read",
            bytes(before),
            bytes(after)
        );
        Observation::new(evidence).ranked("paid", before)
    })
}

/// Returns debt as a share of what the engine has on storage, or of its rows.
fn share_of(debt: f64, step: &StepRecord, context: &RunContext<'_>) -> Option<f64> {
    let stored = step.before.readings.value(metric::ENGINE_DISK_BYTES);
    let stored = stored.unwrap_or(context.experiment.data.live_bytes().0 as f64);
    (stored > 0.0).then(|| debt / stored)
}

#[cfg(test)]
mod tests {
    use model::Nanos;
    use model::record::SettleRecord;
    use model::record::Severity;

    use super::*;
    use crate::testing::{application, experiment, in_runs, runs, set, when};

    #[test]
    fn debt_at_the_start_is_reported_above_a_twentieth() {
        let with = |debt: f64| {
            when(&RULE, |step| {
                set(&mut step.before.readings, &[(DEBT, debt), (metric::ENGINE_DISK_BYTES, 1e9)]);
            })
        };
        assert_eq!(with(5e7), []);
        let evidence = "readrandom of b: the step began with 57.2 MiB of deferred work, which is \
                        6.0 % of the data (3 runs)";
        assert_eq!(with(6e7), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn debt_that_a_reading_step_pays_is_reported() {
        let with = |after: f64| {
            when(&RULE, |step| {
                set(&mut step.before.readings, &[(DEBT, 2e7), (metric::ENGINE_DISK_BYTES, 1e9)]);
                set(&mut step.after.readings, &[(DEBT, after)]);
            })
        };
        assert_eq!(with(1.5e7), []);
        assert!(with(5e6)[0].1.contains("fell from 19.1 MiB to 4.77 MiB while the step only read"));
    }

    #[test]
    fn a_settle_that_was_capped_is_reported() {
        let with = |is_capped| {
            when(&RULE, |step| {
                let took_ns = Nanos::from_secs(60);
                step.settle = Some(SettleRecord { took_ns, is_capped, ..SettleRecord::default() });
            })
        };
        assert_eq!(with(false), []);
        assert!(with(true)[0].1.contains("the settle step reached its cap after 1m00s"));
    }

    #[test]
    fn dirty_pages_and_garbage_of_a_server_are_reported_before_queries_only() {
        let left_of = |gauge: Metric, value: f64, role: Option<StepRole>, left: f64| {
            let mut spec = experiment(&["a"]);
            spec.application = role.map(|role| {
                let mut application = application("readrandom", 100.0);
                application.steps[0].role = role;
                application
            });
            let mut runs = runs(&["a"]);
            for run in &mut runs {
                set(
                    &mut run.steps[0].before.readings,
                    &[(gauge, value), (metric::ENGINE_DISK_BYTES, 1e9)],
                );
                set(&mut run.steps[0].after.readings, &[(gauge, value * left)]);
            }
            in_runs(&RULE, &spec, &runs)
        };
        let with = |gauge: Metric, value: f64, role| left_of(gauge, value, role, 0.1);
        assert_eq!(with(metric::ENGINE_DIRTY_BYTES, 4e7, None), []);
        assert_eq!(with(metric::ENGINE_DIRTY_BYTES, 4e8, Some(StepRole::Write)), []);
        let evidence = "readrandom of a: the step began with 381 MiB of changed pages in \
                        memory, which are 40 % of the data, and wrote these pages (3 runs)";
        let found = with(metric::ENGINE_DIRTY_BYTES, 4e8, Some(StepRole::ReadWrite));
        assert_eq!(found, [(Severity::Warning, evidence.to_owned())]);
        // With background writers there are always some.
        assert_eq!(left_of(metric::ENGINE_DIRTY_BYTES, 4e8, Some(StepRole::ReadWrite), 1.1), []);
        assert_eq!(with(metric::ENGINE_GARBAGE_ROWS, 4e4, None), []);
        assert!(with(metric::ENGINE_GARBAGE_ROWS, 1e5, None)[0].1.contains("100000 row versions"));
    }
}
