//! Conversion of failures to `EngineError`, by SQLSTATE.

use engine::EngineError;
use engine::settings_check::refused;

use crate::wire::{ErrorResponse, Failure};

/// Converts a failure, with the server's message.
#[cold]
pub(crate) fn failed(failure: Failure) -> EngineError {
    match failure {
        Failure::Refused(error_response) => classify(&error_response),
        Failure::Lost(reason) => EngineError::Fatal(format!("postgres: connection lost: {reason}")),
        Failure::Impossible(reason) => EngineError::Fatal(format!("postgres: {reason}")),
    }
}

/// Converts a failure, prefixed with what failed.
#[cold]
pub(crate) fn with_context(what: &str) -> impl FnOnce(Failure) -> EngineError {
    move |failure| map_fatal(failed(failure), |reason| format!("{what}: {reason}"))
}

/// Rewrites the text of a fatal error; others stay.
pub(crate) fn map_fatal(
    error: EngineError,
    describe: impl FnOnce(String) -> String,
) -> EngineError {
    if let EngineError::Fatal(reason) = error {
        return EngineError::Fatal(describe(reason));
    }
    error
}

/// Classifies an error response by its SQLSTATE.
///
/// A duplicate key is a conflict, as in sysbench: it hits transactions that delete a row and
/// insert it again. Source: Postgres' documentation, appendix A; sysbench, `drv_pgsql.c`, the
/// errors it ignores.
pub(crate) fn classify(error_response: &ErrorResponse) -> EngineError {
    let text = format!("postgres: {error_response}");
    match error_response.code.as_str() {
        "55P03" | "57014" | "25P03" => EngineError::Timeout(text),
        _ if error_response.is("40") || error_response.is("23") => EngineError::Conflict(text),
        _ if error_response.is("0A") || error_response.is("54") => EngineError::Unsupported(text),
        _ => match parameter(error_response) {
            Some(option) => refused(&option, error_response.to_string()),
            None => EngineError::Fatal(text),
        },
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

    fn class_of(code: &str, message: &str) -> EngineError {
        let (code, message) = (code.to_owned(), message.to_owned());
        failed(Failure::Refused(Box::new(ErrorResponse {
            code,
            message,
            ..ErrorResponse::default()
        })))
    }

    #[test]
    fn errors_are_classified_by_sqlstate() {
        let is_conflict = |code| matches!(class_of(code, "x"), EngineError::Conflict(_));
        assert!(["40P01", "40001", "23505"].into_iter().all(is_conflict));
        let is_timeout = |code| matches!(class_of(code, "x"), EngineError::Timeout(_));
        assert!(["55P03", "57014"].into_iter().all(is_timeout));
        let is_unsupported = |code| matches!(class_of(code, "x"), EngineError::Unsupported(_));
        assert!(["0A000", "54000"].into_iter().all(is_unsupported));
        let is_fatal = |code| matches!(class_of(code, "x"), EngineError::Fatal(_));
        assert!(["53100", "42P01", "28P01", "42601", ""].into_iter().all(is_fatal));
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
