//! The definition of done: stages in order, with their seconds.

use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use crate::disk;
use crate::error::TidyError;
use crate::rule::registry;
use crate::rule::violation::Severity;

/// Which stages are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of them: the definition of done.
    All,
    /// All but the tests.
    AllButTests,
    /// The repository's own rules only.
    Rules,
}

/// What a stage does.
enum Work {
    /// Runs a command.
    Run(&'static [&'static str]),
    /// Runs cargo-deny with these arguments, where it is installed.
    Deny(&'static [&'static str]),
    /// Runs the repository's own rules.
    Rules,
}

/// One stage.
struct Stage {
    name: &'static str,
    work: Work,
}

const TESTS: &str = "tests";

/// Every stage, cheapest first among those that depend on nothing.
#[rustfmt::skip]
const STAGES: &[Stage] = &[
    Stage { name: "format", work: Work::Run(&["cargo", "fmt", "--all", "--check"]) },
    Stage { name: "clippy", work: Work::Run(&["cargo", "clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]) },
    Stage { name: "rules", work: Work::Rules },
    Stage { name: "docs", work: Work::Run(&["cargo", "doc", "--workspace", "--no-deps", "--quiet"]) },
    Stage { name: "licences", work: Work::Deny(&["cargo", "deny", "check", "bans", "licenses", "sources"]) },
    Stage { name: TESTS, work: Work::Run(&["make", "--silent", "test"]) },
];

/// How a stage ended.
enum End {
    Passed(String),
    Failed(String),
    Skipped(&'static str),
}

/// Runs and prints the stages of `extent`; returns whether all passed.
///
/// A failing stage does not stop the next: one run names everything that is wrong.
///
/// # Errors
/// When the repository cannot be read, cargo cannot be started or nothing can be printed.
pub fn run(extent: Extent, out: &mut dyn Write) -> Result<bool, TidyError> {
    let is_wanted = |stage: &&Stage| match extent {
        Extent::All => true,
        Extent::AllButTests => stage.name != TESTS,
        Extent::Rules => matches!(stage.work, Work::Rules),
    };
    let mut failed = Vec::new();
    let start = now();
    for stage in STAGES.iter().filter(is_wanted) {
        write!(out, "{:<9}", stage.name)?;
        out.flush()?;
        let begun = now();
        let end = execute(&stage.work)?;
        if !print_end(&end, begun.elapsed().as_secs_f64(), out)? {
            failed.push(stage.name);
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    if failed.is_empty() {
        writeln!(out, "tidy: all passed in {seconds:.1} s")?;
    } else {
        writeln!(out, "tidy: failed in {seconds:.1} s: {}", failed.join(", "))?;
    }
    Ok(failed.is_empty())
}

/// Prints how a stage ended; returns whether that is good.
fn print_end(end: &End, seconds: f64, out: &mut dyn Write) -> Result<bool, TidyError> {
    match end {
        End::Passed(notes) if notes.is_empty() => writeln!(out, "ok      {seconds:7.1} s")?,
        End::Passed(notes) => writeln!(out, "ok      {seconds:7.1} s\n{notes}")?,
        End::Failed(text) => writeln!(out, "FAILED  {seconds:7.1} s\n{text}\n")?,
        End::Skipped(reason) => writeln!(out, "skipped: {reason}")?,
    }
    Ok(!matches!(end, End::Failed(_)))
}

fn execute(work: &Work) -> Result<End, TidyError> {
    match work {
        Work::Rules => check_rules(),
        Work::Run(command) => run_command(command),
        Work::Deny(command) => {
            if spawn(&["cargo", "deny", "--version"])?.status.success() {
                run_command(command)
            } else {
                Ok(End::Skipped("cargo-deny is not installed"))
            }
        }
    }
}

/// Runs a command; its output is part of a failure only.
fn run_command(command: &[&str]) -> Result<End, TidyError> {
    let output = spawn(command)?;
    if output.status.success() {
        return Ok(End::Passed(String::new()));
    }
    let both = [output.stdout, output.stderr].concat();
    Ok(End::Failed(String::from_utf8_lossy(&both).trim_end().to_owned()))
}

fn spawn(command: &[&str]) -> Result<Output, TidyError> {
    Command::new(command[0])
        .args(&command[1..])
        .env("RUSTDOCFLAGS", "-D warnings")
        .stdin(Stdio::null())
        .output()
        .map_err(|source| TidyError::Start { command: command.join(" "), source })
}

/// Reads the repository and runs every rule.
fn check_rules() -> Result<End, TidyError> {
    let found = registry::check_all(&disk::read()?);
    let lines: Vec<_> =
        found.iter().map(|(rule, violation)| format!("{violation} [{}]", rule.name)).collect();
    let text = lines.join("\n");
    let has_error = found.iter().any(|(_, violation)| violation.severity == Severity::Error);
    Ok(if has_error { End::Failed(text) } else { End::Passed(text) })
}

#[expect(clippy::disallowed_methods, reason = "how long a stage took is no measurement of ours")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_stage_shows_its_output_and_is_not_good() {
        let mut out = Vec::new();
        assert!(print_end(&End::Passed(String::new()), 0.25, &mut out).unwrap());
        assert!(print_end(&End::Skipped("why"), 0.0, &mut out).unwrap());
        assert!(!print_end(&End::Failed("error: x".to_owned()), 12.0, &mut out).unwrap());
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "ok          0.2 s\nskipped: why\nFAILED     12.0 s\nerror: x\n\n");
    }

    #[test]
    fn a_failing_command_returns_its_output() {
        let end = run_command(&["sh", "-c", "echo out; echo err >&2; exit 1"]).unwrap();
        assert!(matches!(end, End::Failed(text) if text == "out\nerr"));
        assert!(matches!(run_command(&["true"]).unwrap(), End::Passed(_)));
        let error = run_command(&["no-such-program"]).map(|_| ()).unwrap_err();
        assert!(error.to_string().starts_with("cannot start `no-such-program`"), "{error}");
    }

    #[test]
    fn tests_are_the_last_stage_and_occur_once() {
        assert_eq!(STAGES.last().map(|stage| stage.name), Some(TESTS));
        assert_eq!(STAGES.iter().filter(|stage| stage.name == TESTS).count(), 1);
    }
}
