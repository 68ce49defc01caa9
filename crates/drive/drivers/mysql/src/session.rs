//! One client's session: a connection, reconnected after a loss.

use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::{EngineError, Pipeline, Rows, Session};
use model::{Op, Outcome};
use server::PipelineQueue;

use crate::in_flight::InFlight;
use crate::instance::MysqlEngine;
use crate::key_value::{KeyValue, OpError};
use crate::procedure::Calls;
use crate::wire::{Connection, Failure};

/// Reconnects of a session before it gives up: a server that keeps disconnecting is not
const RECONNECTS_MAX: u32 = 3;
/// Pauses before each reconnect: a server that restarts takes a second or two.
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
    queue: PipelineQueue<InFlight>,
}

impl<'e> MysqlSession<'e> {
    /// Connects.
    pub(crate) fn new(engine: &'e MysqlEngine) -> Result<Self, EngineError> {
        let is_text = engine.config.is_text;
        Ok(Self {
            connection: Connection::open(&engine.config.endpoint)?,
            key_value: KeyValue::new(is_text),
            calls: Calls::new(engine.setup.as_ref(), is_text),
            engine,
            reconnects: 0,
            is_lost: false,
            queue: PipelineQueue::default(),
        })
    }

    /// Reconnects after a loss; the current statement has failed all the same.
    #[cold]
    fn failed(&mut self, error: OpError) -> EngineError {
        let failure = match error {
            OpError::Local(error) => return error,
            OpError::Server(failure) => failure,
        };
        if !failure.is_loss() {
            return failure.into();
        }
        self.is_lost = true;
        self.queue.lose_all();
        let lost = EngineError::from(failure);
        if self.reconnects >= RECONNECTS_MAX {
            return EngineError::Fatal(format!(
                "{lost}; reconnected {RECONNECTS_MAX} times before: see the server's log"
            ));
        }
        match self.connect() {
            Ok(()) => lost,
            Err(error) => EngineError::Fatal(format!("{lost}; then: {error}")),
        }
    }

    fn connect(&mut self) -> Result<(), Failure> {
        let mut last = Failure::Lost("no answer".to_owned());
        for pause in PAUSES {
            sleep(pause);
            match Connection::open(&self.engine.config.endpoint) {
                Ok(connection) => {
                    self.connection = connection;
                    self.key_value.reset();
                    self.calls.reset();
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
fn sleep(pause: Duration) {
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
                self.calls.call(connection, self.engine.setup.as_ref(), call, rows)
            }
        };
        done.map_err(|error| self.failed(error))
    }

    fn pipeline(&mut self) -> Option<&mut dyn Pipeline> {
        Some(self)
    }
}

impl Pipeline for MysqlSession<'_> {
    #[inline]
    fn submit(&mut self, op: &Op<'_>) -> Result<bool, EngineError> {
        if self.is_lost {
            // Executing it returns the error.
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
            Ok(Some(in_flight)) => {
                self.queue.push(in_flight);
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(error) => Err(self.failed(error)),
        }
    }

    #[inline]
    fn has_answer(&mut self) -> bool {
        self.queue.has_lost() || self.connection.has_answer()
    }

    #[inline]
    fn complete(&mut self, rows: &mut Rows) -> Result<Outcome, EngineError> {
        let in_flight = self.queue.oldest()?;
        let landed = in_flight.complete(&mut self.connection, rows);
        landed.map_err(|failure| self.failed(failure.into()))
    }
}
