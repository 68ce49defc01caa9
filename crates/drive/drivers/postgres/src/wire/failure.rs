//! Failures of a request: an error response or a lost connection.

use std::fmt;
use std::io;

/// An `ErrorResponse` of the server.
///
/// Source: Postgres' documentation, "Error and Notice Message Fields".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ErrorResponse {
    /// SQLSTATE: five letters or digits.
    pub(crate) code: String,
    /// The message, one line.
    pub(crate) message: String,
    /// The detail; may be empty.
    pub(crate) detail: String,
    /// The hint; may be empty.
    pub(crate) hint: String,
}

impl ErrorResponse {
    /// Parses the body of an error response.
    #[cold]
    pub(super) fn parse(body: &[u8]) -> Self {
        let mut error_response = Self::default();
        for field in body.split(|byte| *byte == 0) {
            let Some((kind, text)) = field.split_first() else { continue };
            let text = String::from_utf8_lossy(text).into_owned();
            match kind {
                b'C' => error_response.code = text,
                b'M' => error_response.message = text,
                b'D' => error_response.detail = text,
                b'H' => error_response.hint = text,
                _ => {}
            }
        }
        error_response
    }

    /// Returns whether the code begins with `class`.
    pub(crate) fn is(&self, class: &str) -> bool {
        self.code.starts_with(class)
    }
}

impl fmt::Display for ErrorResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        for more in [&self.detail, &self.hint] {
            if !more.is_empty() {
                write!(f, "; {more}")?;
            }
        }
        write!(f, " (SQLSTATE {})", self.code)
    }
}

/// Failure of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The server rejected it; the connection is good.
    Refused(Box<ErrorResponse>),
    /// The connection is lost or unusable.
    Lost(String),
    /// The request cannot be encoded, or the login method is not supported.
    Impossible(String),
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
            Self::Refused(error_response) => error_response.fmt(f),
            Self::Lost(reason) | Self::Impossible(reason) => f.write_str(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_fields_are_parsed() {
        let body = b"SFEHLER\0VERROR\0C23505\0Mduplicate key\0DKey (k)=(1) exists.\0Fx.c\0\0";
        let error_response = ErrorResponse::parse(body);
        assert_eq!(
            error_response.to_string(),
            "duplicate key; Key (k)=(1) exists. (SQLSTATE 23505)"
        );
        assert!(error_response.is("23") && !error_response.is("40"));
        assert_eq!(ErrorResponse::parse(b"").code, "");
    }
}
