//! Workspace members without a folder and sources without a target.

use std::collections::BTreeSet;

use crate::repo::{File, Repo};
use crate::rule::violation::Violation;

const MANIFEST: &str = "Cargo.toml";

/// Returns a violation per absent member, unlisted crate and unreachable source.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Violation> {
    let mut found = check_members(repo);
    let mut reached = BTreeSet::new();
    for root in repo.packages.iter().flat_map(|package| &package.roots) {
        reach(repo, root, true, &mut reached);
    }
    for file in repo.files_with("rs").filter(|file| !reached.contains(&file.path)) {
        let message = "no mod line and no target leads here: declare it or delete it";
        found.push(Violation::of(&file.path, message));
    }
    found
}

/// Returns members without a folder and folders that are no members.
fn check_members(repo: &Repo) -> Vec<Violation> {
    let members = repo.file(MANIFEST).and_then(members).unwrap_or_default();
    let mut found = Vec::new();
    for member in &members {
        if repo.file(&format!("{member}/{MANIFEST}")).is_none() {
            let message = format!("member `{member}` is not on disk: remove it");
            found.push(Violation::of(MANIFEST, message));
        }
    }
    for file in repo.files().filter(|file| file.path.starts_with("crates/")) {
        let Some(folder) = file.path.strip_suffix("/Cargo.toml") else { continue };
        if !members.iter().any(|member| member == folder) {
            found.push(Violation::of(&file.path, "is no member of the workspace: list it"));
        }
    }
    found
}

fn members(manifest: &File) -> Option<Vec<String>> {
    let table: toml::Table = manifest.text().parse().ok()?;
    let members = table.get("workspace")?.get("members")?.as_array()?;
    Some(members.iter().filter_map(|member| Some(member.as_str()?.to_owned())).collect())
}

/// Adds a source and all that its `mod` lines lead to.
///
/// `is_root`: the source's modules lie in its folder, as those of `lib.rs` and `mod.rs` do.
fn reach(repo: &Repo, path: &str, is_root: bool, reached: &mut BTreeSet<String>) {
    let Some(file) = repo.file(path) else { return };
    if !reached.insert(path.to_owned()) {
        return;
    }
    let Some(rust) = file.rust() else { return };
    let own = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let folder = if is_root { own.clone() } else { path.trim_end_matches(".rs").to_owned() };
    for declared in declarations(&rust.syntax.items, &folder) {
        let candidates = match declared.path {
            Some(written) => vec![format!("{own}/{written}")],
            None => vec![format!("{}.rs", declared.stem), format!("{}/mod.rs", declared.stem)],
        };
        for candidate in candidates {
            let is_root = candidate.ends_with("/mod.rs");
            reach(repo, candidate.trim_start_matches('/'), is_root, reached);
        }
    }
}

/// One `mod` line.
struct Declaration {
    /// The module's path without `.rs` or `/mod.rs`.
    stem: String,
    /// The value of its `#[path]`.
    path: Option<String>,
}

/// Returns the `mod` lines among these items, those in inline modules included.
fn declarations(items: &[syn::Item], folder: &str) -> Vec<Declaration> {
    let mut found = Vec::new();
    for item in items {
        let syn::Item::Mod(module) = item else { continue };
        let stem = format!("{folder}/{}", module.ident);
        match &module.content {
            Some((_, inner)) => found.extend(declarations(inner, &stem)),
            None => found.push(Declaration { stem, path: path_attribute(&module.attrs) }),
        }
    }
    found
}

/// Returns the value of `#[path = "..."]`.
fn path_attribute(attributes: &[syn::Attribute]) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("path"))?;
    let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
    let syn::Expr::Lit(value) = &pair.value else { return None };
    let syn::Lit::Str(text) = &value.lit else { return None };
    Some(text.value())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::Package;

    #[test]
    fn orphans_and_absent_members_are_violations() {
        let mut repo = Repo::of(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/a\", \"crates/gone\"]\n"),
            ("crates/a/Cargo.toml", ""),
            ("crates/b/Cargo.toml", ""),
            ("crates/a/src/lib.rs", "mod one;\nmod two;\n#[path = \"odd.rs\"] mod three;\n"),
            ("crates/a/src/one.rs", "mod inner;\nmod inline { mod deep; }\n"),
            ("crates/a/src/one/inner.rs", ""),
            ("crates/a/src/one/inline/deep.rs", ""),
            ("crates/a/src/two/mod.rs", "mod leaf;\n"),
            ("crates/a/src/two/leaf.rs", ""),
            ("crates/a/src/odd.rs", ""),
            ("crates/a/src/orphan.rs", "//! mod x;\n"),
            ("crates/a/tests/t.rs", ""),
        ]);
        let roots = ["crates/a/src/lib.rs", "crates/a/tests/t.rs"].map(str::to_owned).to_vec();
        repo.packages.push(Package { roots, ..Package::default() });
        let found: Vec<_> = check(&repo).into_iter().map(|v| v.to_string()).collect();
        assert_eq!(
            found,
            [
                "Cargo.toml: member `crates/gone` is not on disk: remove it",
                "crates/b/Cargo.toml: is no member of the workspace: list it",
                "crates/a/src/orphan.rs: no mod line and no target leads here: declare it or \
                 delete it",
            ]
        );
    }
}
