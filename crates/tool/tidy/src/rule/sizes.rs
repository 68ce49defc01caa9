//! Limits of files, and of lines that the formatter does not break.

use crate::repo::{File, Repo};
use crate::rule::violation::Violation;
use crate::rust::{Class, Rust};

/// Lines of a source without its unit tests: above it, a note.
pub const FILE_LINES_SOFT: usize = 400;
/// Lines of a source without its unit tests: above it, a violation.
pub const FILE_LINES_HARD: usize = 600;
/// Characters of a line of a comment, except in tables.
pub const LINE_COLUMNS: usize = 100;
/// Size of any tracked file.
pub const FILE_BYTES: usize = 1 << 20;

/// Returns a violation for everything too large.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in repo.files().filter(|file| file.size_bytes > FILE_BYTES) {
        let message = format!("{} bytes are more than 1 MiB: keep it elsewhere", file.size_bytes);
        found.push(Violation::of(&file.path, message));
    }
    for (file, rust) in repo.sources() {
        found.extend(check_file(file, rust));
        found.extend(check_lines(file, rust));
    }
    found
}

/// Checks the length of a source without its unit tests.
fn check_file(file: &File, rust: &Rust) -> Option<Violation> {
    let lines = rust.tests_line().map_or(file.text().lines().count(), |line| line - 1);
    if lines > FILE_LINES_HARD {
        let message = format!("{lines} lines, at most {FILE_LINES_HARD} are allowed: split it");
        return Some(Violation::of(&file.path, message));
    }
    let message = format!("{lines} lines are more than {FILE_LINES_SOFT}: split it soon");
    (lines > FILE_LINES_SOFT).then(|| Violation::of(&file.path, message).note())
}

/// Checks the width of the lines that end in a comment.
fn check_lines(file: &File, rust: &Rust) -> Vec<Violation> {
    let comments = rust.of(Class::Doc).chain(rust.of(Class::Comment));
    // A row of a table cannot be broken.
    let broken =
        comments.filter(|(_, text)| !text.trim_start_matches(['/', '!']).starts_with(" |"));
    let columns = broken.map(|(piece, _)| {
        let before = &file.text()[..piece.range.end];
        let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
        (piece.line, line.chars().count())
    });
    let wide = columns.filter(|(_, columns)| *columns > LINE_COLUMNS);
    wide.map(|(line, columns)| {
        let message = format!("{columns} columns are more than {LINE_COLUMNS}: break the line");
        Violation::at(&file.path, line, message)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        check(&Repo::of(files)).into_iter().map(|violation| violation.to_string()).collect()
    }

    #[test]
    fn unit_tests_do_not_count_and_the_soft_limit_is_a_note() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "const A: u8 = 1;\n".repeat(600));
        let long = |lines: usize| format!("{}{tests}", "const A: u8 = 1;\n".repeat(lines));
        assert!(messages(&[("a.rs", &long(400))]).is_empty());
        let notes = check(&Repo::of(&[("a.rs", &long(600))]));
        assert_eq!((notes.len(), notes[0].severity), (1, crate::Severity::Note));
        assert!(messages(&[("a.rs", &long(601))])[0].contains("601 lines, at most 600"));
    }

    #[test]
    fn long_texts_are_allowed_and_long_comments_are_not() {
        let text = format!("const A: &str = \"{}\";\n", "x".repeat(200));
        assert!(messages(&[("a.rs", &text)]).is_empty());
        let comment = format!("// {}\n", "x".repeat(100));
        assert_eq!(messages(&[("a.rs", &comment)]).len(), 1);
        let row = format!("//! | {} |\n", "x".repeat(100));
        assert!(messages(&[("a.rs", &row)]).is_empty());
    }
}
