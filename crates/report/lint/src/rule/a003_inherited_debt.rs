//! A003: a step pays for what another left undone.

use model::record::Severity;
use model::{DataShape, Experiment, StepRecord, StepRole};

use super::{Rule, Seen};
use crate::context::RunContext;
use crate::look::{bytes, only_reads, percent, reading};

/// A step begins with deferred work of the steps before it.
pub(crate) static RULE: Rule = Rule {
    code: "A003",
    name: "inherited debt",
    severity: Severity::Warning,
    trigger: "deferred work above 5 % of the data when a step begins, or halved while a step only \
              reads; before queries of a server, garbage above 5 % of the rows, or changed pages \
              above 5 % of the data of which the step wrote half; a settle that reached its cap; a search whose rates depend on the way there",
    why: "The step pays for the one before it: how much is left to pay is chance, and differs \
          between engines and repetitions.",
    remedy: "put `settle` before the step; raise `settle_cap` where it was reached",
    source: "seed 003, \"How I do RocksDB performance tests, part 2\" (testing an LSM is \
             complicated); reference, analysis, section 7, L03",
    is_recorded: true,
    run: Some(run),
    ..Rule::SILENT
};

/// The gauge of deferred work.
const DEBT: &str = "engine_debt_bytes";
/// Share of the data from which debt is told. Source: the reference, analysis, L03.
const SHARE: f64 = 0.05;
/// Share of its debt that a step which only reads may pay. Source: as above.
const PAID: f64 = 0.5;
/// Share of the data below which nothing is made of debt that is paid: a single file.
const TOLD_FROM: f64 = 0.01;

fn run(context: &RunContext<'_>) -> Vec<Seen> {
    let data = &context.experiment.data;
    let steps = context.run.steps.iter();
    steps
        .flat_map(|step| {
            let of_server = is_queried(step, context.experiment);
            [
                capped(step),
                inherited(step, data),
                paid(step, data),
                dirty(step, data).filter(|_| of_server),
                garbage(step, data).filter(|_| of_server),
            ]
        })
        .flatten()
        .collect()
}

/// Returns whether a step asks something of the data.
///
/// The loads of an application follow one another without rest, by its definition.
fn is_queried(step: &StepRecord, experiment: &Experiment) -> bool {
    let mut steps = experiment.application.iter().flat_map(|application| &application.steps);
    let own = steps.find(|traffic_spec| traffic_spec.name == step.step.name);
    let is_query = own.is_none_or(|own| matches!(own.role, StepRole::Read | StepRole::ReadWrite));
    is_query && !step.clients.is_empty()
}

/// Tells of changed pages in the cache of a server that the step wrote for another.
///
/// Pages that stay changed cost the step nothing, and beside background writers some always are.
fn dirty(step: &StepRecord, data: &DataShape) -> Option<Seen> {
    let [dirty, after] =
        [&step.before, &step.after].map(|state| reading(&state.readings, "engine_dirty_bytes"));
    let (dirty, after) = (dirty?, after?);
    let end = |name: &str| reading(&step.gauges_end, name);
    let files = || Some(end("data_dir_bytes")? - end("log_bytes")?).filter(|bytes| *bytes > 0.0);
    let known = reading(&step.before.readings, "engine_disk_bytes").or_else(files);
    let share = known.map_or_else(|| share_of(dirty, step, data), |kept| Some(dirty / kept))?;
    (share > SHARE && after < dirty * PAID).then(|| {
        let evidence = format!(
            "began with {} of changed pages not yet written, {} of the data, and wrote them",
            bytes(dirty),
            percent(share)
        );
        Seen::new(evidence).step(&step.step.name).sized("dirty", dirty)
    })
}

/// Tells of rows that vacuum or purge had yet to remove.
#[expect(clippy::cast_precision_loss, reason = "rows stay far below 2^53")]
fn garbage(step: &StepRecord, data: &DataShape) -> Option<Seen> {
    let rows = reading(&step.before.readings, "engine_garbage_rows")?;
    let share = rows / (data.rows as f64).max(1.0);
    (share > SHARE).then(|| {
        let evidence = format!(
            "began with {rows:.0} row versions that vacuum or purge had yet to remove, {} of the \
             rows",
            percent(share)
        );
        Seen::new(evidence).step(&step.step.name).sized("garbage", rows)
    })
}

/// Tells of a settle that ended before the engine was idle.
fn capped(step: &StepRecord) -> Option<Seen> {
    let settle = step.settle.as_ref().filter(|settle| settle.is_capped)?;
    let evidence =
        format!("the engine was not idle when the cap was reached, after {}", settle.took_ns);
    let remedy = "raise `settle_cap`: the steps that follow pay for what was left";
    Some(Seen::new(evidence).step(&step.step.name).remedied(remedy).sized("capped", 0.0))
}

