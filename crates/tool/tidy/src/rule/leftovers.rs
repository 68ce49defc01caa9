//! Unfinished work: marks in comments, and scraps of tools.

use crate::repo::{File, Repo};
use crate::rule::violation::Violation;
use crate::rust::Class;

/// Ends of names of files that tools leave behind.
const SCRAPS: [&str; 4] = [".pending-snap", ".snap.new", ".orig", ".rej"];

/// Returns a violation for every leftover.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in repo.files() {
        if SCRAPS.iter().any(|end| file.path.ends_with(end)) {
            found.push(Violation::of(&file.path, "a scrap of a tool: delete it"));
        }
        let marks = texts(file).into_iter().filter_map(|(line, text)| Some((line, mark(text)?)));
        found.extend(marks.map(|(line, message)| Violation::at(&file.path, line, message)));
    }
    found
}

/// Returns the comments of a source, or the lines of a script, with their line numbers.
fn texts(file: &File) -> Vec<(usize, &str)> {
    if let Some(rust) = file.rust() {
        let comments = rust.of(Class::Comment).chain(rust.of(Class::Doc));
        return comments.map(|(piece, text)| (piece.line, text)).collect();
    }
    let is_script = file.is("sh") || file.is("toml") || !file.name().contains('.');
    (1..).zip(file.text().lines()).filter(|_| is_script).collect()
}

/// Returns what is wrong with a text that carries a mark of unfinished work.
fn mark(text: &str) -> Option<&'static str> {
    if text.contains("FIXME") {
        return Some("FIXME does not reach the repository: fix it");
    }
    let (_, rest) = text.split_once("TODO")?;
    let issue = rest.trim_start_matches(['(', ' ']).strip_prefix('#');
    let has_number = issue.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (!has_number).then_some("TODO needs an issue: write TODO(#12), or do it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unfinished_work_is_found_in_code_but_not_in_texts() {
        let source = "//! A.\n// TODO later\n// TODO(#12) later\n\
                      const A: &str = \"FIXME TODO\";\n";
        let repo = Repo::of(&[
            ("a.rs", source),
            ("run", "# FIXME\n"),
            ("a.md", "FIXME TODO\n"),
            ("z.snap.new", ""),
        ]);
        let lines: Vec<_> =
            check(&repo).into_iter().map(|v| (v.path, v.line.unwrap_or(0))).collect();
        let expected = [("a.rs", 2), ("run", 1), ("z.snap.new", 0)];
        assert_eq!(lines, expected.map(|(path, line)| (path.to_owned(), line)));
    }
}
