//! How a refusal is tested: each names the thing, its place and the remedy; nothing was run and
//! nothing is left behind.

use crate::workspace::{ProgramOutput, Workspace};

/// An experiment that is right, as a start for wrong ones.
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

/// Returns what `assay run` says of the experiment in which `old` is replaced by `new`.
pub(crate) fn rejection(old: &str, new: &str) -> String {
    assert_eq!(TINY.matches(old).count(), 1, "{old}");
    rejection_of(&TINY.replace(old, new))
}

/// Returns what `assay run` says of an experiment that it must refuse.
pub(crate) fn rejection_of(experiment: &str) -> String {
    let workspace = Workspace::new();
    workspace.write("mine.toml", experiment);
    rejected(&workspace, &["run", "mine.toml"])
}

/// Runs what must be refused.
pub(crate) fn rejected(workspace: &Workspace, arguments: &[&str]) -> String {
    check_rejection(workspace, &workspace.assay(arguments))
}

/// Checks that what was said is a refusal: nothing was run and nothing is left behind.
pub(crate) fn check_rejection(workspace: &Workspace, output: &ProgramOutput) -> String {
    assert_eq!((output.code, output.out.as_str()), (1, ""), "{}", output.err);
    assert!(output.err.ends_with("  nothing was run\n"), "{}", output.err);
    assert_eq!(output.err.matches("nothing was run").count(), 1, "{}", output.err);
    assert!(!workspace.path("results").exists(), "no results");
    assert!(output.err.lines().all(|line| line.chars().count() <= 110), "{}", output.err);
    output.err.clone()
}

/// Returns a refusal that must come before even the data directory is made.
pub(crate) fn rejected_at_once(workspace: &Workspace, arguments: &[&str]) -> String {
    let output = rejected(workspace, arguments);
    assert!(!workspace.path("assay-data").exists(), "no data directory");
    output
}

/// Returns a message with its wrapped lines joined.
pub(crate) fn unwrapped(message: &str) -> String {
    message.replace("\n  \u{2502} ", " ")
}
