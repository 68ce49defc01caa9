//! The server's failures, by what the caller may do about them.

use engine::EngineError;

use crate::wire::{Complaint, Failure};

/// Returns the failure as the engine's, in the server's own words.
#[cold]
pub(crate) fn failed(failure: Failure) -> EngineError {
    match failure {
        Failure::Told(complaint) => classed(&complaint),
        Failure::Lost(words) => EngineError::Fatal(format!("postgres: connection lost: {words}")),
        Failure::Impossible(words) => EngineError::Fatal(format!("postgres: {words}")),
    }
}

/// Returns the failure to do `what`.
#[cold]
pub(crate) fn failed_to(what: &str) -> impl FnOnce(Failure) -> EngineError {
    move |failure| in_words(failed(failure), |words| format!("{what}: {words}"))
}

/// Returns a fatal error in other words, and any other as it is.
pub(crate) fn in_words(error: EngineError, say: impl FnOnce(String) -> String) -> EngineError {
    if let EngineError::Fatal(words) = error {
        return EngineError::Fatal(say(words));
    }
    error
}

/// Returns the class of a complaint by its SQLSTATE.
///
/// A duplicate key counts as a conflict, as in sysbench: transactions that delete a row and
/// insert it again meet in it. Source: Postgres' documentation, appendix A; sysbench,
/// `drv_pgsql.c`, the errors it ignores.
pub(crate) fn classed(complaint: &Complaint) -> EngineError {
    let text = format!("postgres: {complaint}");
    match complaint.code.as_str() {
        "55P03" | "57014" | "25P03" => EngineError::Timeout(text),
        _ if complaint.is("40") || complaint.is("23") => EngineError::Conflict(text),
        _ if complaint.is("0A") || complaint.is("54") => EngineError::Unsupported(text),
        _ => match parameter(complaint) {
            Some(option) => EngineError::Option { option, reason: complaint.to_string() },
            None => EngineError::Fatal(text),
        },
    }
}

/// Returns the configuration parameter that a complaint is about.
fn parameter(complaint: &Complaint) -> Option<String> {
    let is_about_one = ["22023", "42704", "55P02", "42501"].contains(&complaint.code.as_str());
    let (_, rest) = complaint.message.split_once("parameter \"").filter(|_| is_about_one)?;
    rest.split_once('"').map(|(name, _)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class_of(code: &str, message: &str) -> EngineError {
        let (code, message) = (code.to_owned(), message.to_owned());
        failed(Failure::Told(Box::new(Complaint { code, message, ..Complaint::default() })))
    }

    #[test]
    fn complaints_are_classed_by_their_sqlstate() {
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
    fn a_parameter_refused_is_named() {
        let error = class_of("42704", "unrecognized configuration parameter \"work_men\"");
        assert_eq!(
            error.to_string(),
            "option `work_men` refused: unrecognized configuration parameter \"work_men\" \
             (SQLSTATE 42704)"
        );
    }
}
