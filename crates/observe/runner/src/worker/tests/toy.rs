//! An in-memory server for tests, with queues of ids and injected faults.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::{
    ApplicationSetup, Driver, Engine, EngineError, Maintenance, OpenSpec, Rows, ServerSide, Session,
};
use model::{
    Argument, Bounds, Call, Capabilities, EngineState, Identity, Op, OpKind, Options, Outcome,
    metric,
};
pub(crate) use sql_run::testing::application;

/// CPU that the toy's maintenance takes.
pub(crate) const CLEANING_US: f64 = 30_000.0;

/// An injected fault of the toy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// One insert stores a row less than it reports.
    LosesRow,
    /// Each tenth insert fails, and every other of these is stored all the same.
    FailsInserts,
    /// Reads return one row less than they should.
    ReturnsFewer,
    /// No transaction can be held open.
    HoldsNothing,
}

/// The toy as a driver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Toy(pub(crate) Fault);

/// The open toy.
struct Open {
    fault: Fault,
    setup: ApplicationSetup,
    tables: Mutex<BTreeMap<(u16, u32), Queue>>,
    inserts: AtomicU64,
}

/// The ids in a table.
#[derive(Debug, Default)]
struct Queue {
    ids: VecDeque<i64>,
    next: i64,
}

impl Driver for Toy {
    fn identity(&self) -> Identity {
        Identity { engine: "toy".to_owned(), ..Identity::default() }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::whole([])
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        let setup = spec.application.clone();
        let setup = setup.ok_or_else(|| EngineError::Fatal("no application".to_owned()))?;
        let (tables, inserts) = (Mutex::default(), AtomicU64::new(0));
        Ok(Box::new(Open { fault: self.0, setup, tables, inserts }))
    }
}

impl Open {
    fn with<T>(&self, copy: (u16, u32), work: impl FnOnce(&mut Queue) -> T) -> T {
        let mut tables = self.tables.lock().expect("no test panics with it");
        work(tables.entry(copy).or_default())
    }

    fn insert(&self, copy: (u16, u32), count: u32) -> Result<u64, EngineError> {
        let number = self.inserts.fetch_add(1, Ordering::Relaxed);
        let is_failing = self.fault == Fault::FailsInserts && number % 10 == 9;
        let lost = u32::from(self.fault == Fault::LosesRow && number == 3);
        self.with(copy, |queue| {
            if !is_failing || number % 20 == 19 {
                let ids = queue.next..queue.next + i64::from(count - lost);
                queue.ids.extend(ids);
            }
            queue.next += i64::from(count);
        });
        if is_failing {
            return Err(EngineError::Deadlock("deadlock".to_owned()));
        }
        Ok(u64::from(count))
    }

    fn call(&self, call: &Call<'_>, rows: &mut Rows) -> Result<(), EngineError> {
        let procedure = &self.setup.application.procedures[usize::from(call.procedure)];
        let copy = (procedure.table, call.table);
        match call.kind {
            OpKind::Insert => rows.wrote(self.insert(copy, procedure.rows)?, 9),
            OpKind::Delete => {
                let count = procedure.rows as usize;
                let gone = self.with(copy, |queue| {
                    let count = count.min(queue.ids.len());
                    queue.ids.drain(..count).count()
                });
                rows.wrote(gone as u64, 0);
            }
            OpKind::MultiGet => {
                let fewer = usize::from(self.fault == Fault::ReturnsFewer);
                let found = self.with(copy, |queue| {
                    let is_there = |argument: &&Argument| {
                        let Argument::Integer(id) = argument else { return false };
                        queue.ids.binary_search(id).is_ok()
                    };
                    call.arguments.iter().filter(is_there).count()
                });
                (fewer..found).for_each(|_| rows.push(b"", b"row"));
            }
            OpKind::Get
            | OpKind::Put
            | OpKind::Scan
            | OpKind::Transaction
            | OpKind::Define
            | OpKind::PartialUpdate
            | OpKind::FieldRead
            | OpKind::Append
            | OpKind::ScanSequence => {}
        }
        Ok(())
    }
}

struct OpenSession<'e>(&'e Open);

impl Session for OpenSession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        let Op::Call(call) = op else {
            return Err(EngineError::Unsupported("only calls".to_owned()));
        };
        self.0.call(call, rows).map(|()| Outcome::Done)
    }

    fn hold(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        if self.0.fault == Fault::HoldsNothing {
            return Err(EngineError::Unsupported("no snapshots".to_owned()));
        }
        self.execute(op, rows)
    }
}

impl Engine for Open {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        Ok(Box::new(OpenSession(self)))
    }

    fn identity(&self) -> Identity {
        Toy(self.fault).identity()
    }

    fn effective_options(&self) -> Result<Options, EngineError> {
        Ok(Options::new())
    }

    /// Burns [`CLEANING_US`] of CPU.
    fn maintain(&self, work: Maintenance) -> Result<bool, EngineError> {
        let used = || load::process_readings().sum(&metric::PROCESS_CPU_US).unwrap_or_default();
        let begun = used();
        while work == Maintenance::Clean && used() - begun < CLEANING_US {
            std::hint::spin_loop();
        }
        Ok(work == Maintenance::Clean)
    }

    fn state(&self) -> Result<EngineState, EngineError> {
        Ok(EngineState { is_idle: Some(true), ..EngineState::default() })
    }

    fn server(&self) -> Option<&dyn ServerSide> {
        Some(self)
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

impl ServerSide for Open {
    fn bounds(&self, table: u16, number: u32) -> Result<Option<Bounds>, EngineError> {
        Ok(Some(self.with((table, number), |queue| Bounds {
            first: queue.ids.front().copied().unwrap_or(queue.next),
            next: queue.ids.back().map_or(queue.next, |last| last + 1),
        })))
    }

    fn count_rows(&self, table: u16, number: u32) -> Result<Option<u64>, EngineError> {
        Ok(Some(self.with((table, number), |queue| queue.ids.len() as u64)))
    }
}
