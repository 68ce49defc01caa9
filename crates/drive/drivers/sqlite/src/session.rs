//! One client: a connection with its prepared statements.

use engine::{EngineError, Rows, Session};
use model::{Direction, Op, Outcome};
use rusqlite::{Connection, Result, Statement};

use crate::error::failed;
use crate::tally::{Counters, Tally, counters};

/// Operations between two publications of the connection's counters: they cost some 100 ns.
const PUBLISH_EVERY: u32 = 4096;

self_cell::self_cell!(
    /// A connection and the statements that borrow it.
    struct Prepared {
        owner: Connection,
        #[not_covariant]
        dependent: Statements,
    }
);

/// One statement per kind of operation.
struct Statements<'c> {
    get: Statement<'c>,
    put: Statement<'c>,
    delete: Statement<'c>,
    forward: Statement<'c>,
    reverse: Statement<'c>,
    begin: Statement<'c>,
    commit: Statement<'c>,
}

/// A client's handle.
pub(crate) struct SqliteSession<'e> {
    prepared: Prepared,
    tally: &'e Tally,
    published: Counters,
    operations: u32,
}

impl<'e> SqliteSession<'e> {
    /// Prepares the statements on `connection`; its counters go to `tally`.
    pub(crate) fn new(connection: Connection, tally: &'e Tally) -> Result<Self> {
        let prepared = Prepared::try_new(connection, |connection| Statements::new(connection))?;
        Ok(Self { prepared, tally, published: Counters::default(), operations: 0 })
    }

    fn publish(&mut self, now: Counters) {
        self.tally.replace(self.published, now);
        self.published = now;
    }
}

impl Session for SqliteSession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        self.operations = self.operations.wrapping_add(1);
        if self.operations.is_multiple_of(PUBLISH_EVERY) {
            self.publish(counters(self.prepared.borrow_owner()));
        }
        self.prepared
            .with_dependent_mut(|_connection, statements| statements.execute(op, rows))
            .map_err(failed)
    }
}

impl Drop for SqliteSession<'_> {
    fn drop(&mut self) {
        let counted = counters(self.prepared.borrow_owner());
        // The cache goes with the connection.
        self.publish(Counters { cache_bytes: 0, ..counted });
    }
}

impl<'c> Statements<'c> {
    fn new(connection: &'c Connection) -> Result<Self> {
        Ok(Self {
            get: connection.prepare("SELECT v FROM kv WHERE k = ?1")?,
            put: connection.prepare(
                "INSERT INTO kv(k, v) VALUES(?1, ?2) ON CONFLICT(k) DO UPDATE SET v = excluded.v",
            )?,
            delete: connection.prepare("DELETE FROM kv WHERE k = ?1")?,
            forward: connection.prepare("SELECT k, v FROM kv WHERE k >= ?1 ORDER BY k LIMIT ?2")?,
            reverse: connection
                .prepare("SELECT k, v FROM kv WHERE k <= ?1 ORDER BY k DESC LIMIT ?2")?,
            begin: connection.prepare("BEGIN DEFERRED")?,
            commit: connection.prepare("COMMIT")?,
        })
    }

    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome> {
        match *op {
            Op::Get { key } => {
                get(&mut self.get, key, rows)?;
                Ok(outcome(rows))
            }
            Op::Put { key, value } => {
                self.put.raw_bind_parameter(1, key)?;
                self.put.raw_bind_parameter(2, value)?;
                self.put.raw_execute()?;
                Ok(Outcome::Done)
            }
            Op::Delete { key } => {
                self.delete.raw_bind_parameter(1, key)?;
                self.delete.raw_execute()?;
                Ok(Outcome::Done)
            }
            Op::Scan { start, limit, direction } => {
                let statement = match direction {
                    Direction::Forward => &mut self.forward,
                    Direction::Reverse => &mut self.reverse,
                };
                scan(statement, start, limit, rows)?;
                Ok(outcome(rows))
            }
            Op::MultiGet { keys } => {
                self.begin.raw_execute()?;
                let read = keys.iter().try_for_each(|key| get(&mut self.get, key, rows));
                // Also after a failed read: the transaction must not outlive the operation.
                let ended = self.commit.raw_execute();
                read?;
                ended?;
                Ok(outcome(rows))
            }
        }
    }
}

fn get(statement: &mut Statement<'_>, key: &[u8], rows: &mut Rows) -> Result<()> {
    statement.raw_bind_parameter(1, key)?;
    let mut found = statement.raw_query();
    if let Some(row) = found.next()? {
        rows.push(key, row.get_ref(0)?.as_blob()?);
    }
    Ok(())
}

fn scan(statement: &mut Statement<'_>, start: &[u8], limit: u32, rows: &mut Rows) -> Result<()> {
    statement.raw_bind_parameter(1, start)?;
    statement.raw_bind_parameter(2, limit)?;
    let mut found = statement.raw_query();
    while let Some(row) = found.next()? {
        rows.push(row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_blob()?);
    }
    Ok(())
}

fn outcome(rows: &Rows) -> Outcome {
    if rows.count() == 0 { Outcome::NotFound } else { Outcome::Done }
}
