//! The error in the log of a server that did not start.

use engine::EngineError;
use engine::settings_check::refused;

/// Most characters of the log in an error.
const MESSAGE_CHARS_MAX: usize = 600;
/// Levels of error messages; the first that is found wins.
const LEVELS: [&str; 4] = ["FATAL:", "PANIC:", "ERROR:", "error:"];

/// Parses the log: the rejected option, else the error message.
pub(crate) fn read(log: &str) -> EngineError {
    // A rejected option precedes the error that ends the server.
    if let Some((option, reason)) = log.lines().find_map(option_message) {
        return refused(&option, reason);
    }
    let first_error =
        LEVELS.iter().find_map(|level| log.lines().position(|line| line.contains(level)));
    let text = match first_error {
        Some(at) => message(log.lines().skip(at)),
        None => log.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("").to_owned(),
    };
    let text: String = text.chars().take(MESSAGE_CHARS_MAX).collect();
    if text.is_empty() {
        return EngineError::Fatal("postgres did not start; its log is empty".to_owned());
    }
    EngineError::Fatal(format!("postgres: {text}"))
}

/// Returns the option that a line names, with its message.
fn option_message(line: &str) -> Option<(String, String)> {
    let line = without_prefix(line);
    let (_, rest) = line.split_once("parameter \"")?;
    let (name, _) = rest.split_once('"')?;
    Some((name.to_owned(), line.to_owned()))
}

/// Returns a message with the detail and the hint that follow it.
fn message<'a>(mut lines: impl Iterator<Item = &'a str>) -> String {
    let mut text = lines.next().map(without_prefix).unwrap_or_default().to_owned();
    for line in lines.take_while(|line| line.contains("DETAIL:") || line.contains("HINT:")) {
        text.push_str("; ");
        text.push_str(without_prefix(line));
    }
    text
}

/// Returns a log line without timestamp, process and level.
fn without_prefix(line: &str) -> &str {
    let levels = ["FATAL:", "PANIC:", "ERROR:", "LOG:", "WARNING:", "DETAIL:", "HINT:", "error:"];
    let after = levels.iter().find_map(|level| Some(line.split_once(level)?.1));
    after.unwrap_or(line).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: &str = "\
2026-11-21 08:00:00.000 UTC [7] LOG:  unrecognized configuration parameter \"work_men\" in file \
\"/d/data/postgresql.conf\" line 12
2026-11-21 08:00:00.000 UTC [7] FATAL:  configuration file \"/d/data/postgresql.conf\" contains errors
";
    const OTHER_RELEASE: &str = "\
2026-11-21 08:00:00.000 UTC [7] FATAL:  database files are incompatible with server
2026-11-21 08:00:00.000 UTC [7] DETAIL:  The data directory was initialized by PostgreSQL version \
12, which is not compatible with this version 15.10.
";

    #[test]
    fn rejected_option_is_named_with_the_server_message() {
        let error = read(UNKNOWN);
        assert_eq!(
            error.to_string(),
            "option `work_men` refused: unrecognized configuration parameter \"work_men\" in file \
             \"/d/data/postgresql.conf\" line 12"
        );
        let invalid = "x FATAL:  invalid value for parameter \"shared_buffers\": \"many\"\n";
        assert_eq!(read(invalid).refused_option(), Some("shared_buffers"));
    }

    #[test]
    fn other_errors_include_their_detail() {
        let error = read(OTHER_RELEASE).to_string();
        assert!(error.starts_with("postgres: database files are incompatible"), "{error}");
        assert!(error.ends_with("not compatible with this version 15.10."), "{error}");
        let error = read("initdb: error: could not access directory \"/d\": Permission denied\n");
        assert!(error.to_string().contains("could not access directory"), "{error}");
        assert!(read("").to_string().contains("its log is empty"));
        assert_eq!(read("a\nlast\n\n").to_string(), "postgres: last");
    }
}
