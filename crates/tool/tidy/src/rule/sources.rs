//! A public statistic names the source of its formula.

use crate::repo::Repo;
use crate::rule::violation::Violation;
use crate::rust::Function;

/// Where statistics stand.
const FOLDER: &str = "crates/define/stats/src/";

/// Returns a violation for every public function of a statistic without `Source:` in its docs.
///
/// A type's own functions are left out: most of them only give what the type holds.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Violation> {
    let mut found = Vec::new();
    for (file, rust) in repo.sources().filter(|(file, _)| file.path.starts_with(FOLDER)) {
        let is_meant = |function: &&Function| function.is_public && function.is_free;
        let public = rust.functions.iter().filter(is_meant);
        for function in public.filter(|function| !function.docs.contains("Source:")) {
            let message = format!("`{}` lacks `Source:` author, year, title", function.name);
            found.push(Violation::at(&file.path, function.line, message));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statistic_without_a_source_is_named() {
        let source = "/// Mean.\npub fn mean() {}\n/// Median.\n///\n/// Source: Tukey, 1977.\n\
                      pub fn median() {}\nfn inner() {}\n\
                      struct Kept;\nimpl Kept { pub fn get(&self) {} }\n";
        let repo = Repo::of(&[
            ("crates/define/stats/src/series/location.rs", source),
            ("crates/report/analysis/src/table.rs", source),
        ]);
        let found = check(&repo);
        assert_eq!(found.len(), 1);
        assert!(found[0].message.starts_with("`mean` lacks"), "{found:?}");
    }
}
