//! Unfinished work: marks, debug macros, tests ignored without a reason.

use crate::repo::{File, Repo};
use crate::rule::violation::Violation;
use crate::rust::{Class, Rust};

/// Macros that do not belong into finished code.
const MACROS: [&str; 3] = ["dbg", "todo", "unimplemented"];

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
        match file.rust() {
            Some(rust) => found.extend(in_source(file, rust)),
            None => found.extend(in_script(file)),
        }
    }
    found
}

/// Returns the leftovers of a Rust source.
fn in_source(file: &File, rust: &Rust) -> Vec<Violation> {
    let mut found = Vec::new();
    let is_comment = |class| matches!(class, Class::Comment | Class::Doc);
    for piece in rust.pieces.iter().filter(|piece| is_comment(piece.class)) {
        let text = rust.slice(piece);
        found.extend(mark(text).map(|message| Violation::at(&file.path, piece.line, message)));
    }
    for pair in rust.pieces.windows(2) {
        let (name, next) = (rust.slice(&pair[0]), rust.slice(&pair[1]));
        if pair[0].class == Class::Ident && MACROS.contains(&name) && next == "!" {
            let message = format!("`{name}!` is for unfinished code: finish it");
            found.push(Violation::at(&file.path, pair[0].line, message));
        }
    }
    let ignored = rust.functions.iter().filter(|f| f.attributes.iter().any(|a| a == "ignore"));
    found.extend(ignored.map(|function| {
        let message = format!("test `{}` is ignored without a reason: give it", function.name);
        Violation::at(&file.path, function.line, message)
    }));
    found
}

/// Returns the leftovers of a script or a configuration file.
fn in_script(file: &File) -> Vec<Violation> {
    let is_script = file.is("sh") || file.is("toml") || !file.name().contains('.');
    let lines = file.text().lines().enumerate().filter(|_| is_script);
    lines.filter_map(|(at, line)| Some(Violation::at(&file.path, at + 1, mark(line)?))).collect()
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
        let source = "//! A.\n// TODO later\n// TODO(#12) later\nfn f() { dbg!(1); }\n\
                      const A: &str = \"FIXME TODO todo!()\";\n#[test]\n#[ignore]\nfn t() {}\n\
                      #[test]\n#[ignore = \"needs root\"]\nfn u() {}\n";
        let repo = Repo::of(&[
            ("a.rs", source),
            ("run", "# FIXME\n"),
            ("a.md", "FIXME TODO\n"),
            ("z.snap.new", ""),
        ]);
        let lines: Vec<_> =
            check(&repo).into_iter().map(|v| (v.path, v.line.unwrap_or(0))).collect();
        let expected = [("a.rs", 2), ("a.rs", 4), ("a.rs", 8), ("run", 1), ("z.snap.new", 0)];
        assert_eq!(lines, expected.map(|(path, line)| (path.to_owned(), line)));
    }
}
