//! Unsafe code stands in `ffi` files, and only becomes less.

use crate::repo::{File, Repo};
use crate::rule::violation::Violation;
use crate::rust::{self, Class, Rust};

/// Keywords `unsafe` in all sources: lower it with every one that goes, never raise it.
///
/// Each counts, also in tests, in macros and in types of foreign functions.
const KEYWORDS: usize = 263;
/// The file that has the number.
const THIS: &str = "crates/workshop/tidy/src/rule/unsafe_code.rs";
/// Sources of readers, which no program here contains.
const EXEMPT: &str = "examples/";

/// Returns a violation per keyword outside of `ffi` files, and one for another number.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    check_number(repo, KEYWORDS)
}

fn check_number(repo: &Repo, allowed: usize) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut count = 0;
    for (file, rust) in repo.sources().filter(|(file, _)| !file.path.starts_with(EXEMPT)) {
        let lines = keyword_lines(file, rust);
        count += lines.len();
        if !file.name().starts_with("ffi") {
            let message = "`unsafe` outside of an `ffi` file: move it there, or do without";
            found.extend(lines.into_iter().map(|at| Violation::at(&file.path, at, message)));
        }
    }
    if count > allowed {
        let remedy = "use safe code, or a crate that has it";
        let message = format!("{count} keywords `unsafe`, at most {allowed} are allowed: {remedy}");
        found.push(Violation::of(THIS, message));
    } else if count < allowed {
        let message = format!("only {count} keywords `unsafe` are left: lower KEYWORDS to {count}");
        found.push(Violation::of(THIS, message));
    }
    found
}

/// Returns the line, 1-based, of each keyword.
fn keyword_lines(file: &File, rust: &Rust) -> Vec<usize> {
    let keywords = rust
        .pieces
        .iter()
        .filter(|(class, range)| *class == Class::Ident && &file.text[range.clone()] == "unsafe");
    keywords.map(|(_, range)| rust::line_at(&file.text, range.start)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five keywords; words in comments, texts and other names are none.
    const SOURCE: &str = "//! unsafe\n#![expect(unsafe_code, reason = \"unsafe\")]\n\
                          type F = unsafe extern \"C\" fn();\nunsafe impl Send for A {}\n\
                          macro_rules! m { () => { unsafe { g() } } }\n\
                          unsafe fn g() {}\nfn h() { assert!(unsafe { k() }) }\n";

    fn messages(files: &[(&str, &str)], allowed: usize) -> Vec<String> {
        let found = check_number(&Repo::of(files), allowed);
        found.into_iter().map(|violation| violation.to_string()).collect()
    }

    #[test]
    fn unsafe_code_outside_of_ffi_files_is_a_violation() {
        let example = ("examples/own/a.rs", SOURCE);
        assert!(messages(&[("a/src/ffi_db.rs", SOURCE), example], 5).is_empty());
        let found = messages(&[("a/src/db.rs", SOURCE), example], 5);
        let message = "`unsafe` outside of an `ffi` file: move it there, or do without";
        assert_eq!(found, [3, 4, 5, 6, 7].map(|line| format!("a/src/db.rs:{line}: {message}")));
    }

    #[test]
    fn the_number_is_exact() {
        let more = messages(&[("ffi.rs", SOURCE)], 4);
        assert!(more[0].contains("5 keywords `unsafe`, at most 4 are allowed: "), "{more:?}");
        let fewer = messages(&[("ffi.rs", SOURCE)], 6);
        assert!(fewer[0].ends_with("only 5 keywords `unsafe` are left: lower KEYWORDS to 5"));
        assert_eq!((more.len(), fewer.len()), (1, 1));
    }
}
