//! How a refusal is tested: each names the thing, its place and the remedy; nothing was run and
//! nothing is left behind.

use crate::place::{PerDialect, Place};

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
pub(crate) fn refusal(old: &str, new: &str) -> String {
    assert_eq!(TINY.matches(old).count(), 1, "{old}");
    refusal_of(&TINY.replace(old, new))
}

/// Returns what `assay run` says of an experiment that it must refuse.
pub(crate) fn refusal_of(experiment: &str) -> String {
    let place = Place::new();
    place.write("mine.toml", experiment);
    refused(&place, &["run", "mine.toml"])
}

/// Runs what must be refused.
pub(crate) fn refused(place: &Place, arguments: &[&str]) -> String {
    refused_as(place, &place.assay(arguments))
}

/// Checks that what was said is a refusal: nothing was run and nothing is left behind.
pub(crate) fn refused_as(place: &Place, said: &PerDialect) -> String {
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{}", said.err);
    assert!(said.err.ends_with("  nothing was run\n"), "{}", said.err);
    assert_eq!(said.err.matches("nothing was run").count(), 1, "{}", said.err);
    assert!(!place.path("results").exists(), "no results");
    assert!(said.err.lines().all(|line| line.chars().count() <= 110), "{}", said.err);
    said.err.clone()
}

/// Returns a refusal that must come before even the data directory is made.
pub(crate) fn refused_at_once(place: &Place, arguments: &[&str]) -> String {
    let said = refused(place, arguments);
    assert!(!place.path("assay-data").exists(), "no data directory");
    said
}

/// Returns a message with its wrapped lines joined.
pub(crate) fn unwrapped(message: &str) -> String {
    message.replace("\n  \u{2502} ", " ")
}
