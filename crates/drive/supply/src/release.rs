//! Known RocksDB releases, and the order of versions.

use model::BuildRef;

use crate::error::SupplyError;

/// RocksDB releases known to work, oldest first.
///
/// Any other release from 5.18 on is tried too.
pub const KNOWN_ROCKSDB: &[&str] = &[
    "5.18.4", "6.0.1", "6.4.6", "6.29.5", "7.0.4", "7.7.3", "7.10.2", "8.0.0", "8.11.4", "9.0.0",
    "9.10.0", "10.0.1", "10.4.2", "11.8.1",
];

/// The oldest release with all C functions the driver needs.
const OLDEST: (u32, u32) = (5, 18);

/// Parses a version of two or three numbers.
pub(crate) fn parse(version: &str) -> Option<[u32; 3]> {
    let mut parts = [0; 3];
    let mut count = 0;
    for text in version.split('.') {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *parts.get_mut(count)? = text.parse().ok()?;
        count += 1;
    }
    (count >= 2).then_some(parts)
}

/// Returns the version in `known`, oldest first, nearest to `version`.
///
/// Of the release before and the one after, the one that differs less in the first number in
/// which they differ. The newest when `version` is not numeric.
pub(crate) fn nearest(version: &str, known: &[&'static str]) -> &'static str {
    let newest = known.last().copied().unwrap_or_default();
    let Some(wanted) = parse(version) else { return newest };
    let distance = |known: &str| {
        let known = parse(known).unwrap_or_default();
        [0, 1, 2].map(|index: usize| wanted[index].abs_diff(known[index]))
    };
    let is_before = |known: &&&str| parse(known).unwrap_or_default() <= wanted;
    let neighbours = [known.iter().rfind(is_before), known.iter().find(|it| !is_before(it))];
    let neighbours = neighbours.into_iter().flatten().copied();
    neighbours.min_by_key(|known| distance(known)).unwrap_or(newest)
}

/// Checks that a release is not older than the driver supports.
pub(crate) fn check_age(build: &BuildRef, version: [u32; 3]) -> Result<(), SupplyError> {
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
        assert_eq!(nearest("9.10", KNOWN_ROCKSDB), "9.10.0");
        assert_eq!(nearest("9.10.1", KNOWN_ROCKSDB), "9.10.0");
        assert_eq!(nearest("5.17.2", KNOWN_ROCKSDB), "5.18.4");
        assert_eq!(nearest("latest", KNOWN_ROCKSDB), "11.8.1");
        assert_eq!(nearest("99.0.0", KNOWN_ROCKSDB), "11.8.1");
        let mysql = &["5.7.22", "8.0.15", "8.0.31"];
        assert_eq!(nearest("8.4.0", mysql), "8.0.31", "the last before, whatever its last number");
        assert_eq!(nearest("8.0.20", mysql), "8.0.15");
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
