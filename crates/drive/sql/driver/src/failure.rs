//! Failures of an exchange with a server.

use std::fmt::{Debug, Display};
use std::io;

use engine::EngineError;
use model::record::FailureClass;

use crate::timed_stream::is_timeout;

/// An error response of a server.
pub trait ErrorResponse: Debug + Display {
    /// Prefix of every message: `postgres: `.
    const PREFIX: &'static str;
    /// Class of a lost connection.
    const LOST: fn(String) -> EngineError;

    /// Returns whether the server closes the connection after it.
    fn is_loss(&self) -> bool {
        false
    }

    /// Returns the class of the outage that it reports; `None` from a server that serves.
    fn outage(&self) -> Option<FailureClass>;

    /// Returns whether a server may refuse the login for its encryption, or the lack of it.
    fn depends_on_encryption(&self) -> bool {
        false
    }

    /// Returns whether the user lacks a right.
    fn lacks_right(&self) -> bool;

    /// Returns whether another session held a lock for too long.
    fn is_lock_wait(&self) -> bool;

    /// Returns whether another object refers to the one that the statement drops.
    fn is_reference(&self) -> bool;

    /// Returns whether the statement may succeed on other rows, or with more time.
    fn depends_on_rows(&self) -> bool;

    /// Returns whether a value violates a constraint by itself, whatever other rows there are.
    fn is_of_value(&self) -> bool;

    /// Converts it to the error of its class.
    fn classify(self) -> EngineError;
}

/// A failed exchange.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure<E> {
    /// The server answered with an error; the connection is good.
    #[error("{0}")]
    Refused(E),
    /// The connection is lost, or its data malformed.
    #[error("connection lost: {0}")]
    Lost(String),
    /// No server of this protocol answers, so that there is no connection.
    #[error("{0}")]
    Unreachable(String),
    /// The request cannot be sent, or the login is impossible.
    #[error("{0}")]
    Rejected(String),
    /// A value was not read from a result, or is of another type than declared.
    #[error("{0}")]
    Unread(String),
}

impl<E: ErrorResponse> Failure<E> {
    /// Returns whether the connection is lost, or was not made.
    pub fn is_loss(&self) -> bool {
        match self {
            Self::Lost(_) | Self::Unreachable(_) => true,
            Self::Refused(response) => response.is_loss(),
            Self::Rejected(_) | Self::Unread(_) => false,
        }
    }

    /// Returns the class of a connection that is lost, or was not made; `None` of a good one.
    pub(crate) fn outage(&self) -> Option<FailureClass> {
        match self {
            Self::Lost(reason) | Self::Unreachable(reason) if is_timeout(reason) => {
                Some(FailureClass::NoAnswer)
            }
            Self::Lost(_) => Some(FailureClass::LostConnection),
            Self::Unreachable(_) => Some(FailureClass::Refused),
            Self::Refused(response) => response.outage(),
            Self::Rejected(_) | Self::Unread(_) => None,
        }
    }

    /// Returns whether a login may succeed where it is encrypted and this one was not, or reversed.
    pub(crate) fn depends_on_encryption(&self) -> bool {
        match self {
            Self::Refused(response) => response.depends_on_encryption(),
            Self::Rejected(_) => true,
            Self::Lost(_) | Self::Unreachable(_) | Self::Unread(_) => false,
        }
    }
}

/// Returns an answer; `None` where the server refuses the statement.
///
/// A compatible system may lack a view or a variable, and a login the right to read it.
///
/// # Errors
/// When the connection is lost, or the answer is not read.
pub fn unless_refused<T, E>(answer: Result<T, Failure<E>>) -> Result<Option<T>, Failure<E>> {
    match answer {
        Err(Failure::Refused(_)) => Ok(None),
        answer => answer.map(Some),
    }
}

/// Returns the error that ends a run, with the prefix of the server's kind.
#[cold]
pub(crate) fn fatal<E: ErrorResponse>(reason: String) -> EngineError {
    Failure::<E>::Rejected(reason).into()
}

impl<E> From<io::Error> for Failure<E> {
    #[cold]
    fn from(error: io::Error) -> Self {
        Self::Lost(error.to_string())
    }
}

impl<E: ErrorResponse> From<Failure<E>> for EngineError {
    #[cold]
    fn from(failure: Failure<E>) -> Self {
        let prefix = E::PREFIX;
        match failure {
            Failure::Refused(response) if response.is_loss() => {
                E::LOST(format!("{prefix}connection lost: {response}"))
            }
            Failure::Refused(response) => response.classify(),
            Failure::Lost(_) | Failure::Unreachable(_) => E::LOST(format!("{prefix}{failure}")),
            Failure::Rejected(reason) => Self::Fatal(format!("{prefix}{reason}")),
            Failure::Unread(reason) => Self::Unsupported(format!("{prefix}{reason}")),
        }
    }
}
