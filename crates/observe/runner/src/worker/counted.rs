//! An engine wrapper that counts calls by procedure and table copy.
//!
//! The load loop counts by kind of operation, which is one addition and the same for every
//! engine. Calls per table are counted here, and only where there are tables; a call to a server
//! takes some thousand times as long.

use std::collections::VecDeque;
use std::sync::Mutex;

use engine::{ApplicationSetup, Engine, EngineError, Maintenance, Pipeline, Rows, Session};
use model::{Call, EngineState, Identity, Op, Options, Outcome};

/// Totals of the calls of one procedure on one copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    /// Calls that did not fail.
    pub(crate) done: u64,
    /// Calls that failed: they may have been applied or not.
    pub(crate) failed: u64,
    /// Rows that those done returned or wrote.
    pub(crate) rows: u64,
}

impl Calls {
    /// Adds `other`.
    pub(crate) const fn merge(&mut self, other: &Self) {
        self.done += other.done;
        self.failed += other.failed;
        self.rows += other.rows;
    }
}

/// A procedure, and the copy of its table.
#[derive(Debug, Clone, Copy)]
struct Called {
    procedure: u16,
    table: u32,
}

impl Called {
    #[inline]
    const fn by(op: &Op<'_>) -> Option<Self> {
        if let Op::Call(Call { procedure, table, .. }) = *op {
            Some(Self { procedure, table })
        } else {
            None
        }
    }
}

/// Calls by procedure and copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tallies {
    /// Where each procedure's copies begin, and at last the end.
    starts: Vec<usize>,
    calls: Vec<Calls>,
}

impl Tallies {
    /// Returns empty tallies for the procedures of `setup`.
    pub(crate) fn new(setup: &ApplicationSetup) -> Self {
        let mut starts = vec![0];
        for procedure in &setup.application.procedures {
            let copies = usize::try_from(setup.copies(procedure.table)).unwrap_or_default();
            starts.push(starts.last().copied().unwrap_or_default() + copies);
        }
        let calls = vec![Calls::default(); starts.last().copied().unwrap_or_default()];
        Self { starts, calls }
    }

    /// Returns the calls of a procedure by copy.
    pub(crate) fn of(&self, procedure: usize) -> &[Calls] {
        let ends = (self.starts.get(procedure), self.starts.get(procedure + 1));
        let (Some(start), Some(end)) = ends else { return &[] };
        &self.calls[*start..*end]
    }

    /// Counts a call.
    #[inline]
    fn count(&mut self, called: Called, is_done: bool, rows: u64) {
        let Some(start) = self.starts.get(usize::from(called.procedure)) else { return };
        let Some(calls) = self.calls.get_mut(start + called.table as usize) else { return };
        if is_done {
            calls.done += 1;
            calls.rows += rows;
        } else {
            calls.failed += 1;
        }
    }

    /// Sets the calls of a procedure on a copy.
    #[cfg(test)]
    pub(crate) fn set(&mut self, procedure: usize, copy: usize, calls: Calls) {
        self.calls[self.starts[procedure] + copy] = calls;
    }

    fn merge(&mut self, other: &Self) {
        for (ours, theirs) in self.calls.iter_mut().zip(&other.calls) {
            ours.merge(theirs);
        }
    }
}

/// An engine whose sessions count their calls; everything else is the engine's own.
pub(crate) struct Counted<'a> {
    engine: &'a dyn Engine,
    none: Tallies,
    tallies: Mutex<Tallies>,
}

impl<'a> Counted<'a> {
    /// Returns `engine`, counted from now on.
    pub(crate) fn new(engine: &'a dyn Engine, setup: &ApplicationSetup) -> Self {
        let none = Tallies::new(setup);
        Self { engine, tallies: Mutex::new(none.clone()), none }
    }

    /// Returns the calls of sessions that have ended.
    pub(crate) fn tallies(&self) -> Tallies {
        // A client that panicked while it counted has failed its step already.
        match self.tallies.lock() {
            Ok(tallies) => tallies.clone(),
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }
}

/// A session with tallies of its own, merged at its end.
struct CountedSession<'e> {
    session: Box<dyn Session + 'e>,
    tallies: Tallies,
    all: &'e Mutex<Tallies>,
    /// Pipelined calls, oldest first.
    pipelined: VecDeque<Option<Called>>,
}

impl CountedSession<'_> {
    #[inline]
    fn count(&mut self, called: Option<Called>, is_done: bool, rows: &Rows) {
        if let Some(called) = called {
            self.tallies.count(called, is_done, rows.count());
        }
    }
}

impl Session for CountedSession<'_> {
    #[inline]
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        let answer = self.session.execute(op, rows);
        self.count(Called::by(op), answer.is_ok(), rows);
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
            Ok(true) => self.pipelined.push_back(Called::by(op)),
            Ok(false) => {}
            Err(_) => self.count(Called::by(op), false, &Rows::new()),
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
        if let Ok(mut all) = self.all.lock() {
            all.merge(&self.tallies);
        }
    }
}

impl Engine for Counted<'_> {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        let session = self.engine.session()?;
        let tallies = self.none.clone();
        Ok(Box::new(CountedSession {
            session,
            tallies,
            all: &self.tallies,
            pipelined: VecDeque::new(),
        }))
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
