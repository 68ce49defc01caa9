//! Limits of files, functions and lines.

use std::collections::BTreeMap;

use crate::repo::{File, Repo};
use crate::rule::violation::Violation;
use crate::rust::{Class, Function, Rust};

/// Lines of a source without its unit tests: above it, a note.
pub const FILE_LINES_SOFT: usize = 400;
/// Lines of a source without its unit tests: above it, a violation.
pub const FILE_LINES_HARD: usize = 600;
/// Lines of a function, from `fn` to the closing brace.
pub const FUNCTION_LINES: usize = 70;
/// Characters of a line, except in texts and in tables of docs.
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
        found.extend(check_functions(file, rust));
        found.extend(check_lines(file, rust));
    }
    found
}

/// Checks the length of a source without its unit tests.
fn check_file(file: &File, rust: &Rust) -> Option<Violation> {
    let lines = rust.tests_line().map_or(rust.line_count(), |line| line - 1);
    if lines > FILE_LINES_HARD {
        let message = format!("{lines} lines, at most {FILE_LINES_HARD} are allowed: split it");
        return Some(Violation::of(&file.path, message));
    }
    let message = format!("{lines} lines are more than {FILE_LINES_SOFT}: split it soon");
    (lines > FILE_LINES_SOFT).then(|| Violation::of(&file.path, message).note())
}

/// Checks the length of every function.
fn check_functions(file: &File, rust: &Rust) -> Vec<Violation> {
    let large = rust.functions.iter().filter(|function| function.lines > FUNCTION_LINES);
    let violation = |function: &Function| {
        let Function { name, lines, .. } = function;
        let message =
            format!("`{name}` has {lines} lines, at most {FUNCTION_LINES} are allowed: split it");
        Violation::at(&file.path, function.line, message)
    };
    large.map(violation).collect()
}

/// Checks the width of every line, texts not counted.
fn check_lines(file: &File, rust: &Rust) -> Vec<Violation> {
    let mut in_texts: BTreeMap<usize, usize> = BTreeMap::new();
    for (piece, text) in rust.of(Class::Text) {
        for (at, part) in text.split('\n').enumerate() {
            *in_texts.entry(piece.line + at).or_default() += part.chars().count();
        }
    }
    let mut found = Vec::new();
    let lines = file.text().lines().enumerate().filter(|(_, line)| !is_table_row(line));
    for (at, line) in lines {
        let in_text = in_texts.get(&(at + 1)).copied().unwrap_or(0);
        let columns = line.chars().count().saturating_sub(in_text);
        if columns > LINE_COLUMNS {
            let message = format!("{columns} columns are more than {LINE_COLUMNS}: break the line");
            found.push(Violation::at(&file.path, at + 1, message));
        }
    }
    found
}

/// Returns whether a line is a row of a table in documentation, which cannot be broken.
fn is_table_row(line: &str) -> bool {
    let line = line.trim_start();
    line.strip_prefix("//!").or(line.strip_prefix("///")).is_some_and(|row| row.starts_with(" |"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    x();\n".repeat(lines - 2))
    }

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        check(&Repo::of(files)).into_iter().map(|violation| violation.to_string()).collect()
    }

    #[test]
    fn a_function_has_at_most_seventy_lines() {
        assert!(messages(&[("a.rs", &function(70))]).is_empty());
        let found = messages(&[("a.rs", &function(71))]);
        assert_eq!(found, ["a.rs:1: `long` has 71 lines, at most 70 are allowed: split it"]);
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
    fn long_texts_are_allowed_and_long_lines_are_not() {
        let text = format!("const A: &str = \"{}\";\n", "x".repeat(200));
        assert!(messages(&[("a.rs", &text)]).is_empty());
        let comment = format!("// {}\n", "x".repeat(100));
        assert_eq!(messages(&[("a.rs", &comment)]).len(), 1);
        let row = format!("//! | {} |\n", "x".repeat(100));
        assert!(messages(&[("a.rs", &row)]).is_empty());
    }
}
