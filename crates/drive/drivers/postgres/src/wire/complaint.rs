//! How a request fails: the server's complaint, or the loss of the connection.

use std::fmt;
use std::io;

/// A failure the server tells.
///
/// Source: Postgres' documentation, "Error and Notice Message Fields".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// SQLSTATE: five letters or digits.
    pub(crate) code: String,
    /// What is wrong, in one line.
    pub(crate) message: String,
    /// More about it; empty when there is none.
    pub(crate) detail: String,
    /// What to do about it; empty when there is none.
    pub(crate) hint: String,
}

impl Complaint {
    /// Reads the body of an error response.
    #[cold]
    pub(super) fn parse(body: &[u8]) -> Self {
        let mut complaint = Self::default();
        for field in body.split(|byte| *byte == 0) {
            let Some((kind, text)) = field.split_first() else { continue };
            let text = String::from_utf8_lossy(text).into_owned();
            match kind {
                b'C' => complaint.code = text,
                b'M' => complaint.message = text,
                b'D' => complaint.detail = text,
                b'H' => complaint.hint = text,
                _ => {}
            }
        }
        complaint
    }

    /// Returns whether the code begins with `class`.
    pub(crate) fn is(&self, class: &str) -> bool {
        self.code.starts_with(class)
    }
}

impl fmt::Display for Complaint {
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

/// Why a request was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The server says so; the connection goes on.
    Told(Box<Complaint>),
    /// The connection is gone or cannot be used any more.
    Lost(String),
    /// It cannot be done here: the request cannot be said, or the login not be answered.
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
            Self::Told(complaint) => complaint.fmt(f),
            Self::Lost(words) | Self::Impossible(words) => f.write_str(words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_an_error_are_read() {
        let body = b"SFEHLER\0VERROR\0C23505\0Mduplicate key\0DKey (k)=(1) exists.\0Fx.c\0\0";
        let complaint = Complaint::parse(body);
        assert_eq!(complaint.to_string(), "duplicate key; Key (k)=(1) exists. (SQLSTATE 23505)");
        assert!(complaint.is("23") && !complaint.is("40"));
        assert_eq!(Complaint::parse(b"").code, "");
    }
}
