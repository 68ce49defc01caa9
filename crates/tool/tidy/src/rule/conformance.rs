//! Every driver runs the conformance battery in its tests.

use crate::repo::{Package, Repo};
use crate::rule::violation::Violation;
use crate::rust::{Class, Rust};

/// Folder of the drivers.
pub const DRIVERS: &str = "crates/drive/drivers/";
/// What the drivers of SQL servers share; no driver itself.
const SHARED: &str = "driver-sql";

/// Returns a violation for every driver whose tests do not call `engine::conformance::battery`.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Violation> {
    let mut found = Vec::new();
    let is_driver =
        |package: &&Package| package.folder.starts_with(DRIVERS) && package.name != SHARED;
    for package in repo.packages.iter().filter(is_driver) {
        // Cargo's two places for a test of that name: a file, or a folder of files.
        let path = format!("{}/tests/conformance.rs", package.folder);
        let folder = format!("{}/tests/conformance/", package.folder);
        let is_place = |place: &str| place == path || place.starts_with(&folder);
        if !repo.sources().any(|(file, rust)| is_place(&file.path) && runs_battery(rust)) {
            found.push(Violation::of(&path, "must run engine::conformance::battery in a test"));
        }
    }
    found
}

/// Returns whether the code has the identifiers `test`, `conformance` and `battery`.
///
/// Identifiers, and not functions, because a macro may expand to one test per release.
fn runs_battery(rust: &Rust) -> bool {
    let has = |name| rust.of(Class::Ident).any(|(_, text)| text == name);
    ["test", "conformance", "battery"].into_iter().all(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_without_the_battery_is_named() {
        let driver = |name: &str| Package {
            name: format!("driver-{name}"),
            folder: format!("crates/drive/drivers/{name}"),
            ..Package::default()
        };
        let call = "#[test]\nfn conforms() { engine::conformance::battery(&D) }";
        let files = [
            ("crates/drive/drivers/a/tests/conformance.rs", call),
            ("crates/drive/drivers/b/tests/conformance.rs", "// conformance::battery\n"),
            ("crates/drive/drivers/d/tests/conformance/releases.rs", call),
        ];
        let mut repo = Repo::of(&files);
        repo.packages = ["a", "b", "c", "d", "sql"].map(driver).to_vec();
        let paths: Vec<_> = check(&repo).into_iter().map(|v| v.path).collect();
        assert_eq!(
            paths,
            ["b", "c"].map(|name| format!("crates/drive/drivers/{name}/tests/conformance.rs"))
        );
    }
}
