//! What a server that did not start has said of it.

use engine::EngineError;
use engine::settings_check::refused;

/// Words before the name of an option that the server does not take, and what ends the name.
const OF_OPTIONS: [(&str, &[char]); 6] = [
    ("unknown variable '", &['=', '\'']),
    ("unknown option '", &['=', '\'']),
    ("ambiguous option '", &['=', '\'']),
    ("Variable '", &['\'']),
    ("used for variable '", &['\'']),
    ("option '", &['\'', '=']),
];
/// Lines of the log that are told when no option is to blame.
const TOLD: usize = 3;
/// What marks a line of the log as an error.
const ERROR: &str = "[ERROR]";

/// Returns the option that the log blames, or the server's last words.
pub(super) fn read(log: &str) -> EngineError {
    let errors: Vec<&str> = log.lines().filter(|line| is_error(line)).collect();
    if let Some((option, line)) = errors.iter().find_map(|line| Some((option(line)?, line))) {
        return refused(&option, words(line));
    }
    let told: Vec<_> = errors.iter().filter(|line| !line.ends_with("Aborting")).collect();
    let last = &told[told.len().saturating_sub(TOLD)..];
    if last.is_empty() {
        let line = log.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        return EngineError::Fatal(format!("the server did not start: {line}"));
    }
    let last: Vec<_> = last.iter().map(|line| words(line)).collect();
    EngineError::Fatal(format!("the server did not start: {}", last.join("; ")))
}

fn is_error(line: &str) -> bool {
    line.contains(ERROR) || (line.contains("mysqld: ") || line.contains("mariadbd: "))
}

/// Returns the option that a line blames.
fn option(line: &str) -> Option<String> {
    if let Some((_, rest)) = line.split_once("Error while setting value '") {
        return Some(rest.split_once("' to '")?.1.split('\'').next()?.to_owned());
    }
    OF_OPTIONS.iter().find_map(|(words, ends)| {
        let name = line.split_once(words)?.1.split(*ends).next()?;
        Some(name.trim_start_matches('-').to_owned()).filter(|name| !name.is_empty())
    })
}

/// Returns a line of the log without stamp and marks.
fn words(line: &str) -> String {
    let mut words = line.split_once(ERROR).map_or(line, |(_, words)| words).trim();
    while let Some((_, rest)) = words.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        words = rest.trim();
    }
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_blamed_in_the_server_s_words() {
        let new = "2026-01-01T00:00:00.1Z 0 [System] [MY-010116] [Server] starting\n\
                   2026-01-01T00:00:00.2Z 0 [ERROR] [MY-000067] [Server] unknown variable \
                   'innodb-bufer-pool-size=1G'.\n\
                   2026-01-01T00:00:00.2Z 0 [ERROR] [MY-010119] [Server] Aborting\n";
        let expected =
            refused("innodb-bufer-pool-size", "unknown variable 'innodb-bufer-pool-size=1G'.");
        assert_eq!(read(new), expected);
        let old = "2026-01-01 0:00:00 7f [ERROR] /x/mysqld: unknown option '--no-such'\n";
        assert!(matches!(read(old), EngineError::Option { option, .. } if option == "no-such"));
        let value = "2026-01-01 [ERROR] /x/mysqld: Error while setting value 'zz' to \
                     'innodb_flush_method'\n";
        assert!(
            matches!(read(value), EngineError::Option { option, .. } if option == "innodb_flush_method")
        );
    }

    #[test]
    fn else_the_last_errors_are_told() {
        let log = "x [ERROR] [MY-1] [InnoDB] Unable to lock ./ibdata1 error: 11\n\
                   x [ERROR] [MY-2] [Server] Failed to initialize DD Storage Engine\n\
                   x [ERROR] [MY-3] [Server] Aborting\n";
        assert_eq!(
            read(log).to_string(),
            "the server did not start: Unable to lock ./ibdata1 error: 11; Failed to initialize \
             DD Storage Engine"
        );
        assert_eq!(read("").to_string(), "the server did not start: it said nothing");
        let loader = "/x/mariadbd: error while loading shared libraries: liburing.so.2\n";
        assert!(read(loader).to_string().contains("liburing.so.2"));
    }
}
