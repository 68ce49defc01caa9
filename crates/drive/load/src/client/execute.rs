//! The hot loop.

use engine::{EngineError, Rows, Session};
use model::{Load, Nanos, Op, OpKind, Rate};
use workload::Generator;

use super::meter::Meter;
use crate::schedule::{Closed, Constant};
use crate::stop::Halt;
use crate::tally::Times;
use crate::timeline::Timeline;
use crate::traits::{Clock, Schedule, Ticks};

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
    (load, client, clients): (&Load, u64, u64),
    timeline: &Timeline,
    source: (&mut dyn Generator, &mut dyn Session),
    meter: &mut Meter<'_>,
) -> ClientEnd {
    match load {
        Load::Open(open) => {
            let ops_per_s = Rate::peak_ops_per_s(&open.rate);
            let schedule = Constant::new(timeline.start, ops_per_s, client, clients);
            run(drive.clock, drive, schedule, source, meter)
        }
        Load::Closed | Load::FindRate(_) | Load::FindClients => {
            run(drive.clock, drive, Closed, source, meter)
        }
    }
}

/// The hot loop, all of it: one copy per clock and schedule, two or three indirect calls.
///
/// The clock comes by itself, because the compiler may keep in registers what is behind a
/// reference that is an argument.
fn run<C: Clock, S: Schedule>(
    clock: &C,
    drive: &Drive<'_, C>,
    mut schedule: S,
    (generator, session): (&mut dyn Generator, &mut dyn Session),
    meter: &mut Meter<'_>,
) -> ClientEnd {
    let mut rows = Rows::new();
    let mut failures = 0;
    let mut limit = drive.limit;
    let mut next_mark = clock.ticks_at(meter.next_mark());
    let mut unchecked = if drive.is_checking { generator.unchecked() } else { u64::MAX };
    while meter.ended < limit {
        let is_checked = unchecked == 0;
        let next = generator.next();
        let Some(op) = &next else { break };
        rows.clear(is_checked);
        let mut started = clock.ticks();
        let mut intended = Nanos(0);
        if !S::IS_CLOSED {
            let now = clock.time_of(started);
            let Some(due) = schedule.next_start(now) else { break };
            if due > now {
                match wait(drive, due, meter) {
                    Ok(ticks) => started = ticks,
                    Err(end) => return end,
                }
                next_mark = clock.ticks_at(meter.next_mark());
            }
            intended = due;
        }
        let outcome = session.execute(op, &mut rows);
        let ended = clock.ticks();

        // Outside the stamps from here on.
        let kind = op.kind();
        meter.ended += 1;
        if ended >= next_mark {
            // The operation belongs to the interval it ended in, so a cut comes first.
            if meter.mark(clock.time_of(ended)) {
                limit = 0;
            }
            next_mark = clock.ticks_at(meter.next_mark());
        }
        match outcome {
            Ok(outcome) => {
                let times = times::<C, S>(clock, intended, started, ended);
                let moved = moved(op, &rows);
                if is_checked && let Some(end) = verify(generator, &rows, kind, meter) {
                    return end;
                }
                failures = 0;
                meter.tally.record(kind, outcome, times, moved);
            }
            Err(error) => {
                failures += 1;
                meter.tally.record_failure(kind);
                if let Some(end) = give_up(&error, failures) {
                    return end;
                }
            }
        }
        unchecked = if is_checked { generator.unchecked() } else { unchecked - 1 };
        if drive.halt.is_halted() {
            return ClientEnd::Stopped;
        }
    }
    ClientEnd::Finished
}

/// Returns what an operation took.
#[inline(always)]
fn times<C: Clock, S: Schedule>(clock: &C, intended: Nanos, started: Ticks, ended: Ticks) -> Times {
    let service_ns = clock.between(started, ended).0;
    if S::IS_CLOSED {
        return Times { service_ns, response_ns: service_ns };
    }
    // Rounding must not make the response time the shorter one.
    let response_ns = clock.time_of(ended).since(intended).0.max(service_ns);
    Times { service_ns, response_ns }
}

/// Checks an answer; returns the end of the client when it is wrong.
#[cold]
fn verify(
    generator: &mut dyn Generator,
    rows: &Rows,
    kind: OpKind,
    meter: &mut Meter<'_>,
) -> Option<ClientEnd> {
    match generator.check(rows) {
        Ok(values) => {
            meter.tally.record_verified(kind, values);
            None
        }
        Err(wrong) => {
            meter.tally.record_failure(kind);
            Some(ClientEnd::Failed(wrong.to_string()))
        }
    }
}

/// Waits until an operation is due, and does meanwhile what else is due.
#[cold]
fn wait<C: Clock>(
    drive: &Drive<'_, C>,
    due: Nanos,
    meter: &mut Meter<'_>,
) -> Result<Ticks, ClientEnd> {
    loop {
        let next = due.min(meter.next_mark());
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
        if now >= due {
            return Ok(drive.clock.ticks());
        }
    }
}

/// Returns the rows and bytes that an operation wrote, or that were read.
#[inline(always)]
const fn moved(op: &Op<'_>, rows: &Rows) -> (u64, u64) {
    if let Op::Put { key, value } = op {
        (1, (key.len() + value.len()) as u64)
    } else if let Op::Delete { key } = op {
        (1, key.len() as u64)
    } else {
        (rows.count(), rows.bytes())
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
