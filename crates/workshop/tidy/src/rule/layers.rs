//! The layer table of ARCHITECTURE.md: which crate may import which.

use cargo_metadata::DependencyKind;

use crate::markdown::{self, Row};
use crate::repo::{Dependency, Package, Repo};
use crate::rule::conformance::DRIVERS;
use crate::rule::violation::Violation;

/// The groups of crates; a group may import earlier ones.
const GROUPS: [&str; 6] = ["define", "drive", "observe", "report", "tool", "workshop"];
/// Stands for every driver crate.
const DRIVER: &str = "driver-*";
/// Stands for every crate, and for none.
const EVERYTHING: &str = "everything";
const NOTHING: &str = "nothing";

const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADER: &str = "| crate | may import (ours) | files, network | clock, threads |";

/// Returns a violation per forbidden import and per wrong row.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let Some(rows) = repo.file(DOCUMENT).and_then(|file| markdown::table(&file.text, HEADER))
    else {
        return vec![Violation::of(DOCUMENT, format!("lacks the table `{HEADER}`"))];
    };
    let mut found = check_rows(repo, &rows);
    for package in &repo.packages {
        let manifest = format!("{}/Cargo.toml", package.folder);
        if !rows.iter().any(|row| row.cells[0] == name_of(&rows, package)) {
            let message = format!("`{}` has no row in the layer table: add it", package.name);
            found.push(Violation::of(&manifest, message));
            continue;
        };
        let ours = package.dependencies.iter().filter(|dependency| dependency.is_ours);
        for import in ours.filter(|import| !is_allowed(repo, &rows, package, import)) {
            let message = format!("`{}` may not import `{}`", package.name, import.name);
            let remedy = "move what both need to `model`";
            found.push(Violation::of(&manifest, format!("{message}: {remedy}")));
        }
    }
    found
}

/// Returns the rows without a crate, and imports that the table does not list above.
fn check_rows(repo: &Repo, rows: &[Row]) -> Vec<Violation> {
    let mut found = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let name = &row.cells[0];
        if !repo.packages.iter().any(|package| name_of(rows, package) == name) {
            let message = format!("`{name}` is not a crate: remove the row");
            found.push(Violation::at(DOCUMENT, row.line, message));
        }
        let is_above = |import: &&str| rows[..at].iter().any(|above| above.cells[0] == *import);
        for import in imports(row).filter(|import| !is_above(import)) {
            let message =
                format!("`{name}` imports `{import}`, which has no row above it: move it");
            found.push(Violation::at(DOCUMENT, row.line, message));
        }
    }
    found
}

/// Iterates over the crates that a row lists.
fn imports(row: &Row) -> impl Iterator<Item = &str> {
    let names = row.cells.get(1).map_or("", String::as_str).split(", ");
    names.filter(|name| ![NOTHING, EVERYTHING].contains(name))
}

/// Returns the name of a package's row: its own, or that of every driver.
fn name_of<'a>(rows: &[Row], package: &'a Package) -> &'a str {
    let has_own = rows.iter().any(|row| row.cells[0] == package.name);
    if !has_own && package.name.starts_with(DRIVERS) { DRIVER } else { &package.name }
}

/// Returns whether an import is in the row, or is for tests and does not point down the groups.
fn is_allowed(repo: &Repo, rows: &[Row], package: &Package, import: &Dependency) -> bool {
    let imported = repo.packages.iter().find(|other| other.name == import.name);
    let name = imported.map_or(import.name.as_str(), |imported| name_of(rows, imported));
    let own = rows.iter().filter(|row| row.cells[0] == name_of(rows, package));
    let mut listed = own.flat_map(|row| row.cells[1..].first()).flat_map(|cell| cell.split(", "));
    let is_upward = imported.is_some_and(|other| group(other) <= group(package));
    listed.any(|listed| listed == name || listed == EVERYTHING)
        || (import.kind == DependencyKind::Development && is_upward)
}

/// Returns the position of a package's group in [`GROUPS`]; `None` outside of all.
fn group(package: &Package) -> Option<usize> {
    let rest = package.folder.strip_prefix("crates/")?;
    GROUPS.iter().position(|name| rest.split('/').next() == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, folder: &str, imports: &[(&str, DependencyKind)]) -> Package {
        let dependencies = imports
            .iter()
            .map(|(name, kind)| Dependency { name: (*name).to_owned(), kind: *kind, is_ours: true })
            .collect();
        let (name, folder) = (name.to_owned(), folder.to_owned());
        Package { name, folder, dependencies, roots: Vec::new() }
    }

    /// Checks these packages against a table of these rows.
    fn messages(rows: &str, packages: Vec<Package>) -> Vec<String> {
        let text = format!("{HEADER}\n|---|---|---|---|\n{rows}");
        let mut repo = Repo::of(&[(DOCUMENT, &text)]);
        repo.packages = packages;
        check(&repo).into_iter().map(|violation| violation.message).collect()
    }

    #[test]
    fn an_import_down_the_tree_is_a_violation_even_for_tests() {
        use DependencyKind::{Development, Normal};
        let rows = "| model | nothing |\n| engine | model |\n| driver-* | engine |\n| load | engine \
                    |\n| archive | model |\n| assay | everything |\n";
        let packages = vec![
            package("model", "crates/define/model", &[("engine", Normal)]),
            package("engine", "crates/drive/engine", &[("model", Normal), ("load", Development)]),
            package("load", "crates/drive/load", &[("archive", Development)]),
            package("archive", "crates/observe/archive", &[]),
            package("driver-x", "crates/drive/drivers/x", &[("engine", Normal), ("load", Normal)]),
            package("assay", "crates/tool/assay", &[("archive", Normal)]),
            package("stray", "crates/tool/stray", &[]),
        ];
        assert_eq!(
            messages(rows, packages),
            [
                "`model` may not import `engine`: move what both need to `model`",
                "`load` may not import `archive`: move what both need to `model`",
                "`driver-x` may not import `load`: move what both need to `model`",
                "`stray` has no row in the layer table: add it",
            ]
        );
    }

    #[test]
    fn the_table_lists_existing_crates_after_all_they_import() {
        let rows = "| plan | model |\n| model | nothing |\n| gone | model |\n";
        let folders = ["plan", "model"].map(|name| package(name, "crates/define", &[]));
        assert_eq!(
            messages(rows, folders.to_vec()),
            [
                "`plan` imports `model`, which has no row above it: move it",
                "`gone` is not a crate: remove the row",
            ]
        );
        assert_eq!(check(&Repo::of(&[])).len(), 1);
    }
}
