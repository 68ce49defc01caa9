//! Limits of files and comments, which the formatter does not break.

use crate::repo::Repo;
use crate::rule::violation::Violation;

/// Lines of a source without its unit tests.
const FILE_LINES: usize = 450;
/// Characters of a line of a comment, except in tables.
const LINE_COLUMNS: usize = 100;
/// Size of any tracked file.
const FILE_BYTES: usize = 1 << 20;

/// Returns a violation for everything too large, and for comments that are not ASCII.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in repo.files().filter(|file| file.size_bytes > FILE_BYTES) {
        let message = format!("{} bytes are more than 1 MiB: keep it elsewhere", file.size_bytes);
        found.push(Violation::of(&file.path, message));
    }
    for (file, rust) in repo.sources() {
        let lines = rust.tests_line().map_or(file.text.lines().count(), |line| line - 1);
        if lines > FILE_LINES {
            let message = format!("{lines} lines, at most {FILE_LINES} are allowed: split it");
            found.push(Violation::of(&file.path, message));
        }
        let is_comment = |(_, line): &(usize, &str)| line.trim_start().starts_with("//");
        for (at, line) in (1..).zip(file.text.lines()).filter(is_comment) {
            let columns = line.chars().count();
            // A row of a table cannot be broken.
            if columns > LINE_COLUMNS && !line.trim_start_matches([' ', '/', '!']).starts_with('|')
            {
                let message = format!("{columns} columns, at most {LINE_COLUMNS}: break the line");
                found.push(Violation::at(&file.path, at, message));
            }
            if !line.is_ascii() {
                found.push(Violation::at(&file.path, at, "a comment is not ASCII: write it so"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(files: &[(&str, &str)]) -> Vec<String> {
        check(&Repo::of(files)).into_iter().map(|violation| violation.to_string()).collect()
    }

    #[test]
    fn unit_tests_do_not_count_as_lines_of_a_file() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "const A: u8 = 1;\n".repeat(600));
        let long = |lines: usize| format!("{}{tests}", "const A: u8 = 1;\n".repeat(lines));
        assert!(messages(&[("a.rs", &long(450))]).is_empty());
        assert!(messages(&[("a.rs", &long(451))])[0].contains("451 lines, at most 450"));
    }

    #[test]
    fn long_texts_are_allowed_and_long_comments_are_not() {
        let text = format!("const A: &str = \"{}\";\n", "x".repeat(200));
        assert!(messages(&[("a.rs", &text)]).is_empty());
        let comment = format!("// {}\n", "x".repeat(100));
        assert_eq!(messages(&[("a.rs", &comment)]).len(), 1);
        assert_eq!(messages(&[("a.rs", "// 3 \u{b5}s\n")]).len(), 1);
        let row = format!("//! | {} |\n", "x".repeat(100));
        assert!(messages(&[("a.rs", &row)]).is_empty());
    }
}
