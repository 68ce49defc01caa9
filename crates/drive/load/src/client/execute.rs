//! The hot loop.

use engine::{EngineError, Rows, Session};
use model::{Load, Nanos, Op};
use workload::Generator;

use super::meter::Meter;
use crate::schedule::{Closed, Constant};
use crate::stop::Halt;
use crate::tally::Done;
use crate::timeline::Timeline;
use crate::traits::{Clock, Schedule};

/// Failures in a row after which a client gives up: an engine that refused a thousand times will
/// not recover within the step, and may refuse a million times per second.
const FAILURES_IN_A_ROW_MAX: u32 = 1000;

/// What a client is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It is measured: waits exactly, spinning at the end, and ends at the deadline.
    Measured,
    /// It writes in the background: waits asleep, late by a wake-up but without taking CPU from
    /// others, and runs until it is halted.
    Background,
}

/// How a client ended.
#[derive(Debug)]
pub(crate) enum ClientEnd {
    /// It did what it was asked to.
    Finished,
    /// It was told to stop.
    Stopped,
    /// It never ran: the engine gave it no session.
    Refused(EngineError),
    /// The engine or an answer failed, or the thread panicked.
    Failed(String),
}

/// What a client needs beside its generator, session and meter.
pub(crate) struct Drive<'r, C> {
    pub(crate) clock: &'r C,
    pub(crate) halt: &'r Halt,
    pub(crate) role: Role,
    /// Operations after which the client ends.
    pub(crate) limit: u64,
    /// Whether the answers that the generator samples are checked.
    pub(crate) is_checking: bool,
}

/// Runs the loop with the schedule of client `client` of `clients` that `load` asks for.
pub(crate) fn run_scheduled<C: Clock>(
    drive: &Drive<'_, C>,
    (load, client, clients): (Load, u64, u64),
    timeline: &Timeline,
    (generator, session): (&mut dyn Generator, &mut dyn Session),
    meter: &mut Meter<'_>,
) -> ClientEnd {
    match load {
        Load::Closed => run(drive, Closed, (generator, session), meter),
        Load::Constant { ops_per_s } => {
            let schedule = Constant::new(timeline.start, ops_per_s, client, clients);
            run(drive, schedule, (generator, session), meter)
        }
    }
}

/// The hot loop, all of it: one copy per clock and schedule, two or three indirect calls.
fn run<C: Clock, S: Schedule>(
    drive: &Drive<'_, C>,
    mut schedule: S,
    (generator, session): (&mut dyn Generator, &mut dyn Session),
    meter: &mut Meter<'_>,
) -> ClientEnd {
    let mut rows = Rows::new();
    let mut failures = 0;
    while meter.ended < drive.limit {
        let is_checked = drive.is_checking && generator.wants_check();
        let Some(op) = generator.next() else { break };
        rows.clear(is_checked);
        let now = drive.clock.now();
        let Some(intended) = schedule.next_start(now) else { break };
        let started = if intended <= now {
            now
        } else {
            match wait(drive, intended, meter) {
                Ok(started) => started,
                Err(end) => return end,
            }
        };
        let outcome = session.execute(&op, &mut rows);
        let ended = drive.clock.now();

        // Outside the stamps from here on.
        let (kind, written) = (op.kind(), written(&op));
        meter.ended += 1;
        let is_over = ended >= meter.next_mark() && meter.mark(ended);
        if is_checked && outcome.is_ok() {
            match generator.check(&rows) {
                Ok(values) => meter.tally.record_verified(kind, values),
                Err(wrong) => {
                    meter.tally.record_failure(kind);
                    return ClientEnd::Failed(wrong.to_string());
                }
            }
        }
        match outcome {
            Ok(outcome) => {
                failures = 0;
                meter.tally.record(Done {
                    kind,
                    outcome,
                    service_ns: ended.since(started).0,
                    response_ns: ended.since(intended).0,
                    rows: rows.count() + written.0,
                    bytes: rows.bytes() + written.1,
                });
            }
            Err(error) => {
                failures += 1;
                meter.tally.record_failure(kind);
                if let Some(end) = give_up(&error, failures) {
                    return end;
                }
            }
        }
        if is_over {
            break;
        }
        if drive.halt.is_halted() {
            return ClientEnd::Stopped;
        }
    }
    ClientEnd::Finished
}

/// Waits until an operation is due, and does meanwhile what else is due.
#[cold]
fn wait<C: Clock>(
    drive: &Drive<'_, C>,
    intended: Nanos,
    meter: &mut Meter<'_>,
) -> Result<Nanos, ClientEnd> {
    loop {
        let next = intended.min(meter.next_mark());
        let now = match drive.role {
            Role::Measured => drive.clock.wait_until(next),
            Role::Background => drive.clock.rest_until(next),
        };
        // An operation that is due at the deadline or later is not begun.
        if now >= meter.next_mark() && meter.mark(now) {
            return Err(ClientEnd::Finished);
        }
        if drive.halt.is_halted() {
            return Err(ClientEnd::Stopped);
        }
        if now >= intended {
            return Ok(now);
        }
    }
}

/// Returns the rows and bytes that an operation writes; what it reads, the engine counts.
#[inline(always)]
const fn written(op: &Op<'_>) -> (u64, u64) {
    match op {
        Op::Put { key, value } => (1, (key.len() + value.len()) as u64),
        Op::Delete { key } => (1, key.len() as u64),
        Op::Get { .. } | Op::Scan { .. } | Op::MultiGet { .. } => (0, 0),
    }
}

/// Returns the end of the client when a failure is one too many.
#[cold]
fn give_up(error: &EngineError, failures: u32) -> Option<ClientEnd> {
    if matches!(error, EngineError::Fatal(_)) {
        return Some(ClientEnd::Failed(error.to_string()));
    }
    (failures > FAILURES_IN_A_ROW_MAX).then(|| {
        ClientEnd::Failed(format!("{failures} operations in a row failed, at last: {error}"))
    })
}
