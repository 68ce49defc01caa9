//! Files, functions and lines stay small; a known offender may shrink and never grow.

use std::collections::BTreeMap;

use crate::repo::{File, Repo};
use crate::rule::violation::Violation;
use crate::rust::{Class, Rust};

/// Lines of a source without its unit tests: above it, a note.
pub const FILE_LINES_SOFT: usize = 400;
/// Lines of a source without its unit tests: above it, a violation.
pub const FILE_LINES_HARD: usize = 600;
/// Lines of a function, from `fn` to the closing brace.
pub const FUNCTION_LINES: usize = 70;
/// Characters of a line; a text's are not counted, and a row of a table in docs is left alone.
pub const LINE_COLUMNS: usize = 100;
/// Size of any tracked file.
pub const FILE_BYTES: usize = 1 << 20;

/// The list of known offenders.
const RATCHET: &str = "crates/tool/tidy/ratchet.txt";

/// Name under which a whole file stands in the list of known offenders.
const WHOLE_FILE: &str = "file";

/// Known offenders: lines allowed, by path and by `file` or the function's name.
type Ratchet = BTreeMap<(String, String), usize>;

/// Returns a violation for everything too large and for every stale line of the ratchet.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Violation> {
    let (mut ratchet, mut found) = read_ratchet(repo);
    for file in repo.files().filter(|file| file.size_bytes > FILE_BYTES) {
        let message = format!("{} bytes are more than 1 MiB: keep it elsewhere", file.size_bytes);
        found.push(Violation::of(&file.path, message));
    }
    for (file, rust) in repo.sources() {
        found.extend(check_file(file, rust, &mut ratchet));
        found.extend(check_functions(file, rust, &mut ratchet));
        found.extend(check_lines(file, rust));
    }
    found.extend(ratchet.keys().map(|(path, name)| {
        Violation::of(RATCHET, format!("`{path} {name}` is no offender any more: remove the line"))
    }));
    found
}

/// Checks the length of a source without its unit tests.
fn check_file(file: &File, rust: &Rust, ratchet: &mut Ratchet) -> Option<Violation> {
    let lines = rust.tests_line().map_or(rust.line_count(), |line| line - 1);
    if lines > FILE_LINES_HARD {
        return offence(file, (WHOLE_FILE, lines), FILE_LINES_HARD, ratchet);
    }
    let message = format!("{lines} lines are more than {FILE_LINES_SOFT}: split it soon");
    (lines > FILE_LINES_SOFT).then(|| Violation::of(&file.path, message).note())
}

/// Checks the length of every function.
fn check_functions(file: &File, rust: &Rust, ratchet: &mut Ratchet) -> Vec<Violation> {
    let large = rust.functions.iter().filter(|function| function.lines > FUNCTION_LINES);
    large
        .filter_map(|function| {
            let size = (function.name.as_str(), function.lines);
            let violation = offence(file, size, FUNCTION_LINES, ratchet)?;
            Some(Violation { line: Some(function.line), ..violation })
        })
        .collect()
}

/// Judges something too large by the ratchet, and strikes it off the list.
fn offence(
    file: &File,
    (name, lines): (&str, usize),
    limit: usize,
    ratchet: &mut Ratchet,
) -> Option<Violation> {
    let allowed = ratchet.remove(&(file.path.clone(), name.to_owned()));
    let what = if name == WHOLE_FILE { "the file".to_owned() } else { format!("`{name}`") };
    let message = match allowed {
        None => format!("{what} has {lines} lines, at most {limit} are allowed: split it"),
        Some(allowed) if lines > allowed => {
            format!("{what} grew from {allowed} to {lines} lines: a known offender may only shrink")
        }
        Some(allowed) if lines < allowed => {
            let message = format!("write {lines}: {what} of {} has shrunk", file.path);
            return Some(Violation::of(RATCHET, message));
        }
        Some(_) => return None,
    };
    Some(Violation::of(&file.path, message))
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

/// Reads the list of known offenders; returns violations for lines that cannot be read.
fn read_ratchet(repo: &Repo) -> (Ratchet, Vec<Violation>) {
    let mut ratchet = Ratchet::new();
    let mut found = Vec::new();
    let text = repo.file(RATCHET).map_or("", File::text);
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let words: Vec<_> = line.split_whitespace().collect();
        let entry = match words.as_slice() {
            [path, name, lines] => lines.parse().ok().map(|lines| (path, name, lines)),
            _ => None,
        };
        match entry {
            Some((path, name, lines)) => {
                ratchet.insert(((*path).to_owned(), (*name).to_owned()), lines);
            }
            None => found.push(Violation::at(RATCHET, at + 1, "write PATH NAME LINES")),
        }
    }
    (ratchet, found)
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
    fn a_function_may_have_seventy_lines() {
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
        assert!(messages(&[("a.rs", &long(601))])[0].contains("has 601 lines"));
    }

    #[test]
    fn a_known_offender_may_stay_or_shrink_but_not_grow() {
        let listed = |text: &str| messages(&[("a.rs", &function(80)), (RATCHET, text)]);
        assert!(listed("# c\na.rs long 80\n").is_empty());
        assert!(listed("a.rs long 79\n")[0].contains("grew from 79 to 80"));
        assert!(listed("a.rs long 81\n")[0].contains("write 80"));
        let found = listed("a.rs long 80\nb.rs file 700\nnonsense\n");
        assert!(found[0].ends_with(":3: write PATH NAME LINES"), "{found:?}");
        assert!(found[1].contains("`b.rs file` is no offender any more"), "{found:?}");
    }

    #[test]
    fn a_long_text_is_data_a_long_line_is_not() {
        let text = format!("const A: &str = \"{}\";\n", "x".repeat(200));
        assert!(messages(&[("a.rs", &text)]).is_empty());
        let comment = format!("// {}\n", "x".repeat(100));
        assert_eq!(messages(&[("a.rs", &comment)]).len(), 1);
        let row = format!("//! | {} |\n", "x".repeat(100));
        assert!(messages(&[("a.rs", &row)]).is_empty());
    }
}
