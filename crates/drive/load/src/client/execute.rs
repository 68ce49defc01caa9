//! The hot loop of one client.

use std::any::Any;

use engine::{EngineError, Rows, Session};
use model::{Nanos, Op, OpKind, Outcome};
use workload::{Generator, PointReads, RangeReads, Writes};

use super::drive::{Drive, Source, Waiting, fail, verify};
use super::meter::{Meter, Role};
use super::pipelined;
use crate::handoff::ClientEnd;
use crate::schedule::SharedArrivals;
use crate::tally::{Times, Volume};
use crate::ticks::{Ticker, Ticks};
use crate::traits::{Clock, Closed, Schedule};

/// Time that a client may need between two operations: counting one and making the next.
///
/// An arrival that comes due meanwhile met a busy client. Where it takes longer, the client was
/// delayed, and arrivals that came due meanwhile count as late starts of the client.
const BETWEEN: Nanos = Nanos(1_000);

/// Runs the loop: closed, or with the arrivals that the group shares.
pub(crate) fn run_scheduled<C: Clock>(
    drive: &Drive<'_, C>,
    arrivals: Option<&SharedArrivals>,
    source: Source<'_, dyn Generator>,
    meter: &mut Meter<'_>,
) -> ClientEnd {
    match arrivals {
        Some(arrivals) => {
            if drive.role == Role::Measured {
                meter.count_idle();
            }
            let schedule = Open { arrivals, start: meter.timeline.start };
            run(drive.clock, drive, schedule, source, meter)
        }
        None if drive.depth > 1 => pipelined::run(drive, source, meter),
        None => match drive.clock.counter() {
            Some(counter) => run_closed(counter, drive, source, meter),
            None => run_closed(drive.clock, drive, source, meter),
        },
    }
}

/// Runs a closed loop, compiled for the generator where it is of a frequent type.
fn run_closed<T: Ticker, C: Clock>(
    clock: &T,
    drive: &Drive<'_, C>,
    source: Source<'_, dyn Generator>,
    meter: &mut Meter<'_>,
) -> ClientEnd {
    let Source { generator, session } = source;
    let any: &mut dyn Any = generator;
    if let Some(reads) = any.downcast_mut::<PointReads>() {
        run(clock, drive, Closed, Source { generator: reads, session }, meter)
    } else if let Some(reads) = any.downcast_mut::<RangeReads>() {
        run(clock, drive, Closed, Source { generator: reads, session }, meter)
    } else if let Some(writes) = any.downcast_mut::<Writes>() {
        run(clock, drive, Closed, Source { generator: writes, session }, meter)
    } else {
        run(clock, drive, Closed, Source { generator, session }, meter)
    }
}

/// An open loop: the arrivals of the group, from the step's start on.
struct Open<'r> {
    arrivals: &'r SharedArrivals,
    start: Nanos,
}

impl Schedule for Open<'_> {
    const IS_CLOSED: bool = false;

    #[inline(always)]
    fn take(&self) -> Option<Nanos> {
        self.arrivals.take().map(|due| self.start.after(due))
    }
}

