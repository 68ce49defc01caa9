//! Bringing an engine to rest between steps: predicates with a cap, never a fixed sleep.

use engine::{Engine, EngineError};
use load::Clock;
use model::record::SettleRecord;
use model::{EngineState, Nanos};
use workload::Stage;

/// How often the predicates are looked at.
const POLL: Nanos = Nanos::from_millis(50);
/// Looks in a row that must find the engine idle: one alone can fall between two jobs.
const IDLE_LOOKS: u32 = 3;
/// Time without any change of the debt, while nothing runs, after which an engine counts as idle
/// although it says work is pending: some never take that word back.
/// Source: rocksdb issue 9275 (universal compaction reports pending work forever).
const STUCK: Nanos = Nanos::from_secs(5);

/// Executes the stages in order, until the engine is idle or `cap` is reached.
///
/// `on_look` is called before each stage with its name, and at every look without.
///
/// # Errors
/// When the engine fails.
pub(crate) fn settle(
    engine: &dyn Engine,
    stages: &[Stage],
    cap: Nanos,
    clock: &impl Clock,
    on_look: &mut dyn FnMut(Option<&str>) -> bool,
) -> Result<SettleRecord, EngineError> {
    let begun = clock.now();
    let deadline = begun.after(cap);
    let mut record = SettleRecord::default();
    for stage in stages {
        let name = stage.name();
        let stage_begun = clock.now();
        let go_on = on_look(Some(name));
        match stage {
            Stage::Do(work) => {
                engine.maintain(*work)?;
            }
            Stage::WaitIdle if go_on => {
                record.is_capped |= !wait_idle(engine, deadline, clock, on_look)?;
            }
            Stage::WaitIdle => {}
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
    on_look: &mut dyn FnMut(Option<&str>) -> bool,
) -> Result<bool, EngineError> {
    let mut idle_looks = 0;
    let mut last = (engine.state()?, clock.now());
    loop {
        let now = clock.now();
        let state = engine.state()?;
        idle_looks = if state.is_idle.unwrap_or(true) { idle_looks + 1 } else { 0 };
        let is_moving = is_running(&state) || debt(&state) != debt(&last.0);
        if is_moving {
            last = (state, now);
        }
        if idle_looks >= IDLE_LOOKS || now.since(last.1) >= STUCK {
            return Ok(true);
        }
        if now >= deadline || !on_look(None) {
            return Ok(false);
        }
        clock.rest_until(now.after(POLL));
    }
}

/// Returns whether the engine says that background jobs run; unknown counts as no.
fn is_running(state: &EngineState) -> bool {
    state.readings.get("engine_background_jobs").is_some_and(|jobs| *jobs > 0.0)
}

/// Returns the engine's debt to the bit, so that any change is seen.
fn debt(state: &EngineState) -> Option<u64> {
    state.readings.get("engine_debt_bytes").map(|bytes| bytes.to_bits())
}
