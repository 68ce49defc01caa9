//! An engine wrapper that counts calls by procedure and table copy.
//!
//! The load loop counts by kind of operation, which is one addition and the same for every
//! engine. Calls per table are counted here, and only where there are tables: a call to a server
//! takes some thousand times as long as the lookup.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use engine::{
    Engine, EngineError, Maintenance, Pipeline, Rows, ServerSide, Session, StatementTimes,
};
use load::{Clock, SteadyClock, StopFlag};
use model::record::ProcedureRecord;
use model::sql::CallPolicy;
use model::{Application, Call, EngineState, Identity, Nanos, Op, Options, Outcome};
use workload::random::Stream;

use crate::procedure_tally::{EndedCall, ProcedureTallies};
use crate::retry;

/// Totals of the calls of one procedure on one copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Calls {
    /// Calls that did not fail.
    pub done: u64,
    /// Calls that failed: they may have been applied or not.
    pub failed: u64,
    /// Rows that those done returned or wrote.
    pub rows: u64,
}

impl Calls {
    /// Adds `other`.
    pub const fn merge(&mut self, other: &Self) {
        self.done += other.done;
        self.failed += other.failed;
        self.rows += other.rows;
    }
}

/// A procedure, and the copy of its table.
pub type Called = (u16, u32);

/// Calls by procedure and copy.
pub type Tallies = BTreeMap<Called, Calls>;

#[inline]
const fn called(op: &Op<'_>) -> Option<Called> {
    if let Op::Call(Call { procedure, table, .. }) = *op { Some((procedure, table)) } else { None }
}

/// An engine whose sessions count their calls; everything else is the engine's own.
pub struct Counted<'a> {
    engine: &'a dyn Engine,
    tallies: Mutex<Tallies>,
    procedures: Mutex<ProcedureTallies>,
    /// When the measured span begins, ns; the end of time before it is known.
    measured_from: AtomicU64,
    /// Sessions opened so far.
    sessions: AtomicU64,
    application: &'a Application,
    clock: &'a SteadyClock,
    stop: StopFlag,
}

impl<'a> Counted<'a> {
    /// Returns `engine`, counted from now on.
    pub fn new(
        engine: &'a dyn Engine,
        application: &'a Application,
        clock: &'a SteadyClock,
        stop: StopFlag,
    ) -> Self {
        Self {
            engine,
            tallies: Mutex::default(),
            procedures: Mutex::default(),
            measured_from: AtomicU64::new(u64::MAX),
            sessions: AtomicU64::new(0),
            application,
            clock,
            stop,
        }
    }

    /// Begins a warm-up, of a step or of a search's next probe: its calls are not those of a span.
    pub fn begin_warmup(&self) {
        self.measured_from.store(u64::MAX, Ordering::Relaxed);
    }

    /// Begins the measured span, of a step or of a search's next probe.
    pub fn begin_measuring(&self) {
        *self.procedures.lock().unwrap_or_else(PoisonError::into_inner) = Default::default();
        self.measured_from.store(self.clock.now().0, Ordering::Relaxed);
    }

    /// Returns the calls that began in the measured span, of sessions that have ended.
    pub fn procedures(&self) -> Vec<ProcedureRecord> {
        let procedures = self.procedures.lock().unwrap_or_else(PoisonError::into_inner);
        procedures.records(self.application)
    }

    /// Returns a session that counts its calls.
    fn counted<'e>(&'e self, session: Box<dyn Session + 'e>) -> Box<dyn Session + 'e> {
        let clock = self.clock.clone();
        Box::new(CountedSession {
            session,
            times: Some(Box::new(StatementTimes::new(move || clock.now()))),
            of: self,
            tallies: Tallies::new(),
            procedures: ProcedureTallies::default(),
            spread: Stream::fixed(self.sessions.fetch_add(1, Ordering::Relaxed)),
            executed: 0,
            pipelined: VecDeque::new(),
        })
    }

    /// Returns the calls of sessions that have ended.
    pub fn tallies(&self) -> Tallies {
        // A client that panicked while it counted has failed its step already.
        self.tallies.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A session with tallies of its own, merged at its end.
struct CountedSession<'e> {
    session: Box<dyn Session + 'e>,
    /// Times of a call's statements; it is in the rows while a measured call is executed.
    times: Option<Box<StatementTimes>>,
    of: &'e Counted<'e>,
    tallies: Tallies,
    procedures: ProcedureTallies,
    /// Random numbers that spread pauses.
    spread: Stream,
    executed: u64,
    /// Pipelined calls, oldest first.
    pipelined: VecDeque<Option<Called>>,
}

impl CountedSession<'_> {
    #[inline]
    fn count(&mut self, called: Option<Called>, is_done: bool, rows: &Rows) {
        let Some(called) = called else { return };
        let calls = self.tallies.entry(called).or_default();
        if is_done {
            calls.done += 1;
            calls.rows += rows.count();
        } else {
            calls.failed += 1;
        }
    }
}

