//! A public statistic names the source of its formula.

use crate::repo::Repo;
use crate::rule::violation::Violation;

/// Where statistics stand, once there are any.
const FOLDER: &str = "crates/tell/analysis/src/";

/// Returns a violation for every public function of a statistic without `Source:` in its docs.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Violation> {
    let mut found = Vec::new();
    for (file, rust) in repo.sources().filter(|(file, _)| is_statistic(&file.path)) {
        let public = rust.functions.iter().filter(|function| function.is_public);
        for function in public.filter(|function| !function.docs.contains("Source:")) {
            let message = format!("`{}` lacks `Source:` author, year, title", function.name);
            found.push(Violation::at(&file.path, function.line, message));
        }
    }
    found
}

/// Returns whether the path is `stat.rs`, `stats.rs` or under a folder of that name.
fn is_statistic(path: &str) -> bool {
    let Some(rest) = path.strip_prefix(FOLDER) else { return false };
    let first = rest.split(['/', '.']).next().unwrap_or_default();
    matches!(first, "stat" | "stats")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statistic_without_a_source_is_named() {
        let source = "/// Mean.\npub fn mean() {}\n/// Median.\n///\n/// Source: Tukey, 1977.\n\
                      pub fn median() {}\nfn inner() {}\n";
        let repo = Repo::of(&[
            ("crates/tell/analysis/src/stat/location.rs", source),
            ("crates/tell/analysis/src/table.rs", source),
        ]);
        let found = check(&repo);
        assert_eq!(found.len(), 1);
        assert!(found[0].message.starts_with("`mean` lacks"), "{found:?}");
    }
}
