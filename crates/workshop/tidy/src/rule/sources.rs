//! Statistics name their source; the references list each cited source.

use std::collections::BTreeSet;

use crate::repo::Repo;
use crate::rule::violation::Violation;
use crate::rust::{self, Class, Piece};

/// Folder of the statistics.
const FOLDER: &str = "crates/define/stats/src/";
/// Pages of references begin so; they have a line `1. [Author Year] ...` for each key.
const PAGES: &str = "docs/references";

/// Returns a violation per unsourced statistic and per unlisted key.
///
/// A source is `Source:` or a key of the references, `[Stein 1945]`. Methods are left out: most of
/// them are accessors.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let mut found = Vec::new();
    for (file, rust) in repo.sources().filter(|(file, _)| file.path.starts_with(FOLDER)) {
        for item in &rust.syntax.items {
            let syn::Item::Fn(function) = item else { continue };
            let docs = rust::values(&function.attrs, "doc").collect::<Vec<_>>().join("\n");
            let is_sourced = docs.contains("Source:") || keys(&docs).next().is_some();
            if matches!(function.vis, syn::Visibility::Public(_)) && !is_sourced {
                let name = &function.sig.ident;
                let message = format!("`{name}` lacks its source: write `[Author Year]`");
                found.push(Violation::at(&file.path, name.span().start().line, message));
            }
        }
    }
    found.extend(unlisted(repo));
    found
}

/// Returns a violation per key in comments and texts that the references do not list.
fn unlisted(repo: &Repo) -> Vec<Violation> {
    let line_key = |line| {
        let (number, rest): (&str, &str) = str::split_once(line, ". [")?;
        number.parse::<u32>().ok()?;
        rest.split(']').next()
    };
    let pages = repo.files_with("md").filter(|file| file.path.starts_with(PAGES));
    let listed: BTreeSet<&str> =
        pages.flat_map(|file| file.text.lines()).filter_map(line_key).collect();
    let mut found = Vec::new();
    for (file, rust) in repo.sources() {
        let is_prose = |(class, _): &&Piece| !matches!(class, Class::Ident | Class::Other);
        for (_, range) in rust.pieces.iter().filter(is_prose) {
            let cited = keys(&file.text[range.clone()]).filter(|key| !listed.contains(key));
            found.extend(cited.map(|key| {
                let message = format!("`[{key}]` has no line in {PAGES}*.md: add `1. [{key}] ...`");
                Violation::at(&file.path, rust::line_at(&file.text, range.start), message)
            }));
        }
    }
    found
}

/// Iterates over the keys of references: `[Stein 1945]`, `[Callaghan 2022-08-23]`.
fn keys(text: &str) -> impl Iterator<Item = &str> {
    let inner = text.split('[').skip(1).filter_map(|rest| Some(rest.split_once(']')?.0));
    inner.filter(|key| {
        let year = key.rsplit(' ').next().unwrap_or_default();
        let is_year = year.len() >= 4 && year.bytes().take(4).all(|byte| byte.is_ascii_digit());
        let is_date = year.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric());
        key.starts_with(|c: char| c.is_uppercase()) && is_year && is_date
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statistic_without_a_source_is_a_violation() {
        let source = "/// Mean.\npub fn mean() {}\n/// Median.\n///\n/// Source: Tukey, 1977.\n\
                      pub(crate) fn median() {}\nfn inner() {}\n\
                      /// [Stein 1945]\npub fn size() {}\n\
                      struct Mean;\nimpl Mean { pub fn get(&self) {} }\n";
        let repo = Repo::of(&[
            ("crates/define/stats/src/series/location.rs", source),
            ("crates/report/analysis/src/table.rs", source),
            ("docs/references.md", "1. [Stein 1945] C. Stein.\n"),
        ]);
        let found = check(&repo);
        assert_eq!(found.len(), 1);
        assert!(found[0].message.starts_with("`mean` lacks"), "{found:?}");
    }

    #[test]
    fn a_key_without_a_line_in_the_references_is_a_violation() {
        let source = "// [Stein 1945], [`Key`], a[4096], [Sen 1968]\nconst A: &str = \
                      \"[Callaghan 2022-08-23]\";\n";
        let references =
            ("docs/references-x.md", "# R\n\n12. [Stein 1945] S.\n- [Sen 1968] no number\n");
        let found: Vec<_> = check(&Repo::of(&[("a.rs", source), references]))
            .into_iter()
            .map(|violation| violation.message)
            .collect();
        assert_eq!(
            found,
            ["Sen 1968", "Callaghan 2022-08-23"]
                .map(|key| format!("`[{key}]` has no line in {PAGES}*.md: add `1. [{key}] ...`"))
        );
    }
}
