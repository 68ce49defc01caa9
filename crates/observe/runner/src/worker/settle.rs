//! Waits until an engine is idle between steps, up to a cap.

use engine::{Engine, EngineError};
use load::Clock;
use model::record::SettleRecord;
use model::{EngineState, Metric, Nanos, metric};
use workload::Stage;

/// Interval at which an engine's state is sampled.
pub(crate) const POLL: Nanos = Nanos::from_millis(50);
/// Idle samples in a row that are needed: a single one can fall between two jobs.
pub(crate) const IDLE_SAMPLES: u32 = 3;
/// Time without any change of the debt, while nothing runs, after which an engine counts as idle
/// although it reports pending work: some report it for ever.
/// Source: [RocksDB issue 9275] (universal compaction reports pending work forever).
pub(crate) const STUCK: Nanos = Nanos::from_secs(5);

/// Executes the stages in order, until the engine is idle or `cap` is reached.
///
/// `on_sample` is called before each stage with its name, and at every sample without; `false` ends
/// the settle.
///
/// # Errors
/// When the engine fails.
pub(crate) fn settle(
    engine: &dyn Engine,
    stages: &[Stage],
    cap: Nanos,
    clock: &impl Clock,
    on_sample: &mut dyn FnMut(Option<&str>) -> bool,
) -> Result<SettleRecord, EngineError> {
    let begun = clock.now();
    let deadline = begun.after(cap);
    let mut record = SettleRecord::default();
    for stage in stages {
        let name = stage.name();
        let stage_begun = clock.now();
        let go_on = on_sample(Some(name));
        match stage {
            // Work that the engine does not have is no stage.
            Stage::Do(work) if go_on && !engine.maintain(*work)? => continue,
            Stage::WaitIdle if go_on => {
                record.is_capped |= !wait_idle(engine, deadline, clock, on_sample)?;
            }
            Stage::Do(_) | Stage::WaitIdle => {}
        }
        record.stages.push((name.to_owned(), clock.now().since(stage_begun)));
    }
    record.took_ns = clock.now().since(begun);
    Ok(record)
}

/// Waits until the engine is idle; returns `false` when the deadline came first.
fn wait_idle(
    engine: &dyn Engine,
    deadline: Nanos,
    clock: &impl Clock,
    on_sample: &mut dyn FnMut(Option<&str>) -> bool,
) -> Result<bool, EngineError> {
    let mut idle_samples = 0;
    let mut last = (engine.state()?, clock.now());
    loop {
        let now = clock.now();
        let state = engine.state()?;
        idle_samples = if state.is_idle.unwrap_or(true) { idle_samples + 1 } else { 0 };
        let is_moving = is_running(&state) || debt(&state) != debt(&last.0);
        if is_moving {
            last = (state, now);
        }
        if idle_samples >= IDLE_SAMPLES || now.since(last.1) >= STUCK {
            return Ok(true);
        }
        if now >= deadline || !on_sample(None) {
            return Ok(false);
        }
        clock.rest_until(now.after(POLL));
    }
}

/// Returns whether the engine reports running background jobs; unknown counts as no.
fn is_running(state: &EngineState) -> bool {
    state.readings.value(metric::ENGINE_BACKGROUND_JOBS).is_some_and(|jobs| jobs > 0.0)
}

/// Readings of work that is deferred: compaction's, the page cleaners', vacuum's or purge's.
const DEBTS: [Metric; 3] =
    [metric::ENGINE_DEBT_BYTES, metric::ENGINE_DIRTY_BYTES, metric::ENGINE_GARBAGE_ROWS];

/// Returns the engine's debts to the bit, so that any change is detected.
fn debt(state: &EngineState) -> [Option<u64>; 3] {
    DEBTS.map(|name| state.readings.value(name).map(f64::to_bits))
}

#[cfg(test)]
mod tests {
    use engine::Maintenance;
    use load::ManualClock;

    use super::*;
    use crate::worker::tests::scripted::{Scripted, StateSample};

    const CAP: Nanos = Nanos::from_secs(60);

    const IDLE: StateSample = (Some(true), 0.0, 0.0);
    const BUSY: StateSample = (Some(false), 1.0, 1e6);
    /// Work is pending for ever, and nothing runs.
    const STUCK_DEBT: StateSample = (Some(false), 0.0, 7e6);