/// The hot loop, all of it: one copy per clock, schedule and frequent type of generator.
///
/// The clock is an argument of its own, because the compiler may then keep its fields in
/// registers; not inlined, so that it has all registers to itself.
#[inline(never)]
fn run<T: Ticker, C: Clock, S: Schedule, G: Generator + ?Sized>(
    clock: &T,
    drive: &Drive<'_, C>,
    schedule: S,
    source: Source<'_, G>,
    meter: &mut Meter<'_>,
) -> ClientEnd {
    let Source { generator, session } = source;
    let mut rows = Rows::new();
    let mut limit = drive.limit;
    let unchecked = if drive.is_checking { generator.unchecked() } else { u64::MAX };
    // Operations before the next one that is checked, or the last.
    let (mut left, mut is_checked) = (unchecked.min(limit), false);
    let mut state = LoopState::new(clock, meter);
    let mut plain_until = state.plain_until::<S>();
    loop {
        if left > 0 {
            rows.restart();
        } else if meter.ended < limit {
            rows.clear(true);
            (is_checked, plain_until) = (true, Ticks(0));
        } else {
            break;
        }
        let next = generator.next();
        let Some(op) = &next else { break };
        let Some(begun) = begin(clock, drive, &schedule, op, meter) else { break };
        let outcome = execute(session, op, &mut rows);
        let ended = clock.ticks();

        // Outside the stamps from here on.
        meter.ended += 1;
        'counted: {
            // No guard: the result would be tested again, to drop it.
            let outcome = match outcome {
                Ok(outcome) => {
                    if S::IS_CLOSED && ended < plain_until {
                        let times = times::<T, S>(clock, begun.intended, begun.started, ended);
                        meter.tally.record(op.kind(), outcome, times, moved(op, &rows));
                        left -= 1;
                        break 'counted;
                    }
                    Ok(outcome)
                }
                Err(error) => Err(error),
            };
            let (kind, moved) = (op.kind(), moved(op, &rows));
            let check = |meter: &mut Meter<'_>| match is_checked {
                true => verify(generator, &rows, kind, meter),
                false => None,
            };
            let answer = Answer { kind, moved, outcome, begun, ended };
            let end = match S::IS_CLOSED {
                true => state.account_rare::<T, S>(clock, answer, check, meter),
                false => state.account::<T, S>(clock, answer, check, meter),
            };
            if let Some(end) = end {
                return end;
            }
            limit = if state.is_over { 0 } else { limit };
            left = match is_checked {
                true => {
                    rows.clear(false);
                    generator.unchecked().min(limit.saturating_sub(meter.ended))
                }
                false => (left - 1).min(limit),
            };
            (is_checked, plain_until) = (false, state.plain_until::<S>());
        }
        if drive.halt.is_halted() {
            return ClientEnd::Stopped;
        }
    }
    // A wait that was interrupted ends the loop too.
    if drive.halt.is_halted() { ClientEnd::Stopped } else { ClientEnd::Finished }
}

/// Executes an operation, by a call of its own where it is of a frequent kind.
///
/// The compiler knows the kind in a loop that is compiled for its generator.
#[inline(always)]
fn execute(
    session: &mut dyn Session,
    op: &Op<'_>,
    rows: &mut Rows,
) -> Result<Outcome, EngineError> {
    match *op {
        Op::Get { key } => session.execute_get(key, rows),
        Op::Put { key, value } => session.execute_put(key, value, rows),
        Op::Scan { start, limit, direction } => session.execute_scan(start, limit, direction, rows),
        Op::Delete { .. }
        | Op::MultiGet { .. }
        | Op::Call(_)
        | Op::PartialUpdate { .. }
        | Op::FieldRead { .. }
        | Op::Append { .. }
        | Op::ScanSequence { .. } => session.execute(op, rows),
    }
}

/// One operation, when it has ended.
struct Answer {
    kind: OpKind,
    moved: Volume,
    outcome: Result<Outcome, EngineError>,
    begun: Begun,
    ended: Ticks,
}

/// What operations leave for later ones.
struct LoopState {
    /// When [`Meter::mark`] is next due.
    next_mark: Ticks,
    /// When the last operation ended.
    free_since: Nanos,
    /// Operations that failed in a row.
    failures: u32,
    /// When the first of these began: so did the one that a closed loop does in their place.
    first_attempt: Ticks,
    /// Whether the client leaves the loop: at its deadline, or for a pause.
    is_over: bool,
    /// Whether gaps between successes are noted.
    is_watched: bool,
}

impl LoopState {
    fn new(clock: &impl Ticker, meter: &Meter<'_>) -> Self {
        Self {
            next_mark: clock.ticks_at(meter.next_mark),
            free_since: meter.here_since,
            failures: 0,
            first_attempt: clock.ticks(),
            is_over: false,
            is_watched: meter.gaps.is_some(),
        }
    }

