//! The definition of done: its stages, in order.

use std::error::Error;
use std::ffi::OsString;
use std::process::{Command, Stdio};

use crate::disk;
use crate::rule::registry;

/// The stage of the repository's own rules, which is no command.
pub(crate) const RULES: &str = "rules";
/// The last stage.
pub(crate) const TESTS: &str = "tests";

/// Prefixes of variables that `cargo run` sets for tidy itself.
///
/// Build scripts of dependencies run again in a cargo that has them, and again in one that has not.
const OWN_VARIABLES: [&str; 2] = ["CARGO_MANIFEST_", "CARGO_PKG_"];

/// Every stage with its command, cheapest first among those that depend on nothing.
const STAGES: &[(&str, &[&str])] = &[
    ("format", &["cargo", "fmt", "--all", "--check"]),
    (RULES, &[]),
    (TESTS, &["make", "--silent", "test"]),
];

/// Runs the stages that `is_wanted` accepts; returns whether all passed.
///
/// A failing stage does not stop the next: one run names everything that is wrong.
pub(crate) fn run(is_wanted: fn(&str) -> bool) -> Result<bool, Box<dyn Error>> {
    let mut failed = Vec::new();
    for (name, command) in STAGES.iter().filter(|(name, _)| is_wanted(name)) {
        println!("== {name}");
        let has_passed = if *name == RULES { check_rules()? } else { run_command(command)? };
        failed.extend((!has_passed).then_some(*name));
    }
    match failed[..] {
        [] => println!("tidy: all passed"),
        _ => println!("tidy: failed: {}", failed.join(", ")),
    }
    Ok(failed.is_empty())
}

/// Runs a command; returns whether it succeeded.
fn run_command(command: &[&str]) -> Result<bool, String> {
    let (program, arguments) = command.split_first().unwrap_or((&"", &[]));
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    let is_own = |name: &OsString| {
        OWN_VARIABLES.iter().any(|own| name.as_encoded_bytes().starts_with(own.as_bytes()))
    };
    for name in std::env::vars_os().map(|(name, _)| name).filter(is_own) {
        command.env_remove(name);
    }
    let status = command.status().map_err(|error| format!("cannot start `{program}`: {error}"))?;
    Ok(status.success())
}

/// Reads the repository and prints what breaks its rules; returns whether nothing does.
fn check_rules() -> Result<bool, Box<dyn Error>> {
    let found = registry::check_all(&disk::read()?);
    found.iter().for_each(|(rule, violation)| println!("{violation} [{rule}]"));
    Ok(found.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_fails_by_its_status() {
        assert_eq!(run_command(&["sh", "-c", "exit 1"]), Ok(false));
        assert_eq!(run_command(&["true"]), Ok(true));
        let error = run_command(&["no-such-program"]).unwrap_err();
        assert!(error.starts_with("cannot start `no-such-program`: "), "{error}");
    }

    #[test]
    fn a_command_has_no_variable_of_tidy_s_own_package() {
        let script = "test -z \"$CARGO_MANIFEST_DIR$CARGO_PKG_NAME\"";
        assert_eq!(std::env::var_os("CARGO_PKG_NAME"), Some("tidy".into()), "cargo sets it");
        assert_eq!(run_command(&["sh", "-c", script]), Ok(true));
    }

    #[test]
    fn tests_are_the_last_stage_and_occur_once() {
        assert_eq!(STAGES.last().map(|stage| stage.0), Some(TESTS));
        assert_eq!(STAGES.iter().filter(|stage| stage.0 == TESTS).count(), 1);
    }
}
