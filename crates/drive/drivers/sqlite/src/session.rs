//! One client's session: a connection with prepared statements.

use std::ops::ControlFlow::{Break, Continue};

use engine::{EngineError, Result, Rows, Session};
use model::{Direction, Op, Outcome};

use crate::ffi_connection::Param::{Blob, Integer};
use crate::ffi_connection::{Connection, Prepared, Statement};
use crate::statistics::{Counters, Statistics, take_counters};

/// Operations between two publications of the counters (about 100 ns).
const PUBLISH_EVERY: u32 = 4096;

/// One statement per kind of operation, in the order in which `execute` names them.
const STATEMENTS: [&str; 10] = [
    "SELECT v FROM kv WHERE k = ?1",
    "INSERT INTO kv(k, v) VALUES(?1, ?2) ON CONFLICT(k) DO UPDATE SET v = excluded.v",
    "DELETE FROM kv WHERE k = ?1",
    "SELECT k, v FROM kv WHERE k >= ?1 ORDER BY k LIMIT ?2",
    "SELECT k, v FROM kv WHERE k <= ?1 ORDER BY k DESC LIMIT ?2",
    "BEGIN DEFERRED",
    "COMMIT",
    "SELECT substr(v, ?2 + 1, ?3), length(v) FROM kv WHERE k = ?1",
    // Concatenated values are text, whatever they were.
    "UPDATE kv SET v = CAST(substr(v, 1, ?2) || ?3 || substr(v, ?2 + ?4 + 1) AS BLOB) \
     WHERE k = ?1 AND length(v) >= ?2 + ?4",
    "UPDATE kv SET v = CAST(v || ?2 AS BLOB) WHERE k = ?1",
];

/// A client's handle.
pub(crate) struct SqliteSession<'e> {
    prepared: Prepared<{ STATEMENTS.len() }>,
    statistics: &'e Statistics,
    cache_bytes: u64,
    operations: u32,
}

impl<'e> SqliteSession<'e> {
    /// Prepares the statements on `connection`; its counters go to `statistics`.
    pub(crate) fn new(connection: Connection, statistics: &'e Statistics) -> Result<Self> {
        let prepared = connection.prepare(STATEMENTS)?;
        Ok(Self { prepared, statistics, cache_bytes: 0, operations: 0 })
    }

    #[cold]
    fn publish(&mut self) {
        let counted = take_counters(&self.prepared.1);
        self.statistics.add(counted, self.cache_bytes);
        self.cache_bytes = counted[3];
    }
}

impl Session for SqliteSession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome> {
        self.operations = self.operations.wrapping_add(1);
        if self.operations.is_multiple_of(PUBLISH_EVERY) {
            self.publish();
        }
        let (statements, connection) = &mut self.prepared;
        let [find, upsert, remove, forward, reverse, begin, commit, field, replace, append] =
            statements;
        match *op {
            Op::Get { key } => get(find, key, rows)?,
            Op::Put { key, value } => {
                upsert.run([Blob(key), Blob(value)], |_| Break(()))?;
                return Ok(Outcome::Done);
            }
            Op::Delete { key } => {
                remove.run([Blob(key)], |_| Break(()))?;
                return Ok(Outcome::Done);
            }
            Op::Scan { start, limit, direction } => {
                let statement = if direction == Direction::Forward { forward } else { reverse };
                statement.run([Blob(start), Integer(limit.into())], |row| {
                    rows.push(row.column(0), row.column(1));
                    Continue(())
                })?;
            }
            Op::FieldRead { key, offset, length } => {
                get_part(field, key, offset, length, rows)?;
            }
            Op::PartialUpdate { key, offset, bytes } => {
                let start = Integer(offset.into());
                let length = Integer(i64::try_from(bytes.len()).unwrap_or(i64::MAX));
                replace.run([Blob(key), start, Blob(bytes), length], |_| Break(()))?;
                if connection.has_changed() {
                    return Ok(engine::parts::changed(key, bytes, rows));
                }
                // The row is absent, or too short.
                let mut value_bytes = None;
                find.run([Blob(key)], |row| {
                    value_bytes = Some(row.column(0).len());
                    Break(())
                })?;
                if let Some(value_bytes) = value_bytes {
                    engine::parts::part(value_bytes, offset, bytes.len())?;
                    return Err(EngineError::Conflict(
                        "sqlite: another client wrote it".to_owned(),
                    ));
                }
            }
            Op::Append { key, bytes } => {
                append.run([Blob(key), Blob(bytes)], |_| Break(()))?;
                if connection.has_changed() {
                    return Ok(engine::parts::changed(key, bytes, rows));
                }
            }
            Op::Call(_) | Op::ScanSequence { .. } => {
                return engine::parts::execute("sqlite", self, op, rows);
            }
            Op::MultiGet { keys } => {
                begin.run([], |_| Break(()))?;
                let read = keys.iter().try_for_each(|key| get(find, key, rows));
                // Also after a failed read: the transaction must not outlive the operation.
                let ended = commit.run([], |_| Break(()));
                read.and(ended)?;
            }
        }
        Ok(rows.outcome())
    }
}

