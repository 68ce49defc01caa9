//! Sources without a target.

use std::collections::BTreeSet;

use crate::module::Tree;
use crate::repo::Repo;
use crate::rule::violation::Violation;

/// Returns a violation per source that no target's modules include.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let roots = repo.packages.iter().flat_map(|package| &package.roots);
    let modules = roots.flat_map(|root| Tree::of(repo, root).modules);
    let reached: BTreeSet<&str> = modules.map(|module| module.file.path.as_str()).collect();
    let message = "no mod line and no target leads here: declare it or delete it";
    // Examples are built by their readers, fuzz targets by cargo-fuzz.
    let is_elsewhere = |path: &str| path.starts_with("examples/") || path.starts_with("fuzz/");
    let sources = repo.files_with("rs").filter(|file| !is_elsewhere(&file.path));
    let lost = sources.filter(|file| !reached.contains(file.path.as_str()));
    lost.map(|file| Violation::of(&file.path, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::Package;

    #[test]
    fn a_source_that_no_target_includes_is_a_violation() {
        let mut repo = Repo::of(&[
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
            ["crates/a/src/orphan.rs: no mod line and no target leads here: declare it or \
                 delete it",]
        );
    }
}