    impl Scripted {
        fn settle(
            &self,
            stages: &[Stage],
            on_sample: &mut dyn FnMut(Option<&str>) -> bool,
        ) -> Result<SettleRecord, EngineError> {
            settle(self, stages, CAP, &ManualClock::new(Nanos(0)), on_sample)
        }
    }

    /// Waits for an engine with these samples, the first of them before the first that counts.
    fn wait(samples: &[StateSample]) -> SettleRecord {
        Scripted::new(samples).settle(&[Stage::WaitIdle], &mut |_| true).unwrap()
    }

    #[test]
    fn an_engine_is_idle_after_three_idle_samples() {
        for idle in [IDLE, (None, 0.0, 0.0)] {
            let record = wait(&[idle]);
            assert_eq!((record.took_ns, record.is_capped), (Nanos::from_millis(100), false));
        }
    }

    #[test]
    fn one_idle_sample_between_two_jobs_is_not_rest() {
        let record = wait(&[BUSY, BUSY, IDLE, IDLE, BUSY, IDLE]);
        assert_eq!((record.took_ns, record.is_capped), (Nanos::from_millis(300), false));
    }

    #[test]
    fn debt_without_running_jobs_is_not_waited_for() {
        let record = wait(&[BUSY, STUCK_DEBT]);
        assert!(!record.is_capped);
        assert!(record.took_ns >= STUCK && record.took_ns <= STUCK.after(Nanos::SECOND));
    }

    #[test]
    fn a_job_without_end_is_waited_for_until_the_cap() {
        let record = wait(&[BUSY]);
        assert_eq!((record.took_ns, record.is_capped), (CAP, true));
    }

    #[test]
    fn debt_that_moves_is_waited_for_though_no_job_is_named() {
        let samples: Vec<StateSample> =
            (0..200).map(|sample| (Some(false), 0.0, f64::from(sample))).chain([IDLE]).collect();
        let record = wait(&samples);
        assert!(!record.is_capped && record.took_ns > Nanos::from_secs(9), "{record:?}");
    }

    #[test]
    fn shrinking_dirty_pages_and_garbage_are_work() {
        for debt in DEBTS {
            let samples: Vec<StateSample> = (0..200)
                .map(|sample| (Some(false), 0.0, f64::from(200 - sample)))
                .chain([IDLE])
                .collect();
            let engine = Scripted::with_debt(debt, &samples);
            let record = engine.settle(&[Stage::WaitIdle], &mut |_| true).unwrap();
            assert!(record.took_ns > Nanos::from_secs(9), "{debt}: {record:?}");
        }
    }

    #[test]
    fn the_stages_are_executed_in_order_and_recorded() {
        let engine = Scripted::new(&[BUSY, BUSY, IDLE]);
        let flush = Stage::Do(Maintenance::Flush);
        let compact = Stage::Do(Maintenance::CompactLevel0);
        let stages = [flush, Stage::WaitIdle, compact, Stage::WaitIdle];
        let mut reported = Vec::new();
        let record = engine
            .settle(&stages, &mut |stage| {
                reported.extend(stage.map(str::to_owned));
                true
            })
            .unwrap();
        let names: Vec<_> = record.stages.iter().map(|(name, _)| name.clone()).collect();
        assert_eq!(names, ["flush", "wait_idle", "compact_level0", "wait_idle"]);
        assert_eq!(reported, names);
        assert_eq!(record.took_ns.0, record.stages.iter().map(|(_, took)| took.0).sum::<u64>());
        let done = engine.done();
        assert_eq!(done, [Maintenance::Flush, Maintenance::CompactLevel0]);
    }

    #[test]
    fn after_a_stop_nothing_is_begun_or_waited_for() {
        let engine = Scripted::new(&[BUSY]);
        let stages = [Stage::WaitIdle, Stage::Do(Maintenance::CompactAll), Stage::WaitIdle];
        let mut samples = 0;
        let record = engine.settle(&stages, &mut |_| {
            samples += 1;
            samples < 5
        });
        assert!(record.unwrap().took_ns < Nanos::SECOND);
        assert!(engine.done().is_empty());
    }

    #[test]
    fn an_engine_error_fails_the_settle() {
        let error = Scripted::new(&[]).settle(&[Stage::WaitIdle], &mut |_| true).unwrap_err();
        assert!(error.to_string().contains("out of samples"));
    }
}
