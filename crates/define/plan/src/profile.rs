//! Profiles: named engine configurations, stored as data files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::Options;
use serde::Deserialize;

use crate::catalog::Catalog;

/// A profile's file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    engine: String,
    #[serde(rename = "about")]
    _about: String,
    extends: Option<String>,
    #[serde(default)]
    options: Options,
    /// Options that need at least that version, by version.
    #[serde(default)]
    since: BTreeMap<String, Options>,
}

/// Known option names by engine; incomplete.
pub type KnownOptions = BTreeMap<String, BTreeSet<String>>;

/// Returns the valid profiles, with their names.
fn all(catalog: &dyn Catalog) -> impl Iterator<Item = (String, ProfileFile)> + '_ {
    let named = |name: String| {
        let file = toml::from_str(&catalog.profile(&name)?).ok()?;
        Some((name, file))
    };
    catalog.profile_names().into_iter().filter_map(named)
}

/// Returns the options that profiles set, by engine.
pub fn profile_options(catalog: &dyn Catalog) -> KnownOptions {
    let mut known = KnownOptions::new();
    for (_, file) in all(catalog) {
        let options = [&file.options].into_iter().chain(file.since.values());
        let names = options.flat_map(|options| options.iter().map(|(name, _)| name.to_owned()));
        known.entry(file.engine).or_default().extend(names);
    }
    known
}

/// Returns each table of options that profiles have, with its engine.
pub fn profile_tables(catalog: &dyn Catalog) -> Vec<(String, Options)> {
    let tables = all(catalog).flat_map(|(_, file)| {
        let tables = std::iter::once(file.options).chain(file.since.into_values());
        tables.map(move |options| (file.engine.clone(), options))
    });
    tables.collect()
}

/// Returns the names of an engine's profiles.
pub(crate) fn of_engine(catalog: &dyn Catalog, engine: &str) -> Vec<String> {
    all(catalog).filter(|(_, file)| file.engine == engine).map(|(name, _)| name).collect()
}

/// Returns whether a profile is a file of the user's, and not a shipped one.
pub(crate) fn is_path(name: &str) -> bool {
    name.ends_with(".toml")
}

/// Longest chain of profiles that extend one another; a loop is longer.
const EXTENDS_MAX: usize = 8;

/// Returns a profile's options for an engine build, those it extends first.
///
/// A path of a user's own is relative to `folder`, and what it extends to its own folder.
///
/// # Errors
/// When there is no such profile, it is for another engine, or its file is invalid.
pub(crate) fn options(
    catalog: &dyn Catalog,
    name: &str,
    folder: &Path,
    engine: &str,
    version: Option<&str>,
) -> Result<Options, String> {
    let mut chain = Vec::new();
    let mut next = Some(name.to_owned());
    let mut folder = folder.to_path_buf();
    while let Some(name) = next.take() {
        if chain.len() == EXTENDS_MAX {
            return Err(format!("profile `{name}` extends itself"));
        }
        let text = if is_path(&name) {
            let path = folder.join(&name);
            let text = catalog.file(&path);
            let unreadable =
                |why: String| format!("cannot read the profile {}: {why}", path.display());
            folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
            text.map_err(unreadable)?
        } else {
            catalog.profile(&name).ok_or_else(|| format!("unknown profile `{name}`"))?
        };
        let file: ProfileFile = toml::from_str(&text)
            .map_err(|error| format!("profile `{name}` is invalid: {}", error.message()))?;
        if file.engine != engine {
            return Err(format!("profile `{name}` is for {}, not for {engine}", file.engine));
        }
        next.clone_from(&file.extends);
        chain.push(file);
    }
    let mut merged = Options::new();
    for file in chain.iter().rev() {
        merged.overlay(&file.options);
        let mut since: Vec<_> = file.since.iter().collect();
        since.sort_by_key(|(since, _)| parts(since));
        for (_, options) in since.iter().filter(|(since, _)| is_at_least(version, since)) {
            merged.overlay(options);
        }
    }
    Ok(merged)
}

