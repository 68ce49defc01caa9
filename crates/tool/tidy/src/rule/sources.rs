//! A public statistic names the source of its formula.

use crate::repo::Repo;
use crate::rule::violation::Violation;
use crate::rust::Function;

/// Folder of the statistics.
const FOLDER: &str = "crates/define/stats/src/";

/// Returns a violation per public statistic without a source.
///
/// A source is `Source:` or a key of the references, `[Stein 1945]`. Methods are left out: most of
/// them are accessors.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Violation> {
    let mut found = Vec::new();
    for (file, rust) in repo.sources().filter(|(file, _)| file.path.starts_with(FOLDER)) {
        let is_statistic = |function: &&Function| function.is_public && function.is_free;
        let public = rust.functions.iter().filter(is_statistic);
        for function in public.filter(|function| !has_source(&function.docs)) {
            let message = format!("`{}` lacks its source: write `[Author Year]`", function.name);
            found.push(Violation::at(&file.path, function.line, message));
        }
    }
    found
}

/// Returns whether the docs name a source, or cite a key that ends in a year.
fn has_source(docs: &str) -> bool {
    let keys = docs.split('[').skip(1).filter_map(|rest| rest.split_once(']'));
    let has_year =
        |key: &str| key.as_bytes().windows(4).any(|four| four.iter().all(u8::is_ascii_digit));
    docs.contains("Source:") || keys.into_iter().any(|(key, _)| has_year(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statistic_without_a_source_is_a_violation() {
        let source = "/// Mean.\npub fn mean() {}\n/// Median.\n///\n/// Source: Tukey, 1977.\n\
                      pub fn median() {}\nfn inner() {}\n\
                      /// [Stein 1945]\npub fn size() {}\n\
                      struct Mean;\nimpl Mean { pub fn get(&self) {} }\n";
        let repo = Repo::of(&[
            ("crates/define/stats/src/series/location.rs", source),
            ("crates/report/analysis/src/table.rs", source),
        ]);
        let found = check(&repo);
        assert_eq!(found.len(), 1);
        assert!(found[0].message.starts_with("`mean` lacks"), "{found:?}");
    }
}