    /// Returns until when an operation that is done is counted and nothing else.
    ///
    /// One comparison then stands for all that is rare in a closed loop.
    fn plain_until<S: Schedule>(&self) -> Ticks {
        let is_plain = S::IS_CLOSED && self.failures == 0 && !self.is_watched;
        if is_plain { self.next_mark } else { Ticks(0) }
    }

    /// Calls [`Self::account`] apart from the hot loop, which then has its registers to itself.
    #[cold]
    #[inline(never)]
    fn account_rare<T: Ticker, S: Schedule>(
        &mut self,
        clock: &T,
        answer: Answer,
        check: impl FnOnce(&mut Meter<'_>) -> Option<ClientEnd>,
        meter: &mut Meter<'_>,
    ) -> Option<ClientEnd> {
        self.account::<T, S>(clock, answer, check, meter)
    }

    /// Accounts for an operation and everything else that is due; returns the client's end, if any.
    #[inline(always)]
    fn account<T: Ticker, S: Schedule>(
        &mut self,
        clock: &T,
        answer: Answer,
        check: impl FnOnce(&mut Meter<'_>) -> Option<ClientEnd>,
        meter: &mut Meter<'_>,
    ) -> Option<ClientEnd> {
        let Answer { kind, moved, outcome, begun, ended } = answer;
        let is_retry = S::IS_CLOSED && self.failures > 0;
        // Time to think and type before the retry is no part of it.
        let began = match is_retry {
            true => Ticks(self.first_attempt.0.saturating_add(begun.rested.0)),
            false => begun.started,
        };
        let times = times::<T, S>(clock, begun.intended, began, ended);
        if ended >= self.next_mark {
            // The operation belongs to the interval it ended in, so the hand-over comes first.
            let at = clock.time_of(ended);
            self.is_over = meter.mark(at);
            self.next_mark = clock.ticks_at(meter.next_mark);
            if outcome.is_ok() {
                meter.note_ended(kind, at, times, moved);
            }
        }
        if !S::IS_CLOSED {
            note_served(clock, &begun, self.free_since, meter);
            self.free_since = clock.time_of(ended);
        }
        if let Some(gaps) = &mut meter.gaps {
            let due = if S::IS_CLOSED { clock.time_of(begun.started) } else { begun.intended };
            match outcome.is_ok() {
                true => gaps.note_success(due, clock.time_of(ended)),
                false => gaps.note_failure(due),
            }
        }
        match outcome {
            Ok(outcome) => {
                if let Some(end) = check(meter) {
                    return Some(end);
                }
                if is_retry {
                    meter.tally.record_replacing(kind);
                }
                self.failures = 0;
                meter.tally.record(kind, outcome, times, moved);
                None
            }
            Err(error) => {
                (self.failures, self.first_attempt) = (self.failures + 1, began);
                fail(&error, kind, self.failures, 1, meter)
            }
        }
    }
}

/// The start of an operation.
struct Begun {
    intended: Nanos,
    started: Ticks,
    /// Length of the pause before a call of a closed loop.
    rested: Ticks,
    /// Whether the client was free, and waited.
    is_awaited: bool,
}

/// Takes the next arrival and waits for it; `None` when the client ends instead.
///
/// In a closed loop an operation begins at once, or after the pause of a call. An arrival is taken
/// before the clock is read: the lock is never within an operation's times.
#[inline(always)]
fn begin<T: Ticker, C: Clock, S: Schedule>(
    clock: &T,
    drive: &Drive<'_, C>,
    schedule: &S,
    op: &Op<'_>,
    meter: &mut Meter<'_>,
) -> Option<Begun> {
    if S::IS_CLOSED {
        let rested = pause(drive, op, meter)?;
        let (intended, started) = (Nanos(0), clock.ticks());
        return Some(Begun { intended, started, rested, is_awaited: false });
    }
    // The one that waited when the client paused comes first.
    let intended = meter.unserved_taken.or_else(|| schedule.take())?;
    meter.unserved_taken = Some(intended);
    let started = clock.ticks();
    let now = clock.time_of(started);
    if intended <= now && intended < meter.deadline {
        return Some(Begun { intended, started, rested: Ticks(0), is_awaited: false });
    }
    let started = wait(drive, intended, now, meter)?;
    Some(Begun { intended, started, rested: Ticks(0), is_awaited: true })
}

/// Waits before a call whose client thinks and types; returns how long it did, `None` when the
/// client ends instead.
#[inline(always)]
fn pause<C: Clock>(drive: &Drive<'_, C>, op: &Op<'_>, meter: &mut Meter<'_>) -> Option<Ticks> {
    let pause = if let Op::Call(call) = op { call.pause } else { Nanos(0) };
    if pause == Nanos(0) { Some(Ticks(0)) } else { rest(drive, pause, meter) }
}

/// Sleeps that long, apart from the hot loop; returns how long it did.
#[cold]
#[inline(never)]
fn rest<C: Clock>(drive: &Drive<'_, C>, length: Nanos, meter: &mut Meter<'_>) -> Option<Ticks> {
    let began = drive.clock.ticks();
    let now = drive.clock.time_of(began);
    let drive = Drive { waiting: Waiting::Resting, ..*drive };
    let ended = wait(&drive, now.after(length), now, meter)?;
    Some(Ticks(ended.0.saturating_sub(began.0)))
}

/// Notes that an arrival was served, and how late where the client was free before it was due.
#[inline(always)]
fn note_served(clock: &impl Ticker, begun: &Begun, free_since: Nanos, meter: &mut Meter<'_>) {
    meter.unserved_taken = None;
    let lag = clock.time_of(begun.started).since(begun.intended);
    if begun.is_awaited || (begun.intended >= free_since && lag > BETWEEN) {
        meter.tally.record_lag(lag.0);
    }
}

/// Returns an operation's service and response time.
#[inline(always)]
fn times<T: Ticker, S: Schedule>(
    clock: &T,
    intended: Nanos,
    started: Ticks,
    ended: Ticks,
) -> Times {
    let service_ns = clock.between(started, ended).0;
    if S::IS_CLOSED {
        return Times { service_ns, response_ns: service_ns };
    }
    // Rounding must not make the response time the shorter one.
    let response_ns = clock.time_of(ended).since(intended).0.max(service_ns);
    Times { service_ns, response_ns }
}

/// Waits until an operation is due, and handles interval ends and heartbeats meanwhile; `None`
/// when the client is halted or its deadline comes first.
///
/// The reading that ends the wait is the operation's start.
#[inline(never)]
fn wait<C: Clock>(
    drive: &Drive<'_, C>,
    due: Nanos,
    mut now: Nanos,
    meter: &mut Meter<'_>,
) -> Option<Ticks> {
    loop {
        let next = due.min(meter.next_mark);
        let ticks = match drive.waiting {
            Waiting::Spinning => drive.clock.spin_until(next),
            Waiting::Exact => drive.clock.wait_until(next),
            Waiting::Resting => {
                drive.clock.rest_until(next);
                drive.clock.ticks()
            }
        };
        let since = now;
        now = drive.clock.time_of(ticks);
        meter.note_idle(now.min(due).since(since));
        // Interval ends and heartbeats can wait until the operation has ended.
        if now >= due && due < meter.deadline {
            // The measured span of a halted writer is over: one call more would count too much.
            let is_over = drive.role == Role::Background && drive.halt.is_halted();
            return (!is_over).then_some(ticks);
        }
        // An operation that is due at the deadline or later is not begun.
        let is_over = now >= meter.next_mark && meter.mark(now);
        if is_over || drive.halt.is_halted() {
            return None;
        }
    }
}

/// Returns the rows and bytes that an operation wrote, or that were read.
#[inline(always)]
const fn moved(op: &Op<'_>, rows: &Rows) -> Volume {
    if let Op::Put { key, value } = op {
        Volume { rows: 1, bytes: (key.len() + value.len()) as u64 }
    } else if let Op::Delete { key } = op {
        Volume { rows: 1, bytes: key.len() as u64 }
    } else {
        Volume { rows: rows.count(), bytes: rows.bytes() }
    }
}
