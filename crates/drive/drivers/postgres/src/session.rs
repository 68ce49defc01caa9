//! One client's session: a connection, reconnected after a loss.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use engine::{EngineError, Pipeline, Rows, Session};
use model::{Application, Endpoint, Op, Outcome};
use server::PipelineQueue;

use crate::config::Config;
use crate::error::failed;
use crate::in_flight::{ExpectedResult, InFlight};
use crate::link::Link;
use crate::wire::Failure;

/// Pauses before each reconnect: a server that restarts is back within them.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(500), Duration::from_secs(3)];
/// Consecutive losses, without a completed operation between them, that end a client.
const LOSSES_MAX: usize = PAUSES.len();

/// State shared by all sessions of an engine.
pub(crate) struct Shared {
    pub(crate) endpoint: Endpoint,
    pub(crate) config: Config,
    pub(crate) application: Option<std::sync::Arc<Application>>,
    /// Reconnects after a loss.
    pub(crate) reconnects: AtomicU64,
}

/// A client's session.
pub(crate) struct PostgresSession<'e> {
    shared: &'e Shared,
    link: Link,
    /// Losses since the last completed operation.
    losses: usize,
    queue: PipelineQueue<InFlight>,
}

impl<'e> PostgresSession<'e> {
    /// Connects.
    pub(crate) fn new(shared: &'e Shared) -> Result<Self, EngineError> {
        let link = Link::open(&shared.endpoint, &shared.config).map_err(failed)?;
        Ok(Self { shared, link, losses: 0, queue: PipelineQueue::default() })
    }

    /// Cleans up after a failed operation.
    #[cold]
    fn recover(&mut self, failure: Failure) -> EngineError {
        if let Failure::Lost(reason) = failure {
            self.queue.lose_all();
            return self.reconnect(&reason);
        }
        // A partial request must not go with the next one.
        self.link.connection.send_buffer().clear();
        if self.link.connection.is_in_transaction()
            && let Err(Failure::Lost(reason)) = self.link.connection.run("ROLLBACK")
        {
            return self.reconnect(&reason);
        }
        failed(failure)
    }

    /// Reconnects; the current operation has failed, whether the server applied it or not.
    fn reconnect(&mut self, reason: &str) -> EngineError {
        self.losses += 1;
        if self.losses > LOSSES_MAX {
            let losses = self.losses;
            return EngineError::Fatal(format!(
                "postgres: connection lost {losses} times in a row: {reason}"
            ));
        }
        let mut last = None;
        for pause in PAUSES {
            #[expect(clippy::disallowed_methods, reason = "a restart cannot be awaited")]
            thread::sleep(pause);
            match Link::open(&self.shared.endpoint, &self.shared.config) {
                Ok(link) => {
                    self.link = link;
                    self.shared.reconnects.fetch_add(1, Ordering::Relaxed);
                    return EngineError::Timeout(format!(
                        "postgres: connection lost and reconnected, the statement counts as \
                         failed: {reason}"
                    ));
                }
                Err(failure) => last = Some(failure),
            }
        }
        let last = last.map_or_else(String::new, |failure| failure.to_string());
        let attempts = PAUSES.len();
        EngineError::Fatal(format!(
            "postgres: connection lost ({reason}), and {attempts} attempts to connect again \
             failed: {last}"
        ))
    }
}

impl Session for PostgresSession<'_> {
    #[inline]
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        let link = &mut self.link;
        let done = match (op, &self.shared.application) {
            (Op::Call(call), Some(application)) => {
                link.calls.call(&mut link.connection, application, call, rows)
            }
            (Op::Call(_), None) => engine_without_application(),
            _ => link.key_value.execute(&mut link.connection, op, rows),
        };
        match done {
            Ok(outcome) => {
                self.losses = 0;
                Ok(outcome)
            }
            Err(failure) => Err(self.recover(failure)),
        }
    }

    fn pipeline(&mut self) -> Option<&mut dyn Pipeline> {
        Some(self)
    }
}

impl Pipeline for PostgresSession<'_> {
    #[inline]
    fn submit(&mut self, op: &Op<'_>) -> Result<bool, EngineError> {
        let Link { connection, key_value, calls } = &mut self.link;
        let before = connection.send_buffer().len();
        let taken = match (op, &self.shared.application) {
            (Op::Call(call), Some(application)) => calls.submit(connection, application, call),
            (Op::Call(_), None) => Ok(None),
            _ => key_value.submit(connection, op),
        };
        match taken {
            Ok(Some(in_flight)) => {
                self.queue.push(in_flight);
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(failure) => {
                connection.send_buffer().truncate(before);
                Err(failed(failure))
            }
        }
    }

    #[inline]
    fn has_answer(&mut self) -> bool {
        self.queue.has_lost() || self.link.connection.has_answer()
    }

    #[inline]
    fn complete(&mut self, rows: &mut Rows) -> Result<Outcome, EngineError> {
        let in_flight = self.queue.oldest()?;
        let Link { connection, key_value, .. } = &mut self.link;
        let done = connection.send_queued().and_then(|()| match in_flight.expected {
            ExpectedResult::Call { is_read } => {
                let answer = connection.answer(|row| rows.push(b"", row))?;
                if answer.affected > 0 {
                    rows.wrote(answer.affected, in_flight.bytes);
                }
                let is_empty = is_read && rows.count() == 0;
                Ok(if is_empty { Outcome::NotFound } else { Outcome::Done })
            }
            ExpectedResult::Get | ExpectedResult::Scan | ExpectedResult::Write => {
                key_value.complete(connection, in_flight, rows)
            }
        });
        match done {
            Ok(outcome) => {
                self.losses = 0;
                Ok(outcome)
            }
            // A failed statement leaves the connection usable.
            Err(failure @ Failure::Lost(_)) => Err(self.recover(failure)),
            Err(failure) => Err(failed(failure)),
        }
    }
}

#[cold]
fn engine_without_application() -> Result<Outcome, Failure> {
    Err(Failure::Impossible("a procedure was called, and no application was opened".to_owned()))
}
