//! Every driver runs the conformance battery in its tests.

use crate::repo::{File, Package, Repo};
use crate::rule::violation::Violation;

/// What the names of drivers begin with.
pub(crate) const DRIVERS: &str = "driver-";
/// What the drivers of SQL servers share; no driver itself.
const SHARED: &str = "driver-sql";

/// Returns a violation for every driver whose tests do not call `engine::conformance::battery`.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let is_driver =
        |package: &&Package| package.name.starts_with(DRIVERS) && package.name != SHARED;
    let lacks_battery = |package: &&Package| {
        // Cargo's two places for a test of that name: a file, or a folder of files.
        let place = format!("{}/tests/conformance", package.folder);
        // A call, or the argument of a macro that expands to one test per release.
        let runs_battery = |file: &File| file.text.contains("battery(");
        !repo.files_with("rs").any(|file| file.path.starts_with(&place) && runs_battery(file))
    };
    let lacking = repo.packages.iter().filter(is_driver).filter(lacks_battery);
    let message = "must run engine::conformance::battery in a test";
    lacking
        .map(|package| Violation::of(&format!("{}/tests/conformance.rs", package.folder), message))
        .collect()
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
