//! Names of files name a concept; `mod.rs` holds no code but the list of its files' entries.

use crate::repo::{File, Repo};
use crate::rule::violation::Violation;

/// Names without a concept.
const EMPTY_NAMES: [&str; 9] =
    ["util", "utils", "common", "commons", "helper", "helpers", "misc", "manager", "managers"];

/// Returns a violation per empty name and per `mod.rs` with code.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in repo.files() {
        let stem_of = |part: &str| part.split('.').next().unwrap_or_default().to_owned();
        let empty = file.path.split('/').map(stem_of).find(|s| EMPTY_NAMES.contains(&s.as_str()));
        if let Some(name) = empty {
            let message = format!("`{name}` is not a concept: name the concept");
            found.push(Violation::of(&file.path, message));
        }
        if file.name() == "mod.rs" {
            found.extend(check_contents(file));
        }
    }
    found
}

/// Returns what a `mod.rs` holds besides docs, `mod` lines, `use` lines and the list of entries of
/// its modules.
fn check_contents(file: &File) -> Vec<Violation> {
    let Some(rust) = file.rust() else { return Vec::new() };
    let mut found = Vec::new();
    if !file.text.starts_with("//!") {
        found.push(Violation::at(&file.path, 1, "must open with //! docs"));
    }
    let is_line = |item: &syn::Item| {
        let is_outline = matches!(item, syn::Item::Mod(module) if module.content.is_none());
        is_outline || matches!(item, syn::Item::Use(_)) || is_list(item)
    };
    let code = rust.syntax.items.iter().filter(|item| !is_line(item)).count();
    if code > 0 {
        let message = format!("holds {code} items of code: give each concept its own file");
        found.push(Violation::of(&file.path, message));
    }
    found
}

/// Returns whether an item is a list of what other files define: `&[&one::RULE, &two::RULE]`.
fn is_list(item: &syn::Item) -> bool {
    let value = if let syn::Item::Static(list) = item {
        &list.expr
    } else if let syn::Item::Const(list) = item {
        &list.expr
    } else {
        return false;
    };
    matches!(&**value, syn::Expr::Reference(list) if matches!(*list.expr, syn::Expr::Array(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_names_and_code_in_mod_rs_are_violations() {
        let repo = Repo::of(&[
            ("a/mod.rs", "//! A.\npub mod b;\npub use b::B;\n"),
            ("b/mod.rs", "mod c;\nfn f() {}\nmod tests {}\n"),
            ("c/utils.rs", "//! U.\n"),
            ("tests/common/keys.rs", "//! C.\n"),
            ("d/mod.rs", "//! D.\nmod e;\nstatic ALL: &[&E] = &[&e::E];\n"),
        ]);
        let found: Vec<_> = check(&repo).into_iter().map(|v| v.to_string()).collect();
        assert_eq!(
            found,
            [
                "b/mod.rs:1: must open with //! docs",
                "b/mod.rs: holds 2 items of code: give each concept its own file",
                "c/utils.rs: `utils` is not a concept: name the concept",
                "tests/common/keys.rs: `common` is not a concept: name the concept",
            ]
        );
    }
}
