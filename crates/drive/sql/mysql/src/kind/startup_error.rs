//! The error in the log of a server that did not start.

use engine::EngineError;
use engine::settings_check::refused;

/// Text before the name of a rejected option, and what ends the name.
const OPTION_MESSAGES: [(&str, &[char]); 6] = [
    ("unknown variable '", &['=', '\'']),
    ("unknown option '", &['=', '\'']),
    ("ambiguous option '", &['=', '\'']),
    ("Variable '", &['\'']),
    ("used for variable '", &['\'']),
    ("option '", &['\'', '=']),
];
/// Most error lines that are reported without an option.
const ERRORS_MAX: usize = 3;
/// What marks a line of the log as an error.
const ERROR: &str = "[ERROR]";
/// What marks one of a server that goes on.
const WARNING: &str = "[Warning]";

/// Returns the option that the log names, or its last errors.
pub(super) fn read(log: &str) -> EngineError {
    let errors: Vec<&str> = log.lines().filter(|line| is_error(line)).collect();
    if let Some((option, line)) = errors.iter().find_map(|line| Some((option(line)?, line))) {
        return refused(&option, message(line));
    }
    let relevant: Vec<_> = errors.iter().filter(|line| !line.ends_with("Aborting")).collect();
    let last = &relevant[relevant.len().saturating_sub(ERRORS_MAX)..];
    if last.is_empty() {
        let line = log.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("its log is empty");
        return EngineError::Fatal(format!("the server did not start: {line}"));
    }
    let last: Vec<_> = last.iter().map(|line| message(line)).collect();
    EngineError::Fatal(format!("the server did not start: {}", last.join("; ")))
}

fn is_error(line: &str) -> bool {
    let is_of_program = line.contains("mysqld: ") || line.contains("mariadbd: ");
    line.contains(ERROR) || (is_of_program && !line.contains(WARNING))
}

/// Returns the option that a line names.
fn option(line: &str) -> Option<String> {
    if let Some((_, rest)) = line.split_once("Error while setting value '") {
        return Some(rest.split_once("' to '")?.1.split('\'').next()?.to_owned());
    }
    OPTION_MESSAGES.iter().find_map(|(message, ends)| {
        let name = line.split_once(message)?.1.split(*ends).next()?;
        Some(name.trim_start_matches('-').to_owned()).filter(|name| !name.is_empty())
    })
}

/// Returns a log line without timestamp and tags.
fn message(line: &str) -> String {
    let mut message = line.split_once(ERROR).map_or(line, |(_, message)| message).trim();
    while let Some((_, rest)) = message.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        message = rest.trim();
    }
    message.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_option_is_named_with_the_server_message() {
        let new = "2026-01-01T00:00:00.1Z 0 [System] [MY-010116] [Server] starting\n\
                   2026-01-01T00:00:00.2Z 0 [ERROR] [MY-000067] [Server] unknown variable \
                   'innodb-bufer-pool-size=1G'.\n\
                   2026-01-01T00:00:00.2Z 0 [ERROR] [MY-010119] [Server] Aborting\n";
        let expected =
            refused("innodb-bufer-pool-size", "unknown variable 'innodb-bufer-pool-size=1G'.");
        assert_eq!(read(new), expected);
        let old = "2026-01-01 0:00:00 7f [ERROR] /x/mysqld: unknown option '--no-such'\n";
        assert_eq!(read(old).refused_option(), Some("no-such"));
        let value = "2026-01-01 [ERROR] /x/mysqld: Error while setting value 'zz' to \
                     'innodb_flush_method'\n";
        assert_eq!(read(value).refused_option(), Some("innodb_flush_method"));
    }

    #[test]
    fn last_errors_are_reported_otherwise() {
        let log = "x [ERROR] [MY-1] [InnoDB] Unable to lock ./ibdata1 error: 11\n\
                   x [ERROR] [MY-2] [Server] Failed to initialize DD Storage Engine\n\
                   x [ERROR] [MY-3] [Server] Aborting\n";
        assert_eq!(
            read(log).to_string(),
            "the server did not start: Unable to lock ./ibdata1 error: 11; Failed to initialize \
             DD Storage Engine"
        );
        let killed = "x 7 [Warning] /x/bin/mysqld: unknown variable 'loose_mysqlx=OFF'\n\
                      x 7 [Note] InnoDB: Initializing buffer pool\n";
        let found = read(killed).to_string();
        assert!(found.ends_with("InnoDB: Initializing buffer pool"), "{found}");
        assert_eq!(read("").to_string(), "the server did not start: its log is empty");
        let loader = "/x/mariadbd: error while loading shared libraries: liburing.so.2\n";
        assert!(read(loader).to_string().contains("liburing.so.2"));
    }
}
