//! Finds the old words of a file.

use std::collections::BTreeSet;

use super::{list, scan};
use crate::repo::{File, Repo};
use crate::rule::violation::Violation;
use crate::rust::{Class, Rust, line_at};

/// Files of the rule itself, which lists the words.
const OWN: &str = "crates/workshop/tidy/src/rule/words";
/// Endings of the files that are checked, besides makefiles.
const ENDINGS: [&str; 8] = ["rs", "md", "toml", "sh", "snap", "c", "h", "go"];
/// What stands before a name in stored records.
const STORED_AS: [&str; 2] = ["rename = ", "alias = "];

/// Returns a violation per old word of a line or file name.
pub(crate) fn check(repo: &Repo) -> Vec<Violation> {
    let is_checked = |file: &&File| {
        let has_ending = ENDINGS.iter().any(|ending| file.is(ending));
        (has_ending || file.name() == "Makefile") && !file.path.starts_with(OWN)
    };
    repo.files().filter(is_checked).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Violation> {
    let mut found: Vec<Violation> = in_name(file).into_iter().collect();
    let text = &file.text;
    let hits = match file.rust() {
        Some(rust) => in_source(text, rust),
        None if file.is("rs") => Vec::new(),
        None => scan::prose(text, 0),
    };
    let mut known = BTreeSet::new();
    let hits = hits.into_iter().filter(|(at, word)| !word.is_allowed(&file.path, text, at));
    for (range, word) in hits {
        let line = line_at(text, range.start);
        let old = text[range].to_lowercase();
        if known.insert((line, old.clone())) {
            let message = format!("`{old}` is not a word of the field: {}", word.instead);
            found.push(Violation::at(&file.path, line, message));
        }
    }
    found
}

/// Returns the violation of a file's name.
fn in_name(file: &File) -> Option<Violation> {
    let stem = file.name().split('.').next().unwrap_or_default();
    let mut parts = stem.split(['_', '-']).filter_map(|part| Some((part, list::find(part)?)));
    let (part, word) = parts.find(|(_, word)| !word.is_allowed_in_path(&file.path))?;
    let message = format!("`{part}` in a file's name is not a word of the field: {}", word.instead);
    Some(Violation::of(&file.path, message))
}

/// Returns the old words of a source; the names of stored fields are left out.
fn in_source(source: &str, rust: &Rust) -> Vec<scan::Hit> {
    let mut hits = Vec::new();
    for (class, range) in &rust.pieces {
        let (text, at) = (&source[range.clone()], range.start);
        match class {
            Class::Ident => hits.extend(scan::identifier(text, at)),
            Class::Text if !text.starts_with('\'') => {
                if text.trim_matches('"').contains(' ') {
                    hits.extend(scan::prose(text, at));
                } else if !STORED_AS.iter().any(|before| source[..at].ends_with(before)) {
                    hits.extend(scan::identifier(text, at));
                }
                hits.extend(scan::placeholders(text, at));
            }
            Class::Comment => hits.extend(scan::prose(text, at)),
            Class::Text | Class::Other => {}
        }
    }
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&Repo::of(&[(path, text)])).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn planted_words_are_found_in_names_comments_and_prose() {
        let source = "/// What was told.\nfn a(asked_for: Seen) {\n    let _ = \"kept\";\n    \
                      say(\"nobody waits, {told}\");\n    // `SpendPlan` and ahead\n}\n\
                      #[serde(rename = \"kept\")]\nstruct A;\n";
        let lines: Vec<String> = found("a.rs", source)
            .into_iter()
            .map(|text| text.split(" is not a word").next().unwrap_or_default().to_owned())
            .collect();
        let expected =
            ["1: `told`", "2: `asked`", "2: `seen`", "3: `kept`", "4: `say`", "4: `nobody`"];
        let expected = expected.into_iter().chain(["4: `told`", "5: `ahead`", "5: `spend`"]);
        assert_eq!(lines, expected.map(|text| format!("a.rs:{text}")).collect::<Vec<_>>());
    }

    #[test]
    fn documents_manifests_scripts_and_snapshots_are_prose() {
        for path in ["a.md", "a.toml", "a.sh", "a.snap", "Makefile"] {
            assert_eq!(found(path, "x\nwhoever Beside\n").len(), 2, "{path}");
        }
        assert_eq!(found("a.csv", "whoever").len(), 0);
        let message =
            "a.md:1: `tells` is not a word of the field: write reports, returns or message";
        assert_eq!(found("a.md", "It tells."), [message]);
    }

    #[test]
    fn some_words_are_old_in_identifiers_only() {
        assert!(found("a.rs", "// many words, traffic, to prove\nfn f() {}\n").is_empty());
        assert_eq!(found("a.rs", "fn prove(words: u8) {}\n").len(), 2);
        assert_eq!(found("a.md", "the option `words_left`\n").len(), 1);
    }

    #[test]
    fn names_of_files_are_checked() {
        assert!(found("src/told.rs", "")[0].contains("`told` in a file's name"));
        assert!(found("tests/promises/a.rs", "mod promises;\n").is_empty());
    }

    #[test]
    fn the_field_s_own_uses_are_exceptions() {
        let source = "fn f(p: *mut c_void) { v.drain(..); match a { syn::Arm { .. } => () } }\n\
                      // The write-ahead log on ARM; every drain of the queue.\n";
        let lines = found("a.rs", source);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with("a.rs:2: `drain`"), "{lines:?}");
        assert!(found("a.c", "void f(void);\n").is_empty());
    }

    #[test]
    fn latency_is_a_word() {
        assert!(found("a.rs", "/// Latency of a read.\nfn latency_ns() {}\n").is_empty());
    }
}
