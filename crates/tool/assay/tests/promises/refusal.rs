//! How a refusal is tested: each names the thing, its place and the remedy; nothing was run and
//! nothing is left behind.

use crate::place::Place;

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

/// Runs what must be refused; checks that nothing was run and that nothing is left behind.
pub(crate) fn refused(place: &Place, arguments: &[&str]) -> String {
    let said = place.assay(arguments);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert_eq!(said.out, "", "no answer");
    assert!(said.err.ends_with("  nothing was run\n"), "{}", said.err);
    assert_eq!(said.err.matches("nothing was run").count(), 1, "{}", said.err);
    assert!(!place.path("results").exists(), "no results");
    assert!(said.err.lines().all(|line| line.chars().count() <= 110), "{}", said.err);
    said.err
}

/// Returns a refusal that must come before even the data directory is made.
pub(crate) fn refused_at_once(place: &Place, arguments: &[&str]) -> String {
    let said = refused(place, arguments);
    assert!(!place.path("assay-data").exists(), "no data directory");
    said
}
