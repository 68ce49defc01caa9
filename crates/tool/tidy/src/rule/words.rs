//! "Latency" is not a word here unless it says which: service or response.

use crate::repo::{File, Repo};
use crate::rule::violation::Violation;
use crate::rust::{Class, Rust};

/// The word, lower-case and without its ending, so that the plural is found too.
const STEM: &str = "latenc";
/// Words that make it precise.
const PRECISE: [&str; 2] = ["service", "response"];
/// The law may name what it forbids.
const GLOSSARY: &str = "GLOSSARY.md";

/// Returns a violation for every line that uses the bare word.
#[must_use]
pub fn check(repo: &Repo) -> Vec<Violation> {
    let mut found = Vec::new();
    for file in repo.files().filter(|file| file.name() != GLOSSARY) {
        let lines = match file.rust() {
            Some(rust) => in_source(rust),
            None if file.is("md") || file.is("toml") => in_text(file),
            None => Vec::new(),
        };
        let message = "say service time or response time: the bare word means neither";
        found.extend(lines.into_iter().map(|line| Violation::at(&file.path, line, message)));
    }
    found
}

/// Returns the lines of a source that use the bare word.
///
/// A text of one word is data (an engine's own name for something); only prose is judged.
fn in_source(rust: &Rust) -> Vec<usize> {
    let end = rust.tests_line().unwrap_or(usize::MAX);
    let mut lines = Vec::new();
    for piece in rust.pieces.iter().filter(|piece| piece.class != Class::Other) {
        let text = rust.slice(piece);
        let is_wrong = match piece.class {
            Class::Word => is_bare_name(text),
            Class::Text => piece.line < end && text.contains(' ') && is_bare(text),
            Class::Doc | Class::Comment | Class::Other => is_bare(text),
        };
        if is_wrong {
            lines.push(piece.line);
        }
    }
    lines.dedup();
    lines
}

/// Returns the lines of a document or a definition that use the bare word.
fn in_text(file: &File) -> Vec<usize> {
    let lines = file.text().lines().enumerate();
    lines.filter(|(_, line)| is_bare(line)).map(|(at, _)| at + 1).collect()
}

/// Returns whether an identifier uses the word and does not say which.
fn is_bare_name(name: &str) -> bool {
    let name = name.to_lowercase();
    name.contains(STEM) && !PRECISE.iter().any(|word| name.contains(word))
}

/// Returns whether prose uses the word and no precise word stands beside it.
///
/// In quotes or backticks the word is mentioned, not used; joined by `_`, `.` or `-` it is part of
/// somebody's name for something.
fn is_bare(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.match_indices(STEM).any(|(at, _)| {
        let before = &lower[..at];
        let after = lower[at..].trim_start_matches(|c: char| c.is_alphabetic());
        let is_quoted = before.ends_with(['"', '`', '\'', '_', '.', '-', '/', '='])
            || after.starts_with(['_', '`', '=', '/'])
            || before.ends_with(|c: char| c.is_alphanumeric());
        let next_word = |text: &str| PRECISE.iter().any(|word| text.starts_with(word));
        let last_word = before.trim_end().rsplit(' ').next().unwrap_or_default();
        !is_quoted && !next_word(after.trim_start()) && !next_word(last_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_precise_word_may_be_used() {
        assert!(is_bare("the latency of a read"));
        assert!(is_bare("Latencies rise"));
        assert!(!is_bare("response latency"));
        assert!(!is_bare("never \"latency\" alone, nor `latency`"));
        assert!(!is_bare("reads fio's clat_latency_ns"));
        assert!(is_bare_name("latency_ns") && !is_bare_name("service_latency_ns"));
    }

    #[test]
    fn names_comments_and_prose_are_judged_data_is_not() {
        let source = "// latency\nlet\n";
        assert!(check(&Repo::of(&[("a.rs", source)])).is_empty(), "does not parse: not judged");
        let source = "/// Its latency.\nfn a() {\n    let _ = \"latency\";\n    let latency = 1;\n    \
                      say(\"the latency is\");\n}\n";
        let repo =
            Repo::of(&[("a.rs", source), ("b.md", "x\nlatency\n"), ("GLOSSARY.md", "latency")]);
        let lines: Vec<_> = check(&repo).into_iter().filter_map(|v| v.line).collect();
        assert_eq!(lines, [1, 4, 5, 2]);
    }
}
