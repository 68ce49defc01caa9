//! Code is ASCII: other characters may stand only in literals of text.

use crate::repo::Repo;
use crate::rule::violation::Violation;
use crate::rust::{Class, Rust};

/// Returns a violation per non-ASCII piece and per unparsable file.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in repo.files_with("rs") {
        match file.rust() {
            Some(rust) => found.extend(non_ascii(rust).map(|(line, c)| {
                Violation::at(&file.path, line, format!("{c:?} is not ASCII: write it in ASCII"))
            })),
            None => found.push(Violation::of(&file.path, "does not parse as Rust: repair it")),
        }
    }
    found
}

/// Returns the first character outside ASCII of each piece, with its line.
fn non_ascii(rust: &Rust) -> impl Iterator<Item = (usize, char)> {
    rust.pieces.iter().filter(|piece| piece.class != Class::Text).filter_map(|piece| {
        let found = rust.slice(piece).char_indices().find(|(_, c)| !c.is_ascii());
        found.map(|(at, c)| (rust.line_at(piece.range.start + at), c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_ascii_is_allowed_in_texts_and_rejected_in_comments() {
        let source = "const A: &str = \"\u{b5}s\";\n// 3 \u{b5}s\nconst B: char = '\u{b5}';\n";
        let found = check(&Repo::of(&[("a.rs", source), ("b.rs", "fn (")]));
        let lines: Vec<_> = found.iter().map(|v| (v.path.as_str(), v.line)).collect();
        assert_eq!(lines, [("a.rs", Some(2)), ("b.rs", None)]);
    }
}
