//! Every check in the order of reports.

use model::{CheckResult, HostCheck};

use crate::check::{CHECKS, Check, result};
use crate::source::Source;

/// Returns every check, in the order of reports.
pub fn checks() -> &'static [&'static Check] {
    CHECKS
}

/// Returns what every check finds; it changes nothing and takes a second or two.
pub fn examine(source: &Source) -> Vec<CheckResult> {
    checks().iter().map(|check| result(check, source)).collect()
}

/// Returns the values for a manifest: of checks that read a few files only.
pub fn snapshot(source: &Source) -> Vec<HostCheck> {
    let of = |check: &Check| {
        let result = result(check, source);
        HostCheck { check: result.check.to_owned(), state: result.state, value: result.value }
    };
    checks().iter().filter(|check| check.check.is_in_manifests).map(|check| of(check)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_is_registered_under_its_name() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/check");
        let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let names = names.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
        let named: BTreeSet<String> =
            names.filter(|name| !["mod", "define"].contains(&name.as_str())).collect();
        let registered: BTreeSet<String> = checks().iter().map(|one| one.code.to_owned()).collect();
        assert_eq!((named, checks().len()), (registered.clone(), registered.len()));
    }

    #[test]
    fn every_check_has_a_reason_and_a_source() {
        for check in checks() {
            assert!(check.why.ends_with('.') && !check.why.contains("  "), "{}", check.code);
            assert!(check.source.starts_with('[') && check.source.ends_with(']'), "{}", check.code);
            assert!(!check.name.is_empty() && !check.name.ends_with('.'), "{}", check.code);
        }
    }
}
