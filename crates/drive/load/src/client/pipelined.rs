//! The loop of a pipelined client, with several operations in flight.
//!
//! An operation starts when it is handed to the session and ends when its answer is read, so its
//! time includes the wait behind those before it. Operations that cannot be in flight with others,
//! and those that are checked, are executed when all are answered: fewer are checked than in other
//! loops.

use std::collections::VecDeque;

use engine::{EngineError, Pipeline, Rows};
use model::{Op, OpKind, Outcome};
use workload::Generator;

use super::drive::{Drive, Source, fail, verify};
use super::meter::Meter;
use crate::handoff::ClientEnd;
use crate::tally::{Times, Volume};
use crate::ticks::Ticks;
use crate::traits::Clock;

/// Operations between two that are checked, per operation of depth: the pipeline is empty during a
/// check, so checks cost at most one operation in this many.
const UNCHECKED_PER_DEPTH: u64 = 256;

/// An operation whose answer is awaited.
#[derive(Clone, Copy)]
struct InFlight {
    started: Ticks,
    kind: OpKind,
    /// What it writes; `None` when the volume is in the answer.
    written: Option<Volume>,
}

/// An operation that has ended.
struct Completed {
    pending: InFlight,
    ended: Ticks,
    outcome: Result<Outcome, EngineError>,
}

/// Returns the row and bytes that an operation writes; `None` when they are in the answer.
///
/// Separate from `moved` of the other loop, which costs 5 instructions less by itself.
const fn written(op: &Op<'_>) -> Option<Volume> {
    if let Op::Put { key, value } = op {
        Some(Volume { rows: 1, bytes: (key.len() + value.len()) as u64 })
    } else if let Op::Delete { key } = op {
        Some(Volume { rows: 1, bytes: key.len() as u64 })
    } else {
        None
    }
}

/// State of the loop: the operations in flight and the client's recorder.
struct PipelinedLoop<'a, 'r, C> {
    clock: &'a C,
    session: &'a mut dyn Pipeline,
    meter: &'a mut Meter<'r>,
    depth: u32,
    /// Oldest first.
    in_flight: VecDeque<InFlight>,
    rows: Rows,
    next_mark: Ticks,
    /// Whether the deadline has passed.
    is_over: bool,
    /// Operations that failed in a row.
    failures: u32,
    /// When the failed operations began that no other was done in place of yet, oldest first.
    failed: VecDeque<Ticks>,
}

/// Runs the loop; nothing is allocated per operation.
pub(super) fn run<C: Clock>(
    drive: &Drive<'_, C>,
    source: Source<'_, dyn Generator>,
    meter: &mut Meter<'_>,
) -> ClientEnd {
    let Source { generator, session } = source;
    let Some(session) = session.pipeline() else {
        return ClientEnd::Failed("the session answers each operation before the next".to_owned());
    };
    let depth = drive.depth as usize;
    let mut pipelined = PipelinedLoop {
        clock: drive.clock,
        session,
        next_mark: drive.clock.ticks_at(meter.next_mark),
        meter,
        depth: drive.depth,
        in_flight: VecDeque::with_capacity(depth),
        rows: Rows::new(),
        is_over: false,
        failures: 0,
        failed: VecDeque::new(),
    };
    match pipelined.run(drive, depth, generator) {
        Err(end) => end,
        Ok(()) if drive.halt.is_halted() => ClientEnd::Stopped,
        Ok(()) => ClientEnd::Finished,
    }
}

