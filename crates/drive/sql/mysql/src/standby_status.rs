//! How far a standby is behind.

use std::sync::{Mutex, PoisonError};

use driver_sql::{Connection as _, Contact};
use engine::EngineError;
use model::{Address, Endpoint, Readings, metric};

use crate::kind::{Release, STANDBY_SOCKET};
use crate::wire::{Connection, Failure};

/// First release that names its statements otherwise.
///
/// Source: MySQL's reference manual, "Changes in MySQL 8.0.22" and 8.0.23.
pub(crate) const RENAMED: Release = Release(8, 0, 23);

/// Statements of a standby.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Statements {
    /// Starts it.
    pub(crate) start: &'static str,
    /// Returns its status.
    pub(crate) status: &'static str,
}

/// Returns the statements of a server's release.
pub(crate) fn statements(connection: &mut Connection) -> Result<Statements, Failure> {
    let version = connection.first("SELECT VERSION()")?.unwrap_or_default();
    // MariaDB takes both.
    let is_new = Release::find(&version).is_some_and(|release| release >= RENAMED);
    Ok(if is_new {
        Statements { start: "START REPLICA", status: "SHOW REPLICA STATUS" }
    } else {
        Statements { start: "START SLAVE", status: "SHOW SLAVE STATUS" }
    })
}

/// The status of a standby.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Status {
    /// Whether it reads and applies.
    pub(crate) follows: bool,
    /// Its last error; empty without one.
    pub(crate) error: String,
    /// The binary log and the position up to which it has applied.
    applied: (String, u64),
    /// How old the last applied change is, s, while it has others to apply.
    late_s: Option<u64>,
}

impl Status {
    /// Reads the status; `None` of a server that follows none.
    pub(crate) fn read(
        connection: &mut Connection,
        statement: &str,
    ) -> Result<Option<Self>, Failure> {
        Ok(connection.rows(statement)?.first().map(|row| Self::of(row)))
    }

    /// Parses a row.
    ///
    /// Source: MySQL's reference manual, "SHOW SLAVE STATUS Statement": the order of its columns is
    /// the same from MySQL 5.6 to 9 and in MariaDB.
    fn of(row: &[String]) -> Self {
        let column = |at: usize| row.get(at).map_or("", String::as_str);
        let [log, error, io_error, sql_error] = [9, 19, 35, 37].map(column);
        let errors = [io_error, sql_error, error];
        Self {
            follows: [10, 11].into_iter().all(|at| column(at) == "Yes"),
            error: errors.into_iter().find(|text| !text.is_empty()).unwrap_or_default().to_owned(),
            applied: (log.to_owned(), column(21).parse().unwrap_or(0)),
            late_s: column(32).parse().ok(),
        }
    }

    /// Returns the bytes of binary logs that it has not applied yet.
    fn behind(&self, logs: &[(String, u64)]) -> u64 {
        let whole: u64 = logs.iter().map(|(_, bytes)| bytes).sum();
        let earlier = logs.iter().take_while(|(name, _)| *name != self.applied.0);
        let applied = earlier.map(|(_, bytes)| bytes).sum::<u64>() + self.applied.1;
        whole.saturating_sub(applied)
    }
}

/// A connection to the standby of an own server.
#[derive(Debug)]
pub(crate) struct StandbyMonitor {
    connection: Mutex<Connection>,
    status: &'static str,
}

impl StandbyMonitor {
    /// Connects to the standby, whose socket lies next to its server's.
    pub(crate) fn open(server: &Endpoint) -> Result<Self, EngineError> {
        let mut endpoint = Endpoint { database: String::new(), ..server.clone() };
        if let Address::Socket(path) = &mut endpoint.address {
            path.set_file_name(STANDBY_SOCKET);
        }
        let mut connection = Connection::open(&endpoint, &(), Contact::Known)?;
        let status = statements(&mut connection)?.status;
        Ok(Self { connection: Mutex::new(connection), status })
    }

    /// Checks that it still follows.
    ///
    /// # Errors
    /// When it does not, with its last error.
    pub(crate) fn verify(&self) -> Result<(), EngineError> {
        let status = self.read()?;
        if status.as_ref().is_some_and(|status| status.follows) {
            return Ok(());
        }
        let error = status.map(|status| status.error).unwrap_or_default();
        Err(EngineError::Fatal(format!("the standby no longer follows the server: {error}")))
    }

    fn read(&self) -> Result<Option<Status>, Failure> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        Status::read(&mut connection, self.status)
    }

    /// Adds how far it is behind, while it follows; `logs` are the server's binary logs and sizes.
    ///
    /// # Errors
    /// When it does not answer.
    pub(crate) fn sample(
        &self,
        logs: &[(String, u64)],
        readings: &mut Readings,
    ) -> Result<(), EngineError> {
        if let Some(status) = self.read()?.filter(|status| status.follows) {
            let late_us = status.late_s.map(|late| late as f64 * 1e6);
            readings.set(metric::ENGINE_REPLICA_LAG_BYTES, status.behind(logs) as f64);
            readings.set(metric::ENGINE_REPLICA_LAG_US, late_us);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(columns: &[(usize, &str)]) -> Status {
        let mut row = vec![String::new(); 40];
        for (at, text) in columns {
            row[*at] = (*text).to_owned();
        }
        Status::of(&row)
    }

    #[test]
    fn bytes_behind_are_counted_over_several_logs() {
        let logs = [("b.1", 100), ("b.2", 200), ("b.3", 50)];
        let logs = logs.map(|(name, bytes)| (name.to_owned(), bytes));
        let known = status(&[(9, "b.2"), (10, "Yes"), (11, "Yes"), (21, "120"), (32, "3")]);
        assert!(known.follows);
        assert_eq!((known.behind(&logs), known.late_s), (130, Some(3)));
        let up_to_date = status(&[(9, "b.3"), (21, "60")]);
        assert_eq!(up_to_date.behind(&logs), 0, "it was read after the logs");
    }

    #[test]
    fn a_standby_that_connects_does_not_follow() {
        let error = "error connecting to master";
        let known = status(&[(10, "Connecting"), (11, "Yes"), (35, error)]);
        assert!(!known.follows && known.error == error && known.late_s.is_none());
    }
}
