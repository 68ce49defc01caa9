//! Limits of experiments and of their names, for the plan and for files from elsewhere.
//!
//! A file of a few kilobytes must not take minutes to compare. What `plan` refuses, `import` and
//! every reader refuse too; each limit is far above any experiment that a machine could run.

pub use crate::units::RATE_MAX_OPS_PER_S;
use crate::units::{Bytes, Nanos};

/// Most variants of one experiment.
///
/// Our choice: a table of more has no row that is found; the largest experiment here
/// has 10. Tables, rules and families of tests grow with them.
pub const VARIANTS_MAX: usize = 256;
/// Most steps of one run. Our choice: the largest application here has 29.
pub const STEPS_MAX: usize = 100;
/// Most levels of the factor `clients`. Our choice: a sweep on 1,024 CPUs has 25.
pub const LEVELS_MAX: usize = 64;
/// Most rows of a comparison: variants, times levels of clients, times steps.
///
/// Our choice: each takes some 20 KiB in memory; 20 variants with 20 levels of 10 steps have 4,000.
pub const ROWS_MAX: usize = 6_000;
/// Most procedures of one step. Our choice: the largest application here has 29.
pub const PROCEDURES_MAX: usize = 100;
/// Most events that sessions of a server wait for. Our choice: Postgres 18 has 280.
pub const EVENTS_MAX: usize = 1_000;
/// Most runs of one plan. Our choice: of ten seconds each, they take longer than a day.
pub const CELLS_MAX: usize = 10_000;
/// Most metrics, steps, waivers and published findings that an experiment names.
pub const LIST_MAX: usize = 1_000;
/// Most client threads of a step; the harness itself has no such limit.
pub const CLIENTS_MAX: u32 = 4096;
/// Fewest bytes of a key, which holds a row number.
pub const KEY_BYTES_MIN: u32 = 8;
/// Largest value in bytes: bounds the client's buffers.
pub const VALUE_BYTES_MAX: u32 = 1 << 20;
/// Smallest compressed size of a value, as a share of its size.
pub const COMPRESSIBLE_TO_MIN: f64 = 0.01;
/// Longest span of a record: 100 days. Our choice, above any run.
pub const SPAN_MAX: Nanos = Nanos::from_secs(8_640_000);

/// Shortest measured span of a step.
///
/// Our choice: in less, clients that begin and end are measured, and not the engine.
pub const DURATION_MIN: Nanos = Nanos::from_millis(10);
/// Smallest cap on memory. Our choice: no worker starts in less.
pub const MEMORY_MIN: Bytes = Bytes(4 << 20);

/// Most rates of a step, one after the other: three hours of one each second.
///
/// Every record of the step has them all.
pub const RATES_MAX: usize = 10_000;
/// Most jobs of a test of storage: beyond, threads and not the device are measured.
pub const JOBS_MAX: u32 = 256;
/// Fewest bytes of storage for each job, so that every region is larger than a request.
pub const JOB_BYTES: u64 = 1 << 20;

/// Shortest test of storage: fio counts whole seconds. Source: fio(1), `runtime`.
pub const FIO_MIN: Nanos = Nanos::from_secs(1);

/// Most values of one statement: both protocols count them in 16 bits.
///
/// Source: PostgreSQL documentation, section 55.7, message Bind; MySQL internals manual,
/// `COM_STMT_PREPARE` response, `num_params`.
pub const STATEMENT_VALUES_MAX: u64 = 65_535;
/// Most statements of the procedures of one step. Our choice: the largest application here has 130.
pub const STATEMENTS_MAX: usize = EVENTS_MAX;
/// Longest text drawn, in bytes: bounds the client's buffers.
pub const TEXT_BYTES_MAX: u32 = 1 << 20;
/// Most attempts: a call that fails so often will not succeed within the step.
pub const ATTEMPTS_MAX: u32 = 100;
/// Longest pause between two attempts, ms: a client that waits longer resembles a hung one.
pub const PAUSE_MAX_MS: u64 = 10_000;
/// Longest time of all pauses of a call: one that waits longer is reported as hung.
pub const RETRY_MAX: Nanos = Nanos::from_secs(60);
/// Longest wait or limit of a call, ms: TPC-C's longest mean is 18 s.
pub const WAIT_MAX_MS: u64 = 600_000;
/// Longest time that a transaction is held open: a day, to catch a wrong unit.
pub const HOLD_SECONDS_MAX: u32 = 86_400;

/// Longest name of an experiment or a variant, in bytes.
///
/// Our choice: with the number of clients and the repetition it names a run's directory.
pub const NAME_BYTES_MAX: usize = 80;

/// Longest name of a run's directory, or of a file in it, in bytes.
///
/// Source: Linux, `NAME_MAX`, 255; a run's data directory joins two names and a prefix.
pub const RUN_NAME_BYTES_MAX: usize = 120;

