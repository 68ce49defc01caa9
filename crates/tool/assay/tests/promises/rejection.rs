//! Helpers for rejected runs: nothing is run or left behind.

use crate::workspace::{ProgramOutput, Workspace};

/// A valid experiment, as a template of invalid ones.
pub(crate) const TINY: &str = r#"[experiment]
name = "tiny"
question = "Is it refused?"

[benchmark]
steps = ["fillseq", "readrandom"]
rows = "2k"
duration = "300ms"

[[variant]]
name = "one"
engine = "sqlite"
"#;

/// Returns the error of `assay run` with `old` replaced by `new`.
pub(crate) fn rejection(old: &str, new: &str) -> String {
    assert_eq!(TINY.matches(old).count(), 1, "{old}");
    rejection_of(&TINY.replace(old, new))
}

/// Returns the error of `assay run` for an invalid experiment.
pub(crate) fn rejection_of(experiment: &str) -> String {
    let workspace = Workspace::new();
    workspace.write("mine.toml", experiment);
    rejected(&workspace, &["run", "mine.toml"])
}

/// Runs a command that must be rejected.
pub(crate) fn rejected(workspace: &Workspace, arguments: &[&str]) -> String {
    check_rejection(workspace, &workspace.assay(arguments))
}

/// Checks that an output is a rejection, and returns its message.
pub(crate) fn check_rejection(workspace: &Workspace, output: &ProgramOutput) -> String {
    assert_eq!((output.code, output.out.as_str()), (1, ""), "{}", output.err);
    assert!(output.err.ends_with("  nothing was run\n"), "{}", output.err);
    assert_eq!(output.err.matches("nothing was run").count(), 1, "{}", output.err);
    assert!(!workspace.path("results").exists(), "no results");
    // The line of a connection has an address, which is not wrapped.
    let mut lines = output.err.lines().filter(|line| !line.contains(": connects to "));
    assert!(lines.all(|line| line.chars().count() <= 110), "{}", output.err);
    output.err.clone()
}

/// Returns a rejection that precedes the data directory.
pub(crate) fn rejected_at_once(workspace: &Workspace, arguments: &[&str]) -> String {
    let output = rejected(workspace, arguments);
    assert!(!workspace.path("assay-data").exists(), "no data directory");
    output
}

/// Returns a message with its wrapped lines joined.
pub(crate) fn unwrapped(message: &str) -> String {
    message.replace("\n  \u{2502} ", " ")
}
