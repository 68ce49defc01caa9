//! A scripted engine and a plain generator for this crate's tests.

use std::collections::BTreeSet;

use engine::{Engine, EngineError, Maintenance, Rows, Session};
use model::{
    Arrivals, Call, EngineState, Identity, Load, Nanos, Op, OpKind, OpenLoad, Options, Outcome,
    Pace, Pacing, Rate, StopRule,
};
use workload::{Generator, WrongAnswer};

use crate::client_pool::{GroupRun, HolderRun, StepRun};
use crate::reopening::Faults;
use crate::stop::StopFlag;

/// The script's result for an operation.
pub(crate) type Answer = Result<Outcome, EngineError>;

/// An engine driven by a script, which gets the session's operation number.
pub(crate) struct Scripted<F> {
    script: F,
    pub(crate) is_refusing: bool,
}

impl<F: Fn(u64, &Op<'_>) -> Answer + Send + Sync> Scripted<F> {
    pub(crate) const fn new(script: F) -> Self {
        Self { script, is_refusing: false }
    }
}

struct ScriptedSession<'e, F> {
    script: &'e F,
    number: u64,
}

impl<F: Fn(u64, &Op<'_>) -> Answer> Session for ScriptedSession<'_, F> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Answer {
        let answer = (self.script)(self.number, op);
        self.number += 1;
        if let (Op::Get { key }, Ok(Outcome::Done)) = (op, &answer) {
            rows.push(key, b"value");
        }
        answer
    }
}

impl<F: Fn(u64, &Op<'_>) -> Answer + Send + Sync> Engine for Scripted<F> {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        if self.is_refusing {
            return Err(EngineError::Unsupported("a session more".to_owned()));
        }
        Ok(Box::new(ScriptedSession { script: &self.script, number: 0 }))
    }

    fn identity(&self) -> Identity {
        Identity::default()
    }

    fn effective_options(&self) -> Result<Options, EngineError> {
        Ok(Options::default())
    }

    fn maintain(&self, _work: Maintenance) -> Result<bool, EngineError> {
        Ok(false)
    }

    fn state(&self) -> Result<EngineState, EngineError> {
        Ok(EngineState::default())
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        Ok(())
    }
}

/// A stream of operations of one kind on a 20-byte key that counts up; transactions are calls.
#[derive(Clone)]
pub(crate) struct Plain {
    pub(crate) kind: OpKind,
    /// The pause before a call.
    pub(crate) pause: Nanos,
    pub(crate) left: u64,
    pub(crate) wrong_at: Option<u64>,
    pub(crate) is_sampling: bool,
    number: u64,
    key: [u8; 20],
}

impl Plain {
    pub(crate) const fn new(kind: OpKind, left: u64) -> Self {
        let (pause, key) = (Nanos(0), [0; 20]);
        Self { kind, pause, left, wrong_at: None, is_sampling: false, number: 0, key }
    }
}

impl Generator for Plain {
    fn next(&mut self) -> Option<Op<'_>> {
        self.left = self.left.checked_sub(1)?;
        self.number += 1;
        self.key[..8].copy_from_slice(&self.number.to_be_bytes());
        Some(match self.kind {
            OpKind::Put => Op::Put { key: &self.key, value: b"12345" },
            OpKind::Delete => Op::Delete { key: &self.key },
            OpKind::Transaction => Op::Call(Call {
                procedure: 0,
                kind: self.kind,
                table: 0,
                arguments: &[],
                bytes: &[],
                pause: self.pause,
            }),
            OpKind::Get
            | OpKind::Scan
            | OpKind::MultiGet
            | OpKind::Insert
            | OpKind::Define
            | OpKind::PartialUpdate
            | OpKind::FieldRead
            | OpKind::Append
            | OpKind::ScanSequence => Op::Get { key: &self.key },
        })
    }

    fn unchecked(&self) -> u64 {
        if self.is_sampling { 0 } else { u64::MAX }
    }

    fn check(&mut self, rows: &Rows) -> Result<u64, WrongAnswer> {
        if self.wrong_at == Some(self.number) || rows.stored().count() != 1 {
            let (operation, reason) = ("get 7".to_owned(), "another key's value".to_owned());
            return Err(WrongAnswer { operation, reason });
        }
        Ok(1)
    }
}

/// Returns a closed-loop step of `clients` clients without writers.
pub(crate) fn step(engine: &dyn Engine, clients: usize, stop: StopRule) -> StepRun<'_> {
    let kinds = BTreeSet::from([OpKind::Get]);
    StepRun {
        engine,
        clients: group(vec![Plain::new(OpKind::Get, u64::MAX); clients], kinds),
        writers: GroupRun::empty(),
        holders: HolderRun::default(),
        stop,
        warmup: Nanos(0),
        interval: Nanos::SECOND,
        is_checking: true,
        arrival_seed: 1,
        share: None,
        agree_start: None,
        faults: Faults::default(),
        stop_flag: StopFlag::default(),
    }
}

/// Returns a closed-loop group.
pub(crate) fn group(generators: Vec<Plain>, kinds: BTreeSet<OpKind>) -> GroupRun {
    let generators = generators.into_iter().map(|g| Box::new(g) as Box<dyn Generator>).collect();
    GroupRun { generators, load: Load::Closed, kinds }
}

/// Returns an open loop with equal gaps.
pub(crate) fn constant(ops_per_s: f64) -> Load {
    open(ops_per_s, Arrivals::Constant)
}

/// Returns an open loop.
pub(crate) fn open(ops_per_s: f64, arrivals: Arrivals) -> Load {
    let pace = Pace { arrivals, pacing: Pacing::Auto };
    Load::Open(OpenLoad { rate: Rate::constant(ops_per_s), pace })
}
