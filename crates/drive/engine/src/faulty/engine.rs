//! The wrapping engine and how it applies its faults.

use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use model::capability::Feature;
use model::{Bytes, Capabilities, EngineState, Identity, Op, Options, Outcome, metric};
use rustix::process::{Signal, getpid, kill_process};
use rustix::time::{ClockId, clock_gettime};

use super::lie::{Lie, read};
use super::script::{self, Action, Fault};
use super::server::Server;
use super::server_options;
use crate::error::{EngineError, Result};
use crate::memory::MemoryDriver;
use crate::rows::Rows;
use crate::traits::{Driver, Engine, Maintenance, OpenSpec, PIPELINING, Pipeline, Session};

/// Counter: operations begun over all clients, failed ones included.
pub(super) const OPERATIONS: &str = "faulty.operations";

/// A driver that injects the faults named in its options.
pub struct FaultyDriver {
    inside: Box<dyn Driver>,
}

impl FaultyDriver {
    /// Returns the driver around `inside`.
    ///
    /// Around `null`, `slow` alone determines the service time.
    pub fn around(inside: Box<dyn Driver>) -> Self {
        Self { inside }
    }
}

impl Default for FaultyDriver {
    /// Returns the driver around `memory`.
    fn default() -> Self {
        Self::around(Box::new(MemoryDriver))
    }
}

impl Driver for FaultyDriver {
    fn identity(&self) -> Identity {
        relabel(self.inside.identity())
    }

    fn capabilities(&self) -> Capabilities {
        let mut can = self.inside.capabilities();
        can.features.insert(PIPELINING.to_owned(), Feature::Yes);
        can
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>> {
        let (script, options) = script::read(&spec.options)?;
        if script.iter().any(|fault| fault.action == Action::RefuseOpen) {
            return Err(EngineError::Fatal("faulty: fault `refuse open`".to_owned()));
        }
        let (simulated, options) = server_options::read(&options)?;
        let inside = self.inside.open(&OpenSpec { options, ..spec.clone() })?;
        Ok(Box::new(FaultyEngine {
            inside,
            options: spec.options.clone(),
            script,
            server: simulated.map(Server::new),
            operations: AtomicU64::new(0),
            barrier: RwLock::new(()),
            allocated: Mutex::new(Vec::new()),
            before: Mutex::new(Vec::new()),
        }))
    }
}

/// Returns the identity of `faulty` around the engine `inside`.
fn relabel(inside: Identity) -> Identity {
    let mut identity = Identity { engine: "faulty".to_owned(), ..inside.clone() };
    identity.facts.insert("around".to_owned(), inside.engine);
    identity
}

/// A key and the value it had, if any.
type Before = (Vec<u8>, Option<Vec<u8>>);

struct FaultyEngine {
    inside: Box<dyn Engine>,
    options: Options,
    script: Vec<Fault>,
    /// Simulated server that serves every operation that does not fail.
    server: Option<Server>,
    /// Operations begun, over all clients.
    operations: AtomicU64,
    /// Read-locked by every operation, write-locked by a stall.
    barrier: RwLock<()>,
    allocated: Mutex<Vec<Vec<u8>>>,
    /// Previous rows of the writes that close undoes, oldest first.
    before: Mutex<Vec<Before>>,
}

impl FaultyEngine {
    /// Applies a fault to an operation before it executes.
    fn apply(&self, action: &Action) -> Result<()> {
        match action.clone() {
            Action::Stall(span) => {
                let _exclusive = self.barrier.write().unwrap_or_else(PoisonError::into_inner);
                wait(span);
            }
            Action::Slow(span) => wait(span),
            Action::Burn(span) => burn(span),
            Action::Hang => {
                let _exclusive = self.barrier.write().unwrap_or_else(PoisonError::into_inner);
                loop {
                    wait(Duration::from_secs(3600));
                }
            }
            Action::Fail(error) => return Err(error),
            Action::Die(signal) => die(signal),
            Action::Eat(size) => self.allocate(size)?,
            Action::RefuseOpen | Action::Lie(_) => {}
        }
        Ok(())
    }

    /// Allocates memory, writes to all of it and holds it.
    fn allocate(&self, size: Bytes) -> Result<()> {
        let bytes = usize::try_from(size.0)
            .map_err(|_wide| EngineError::Fatal(format!("faulty: cannot address {size}")))?;
        let block = vec![1; bytes];
        self.allocated.lock().unwrap_or_else(PoisonError::into_inner).push(block);
        Ok(())
    }

    /// Undoes the writes with fault `lie forget`, newest first.
    fn undo_writes(&self) -> Result<()> {
        let before =
            std::mem::take(&mut *self.before.lock().unwrap_or_else(PoisonError::into_inner));
        let mut session = self.inside.session()?;
        for (key, value) in before.iter().rev() {
            let op = match value {
                Some(value) => Op::Put { key, value },
                None => Op::Delete { key },
            };
            session.execute(&op, &mut Rows::new())?;
        }
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "the stall is the injected fault")]
fn wait(span: Duration) {
    std::thread::sleep(span);
}

/// Spins between two clock reads: one or two us, many times the cost of a read.
const SPINS: u32 = 32;

/// Uses `span` of CPU time on the calling thread.
fn burn(span: Duration) {
    let used = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::try_from(time).unwrap_or_default()
    };
    let end = used() + span;
    while used() < end {
        // Spins are user time, the clock call is system time: most of it is the thread's own.
        (0..SPINS).for_each(|_| std::hint::spin_loop());
    }
}

