//! One client's session: a connection, reconnected after a loss.

use std::sync::atomic::Ordering;
use std::time::Duration;

use engine::{EngineError, Pipeline, Rows, Session};
use model::record::FailureClass;
use model::{Op, Outcome, ReconnectPolicy};

use crate::connection::{Connection, Reply};
use crate::database::{Database, SqlEngine};
use crate::explain::Statements as _;
use crate::failure::{ErrorResponse, Failure};
use crate::key_value::{ExpectedResult, InFlight, KeyValue};
use crate::open_sessions::SessionRole;
use crate::pipeline_queue::PipelineQueue;
use crate::pooler;
use crate::procedure::Calls;

/// Losses after which a client ends: a server that keeps disconnecting is not measurable.
const LOSSES_MAX: u32 = 3;
/// Pauses before each attempt to reconnect.
///
/// Our choice: a session that was ended alone connects at once, a restarting server takes seconds.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(50),
    Duration::from_millis(250),
    Duration::from_millis(1000),
    Duration::from_millis(3000),
];

/// A connection and the statements prepared on it, which are lost and replaced together.
struct Link<C: Connection> {
    connection: C,
    key_value: KeyValue<C>,
    calls: Calls<C>,
}

impl<C: Connection> Link<C> {
    /// Connects, and checks the durability class; statements are prepared on first use.
    fn open(engine: &SqlEngine<impl Database<Connection = C>>) -> Reply<Self, C> {
        let (config, setup) = engine.known();
        let mut connection = engine.contact()?;
        engine.check_durability(&mut connection)?;
        Ok(Self {
            connection,
            key_value: KeyValue::new(config.plain_protocol()),
            calls: Calls::new(setup, config),
        })
    }
}

/// One client's connection with its statements.
pub(crate) struct SqlSession<'e, D: Database> {
    engine: &'e SqlEngine<D>,
    role: SessionRole,
    link: Link<D::Connection>,
    /// Losses since the last completed operation.
    losses: u32,
    is_lost: bool,
    /// Whether the last attempt to connect again failed.
    has_failed: bool,
    queue: PipelineQueue<InFlight>,
}

type Error<D> = <<D as Database>::Connection as Connection>::Error;

impl<'e, D: Database> SqlSession<'e, D> {
    pub(crate) fn new(engine: &'e SqlEngine<D>, role: SessionRole) -> Result<Self, EngineError> {
        let link: Link<D::Connection> = Link::open(engine)?;
        // Sessions of lost connections may have been given to others: only new ones are compared.
        if engine.sessions.open(link.connection.number(), role) && engine.config.is_pooled {
            return Err(pooler::refusal::<D::Connection>(&engine.config));
        }
        let queue = PipelineQueue::default();
        Ok(Self { engine, role, link, losses: 0, is_lost: false, has_failed: false, queue })
    }

    #[inline]
    fn end(&mut self, done: Reply<Outcome, D::Connection>) -> Result<Outcome, EngineError> {
        match done {
            Ok(outcome) => {
                self.losses = 0;
                Ok(outcome)
            }
            Err(failure) => Err(self.recover(failure)),
        }
    }

    /// Reconnects after a loss; the current operation has failed, whether applied or not.
    #[cold]
    fn recover(&mut self, failure: Failure<Error<D>>) -> EngineError {
        if self.engine.has_outages.load(Ordering::Relaxed)
            && let Some(class) = failure.outage()
        {
            self.queue.lose_all();
            self.is_lost = true;
            return unavailable(class, &failure);
        }
        if !failure.is_loss() {
            return failure.into();
        }
        self.queue.lose_all();
        self.losses += 1;
        self.is_lost = true;
        let prefix = Error::<D>::PREFIX;
        let reason = match failure {
            Failure::Refused(response) => response.to_string(),
            Failure::Lost(reason)
            | Failure::Unreachable(reason)
            | Failure::Rejected(reason)
            | Failure::Unread(reason) => reason,
        };
        if self.losses > LOSSES_MAX {
            return EngineError::Fatal(format!(
                "{prefix}connection lost: {reason}; Assay had reconnected {LOSSES_MAX} times: see \
                 the server's log"
            ));
        }
        match self.reconnect() {
            Ok(()) => EngineError::LostConnection(format!(
                "{prefix}connection lost and reconnected, the statement counts as failed: {reason}"
            )),
            Err(last) => EngineError::Fatal(format!(
                "{prefix}connection lost ({reason}), and {} attempts to connect again failed: \
                 {last}",
                PAUSES.len()
            )),
        }
    }

    /// Names the statement that violates a constraint, with the remedy; 0 is the commit.
    #[cold]
    fn name_violation(&self, error: EngineError, procedure: u16, statement: u32) -> EngineError {
        let EngineError::Constraint(text) = error else { return error };
        let name = self.engine.procedure_name(procedure);
        let what = match statement {
            0 => "the commit".to_owned(),
            number => format!("statement {number}"),
        };
        EngineError::Constraint(format!(
            "{text}: {what} of procedure `{name}` violates the constraint: change the values that \
             the procedure draws, or load the rows that it refers to first"
        ))
    }

    /// Connects again where outages are expected, by one attempt.
    #[cold]
    fn connect_again(&mut self) -> Result<(), EngineError> {
        if !self.engine.has_outages.load(Ordering::Relaxed) {
            return Err(EngineError::Fatal("the connection is lost".to_owned()));
        }
        if std::mem::replace(&mut self.has_failed, true) {
            // A closed loop would do nothing but connect.
            sleep(Duration::from_nanos(ReconnectPolicy::STANDARD.pause_ns.0));
        }
        match Link::open(self.engine) {
            Ok(link) => {
                self.replace(link);
                Ok(())
            }
            Err(failure @ Failure::Rejected(_)) => Err(failure.into()),
            Err(failure) => {
                let class = failure.outage().unwrap_or(FailureClass::Other);
                Err(unavailable(class, &failure))
            }
        }
    }