impl Drop for SqliteSession<'_> {
    fn drop(&mut self) {
        self.publish();
        // The cache is freed with the connection.
        self.statistics.add(Counters::default(), self.cache_bytes);
    }
}

fn get(statement: &mut Statement, key: &[u8], rows: &mut Rows) -> Result<()> {
    statement.run([Blob(key)], |row| {
        rows.push(key, row.column(0));
        Break(())
    })
}

/// Reads bytes of a value, which SQLite copies out of it.
fn get_part(
    statement: &mut Statement,
    key: &[u8],
    offset: u32,
    length: u32,
    rows: &mut Rows,
) -> Result<()> {
    let mut beyond = Ok(());
    statement.run([Blob(key), Integer(offset.into()), Integer(length.into())], |row| {
        let value_bytes =
            std::str::from_utf8(row.column(1)).ok().and_then(|text| text.parse().ok());
        let value_bytes = value_bytes.unwrap_or_default();
        match engine::parts::part(value_bytes, offset, length as usize) {
            Ok(_) => rows.push(key, row.column(0)),
            Err(error) => beyond = Err(error),
        }
        Break(())
    })?;
    beyond
}

#[cfg(test)]
mod tests {
    use engine::OpenSpec;
    use model::{DataShape, Durability, Settings};

    use super::*;
    use crate::connection::run;
    use crate::ffi::Api;

    fn put(session: &mut dyn Session) -> Result<Outcome> {
        session.execute(&Op::Put { key: b"key", value: &[7; 400] }, &mut Rows::new())
    }

    #[test]
    fn writer_times_out_on_a_lock_and_can_retry() {
        let dir = tempfile::tempdir().unwrap();
        let spec = OpenSpec {
            options: [("busy_timeout", "1")].into_iter().collect(),
            ..OpenSpec::embedded(
                dir.path().to_owned(),
                Settings { durability: Durability::Os, ..Settings::default() },
                DataShape { rows: 1, key_bytes: 3, value_bytes: 400, compressible_to: 0.5 },
            )
        };
        let engine = crate::driver().open(&spec).unwrap();
        let mut session = engine.session().unwrap();
        let other = Connection::open(Api::linked(), &dir.path().join("data.sqlite")).unwrap();
        run(&other, "BEGIN IMMEDIATE").unwrap();
        let refused = put(&mut *session);
        let locked = EngineError::Timeout("sqlite: database is locked".to_owned());
        assert_eq!(refused, Err(locked));
        let mut rows = Rows::new();
        let read = session.execute(&Op::Get { key: b"none" }, &mut rows);
        assert_eq!(read, Ok(Outcome::NotFound), "readers do not wait for a writer");
        run(&other, "ROLLBACK").unwrap();
        assert_eq!(put(&mut *session), Ok(Outcome::Done));
        drop((session, other));
        engine.close().unwrap();
    }
}
