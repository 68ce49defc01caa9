//! Known RocksDB releases, and the order of versions.

use model::BuildRef;

use crate::error::{Result, SupplyError};

/// RocksDB releases known to work, oldest first.
///
/// Any other release from 5.18 on is tried too.
pub(crate) const KNOWN_ROCKSDB: &[&str] = &[
    "5.18.4", "6.0.1", "6.4.6", "6.29.5", "7.0.4", "7.7.3", "7.10.2", "8.0.0", "8.11.4", "9.0.0",
    "9.10.0", "10.0.1", "10.4.2", "11.8.1",
];

/// The oldest release with all C functions the driver needs.
const OLDEST: (u32, u32) = (5, 18);

/// Parses a version of two or three numbers.
pub(crate) fn parse(version: &str) -> Option<[u32; 3]> {
    numbers(version).filter(|_| version.contains('.'))
}

/// Parses up to three numbers, those that are missing as 0.
fn numbers(version: &str) -> Option<[u32; 3]> {
    let mut parts = [0; 3];
    for (index, text) in version.split('.').enumerate() {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *parts.get_mut(index)? = text.parse().ok()?;
    }
    Some(parts)
}

/// Returns the builds of an engine's `known` releases, oldest first, nearest to `build`.
///
/// The newest of the series that a version such as `16` names; else the release before and the one
/// after; the newest of all when the version is not numeric.
pub(crate) fn nearest(build: &BuildRef, known: &[&str]) -> String {
    let version = build.version.as_deref().unwrap_or_default();
    let is_in_series =
        |known: &&&str| known.strip_prefix(version).is_some_and(|rest| rest.starts_with('.'));
    let wanted = numbers(version).unwrap_or([u32::MAX; 3]);
    let is_before = |known: &&&str| parse(known).unwrap_or_default() <= wanted;
    let found = match known.iter().rfind(is_in_series) {
        Some(newest) => vec![newest],
        None => [known.iter().rfind(is_before), known.iter().find(|it| !is_before(it))]
            .into_iter()
            .flatten()
            .collect(),
    };
    let found: Vec<_> = found.iter().map(|it| format!("{}@{it}", build.engine)).collect();
    found.join(" or ")
}

/// Returns whether a version can be a release of Postgres: `15.10`.
pub(crate) fn is_postgres(version: &str) -> bool {
    version.split('.').count() == 2 && parse(version).is_some_and(|[major, ..]| major > 9)
}

/// Checks that a release is not older than the driver supports.
pub(crate) fn check_age(build: &BuildRef, version: [u32; 3]) -> Result<()> {
    if (version[0], version[1]) >= OLDEST {
        return Ok(());
    }
    Err(SupplyError::Unavailable(format!(
        "{build} is too old: the oldest supported release is rocksdb@{}",
        KNOWN_ROCKSDB[0]
    )))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_releases_are_sorted_and_supported() {
        let parsed: Vec<_> = KNOWN_ROCKSDB.iter().map(|known| parse(known).unwrap()).collect();
        assert!(parsed.is_sorted_by(|a, b| a < b));
        let build = "rocksdb@0".parse().unwrap();
        assert!(parsed.iter().all(|known| check_age(&build, *known).is_ok()));
    }

    #[test]
    fn nearest_release_is_suggested() {
        let near = |build: &str, known| nearest(&build.parse().unwrap(), known);
        for (build, expected) in [
            ("a@9.10", "a@9.10.0"),
            ("a@9.10.1", "a@9.10.0 or a@10.0.1"),
            ("a@5.17.2", "a@5.18.4"),
            ("a@7", "a@7.10.2"),
            ("a@latest", "a@11.8.1"),
            ("a@99", "a@11.8.1"),
            ("a", "a@11.8.1"),
        ] {
            assert_eq!(near(build, KNOWN_ROCKSDB), expected, "{build}");
        }
        let mysql = &["5.7.22", "8.0.15", "8.0.31"];
        assert_eq!(near("a@8.4.0", mysql), "a@8.0.31");
        assert_eq!(near("a@8.0.20", mysql), "a@8.0.15 or a@8.0.31");
        assert_eq!(near("a@10", &["10.11", "10.11.5", "11.4.5"]), "a@10.11.5");
    }

    #[test]
    fn releases_before_5_18_are_rejected() {
        let error =
            check_age(&"rocksdb@5.17.2".parse().unwrap(), parse("5.17.2").unwrap()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "rocksdb@5.17.2 is too old: the oldest supported release is rocksdb@5.18.4"
        );
    }

    proptest! {
        #[test]
        fn version_has_two_or_three_numbers(parts in prop::collection::vec(0_u32.., 1..5)) {
            let text = parts.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
            prop_assert_eq!(parse(&text).is_some(), (2..=3).contains(&parts.len()));
            prop_assert_eq!(parse(&format!("{text}-rc1")), None);
        }
    }
}