/// Checks that a text can be the name of a directory.
///
/// # Errors
/// `what` it names, and the text with its control and format characters escaped.
pub fn check_name(what: &str, text: &str, bytes_max: usize) -> Result<(), String> {
    match is_name(text, bytes_max) {
        true => Ok(()),
        false => {
            let text: String =
                text.chars().take(bytes_max).flat_map(char::escape_default).collect();
            Err(format!(
                "{what} is \"{text}\", which cannot be the name of a directory: it has at most \
                 {bytes_max} letters, digits, `-`, `_` and `.`"
            ))
        }
    }
}

/// Checks that a figure lies between two others, both included.
///
/// # Errors
/// The field, its value, and what it may be.
pub fn check_number(field: &str, value: u64, (least, most): (u64, u64)) -> Result<(), String> {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(format!("{field} is {value}, not from {least} to {most}")),
    }
}

/// Checks that a time is at most another one.
///
/// # Errors
/// The field, its value, and the most.
pub fn check_time(field: &str, time: Nanos, most: Nanos) -> Result<(), String> {
    match time <= most {
        true => Ok(()),
        false => Err(format!("{field} is {time}, longer than {most}")),
    }
}

/// Checks that a figure is a share.
///
/// # Errors
/// The field and its value.
pub fn check_share(field: &str, share: f64) -> Result<(), String> {
    match (0.0..=1.0).contains(&share) {
        true => Ok(()),
        false => Err(format!("{field} is {share:e}, not a share from 0 to 1")),
    }
}

/// Returns whether a text is a name: of a directory, in a table, in a command to paste.
///
/// Letters, digits, `-`, `_` and `.` of ASCII, with a letter or digit first: an option of a command
/// begins with `-`, a hidden directory with `.`, and no two names are displayed alike.
pub fn is_name(text: &str, bytes_max: usize) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.len() <= bytes_max
        && text.chars().all(fits)
}

/// Longest destination of ssh in bytes. Source: RFC 1035, section 2.3.4, names of hosts.
const DESTINATION_BYTES_MAX: usize = 255;

/// Returns whether the client of OpenSSH takes a text for a destination, not for an option: a name
/// or an address, after a user or not.
pub fn is_destination(text: &str) -> bool {
    let (user, host) = text.rsplit_once('@').unwrap_or(("user", text));
    !user.is_empty()
        && !host.is_empty()
        && !text.starts_with('-')
        && text.len() <= DESTINATION_BYTES_MAX
        && text.chars().all(|sign| sign.is_ascii_graphic() && sign != '/')
}

/// Returns whether a text is a name in SQL without quotes.
pub fn is_sql_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Joins two names with a hyphen; the first is shortened where the whole would be too long.
pub fn joined_name(name: &str, suffix: &str) -> String {
    let room = NAME_BYTES_MAX.saturating_sub(suffix.len() + 1);
    let end = name.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|end| *end <= room);
    format!("{}-{suffix}", &name[..end.last().unwrap_or(0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_joined_name_is_within_the_limit_and_has_the_whole_suffix() {
        assert_eq!(joined_name("tree", "control"), "tree-control");
        let long = joined_name(&"x".repeat(NAME_BYTES_MAX), "control");
        assert!(is_name(&long, NAME_BYTES_MAX) && long.ends_with("x-control"), "{long}");
    }

    #[test]
    fn a_destination_has_a_host() {
        for text in ["db1", "me@db1", "me@lan@db1", "fe80::1%eth0", "slurm:db", &"x".repeat(255)] {
            assert!(is_destination(text), "{text}");
        }
        for text in ["", "-oX", "me@", "@db1", "@", "ssh://db1", "db/1", "d b", &"x".repeat(256)] {
            assert!(!is_destination(text), "{text}");
        }
    }

    #[test]
    fn a_name_begins_with_a_letter_or_digit_and_is_plain_text() {
        for name in ["a", "rocksdb-9.10.0.c1.r1", "20261122T010203Z-4f2a", "10k", "x_1"] {
            assert!(is_name(name, NAME_BYTES_MAX), "{name}");
        }
        let long = "x".repeat(NAME_BYTES_MAX + 1);
        for name in [
            "",
            ".",
            "..",
            ".devices",
            "-rf",
            "--base",
            "_",
            "a/b",
            "a\\b",
            "a b",
            "a;b",
            "a\0",
            "a\u{1b}[2J",
            "a\u{202e}b",
            "a\u{200b}",
            "a\u{2028}b",
            "\u{430}bc",
            "b\u{fc}ro",
            &long,
        ] {
            assert!(!is_name(name, NAME_BYTES_MAX), "{name:?}");
        }
    }
}
