//! Failures of a request, classified by SQLSTATE.

use std::fmt;

use engine::EngineError;
use engine::settings_check::refused;
use model::record::FailureClass;

/// Remedy for a limit that ends even short statements.
const STATEMENT_TIMEOUT: &str = "raise statement_timeout, or remove it, in the dsn (options), the \
                                 role (ALTER ROLE) or the database (ALTER DATABASE)";

/// An `ErrorResponse` of the server.
///
/// Source: Postgres' documentation, "Error and Notice Message Fields".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ErrorResponse {
    /// SQLSTATE: five letters or digits.
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) detail: String,
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
        if error_response.hint.is_empty() && error_response.message.ends_with("statement timeout") {
            error_response.hint = STATEMENT_TIMEOUT.to_owned();
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

/// A failed request; after [`Failure::Lost`] the connection is of no use.
pub(crate) type Failure = driver_sql::Failure<Box<ErrorResponse>>;

impl driver_sql::ErrorResponse for Box<ErrorResponse> {
    const PREFIX: &'static str = "postgres: ";
    const LOST: fn(String) -> EngineError = EngineError::Fatal;

    /// Source: Postgres' documentation, appendix A: class 57, `admin_shutdown`, `crash_shutdown`
    /// and `cannot_connect_now`, whose message states whether the server starts or shuts down.
    fn outage(&self) -> Option<FailureClass> {
        match self.code.as_str() {
            "57P01" | "57P02" => Some(FailureClass::ShuttingDown),
            "57P03" if self.message.contains("shutting down") => Some(FailureClass::ShuttingDown),
            "57P03" => Some(FailureClass::StartingUp),
            _ => None,
        }
    }

    /// Rules of `pg_hba.conf` are of either kind; the database and room for a session are not.
    fn depends_on_encryption(&self) -> bool {
        !["3D", "53", "57"].iter().any(|class| self.is(class))
    }

    fn lacks_right(&self) -> bool {
        self.is("42501")
    }

    fn is_lock_wait(&self) -> bool {
        self.is("55P03")
    }

    fn is_reference(&self) -> bool {
        self.is("2BP01")
    }

    /// A constraint, a conflict, a timeout or a cancelled statement.
    fn depends_on_rows(&self) -> bool {
        ["23", "40", "55P03", "57014"].iter().any(|class| self.is(class))
    }

    /// NOT NULL or CHECK.
    fn is_of_value(&self) -> bool {
        self.is("23502") || self.is("23514")
    }

    /// Classifies an error response by its SQLSTATE.
    ///
    /// A duplicate key is no defect, as in sysbench: it hits transactions that delete a row and
    /// insert it again. Source: Postgres' documentation, appendix A; sysbench, `drv_pgsql.c`, the
    /// errors it ignores.
    #[cold]
    fn classify(self) -> EngineError {
        let text = format!("postgres: {self}");
        match self.code.as_str() {
            "55P03" | "57014" | "25P03" => EngineError::Timeout(text),
            "40P01" => EngineError::Deadlock(text),
            _ if self.is("40") => EngineError::Conflict(text),
            _ if self.is("23") => EngineError::Constraint(text),
            _ if self.is("0A") || self.is("54") => EngineError::Unsupported(text),
            _ => match parameter(&self) {
                Some(option) => refused(&option, self.to_string()),
                None => EngineError::Fatal(text),
            },
        }
    }
}

/// Returns the configuration parameter that an error names.
fn parameter(error_response: &ErrorResponse) -> Option<String> {
    let is_about_one = ["22023", "42704", "55P02", "42501"].contains(&error_response.code.as_str());
    let (_, rest) = error_response.message.split_once("parameter \"").filter(|_| is_about_one)?;
    rest.split_once('"').map(|(name, _)| name.to_owned())
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

    fn class_of(code: &str, message: &str) -> EngineError {
        let (code, message) = (code.to_owned(), message.to_owned());
        let error_response = ErrorResponse { code, message, ..ErrorResponse::default() };
        Failure::Refused(Box::new(error_response)).into()
    }

    #[test]
    fn errors_are_classified_by_sqlstate() {
        let class = |code| class_of(code, "x").class();
        let deadlock = [FailureClass::Deadlock, FailureClass::Serialisation];
        assert_eq!(["40P01", "40001"].map(class), deadlock);
        assert_eq!(["23505", "23503"].map(class), [FailureClass::Constraint; 2]);
        assert_eq!(["55P03", "57014"].map(class), [FailureClass::Timeout; 2]);
        let is_unsupported = |code| matches!(class_of(code, "x"), EngineError::Unsupported(_));
        assert!(["0A000", "54000"].into_iter().all(is_unsupported));
        let is_fatal = |code| matches!(class_of(code, "x"), EngineError::Fatal(_));
        assert!(["53100", "42P01", "28P01", "42601", ""].into_iter().all(is_fatal));
    }

    #[test]
    fn a_server_that_starts_or_shuts_down_is_away() {
        let outage = |code: &str, message: &str| {
            let (code, message) = (code.to_owned(), message.to_owned());
            let response = ErrorResponse { code, message, ..ErrorResponse::default() };
            driver_sql::ErrorResponse::outage(&Box::new(response))
        };
        let (starts, stops) = (FailureClass::StartingUp, FailureClass::ShuttingDown);
        assert_eq!(outage("57P03", "the database system is starting up"), Some(starts));
        assert_eq!(outage("57P03", "the database system is in recovery mode"), Some(starts));
        assert_eq!(outage("57P03", "the database system is shutting down"), Some(stops));
        assert_eq!(outage("57P01", "terminating connection"), Some(stops));
        assert_eq!(outage("57014", "canceling statement"), None);
    }

    #[test]
    fn rejected_parameter_is_named() {
        let error = class_of("42704", "unrecognized configuration parameter \"work_men\"");
        assert_eq!(
            error.to_string(),
            "option `work_men` refused: unrecognized configuration parameter \"work_men\" \
             (SQLSTATE 42704)"
        );
    }
}