impl Session for CountedSession<'_> {
    #[inline]
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        let Op::Call(call) = op else { return self.session.execute(op, rows) };
        let Counted { clock, stop, application, .. } = self.of;
        let policy = application.procedure(call.procedure).map(|it| it.policy);
        let CallPolicy { retry, limit, .. } = policy.unwrap_or_default();
        self.executed += 1;
        let (spread, number) = (self.spread, self.executed);
        let policy = retry.as_ref();
        let retrying = retry::Retrying { policy, clock: *clock, stop, spread, number };
        let began = clock.now();
        let is_measured = began.0 >= self.of.measured_from.load(Ordering::Relaxed);
        if is_measured {
            rows.replace_statement_times(self.times.take());
        }
        let session = &mut *self.session;
        let retry::Attempted { answer, retried, last_began } =
            retry::execute(session, op, rows, retrying);
        self.count(called(op), answer.is_ok(), rows);
        let service = clock.now().since(began);
        let ended = EndedCall {
            outcome: answer.as_ref().ok().copied(),
            service,
            retried,
            retrying: if retried.is_empty() { Nanos(0) } else { last_began.since(began) },
        };
        if is_measured {
            self.times = rows.replace_statement_times(None);
            self.procedures.record(call.procedure, limit, &ended);
            let statements = self.times.iter_mut().flat_map(|times| times.take());
            self.procedures.record_statements(call.procedure, statements);
        }
        answer
    }

    fn hold(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        let answer = self.session.hold(op, rows);
        self.count(called(op), answer.is_ok(), rows);
        answer
    }

    fn pipeline(&mut self) -> Option<&mut dyn Pipeline> {
        if self.session.pipeline().is_some() { Some(self) } else { None }
    }
}

impl Pipeline for CountedSession<'_> {
    #[inline]
    fn submit(&mut self, op: &Op<'_>) -> Result<bool, EngineError> {
        let Some(pipeline) = self.session.pipeline() else { return Ok(false) };
        let taken = pipeline.submit(op);
        match taken {
            Ok(true) => self.pipelined.push_back(called(op)),
            Ok(false) => {}
            Err(_) => self.count(called(op), false, &Rows::new()),
        }
        taken
    }

    #[inline]
    fn has_answer(&mut self) -> bool {
        self.session.pipeline().is_some_and(|pipeline| pipeline.has_answer())
    }

    #[inline]
    fn complete(&mut self, rows: &mut Rows) -> Result<Outcome, EngineError> {
        let none = || EngineError::Fatal("no operation is in flight".to_owned());
        let answer = self.session.pipeline().ok_or_else(none)?.complete(rows);
        let called = self.pipelined.pop_front().flatten();
        self.count(called, answer.is_ok(), rows);
        answer
    }
}

impl Drop for CountedSession<'_> {
    fn drop(&mut self) {
        if let Ok(mut all) = self.of.tallies.lock() {
            for (called, calls) in &self.tallies {
                all.entry(*called).or_default().merge(calls);
            }
        }
        if let Ok(mut all) = self.of.procedures.lock() {
            all.merge(&self.procedures);
        }
    }
}

impl Engine for Counted<'_> {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        Ok(self.counted(self.engine.session()?))
    }

    fn writer_session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        Ok(self.counted(self.engine.writer_session()?))
    }

    fn expect_outages(&self, is_expected: bool) {
        self.engine.expect_outages(is_expected);
    }

    fn server(&self) -> Option<&dyn ServerSide> {
        self.engine.server()
    }

    fn lock_wait(&self) -> Option<String> {
        self.engine.lock_wait()
    }

    fn is_busy(&self) -> bool {
        self.engine.is_busy()
    }

    fn identity(&self) -> Identity {
        self.engine.identity()
    }

    fn effective_options(&self) -> Result<Options, EngineError> {
        self.engine.effective_options()
    }

    fn maintain(&self, work: Maintenance) -> Result<bool, EngineError> {
        self.engine.maintain(work)
    }

    fn state(&self) -> Result<EngineState, EngineError> {
        self.engine.state()
    }

    /// Closes nothing: the engine is only borrowed.
    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}
