//! The layer table: which crate may import which.

use crate::markdown::{self, Row};
use crate::repo::{Dependency, DependencyKind, Package, Repo};
use crate::rule::conformance::DRIVERS;
use crate::rule::violation::Violation;

/// The groups of crates; a group may import earlier ones.
pub const GROUPS: [&str; 5] = ["define", "drive", "observe", "report", "tool"];

/// What one crate, or one kind of crate, may import of ours.
#[derive(Debug, Clone, Copy)]
pub struct Layer {
    /// The crate's name; [`DRIVER`] stands for every driver.
    pub name: &'static str,
    /// Crates of ours it may import; [`EVERYTHING`] alone stands for all.
    pub imports: &'static [&'static str],
}

/// Stands for every driver crate.
pub const DRIVER: &str = "driver-*";
/// What the drivers of SQL servers share; no driver itself.
pub const DRIVER_SQL: &str = "driver-sql";
/// Stands for every crate.
pub const EVERYTHING: &str = "everything";

const fn layer(name: &'static str, imports: &'static [&'static str]) -> Layer {
    Layer { name, imports }
}

/// The layer table, in the order of the data flow.
#[rustfmt::skip]
pub const LAYERS: &[Layer] = &[
    layer("model", &[]),
    layer("stats", &["model"]),
    layer("plan", &["model"]),
    layer("engine", &["model"]),
    layer("dynlib", &["model", "engine"]),
    layer("malloc", &["model", "dynlib"]),
    layer("shim", &["model", "engine", "dynlib"]),
    layer("server", &["model", "engine"]),
    layer("supply", &["model", "shim"]),
    layer(DRIVER_SQL, &["model", "engine"]),
    layer(DRIVER, &["model", "engine", "dynlib", "shim", "server", DRIVER_SQL]),
    layer("workload", &["model", "engine"]),
    layer("load", &["model", "engine", "workload"]),
    layer("search", &["model", "stats"]),
    layer("micro", &["model", "engine", "dynlib", "load"]),
    layer("sampler", &["model"]),
    layer("archive", &["model"]),
    layer("runner", &["model", "stats", "engine", "malloc", "workload", "load", "search", "server", "sampler", "archive"]),
    layer("analysis", &["model", "stats"]),
    layer("lint", &["model", "stats", "analysis"]),
    layer("render", &["model", "stats", "analysis", "lint"]),
    layer("assay", &[EVERYTHING]),
    layer("bench-peers", &["model", "engine", "server", "supply", DRIVER, "workload", "load"]),
    layer("tidy", &["model"]),
];

const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADER: &str = "| crate | may import (ours) | files, network | clock, threads |";

/// Returns a violation per forbidden import and per difference of the document.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Violation> {
    let mut found = Vec::new();
    for package in &repo.packages {
        let manifest = format!("{}/Cargo.toml", package.folder);
        let ours = package.dependencies.iter().filter(|dependency| dependency.is_ours);
        let Some(layer) = layer_of(package) else {
            let message = format!("`{}` has no row in tidy's layer table: add it", package.name);
            found.push(Violation::of(&manifest, message));
            continue;
        };
        for import in ours.filter(|import| !is_allowed(repo, package, layer, import)) {
            let message = format!("`{}` may not import `{}`", package.name, import.name);
            let remedy = "move what both need to `model`";
            found.push(Violation::of(&manifest, format!("{message}: {remedy}")));
        }
    }
    found.extend(check_document(repo));
    found
}

/// Returns the row of a package.
fn layer_of(package: &Package) -> Option<&'static Layer> {
    let is_driver = package.folder.starts_with(DRIVERS) && package.name != DRIVER_SQL;
    let name = if is_driver { DRIVER } else { package.name.as_str() };
    LAYERS.iter().find(|layer| layer.name == name)
}

/// Returns whether an import is in the row, or is for tests and does not point down the groups.
fn is_allowed(repo: &Repo, package: &Package, layer: &Layer, import: &Dependency) -> bool {
    let is_driver = import.name.starts_with("driver-") && import.name != DRIVER_SQL;
    let name = if is_driver { DRIVER } else { import.name.as_str() };
    let is_listed = layer.imports.iter().any(|listed| *listed == name || *listed == EVERYTHING);
    let imported = repo.packages.iter().find(|other| other.name == import.name);
    let is_upward = imported.is_some_and(|other| group(other) <= group(package));
    is_listed || (import.kind == DependencyKind::Dev && is_upward)
}