    /// Goes on with another connection.
    fn replace(&mut self, link: Link<D::Connection>) {
        self.engine.sessions.close(self.link.connection.number());
        self.link = link;
        self.engine.sessions.open(self.link.connection.number(), self.role);
        (self.is_lost, self.has_failed) = (false, false);
        self.engine.reconnects.fetch_add(1, Ordering::Relaxed);
    }

    fn reconnect(&mut self) -> Reply<(), D::Connection> {
        let mut last = Failure::Lost("no answer".to_owned());
        for pause in PAUSES {
            sleep(pause);
            match Link::open(self.engine) {
                Ok(link) => {
                    self.replace(link);
                    return Ok(());
                }
                Err(failure @ Failure::Rejected(_)) => return Err(failure),
                Err(failure) => last = failure,
            }
        }
        Err(last)
    }
}

impl<D: Database> Drop for SqlSession<'_, D> {
    fn drop(&mut self) {
        let can_query = self.engine.setup.is_some() && !self.is_lost && self.queue.is_empty();
        // Where the server refuses it, it collects none.
        if can_query && let Ok(entries) = self.link.connection.session_entries() {
            self.engine.end_entries(entries);
        }
        self.engine.sessions.close(self.link.connection.number());
    }
}

#[expect(clippy::disallowed_methods, reason = "a restart cannot be awaited; nothing is timed")]
fn sleep(pause: Duration) {
    std::thread::sleep(pause);
}

/// Returns the failure of an operation in an outage.
fn unavailable<E: ErrorResponse>(class: FailureClass, failure: &Failure<E>) -> EngineError {
    EngineError::Unavailable { class, reason: format!("{}{failure}", E::PREFIX) }
}

/// Rejects a row longer than the table's columns.
#[inline]
fn check_row<C: Connection>(op: &Op<'_>) -> Result<(), EngineError> {
    let (key_max, value_max) = C::SQL.row_bytes_max;
    if let Op::Put { key, value } = op
        && (key.len() > key_max || value.len() > value_max)
    {
        return Err(too_long::<C>(key, value));
    }
    Ok(())
}

#[cold]
fn too_long<C: Connection>(key: &[u8], value: &[u8]) -> EngineError {
    let (key_max, value_max) = C::SQL.row_bytes_max;
    EngineError::Unsupported(format!(
        "a key of {} bytes with a value of {} bytes: keys may have {key_max} bytes, values \
         {value_max}",
        key.len(),
        value.len()
    ))
}

impl<D: Database> Session for SqlSession<'_, D> {
    #[inline]
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        if self.is_lost {
            self.connect_again()?;
        }
        check_row::<D::Connection>(op)?;
        let Link { connection, key_value, calls, .. } = &mut self.link;
        let done = match op {
            Op::Call(call) => {
                let done = calls.call(connection, self.engine.known(), call, rows);
                return self.end(done).map_err(|error| {
                    let statement = self.link.calls.position(call);
                    self.name_violation(error, call.procedure, statement)
                });
            }
            Op::Get { .. }
            | Op::Put { .. }
            | Op::Delete { .. }
            | Op::Scan { .. }
            | Op::MultiGet { .. } => key_value.execute(connection, op, rows),
            Op::PartialUpdate { .. } | Op::FieldRead { .. } | Op::Append { .. } => {
                match key_value.part(connection, op, rows).transpose() {
                    Some(done) => done,
                    // The key is absent, or the part ends beyond the value: its value decides.
                    None => return engine::parts::execute("a SQL server", self, op, rows),
                }
            }
            Op::ScanSequence { .. } => {
                return engine::parts::execute("a SQL server", self, op, rows);
            }
        };
        self.end(done)
    }

    fn hold(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        let Op::Call(call) = op else {
            let reason = "a transaction that is held open can only call a procedure";
            return Err(EngineError::Unsupported(reason.to_owned()));
        };
        if self.is_lost {
            self.connect_again()?;
        }
        let Link { connection, calls, .. } = &mut self.link;
        let done = calls.hold(connection, self.engine.known(), call, rows);
        self.end(done)
    }

    fn pipeline(&mut self) -> Option<&mut dyn Pipeline> {
        Some(self)
    }
}

impl<D: Database> Pipeline for SqlSession<'_, D> {
    #[inline]
    fn submit(&mut self, op: &Op<'_>) -> Result<bool, EngineError> {
        if self.is_lost {
            // Executing it returns the error.
            return Ok(false);
        }
        check_row::<D::Connection>(op)?;
        let Link { connection, key_value, calls, .. } = &mut self.link;
        let taken = if let Op::Call(call) = op {
            calls.submit(connection, call)
        } else {
            key_value.submit(connection, op)
        };
        match taken {
            Ok(Some(in_flight)) => {
                self.queue.push(in_flight);
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(failure) => Err(self.recover(failure)),
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
        let done = key_value.complete(connection, in_flight, rows);
        self.end(done).map_err(|error| match in_flight.expected {
            ExpectedResult::Call { procedure, .. } => self.name_violation(error, procedure, 1),
            ExpectedResult::Get | ExpectedResult::Scan | ExpectedResult::Write => error,
        })
    }
}