fn inherited(step: &StepRecord, data: &DataShape) -> Option<Seen> {
    let debt = reading(&step.before.readings, DEBT)?;
    let share = share_of(debt, step, data)?;
    // A step without operations is there to pay.
    (share > SHARE && !step.clients.is_empty()).then(|| {
        let evidence =
            format!("began with {} of deferred work, {} of the data", bytes(debt), percent(share));
        Seen::new(evidence).step(&step.step.name).sized("inherited", debt)
    })
}

fn paid(step: &StepRecord, data: &DataShape) -> Option<Seen> {
    let (before, after) =
        (reading(&step.before.readings, DEBT)?, reading(&step.after.readings, DEBT)?);
    let is_told = only_reads(&step.step) && share_of(before, step, data)? > TOLD_FROM;
    (is_told && after < before * PAID).then(|| {
        let evidence = format!(
            "deferred work fell from {} to {} while it only read",
            bytes(before),
            bytes(after)
        );
        Seen::new(evidence).step(&step.step.name).sized("paid", before)
    })
}

/// Returns debt as a share of what the engine keeps on storage, or of its rows.
#[expect(clippy::cast_precision_loss, reason = "bytes stay far below 2^53")]
fn share_of(debt: f64, step: &StepRecord, data: &DataShape) -> Option<f64> {
    let kept = reading(&step.before.readings, "engine_disk_bytes");
    let kept = kept.unwrap_or(data.live_bytes().0 as f64);
    (kept > 0.0).then(|| debt / kept)
}

#[cfg(test)]
mod tests {
    use model::Nanos;
    use model::record::SettleRecord;

    use super::*;
    use crate::testing::{application, experiment, in_runs, runs, set, when};

    #[test]
    fn debt_at_the_start_is_told_from_a_twentieth_on() {
        let with = |debt: f64| {
            when(&RULE, |step| {
                set(&mut step.before.readings, &[(DEBT, debt), ("engine_disk_bytes", 1e9)]);
            })
        };
        assert_eq!(with(5e7), []);
        let evidence = "readrandom of b: began with 57.2 MiB of deferred work, 6.0 % of the data \
                    (3 runs)";
        assert_eq!(with(6e7), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn debt_that_a_reading_step_pays_is_told() {
        let with = |after: f64| {
            when(&RULE, |step| {
                set(&mut step.before.readings, &[(DEBT, 2e7), ("engine_disk_bytes", 1e9)]);
                set(&mut step.after.readings, &[(DEBT, after)]);
            })
        };
        assert_eq!(with(1.5e7), []);
        assert!(with(5e6)[0].1.contains("fell from 19.1 MiB to 4.77 MiB while it only read"));
    }

    #[test]
    fn a_settle_that_was_capped_is_told() {
        let with = |is_capped| {
            when(&RULE, |step| {
                let took_ns = Nanos::from_secs(60);
                step.settle = Some(SettleRecord { took_ns, is_capped, ..SettleRecord::default() });
            })
        };
        assert_eq!(with(false), []);
        assert!(with(true)[0].1.contains("not idle when the cap was reached, after 1m00s"));
    }

    #[test]
    fn what_a_server_has_yet_to_write_or_remove_is_told_before_queries_only() {
        let left_of = |gauge: &str, value: f64, role: Option<StepRole>, left: f64| {
            let mut asked = experiment(&["a"]);
            asked.application = role.map(|role| {
                let mut application = application("readrandom", 100.0);
                application.steps[0].role = role;
                application
            });
            let mut runs = runs(&["a"]);
            for run in &mut runs {
                set(
                    &mut run.steps[0].before.readings,
                    &[(gauge, value), ("engine_disk_bytes", 1e9)],
                );
                set(&mut run.steps[0].after.readings, &[(gauge, value * left)]);
            }
            in_runs(&RULE, &asked, &runs)
        };
        let with = |gauge: &str, value: f64, role| left_of(gauge, value, role, 0.1);
        assert_eq!(with("engine_dirty_bytes", 4e7, None), []);
        assert_eq!(with("engine_dirty_bytes", 4e8, Some(StepRole::Write)), []);
        let evidence = "readrandom of a: began with 381 MiB of changed pages not yet written, 40 % of \
                    the data, and wrote them (3 runs)";
        let found = with("engine_dirty_bytes", 4e8, Some(StepRole::ReadWrite));
        assert_eq!(found, [(Severity::Warning, evidence.to_owned())]);
        // Beside background writers some always are.
        assert_eq!(left_of("engine_dirty_bytes", 4e8, Some(StepRole::ReadWrite), 1.1), []);
        assert_eq!(with("engine_garbage_rows", 4e4, None), []);
        assert!(with("engine_garbage_rows", 1e5, None)[0].1.contains("100000 row versions"));
    }
}
