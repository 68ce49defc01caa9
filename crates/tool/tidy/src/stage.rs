//! The definition of done: its stages, in order.

use std::error::Error;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use crate::disk;
use crate::rule::registry;

/// The stage of the repository's own rules, which is no command.
pub(crate) const RULES: &str = "rules";
/// The last stage.
pub(crate) const TESTS: &str = "tests";

/// Every stage with its command, cheapest first among those that depend on nothing.
#[rustfmt::skip]
const STAGES: &[(&str, &[&str])] = &[
    ("format", &["cargo", "fmt", "--all", "--check"]),
    ("clippy", &["cargo", "clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]),
    (RULES, &[]),
    ("docs", &["cargo", "doc", "--workspace", "--no-deps", "--quiet"]),
    ("licences", &["cargo", "deny", "check", "bans", "licenses", "sources"]),
    (TESTS, &["make", "--silent", "test"]),
];

/// How a stage ended.
enum End {
    Passed,
    Failed(String),
    Skipped(&'static str),
}

/// Runs and prints the stages that `is_wanted` accepts; returns whether all passed.
///
/// A failing stage does not stop the next: one run names everything that is wrong.
pub(crate) fn run(is_wanted: fn(&str) -> bool) -> Result<bool, Box<dyn Error>> {
    let mut failed = Vec::new();
    for (name, command) in STAGES.iter().filter(|(name, _)| is_wanted(name)) {
        print!("{name:<9}");
        std::io::stdout().flush()?;
        let end = if *name == RULES { check_rules()? } else { run_command(command)? };
        match end {
            End::Passed => println!("ok"),
            End::Skipped(reason) => println!("skipped: {reason}"),
            End::Failed(text) => {
                println!("FAILED\n{text}\n");
                failed.push(*name);
            }
        }
    }
    if failed.is_empty() {
        println!("tidy: all passed");
    } else {
        println!("tidy: failed: {}", failed.join(", "));
    }
    Ok(failed.is_empty())
}

/// Runs a command; its output is part of a failure only.
fn run_command(command: &[&str]) -> Result<End, String> {
    if command[1] == "deny" && !spawn(&["cargo", "deny", "--version"])?.status.success() {
        return Ok(End::Skipped("cargo-deny is not installed"));
    }
    let output = spawn(command)?;
    if output.status.success() {
        return Ok(End::Passed);
    }
    let both = [output.stdout, output.stderr].concat();
    Ok(End::Failed(String::from_utf8_lossy(&both).trim_end().to_owned()))
}

fn spawn(command: &[&str]) -> Result<Output, String> {
    Command::new(command[0])
        .args(&command[1..])
        .env("RUSTDOCFLAGS", "-D warnings")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start `{}`: {error}", command.join(" ")))
}

/// Reads the repository and runs every rule.
fn check_rules() -> Result<End, Box<dyn Error>> {
    let found = registry::check_all(&disk::read()?);
    let lines: Vec<_> =
        found.iter().map(|(rule, violation)| format!("{violation} [{rule}]")).collect();
    Ok(if lines.is_empty() { End::Passed } else { End::Failed(lines.join("\n")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_returns_its_output() {
        let end = run_command(&["sh", "-c", "echo out; echo err >&2; exit 1"]).unwrap();
        assert!(matches!(end, End::Failed(text) if text == "out\nerr"));
        assert!(matches!(run_command(&["true", ""]).unwrap(), End::Passed));
        let error = run_command(&["no-such-program", ""]).map(|_| ()).unwrap_err();
        assert!(error.starts_with("cannot start `no-such-program "), "{error}");
    }

    #[test]
    fn tests_are_the_last_stage_and_occur_once() {
        assert_eq!(STAGES.last().map(|stage| stage.0), Some(TESTS));
        assert_eq!(STAGES.iter().filter(|stage| stage.0 == TESTS).count(), 1);
    }
}
