//! Sessions that hold transactions open while the clients of a step work.

use std::panic::{AssertUnwindSafe, catch_unwind};

use engine::{Engine, EngineError, Rows};
use model::Nanos;
use model::record::HoldsRecord;
use workload::Generator;

use super::client_slot::panic_message;
use super::pool::ClientPool;
use super::step::HolderRun;
use crate::client::Role;
use crate::sync::{JoinHandle, spawn_scoped, thread};
use crate::traits::Clock;

/// Longest sleep: so late may a session notice that the step is over.
const REST_MAX: Nanos = Nanos::from_millis(100);
/// Failures in a row after which the step fails: the server takes no such transaction.
///
/// Our choice: ten are a second, longer than a deadlock or a restart of one session.
const FAILURES_IN_A_ROW_MAX: u32 = 10;

/// The end of one session: what it held, and its failure.
pub(super) type Held = (HoldsRecord, Option<String>);

/// Starts one thread for each session; they end with the background writers.
pub(super) fn start<'scope, 'env: 'scope, C: Clock>(
    scope: &'scope thread::Scope<'scope, 'env>,
    clock: &'env C,
    pool: &'env ClientPool,
    engine: &'env dyn Engine,
    run: &'env mut HolderRun,
) -> std::io::Result<Vec<JoinHandle<'scope, Held>>> {
    let time = run.time;
    let one = |(number, generator): (usize, &'env mut Box<dyn Generator>)| {
        let holder = Holder { clock, pool, time };
        spawn_scoped(scope, &format!("holder {number}"), move || {
            holder.run(engine, &mut **generator)
        })
    };
    run.generators.iter_mut().enumerate().map(one).collect()
}

/// Waits for all sessions; returns what they held together, and the first failure.
///
/// Nothing is returned where there was no session.
pub(super) fn join(holders: Vec<JoinHandle<'_, Held>>) -> (Option<HoldsRecord>, Option<String>) {
    let (mut all, mut first) = (None::<HoldsRecord>, None);
    for holder in holders {
        let (held, failure) =
            holder.join().unwrap_or_else(|_| (HoldsRecord::default(), Some("panicked".to_owned())));
        all.get_or_insert_default().merge(&held);
        first = first.or(failure);
    }
    (
        all,
        first.map(|failure| {
            format!("a transaction cannot be held open (`hold` of the step): {failure}")
        }),
    )
}

struct Holder<'r, C> {
    clock: &'r C,
    pool: &'r ClientPool,
    time: Nanos,
}

impl<C: Clock> Holder<'_, C> {
    /// Runs one session; its failure stops the step.
    fn run(&self, engine: &dyn Engine, generator: &mut dyn Generator) -> Held {
        let mut held = HoldsRecord::default();
        let caught = catch_unwind(AssertUnwindSafe(|| self.hold_all(engine, generator, &mut held)));
        let failure = match caught {
            Ok(done) => done.err().map(|error| error.to_string()),
            Err(payload) => Some(format!("panicked: {}", panic_message(&*payload))),
        };
        if failure.is_some() {
            self.pool.halt_all();
        }
        (held, failure)
    }

    /// Holds one transaction after the other until the step is over.
    fn hold_all(
        &self,
        engine: &dyn Engine,
        generator: &mut dyn Generator,
        held: &mut HoldsRecord,
    ) -> Result<(), EngineError> {
        let mut session = engine.session()?;
        let Some(timeline) = self.pool.barrier.wait() else { return Ok(()) };
        self.clock.rest_until(timeline.start);
        let (mut rows, mut failures) = (Rows::new(), 0);
        while !self.is_over() {
            rows.clear(false);
            let Some(op) = generator.next() else { break };
            match session.hold(&op, &mut rows) {
                Ok(_) => {
                    failures = 0;
                    held.add(self.rest(self.time));
                }
                Err(error) => {
                    (held.failed, failures) = (held.failed + 1, failures + 1);
                    let is_away = matches!(error, EngineError::Unavailable { .. });
                    if matches!(error, EngineError::Fatal(_) | EngineError::Unsupported(_))
                        || failures > FAILURES_IN_A_ROW_MAX && !is_away
                    {
                        return Err(error);
                    }
                    self.rest(REST_MAX);
                }
            }
        }
        Ok(())
    }

    /// Sleeps for `time`, or until the step is over; returns how long that was.
    fn rest(&self, time: Nanos) -> Nanos {
        let begun = self.clock.now();
        let (until, mut now) = (begun.after(time), begun);
        while now < until && !self.is_over() {
            now = self.clock.rest_until(until.min(now.after(REST_MAX)));
        }
        now.since(begun)
    }

    fn is_over(&self) -> bool {
        let (halt, ..) = self.pool.of(Role::Background);
        halt.is_halted()
    }
}
