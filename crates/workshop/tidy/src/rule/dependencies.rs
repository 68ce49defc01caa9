//! Every dependency is used, and explained in docs/dependencies.md.

use std::collections::BTreeSet;

use crate::markdown;
use crate::repo::Repo;
use crate::rule::violation::Violation;

const MANIFEST: &str = "Cargo.toml";
const DOCUMENT: &str = "docs/dependencies.md";
const HEADER: &str = "| dependency | what for | instead of | cost of building |";

/// Returns a violation for every dependency unused, unexplained or removed.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let Some(manifest) = repo.file(MANIFEST) else { return Vec::new() };
    let Some(declared) = declared(&manifest.text) else {
        return vec![Violation::of(MANIFEST, "is not TOML: repair it")];
    };
    let Some(rows) = repo.file(DOCUMENT).and_then(|file| markdown::table(&file.text, HEADER))
    else {
        return vec![Violation::of(DOCUMENT, format!("lacks the table `{HEADER}`"))];
    };
    let used: BTreeSet<_> =
        repo.packages.iter().flat_map(|p| &p.dependencies).map(|d| d.name.as_str()).collect();
    let is_explained = |name: &str| rows.iter().any(|row| row.cells[0] == format!("`{name}`"));
    let mut found = Vec::new();
    for name in &declared {
        if !is_explained(name) {
            let message = format!("lacks the line of dependency `{name}`: explain what it is for");
            found.push(Violation::of(DOCUMENT, message));
        }
        if !used.contains(name.as_str()) {
            found.push(Violation::of(MANIFEST, format!("no crate uses `{name}`: remove it")));
        }
    }
    for row in &rows {
        let cell = &row.cells[0];
        if !declared.contains(cell.trim_matches('`')) {
            let message = format!("{cell} is not a dependency any more: remove the line");
            found.push(Violation::at(DOCUMENT, row.line, message));
        }
    }
    found
}

/// Returns the names of the workspace's dependencies that are not ours.
fn declared(manifest: &str) -> Option<BTreeSet<String>> {
    let table: toml::Table = manifest.parse().ok()?;
    let dependencies = table.get("workspace")?.get("dependencies")?.as_table()?;
    let theirs = dependencies.iter().filter(|(_, value)| value.get("path").is_none());
    Some(theirs.map(|(name, _)| name.clone()).collect())
}

#[cfg(test)]
mod tests {
    use cargo_metadata::DependencyKind;

    use super::*;
    use crate::repo::{Dependency, Package};

    #[test]
    fn unused_unexplained_and_removed_dependencies_are_violations() {
        let manifest = "[workspace.dependencies]\na = \"1\"\nb = \"2\"\nours = { path = \"x\" }\n";
        let document = format!("{HEADER}\n|---|\n| `a` | x | y | z |\n| `c` | x | y | z |\n");
        let mut repo = Repo::of(&[("Cargo.toml", manifest), ("docs/dependencies.md", &document)]);
        let name = "b".to_owned();
        let dependency = Dependency { name, kind: DependencyKind::Development, is_ours: false };
        repo.packages.push(Package { dependencies: vec![dependency], ..Package::default() });
        let messages: Vec<_> = check(&repo).into_iter().map(|v| v.message).collect();
        assert_eq!(
            messages,
            [
                "no crate uses `a`: remove it",
                "lacks the line of dependency `b`: explain what it is for",
                "`c` is not a dependency any more: remove the line",
            ]
        );
    }
}
