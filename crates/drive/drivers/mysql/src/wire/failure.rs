//! How an exchange with the server fails, and what that means to the caller.

use std::fmt;
use std::io;

use engine::EngineError;

/// An error packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The server's number of the error.
    pub(crate) number: u16,
    /// The class of the error that the SQL standard gives; empty before the login.
    pub(crate) state: String,
    /// The server's words.
    pub(crate) words: String,
}

/// A failed exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The server said no; the connection is good.
    Refused(Refusal),
    /// The connection is gone, or nothing that comes from it can be understood.
    Lost(String),
    /// The login cannot be done.
    Login(String),
}

impl From<io::Error> for Failure {
    #[cold]
    fn from(error: io::Error) -> Self {
        Self::Lost(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(Refusal { number, state, words }) if state.is_empty() => {
                write!(f, "{words} (error {number})")
            }
            Self::Refused(Refusal { number, state, words }) => {
                write!(f, "{words} (error {number}, {state})")
            }
            Self::Lost(reason) => write!(f, "connection lost: {reason}"),
            Self::Login(reason) => f.write_str(reason),
        }
    }
}

impl Failure {
    /// Returns the number of the server's error; `None` when the server said nothing.
    pub(crate) const fn number(&self) -> Option<u16> {
        match self {
            Self::Refused(refusal) => Some(refusal.number),
            Self::Lost(_) | Self::Login(_) => None,
        }
    }

    /// Returns whether the connection is of no more use.
    ///
    /// Source: MySQL's server error reference: 1053 shutdown, 1317 only of the statement, 1927
    /// (MariaDB) and 3169 killed, 4031 idle for too long.
    pub(crate) const fn is_loss(&self) -> bool {
        match self {
            Self::Lost(_) => true,
            Self::Refused(refusal) => matches!(refusal.number, 1053 | 1927 | 3169 | 4031),
            Self::Login(_) => false,
        }
    }
}

/// Source: MySQL's and MariaDB's error references.
impl From<Failure> for EngineError {
    #[cold]
    fn from(failure: Failure) -> Self {
        let text = failure.to_string();
        let is_loss = failure.is_loss();
        let Failure::Refused(refusal) = failure else {
            return if is_loss { Self::Timeout(text) } else { Self::Fatal(text) };
        };
        if is_loss {
            return Self::Timeout(format!("connection lost: {text}"));
        }
        match refusal.number {
            // Deadlock; snapshot conflict; a row that another client has put in between.
            1213 | 1020 | 1062 => Self::Conflict(text),
            // Lock wait; statement interrupted; time for a statement over.
            1205 | 1317 | 1969 | 3024 => Self::Timeout(text),
            // No such feature, no such engine, not as a prepared statement.
            1235 | 1286 | 1289 | 1295 => Self::Unsupported(text),
            number => match remedy(number) {
                Some(remedy) => Self::Fatal(format!("{text}: {remedy}")),
                None if refusal.state == "40001" => Self::Conflict(text),
                None => Self::Fatal(text),
            },
        }
    }
}

/// Returns what to do about an error that stops a run.
const fn remedy(number: u16) -> Option<&'static str> {
    Some(match number {
        1021 | 1114 => "the server's disk is full: make room, or ask for fewer rows",
        1040 => "raise `max_connections`, or ask for fewer clients",
        1044 | 1142 | 1227 => "grant the user the right, or name another user in the dsn",
        1045 => "give the dsn the right user and password",
        1049 => "create the database, or name another one in the dsn",
        1153 => "raise `max_allowed_packet`, or ask for shorter values",
        1461 => "raise `max_prepared_stmt_count`",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classed(number: u16, state: &str) -> EngineError {
        let words = "words".to_owned();
        Failure::Refused(Refusal { number, state: state.to_owned(), words }).into()
    }

    #[test]
    fn errors_are_classed_by_what_the_caller_may_do() {
        for number in [1213, 1020, 1062] {
            assert!(matches!(classed(number, "HY000"), EngineError::Conflict(_)), "{number}");
        }
        assert!(matches!(classed(7777, "40001"), EngineError::Conflict(_)));
        for number in [1205, 1317, 1053, 4031] {
            assert!(matches!(classed(number, "HY000"), EngineError::Timeout(_)), "{number}");
        }
        assert!(matches!(classed(1295, "HY000"), EngineError::Unsupported(_)));
        for number in [1021, 1045, 1114, 1146] {
            assert!(matches!(classed(number, "HY000"), EngineError::Fatal(_)), "{number}");
        }
        assert_eq!(
            classed(1049, "42000").to_string(),
            "words (error 1049, 42000): create the database, or name another one in the dsn"
        );
    }

    #[test]
    fn a_lost_connection_is_no_answer() {
        let lost = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(lost.is_loss() && lost.number().is_none());
        assert!(
            matches!(lost.into(), EngineError::Timeout(text) if text.starts_with("connection"))
        );
    }
}
