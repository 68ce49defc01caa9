//! Failures of an exchange, and their `EngineError`.

use std::fmt;

use driver_sql::ErrorResponse;
use engine::EngineError;
use model::record::FailureClass;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ErrorPacket {
    pub(crate) number: u16,
    /// SQLSTATE; empty before the login.
    pub(crate) state: String,
    pub(crate) message: String,
}

/// A failed exchange.
pub(crate) type Failure = driver_sql::Failure<ErrorPacket>;

/// Returns the server's error code; `None` when it sent none.
pub(crate) const fn number(failure: &Failure) -> Option<u16> {
    match failure {
        Failure::Refused(error_packet) => Some(error_packet.number),
        Failure::Lost(_) | Failure::Unreachable(_) | Failure::Rejected(_) | Failure::Unread(_) => {
            None
        }
    }
}

impl fmt::Display for ErrorPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, state, message } = self;
        if state.is_empty() {
            write!(f, "{message} (error {number})")
        } else {
            write!(f, "{message} (error {number}, {state})")
        }
    }
}

impl ErrorResponse for ErrorPacket {
    const PREFIX: &'static str = "";
    const LOST: fn(String) -> EngineError = EngineError::LostConnection;

    /// Source: MySQL's server error reference: 1053 shutdown, 1317 only of the statement, 1927
    /// (MariaDB) and 3169 killed, 4031 idle for too long.
    fn is_loss(&self) -> bool {
        matches!(self.number, 1053 | 1927 | 3169 | 4031)
    }

    /// Source: as of `is_loss`.
    fn outage(&self) -> Option<FailureClass> {
        let class = match self.number {
            1053 => FailureClass::ShuttingDown,
            _ => FailureClass::LostConnection,
        };
        self.is_loss().then_some(class)
    }

    /// No right to the command, the database or the table.
    fn lacks_right(&self) -> bool {
        matches!(self.number, 1044 | 1142 | 1227)
    }

    fn is_lock_wait(&self) -> bool {
        self.number == 1205
    }

    /// Source: MySQL's server error reference: 1217, from 8.0 on 3730; MariaDB's: 1451.
    fn is_reference(&self) -> bool {
        matches!(self.number, 1217 | 1451 | 3730)
    }

    /// Source: MySQL's server error reference: constraints, deadlock, lock wait, interrupted.
    fn depends_on_rows(&self) -> bool {
        self.state == "23000" || matches!(self.number, 3819 | 1213 | 1205 | 1317 | 3572 | 3101)
    }

    /// NOT NULL, CHECK, and CHECK of MariaDB.
    fn is_of_value(&self) -> bool {
        matches!(self.number, 1048 | 3819 | 4025)
    }

    /// Source: MySQL's and MariaDB's error references.
    #[cold]
    fn classify(self) -> EngineError {
        let text = self.to_string();
        match self.number {
            1213 => EngineError::Deadlock(text),
            // Changed since the snapshot; rolled back by the group that replicates it.
            1020 | 3101 => EngineError::Conflict(text),
            // Duplicate key of a concurrent insert; a check.
            1062 | 3819 => EngineError::Constraint(text),
            // Lock wait; statement interrupted; statement timeout; NOWAIT.
            1205 | 1317 | 1969 | 3024 | 3572 => EngineError::Timeout(text),
            // No such feature, no such engine, not as a prepared statement.
            1235 | 1286 | 1289 | 1295 => EngineError::Unsupported(text),
            number => match remedy(number) {
                Some(remedy) => EngineError::Fatal(format!("{text}: {remedy}")),
                None if self.state == "40001" => EngineError::Conflict(text),
                None if self.state == "23000" => EngineError::Constraint(text),
                None => EngineError::Fatal(text),
            },
        }
    }
}

/// Returns the remedy for an error that stops a run.
const fn remedy(number: u16) -> Option<&'static str> {
    Some(match number {
        1021 | 1114 => "the server's disk is full: make room, or use fewer rows",
        1040 => "raise `max_connections`, or use fewer clients",
        1129 => "run FLUSH HOSTS on the server, or raise `max_connect_errors`",
        1130 => "create the account for this host, or name another user in the dsn",
        1184 => "correct or remove the server's `init_connect`, which runs at each login",
        1135 => "raise the limit on threads of the server's account, or use fewer clients",
        1203 | 1226 => "raise this limit of the account, or use fewer clients",
        1290 | 1836 => "switch this option of the server off, or name another server in the dsn",
        1044 | 1142 | 1227 => {
            "grant the user the right, directly or by a default role, or name another user in the dsn"
        }
        1045 => "give the dsn the right user and password",
        1049 => "create the database, or name another database in the dsn",
        1153 => "raise `max_allowed_packet`, or use shorter values",
        1461 => "raise `max_prepared_stmt_count`",
        1820 | 1862 => "the account's password has expired: set the password again by ALTER USER",
        3118 | 4151 => "unlock the account by ALTER USER ... ACCOUNT UNLOCK",
        3159 => "add ssl-mode=REQUIRED to the dsn",
        3750 => "switch `sql_require_primary_key` off, or declare a primary key",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn classed(number: u16, state: &str) -> EngineError {
        let message = "text".to_owned();
        Failure::Refused(ErrorPacket { number, state: state.to_owned(), message }).into()
    }

    #[test]
    fn errors_are_classified_by_code() {
        let class = |number| classed(number, "HY000").class();
        assert_eq!(class(1213), FailureClass::Deadlock);
        assert_eq!(class(1020), FailureClass::Serialisation);
        assert!(matches!(classed(7777, "40001"), EngineError::Conflict(_)));
        assert_eq!([1205, 1317, 3572].map(class), [FailureClass::Timeout; 3]);
        // A foreign key, and a check.
        let constraints = [classed(1452, "23000").class(), class(3819), class(1062)];
        assert_eq!(constraints, [FailureClass::Constraint; 3]);
        assert_eq!([1053, 4031].map(class), [FailureClass::LostConnection; 2]);
        assert!(matches!(classed(1295, "HY000"), EngineError::Unsupported(_)));
        for number in [1021, 1045, 1114, 1146] {
            assert!(matches!(classed(number, "HY000"), EngineError::Fatal(_)), "{number}");
        }
        assert_eq!(
            classed(1049, "42000").to_string(),
            "text (error 1049, 42000): create the database, or name another database in the dsn"
        );
    }

    #[test]
    fn lost_connection_is_its_own_class() {
        let lost = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(lost.is_loss() && number(&lost).is_none());
        let EngineError::LostConnection(text) = lost.into() else { panic!("it is lost") };
        assert!(text.starts_with("connection"), "{text}");
    }
}