/// Returns whether `version` is known and not older than `since`; unknown versions count as new.
fn is_at_least(version: Option<&str>, since: &str) -> bool {
    match version.map(parts) {
        Some(version) if !version.is_empty() => version >= parts(since),
        _ => true,
    }
}

/// Returns a version's leading numbers, for ordering: `10.4.2-gcc12-O2` is ordered as 10.4.2.
fn parts(version: &str) -> Vec<u64> {
    let release = version.split_once('-').map_or(version, |(release, _)| release);
    release.split('.').map_while(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::sample::TestCatalog;

    const BASE: &str = r#"
        engine = "log"
        about = "the start"
        [options]
        buffers = 2
        style = "leveled"
        [since."6.0"]
        style = "level"
        [since."10.1"]
        style = "tiered"
        locks = false
    "#;

    /// Returns the options of `name` for a version of the engine `log`, in their order.
    fn merged(name: &str, version: &str) -> Result<Vec<(String, String)>, String> {
        let knowledge = TestCatalog {
            profiles: vec![
                ("base", BASE),
                ("own", "engine=\"log\"\nabout=\"\"\nextends=\"base\"\n[options]\nbuffers = 8"),
                ("loop", "engine=\"log\"\nabout=\"\"\nextends=\"loop\""),
                ("lost", "engine=\"log\"\nabout=\"\"\nextends=\"gone\""),
                ("odd", "engine=\"log\"\nabout=\"\"\noption=1"),
            ],
            ..TestCatalog::default()
        };
        let options = options(&knowledge, name, Path::new(""), "log", Some(version))?;
        Ok(options.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// Returns expected options.
    fn pairs(expected: &[(&str, &str)]) -> Result<Vec<(String, String)>, String> {
        Ok(expected.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
    }

    #[test]
    fn newer_builds_get_versioned_options_in_version_order() {
        assert_eq!(merged("base", "5.18"), pairs(&[("buffers", "2"), ("style", "leveled")]));
        assert_eq!(merged("base", "9.10"), pairs(&[("buffers", "2"), ("style", "level")]));
        let newest = pairs(&[("buffers", "2"), ("style", "tiered"), ("locks", "false")]);
        assert_eq!(merged("base", "10.1.3"), newest);
    }

    #[test]
    fn options_set_by_profiles_are_known_for_their_engine() {
        let knowledge = TestCatalog {
            profiles: vec![("base", BASE), ("odd", "engine=\"log\"\nabout=\"\"\noption=1")],
            ..TestCatalog::default()
        };
        let known = profile_options(&knowledge);
        assert_eq!(known.keys().collect::<Vec<_>>(), ["log"]);
        assert_eq!(known["log"].iter().collect::<Vec<_>>(), ["buffers", "locks", "style"]);
    }

    #[test]
    fn a_profiles_own_options_win_over_those_it_extends() {
        assert_eq!(merged("own", "5.18"), pairs(&[("buffers", "8"), ("style", "leveled")]));
    }

    #[test]
    fn an_invalid_profile_is_reported_by_name() {
        assert_eq!(merged("loop", "1").unwrap_err(), "profile `loop` extends itself");
        assert_eq!(merged("lost", "1").unwrap_err(), "unknown profile `gone`");
        let odd = merged("odd", "1").unwrap_err();
        assert!(odd.starts_with("profile `odd` is invalid: unknown field `option`"), "{odd}");
    }

    #[test]
    fn versions_are_ordered_as_numbers() {
        assert!(is_at_least(Some("10.4.2"), "9.10"));
        assert!(!is_at_least(Some("5.18.4"), "6.0"));
        assert!(is_at_least(Some("8.6.0"), "8.6"));
        assert!(is_at_least(Some("8.6.0-gcc12-O3-march-native-lto"), "8.6.0"));
        assert!(!is_at_least(Some("8.5.3-gcc12-O2"), "8.6.0"));
        assert!(is_at_least(Some("user-1234"), "8.6"), "an unnumbered build counts as new");
    }
}
