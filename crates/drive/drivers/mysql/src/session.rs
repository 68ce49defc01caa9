//! One client: a connection, and what becomes of it when it is lost.

use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::{EngineError, Pipeline, Rows, Session};
use model::{Op, Outcome};
use server::PipelineQueue;

use crate::call::Calls;
use crate::flight::Flight;
use crate::instance::MysqlEngine;
use crate::key_value::{KeyValue, Trouble};
use crate::wire::{Connection, Failure};

/// Times a session connects again before it gives up: a server that keeps on hanging up is not
/// measured.
const RECONNECTS_MAX: u32 = 3;
/// Pauses before each try to connect again: a server that restarts takes a second or two.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(50),
    Duration::from_millis(250),
    Duration::from_millis(1000),
    Duration::from_millis(3000),
];

/// One client's connection with its statements.
pub(crate) struct MysqlSession<'e> {
    engine: &'e MysqlEngine,
    connection: Connection,
    key_value: KeyValue,
    calls: Calls,
    reconnects: u32,
    is_lost: bool,
    ahead: PipelineQueue<Flight>,
}

impl<'e> MysqlSession<'e> {
    /// Connects.
    pub(crate) fn new(engine: &'e MysqlEngine) -> Result<Self, EngineError> {
        let is_text = engine.config.is_text;
        Ok(Self {
            connection: Connection::open(&engine.config.endpoint)?,
            key_value: KeyValue::new(is_text),
            calls: Calls::new(engine.asked.as_ref(), is_text),
            engine,
            reconnects: 0,
            is_lost: false,
            ahead: PipelineQueue::default(),
        })
    }

    /// Connects again after a loss; the statement in hand has failed all the same.
    #[cold]
    fn failed(&mut self, trouble: Trouble) -> EngineError {
        let failure = match trouble {
            Trouble::Ours(error) => return error,
            Trouble::Server(failure) => failure,
        };
        if !failure.is_loss() {
            return failure.into();
        }
        self.is_lost = true;
        self.ahead.lose_all();
        let lost = EngineError::from(failure);
        if self.reconnects >= RECONNECTS_MAX {
            return EngineError::Fatal(format!(
                "{lost}; it was made again {RECONNECTS_MAX} times before: see the server's log"
            ));
        }
        match self.connect() {
            Ok(()) => lost,
            Err(error) => EngineError::Fatal(format!("{lost}; then: {error}")),
        }
    }

    fn connect(&mut self) -> Result<(), Failure> {
        let mut last = Failure::Lost("nobody answers".to_owned());
        for pause in PAUSES {
            rest(pause);
            match Connection::open(&self.engine.config.endpoint) {
                Ok(connection) => {
                    self.connection = connection;
                    self.key_value.forget();
                    self.calls.forget();
                    self.reconnects += 1;
                    self.is_lost = false;
                    self.engine.reconnects.fetch_add(1, Ordering::Relaxed);
                    return Ok(());
                }
                Err(failure @ Failure::Login(_)) => return Err(failure),
                Err(failure) => last = failure,
            }
        }
        Err(last)
    }
}

#[expect(clippy::disallowed_methods, reason = "the operation has failed: nothing is timed here")]
fn rest(pause: Duration) {
    std::thread::sleep(pause);
}

impl Session for MysqlSession<'_> {
    #[inline]
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        if self.is_lost {
            return Err(EngineError::Fatal("the connection is lost".to_owned()));
        }
        let connection = &mut self.connection;
        let table = &mut self.key_value;
        let done = match *op {
            Op::Get { key } => table.get(connection, key, rows),
            Op::Put { key, value } => table.put(connection, key, value),
            Op::Delete { key } => table.delete(connection, key),
            Op::Scan { start, limit, direction } => {
                table.scan(connection, (start, limit, direction), rows)
            }
            Op::MultiGet { keys } => table.multi_get(connection, keys, rows),
            Op::Call(ref call) => {
                self.calls.call(connection, self.engine.asked.as_ref(), call, rows)
            }
        };
        done.map_err(|trouble| self.failed(trouble))
    }

    fn pipeline(&mut self) -> Option<&mut dyn Pipeline> {
        Some(self)
    }
}

impl Pipeline for MysqlSession<'_> {
    #[inline]
    fn submit(&mut self, op: &Op<'_>) -> Result<bool, EngineError> {
        if self.is_lost {
            // Executing it tells why it cannot be.
            return Ok(false);
        }
        let connection = &mut self.connection;
        let taken = match op {
            Op::Call(call) => self.calls.submit(connection, call),
            Op::Get { .. }
            | Op::Put { .. }
            | Op::Delete { .. }
            | Op::Scan { .. }
            | Op::MultiGet { .. } => self.key_value.submit(connection, op),
        };
        match taken {
            Ok(Some(flight)) => {
                self.ahead.push(flight);
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(trouble) => Err(self.failed(trouble)),
        }
    }

    #[inline]
    fn has_answer(&mut self) -> bool {
        self.ahead.has_lost() || self.connection.has_answer()
    }

    #[inline]
    fn complete(&mut self, rows: &mut Rows) -> Result<Outcome, EngineError> {
        let flight = self.ahead.oldest()?;
        let landed = flight.land(&mut self.connection, rows);
        landed.map_err(|failure| self.failed(failure.into()))
    }
}