impl<C: Clock> PipelinedLoop<'_, '_, C> {
    /// Sends and takes answers until nothing is left to send, and everything is answered.
    fn run(
        &mut self,
        drive: &Drive<'_, C>,
        depth: usize,
        generator: &mut dyn Generator,
    ) -> Result<(), ClientEnd> {
        let mut left = drive.limit;
        let mut unchecked = if drive.is_checking { generator.unchecked() } else { u64::MAX };
        let between_checks = UNCHECKED_PER_DEPTH * depth as u64;
        let mut since_check = between_checks;
        loop {
            while self.in_flight.len() < depth
                && left > 0
                && !self.is_over
                && !drive.halt.is_halted()
            {
                let is_sampled = unchecked == 0;
                let is_checked = is_sampled && since_check >= between_checks;
                since_check = if is_checked { 0 } else { since_check + 1 };
                let Some(op) = generator.next() else {
                    left = 0;
                    break;
                };
                left -= 1;
                let kind = op.kind();
                let completed = match is_checked {
                    true => Some(self.execute(&op, true)?),
                    false => self.send(&op)?,
                };
                if let Some(completed) = completed {
                    // A wrong answer is never counted as done.
                    if is_checked
                        && completed.outcome.is_ok()
                        && let Some(end) = verify(generator, &self.rows, kind, self.meter)
                    {
                        return Err(end);
                    }
                    self.account(completed)?;
                }
                unchecked = if is_sampled { generator.unchecked() } else { unchecked - 1 };
            }
            if self.in_flight.is_empty() {
                return Ok(());
            }
            self.take_answers()?;
        }
    }

    /// Sends one operation; returns how it ended where it already has.
    fn send(&mut self, op: &Op<'_>) -> Result<Option<Completed>, ClientEnd> {
        let pending = self.pending(op);
        match self.session.submit(op) {
            Ok(true) => {
                self.in_flight.push_back(pending);
                Ok(None)
            }
            Ok(false) => self.execute(op, false).map(Some),
            Err(error) => {
                self.rows.clear(false);
                Ok(Some(Completed { pending, ended: self.clock.ticks(), outcome: Err(error) }))
            }
        }
    }

    /// Executes an operation by itself, when everything in flight is answered.
    fn execute(&mut self, op: &Op<'_>, is_checked: bool) -> Result<Completed, ClientEnd> {
        while !self.in_flight.is_empty() {
            self.take_answers()?;
        }
        self.rows.clear(is_checked);
        let pending = self.pending(op);
        let outcome = self.session.execute(op, &mut self.rows);
        Ok(Completed { pending, ended: self.clock.ticks(), outcome })
    }

    fn pending(&self, op: &Op<'_>) -> InFlight {
        InFlight { started: self.clock.ticks(), kind: op.kind(), written: written(op) }
    }

    /// Waits for one answer and takes all that are there.
    fn take_answers(&mut self) -> Result<(), ClientEnd> {
        while let Some(pending) = self.in_flight.pop_front() {
            self.rows.clear(false);
            let outcome = self.session.complete(&mut self.rows);
            self.account(Completed { pending, ended: self.clock.ticks(), outcome })?;
            if !self.session.has_answer() {
                break;
            }
        }
        Ok(())
    }

    /// Accounts for an operation; an error is the end of the client.
    fn account(&mut self, completed: Completed) -> Result<(), ClientEnd> {
        let Completed { pending, ended, outcome } = completed;
        self.meter.ended += 1;
        let mut has_marked = false;
        if ended >= self.next_mark {
            // The operation belongs to the interval it ended in, so the hand-over comes first.
            self.is_over |= self.meter.mark(self.clock.time_of(ended));
            self.next_mark = self.clock.ticks_at(self.meter.next_mark);
            has_marked = true;
        }
        match outcome {
            Ok(outcome) => {
                let attempt = self.failed.pop_front();
                if attempt.is_some() {
                    self.meter.tally.record_replacing(pending.kind);
                }
                let began = attempt.unwrap_or(pending.started);
                let service_ns = self.clock.between(began, ended).0;
                let times = Times { service_ns, response_ns: service_ns };
                let answer = Volume { rows: self.rows.count(), bytes: self.rows.bytes() };
                let moved = pending.written.unwrap_or(answer);
                if has_marked {
                    let at = self.clock.time_of(ended);
                    self.meter.note_ended(pending.kind, at, times, moved);
                }
                self.failures = 0;
                self.meter.tally.record(pending.kind, outcome, times, moved);
                Ok(())
            }
            Err(error) => {
                self.failures += 1;
                self.failed.push_back(pending.started);
                fail(&error, pending.kind, self.failures, self.depth, self.meter)
                    .map_or(Ok(()), Err)
            }
        }
    }
}