/// Returns the position of a package's group in [`GROUPS`]; `None` outside of all.
fn group(package: &Package) -> Option<usize> {
    let rest = package.folder.strip_prefix("crates/")?;
    GROUPS.iter().position(|name| rest.split('/').next() == Some(name))
}

/// Returns where the first two columns of the document's table differ from [`LAYERS`].
fn check_document(repo: &Repo) -> Vec<Violation> {
    let Some(file) = repo.file(DOCUMENT) else { return Vec::new() };
    let Some(rows) = markdown::table(file.text(), HEADER) else {
        return vec![Violation::of(DOCUMENT, format!("lacks the table `{HEADER}`"))];
    };
    let expected: Vec<_> = LAYERS.iter().map(written).collect();
    let mut found = Vec::new();
    let is_known = |row: &&Row| expected.iter().any(|cells| row.cells.starts_with(cells));
    for row in rows.iter().filter(|row| !is_known(row)) {
        let message = format!("{} differs from tidy's layer table", row.cells[0]);
        found.push(Violation::at(DOCUMENT, row.line, message));
    }
    let is_there = |cells: &[String]| rows.iter().any(|row| row.cells.starts_with(cells));
    for row in expected.iter().filter(|cells| !is_there(cells)) {
        let message = format!("the layer table lacks `| {} | {} |`", row[0], row[1]);
        found.push(Violation::of(DOCUMENT, message));
    }
    found
}

/// Returns a row as the document writes it.
fn written(layer: &Layer) -> Vec<String> {
    let imports =
        if layer.imports.is_empty() { "nothing".to_owned() } else { layer.imports.join(", ") };
    vec![layer.name.to_owned(), imports]
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

    #[test]
    fn an_import_down_the_tree_is_a_violation_even_for_tests() {
        use DependencyKind::{Dev, Normal};
        let mut repo = Repo::of(&[]);
        repo.packages = vec![
            package("model", "crates/define/model", &[("engine", Normal)]),
            package("engine", "crates/drive/engine", &[("model", Normal), ("load", Dev)]),
            package("load", "crates/drive/load", &[("archive", Dev)]),
            package("archive", "crates/observe/archive", &[]),
            package("driver-x", "crates/drive/drivers/x", &[("engine", Normal), ("load", Normal)]),
            package("assay", "crates/tool/assay", &[("archive", Normal)]),
            package("stray", "crates/tool/stray", &[]),
        ];
        let messages: Vec<_> = check(&repo).into_iter().map(|v| v.message).collect();
        assert_eq!(
            messages,
            [
                "`model` may not import `engine`: move what both need to `model`",
                "`load` may not import `archive`: move what both need to `model`",
                "`driver-x` may not import `load`: move what both need to `model`",
                "`stray` has no row in tidy's layer table: add it",
            ]
        );
    }

    #[test]
    fn the_table_lists_a_crate_after_all_it_imports() {
        for (at, layer) in LAYERS.iter().enumerate() {
            let is_above = |name: &str| LAYERS[..at].iter().any(|above| above.name == name);
            let mut imports = layer.imports.iter().filter(|name| **name != EVERYTHING);
            assert!(imports.all(|name| is_above(name)), "{layer:?}");
        }
    }

    #[test]
    fn the_document_repeats_the_table() {
        let mut text = format!("{HEADER}\n|---|---|---|---|\n");
        for layer in &LAYERS[1..] {
            let row = written(layer);
            text.push_str(&format!("| {} | {} | no | no |\n", row[0], row[1]));
        }
        text.push_str("| model | plan | no | no |\n");
        let found: Vec<_> = check(&Repo::of(&[(DOCUMENT, &text)]))
            .into_iter()
            .map(|violation| violation.message)
            .collect();
        assert_eq!(
            found,
            [
                "model differs from tidy's layer table",
                "the layer table lacks `| model | nothing |`"
            ]
        );
    }
}