/// Ends the process as a broken engine would; without a signal it aborts.
fn die(signal: Option<Signal>) -> ! {
    // The first SIGSEGV only uninstalls Rust's stack overflow handler.
    while signal.is_some_and(|signal| kill_process(getpid(), signal).is_ok()) {}
    std::process::abort()
}

impl Engine for FaultyEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        let is_slow = self.script.iter().any(|fault| matches!(fault.action, Action::Slow(_)));
        if is_slow || self.server.is_some() {
            // The default timer slack of the client's thread ends sleeps up to 50 us late.
            rustix::thread::set_current_timer_slack(NonZeroU64::new(1))
                .map_err(|error| EngineError::Fatal(format!("faulty: timer slack: {error}")))?;
        }
        let (inside, answers) = (self.inside.session()?, VecDeque::new());
        Ok(Box::new(FaultySession { engine: self, inside, answers }))
    }

    fn identity(&self) -> Identity {
        relabel(self.inside.identity())
    }

    /// Returns the script and the effective options of the wrapped engine.
    fn effective_options(&self) -> Result<Options> {
        let mut options = self.options.clone();
        options.overlay(&self.inside.effective_options()?);
        Ok(options)
    }

    fn maintain(&self, work: Maintenance) -> Result<bool> {
        self.inside.maintain(work)
    }

    /// Returns the wrapped engine's state with the server's debt and [`OPERATIONS`].
    fn state(&self) -> Result<EngineState> {
        let mut state = self.inside.state()?;
        let operations = self.operations.load(Ordering::Relaxed) as f64;
        state.own_counters.insert(OPERATIONS.to_owned(), operations);
        if let Some(server) = &self.server {
            let debt_bytes = server.debt_bytes();
            let jobs = u8::from(debt_bytes > 0.0);
            state.readings.set(metric::ENGINE_DEBT_BYTES, debt_bytes);
            state.readings.set(metric::ENGINE_BACKGROUND_JOBS, f64::from(jobs));
            if jobs > 0 {
                state.is_idle = Some(false);
            }
        }
        Ok(state)
    }

    fn statistics_text(&self) -> Option<String> {
        self.inside.statistics_text()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.undo_writes()?;
        self.inside.close()
    }
}

struct FaultySession<'e> {
    engine: &'e FaultyEngine,
    inside: Box<dyn Session + 'e>,
    /// Outcome, rows and bytes of the operations in flight, oldest first.
    answers: VecDeque<Result<(Outcome, u64, u64)>>,
}

impl Session for FaultySession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome> {
        let engine = self.engine;
        let number = 1 + engine.operations.fetch_add(1, Ordering::Relaxed);
        drop(engine.barrier.read().unwrap_or_else(PoisonError::into_inner));
        let mut is_lying = false;
        for fault in &engine.script {
            if fault.lie().is_some() {
                is_lying |= fault.is_pending(number);
            } else if fault.when.is_due(number) {
                engine.apply(&fault.action)?;
            }
        }
        if let Some(server) = &engine.server {
            server.serve();
        }
        match (is_lying, op.kind().is_write()) {
            (false, _) => self.inside.execute(op, rows),
            (true, false) => self.falsify_read(op, rows),
            (true, true) => self.falsify_write(op, rows),
        }
    }

    fn pipeline(&mut self) -> Option<&mut dyn Pipeline> {
        Some(self)
    }
}

impl Pipeline for FaultySession<'_> {
    fn submit(&mut self, op: &Op<'_>) -> Result<bool> {
        let mut rows = Rows::new();
        let outcome = self.execute(op, &mut rows);
        self.answers.push_back(outcome.map(|outcome| (outcome, rows.count(), rows.bytes())));
        Ok(true)
    }

    fn has_answer(&mut self) -> bool {
        !self.answers.is_empty()
    }

    fn complete(&mut self, rows: &mut Rows) -> Result<Outcome> {
        let none = || EngineError::Fatal("faulty: no operation is in flight".to_owned());
        let (outcome, count, bytes) = self.answers.pop_front().ok_or_else(none)??;
        rows.wrote(count, bytes);
        Ok(outcome)
    }
}

impl FaultySession<'_> {
    /// Answers a read with every pending lie that applies to it.
    fn falsify_read(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome> {
        let mut answer = read(&mut *self.inside, op)?;
        for fault in &self.engine.script {
            if let Some(lie) = fault.lie()
                && !lie.is_about_writes()
                && fault.take()
                && !lie.falsify(&mut answer, &mut *self.inside)?
            {
                fault.restore();
            }
        }
        answer.iter().for_each(|(key, value)| rows.push(key, value));
        Ok(rows.outcome())
    }

    /// Acknowledges a write with the first pending lie.
    fn falsify_write(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome> {
        let mut lies = self
            .engine
            .script
            .iter()
            .filter(|fault| fault.lie().is_some_and(Lie::is_about_writes) && fault.take());
        let lie = lies.next().and_then(Fault::lie);
        if lie == Some(Lie::Ignore) {
            return Ok(Outcome::Done);
        }
        if let (
            Some(Lie::Forget),
            Op::Put { key, .. }
            | Op::Delete { key }
            | Op::PartialUpdate { key, .. }
            | Op::Append { key, .. },
        ) = (lie, op)
        {
            let before = read(&mut *self.inside, &Op::Get { key })?.pop().map(|(_, value)| value);
            let mut list = self.engine.before.lock().unwrap_or_else(PoisonError::into_inner);
            list.push((key.to_vec(), before));
        }
        self.inside.execute(op, rows)
    }
}
