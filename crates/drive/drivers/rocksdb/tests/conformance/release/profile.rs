//! The profiles of the repository, as the planner merges them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use model::Options;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    engine: String,
    about: String,
    extends: Option<String>,
    #[serde(default)]
    options: Options,
    #[serde(default)]
    since: BTreeMap<String, Options>,
}

/// Returns the options of a profile for a release: those it extends, its own, the release's.
pub(crate) fn profile(name: &str, version: &str) -> Options {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../profiles");
    let text = fs::read_to_string(dir.join(format!("{name}.toml"))).expect("the profile is there");
    let file: File = toml::from_str(&text).expect("the profile has the form of a profile");
    assert_eq!(file.engine, "rocksdb");
    assert!(!file.about.is_empty());
    let mut options = file.extends.map_or_else(Options::new, |base| profile(&base, version));
    options.overlay(&file.options);
    let mut since: Vec<_> = file.since.iter().collect();
    since.sort_by_key(|(since, _)| numbers(since));
    for (_, newer) in since.iter().filter(|(since, _)| numbers(version) >= numbers(since)) {
        options.overlay(newer);
    }
    options
}

fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().expect("a version is numbers")).collect()
}
