//! Old words of identifiers and prose, with their places.

use std::ops::Range;

use super::list::{self, Word};

/// One use of an old word: where it stands, in bytes.
pub(super) type Hit = (Range<usize>, &'static Word);

/// Returns the old words of an identifier, or of code; `at`: where it begins in its file.
pub(super) fn identifier(code: &str, at: usize) -> Vec<Hit> {
    let hit = |range: Range<usize>| {
        let word = list::find(&code[range.clone()])?;
        Some((range.start + at..range.end + at, word))
    };
    parts(code).into_iter().filter_map(hit).collect()
}

/// Returns the old words of prose, and of the code that it has in backticks.
pub(super) fn prose(text: &str, at: usize) -> Vec<Hit> {
    let mut hits = Vec::new();
    for range in runs(text) {
        let word = list::find(&text[range.clone()]).filter(|word| !word.in_prose);
        hits.extend(word.map(|word| (range.start + at..range.end + at, word)));
    }
    let mut start = at;
    for line in text.split_inclusive('\n') {
        // Between a first and a second backtick is code, between the second and a third is prose.
        let mut at = start;
        for (number, part) in line.split('`').enumerate() {
            if number % 2 == 1 && at + part.len() < start + line.len() {
                hits.extend(identifier(part, at));
            }
            at += part.len() + 1;
        }
        start += line.len();
    }
    hits
}

/// Returns the old words of the placeholders of a text: `{name}`, `{name:..}`.
pub(super) fn placeholders(text: &str, start: usize) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (at, _) in text.match_indices('{') {
        let rest = &text[at + 1..];
        let name = rest.find(|c: char| !(c == '_' || c.is_ascii_alphanumeric())).unwrap_or(0);
        if rest[name..].starts_with(['}', ':']) {
            hits.extend(identifier(&rest[..name], start + at + 1));
        }
    }
    hits
}

/// Returns the parts of identifiers: split on `_`, digits and camel case.
fn parts(code: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    for run in runs(code) {
        let bytes = &code.as_bytes()[run.clone()];
        let is_upper = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
        let is_lower = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
        let mut start = 0;
        for at in 1..bytes.len() {
            // `aB` ends a part before `B`; of `ABc` the last capital begins the next.
            if is_upper(at) && (is_lower(at - 1) || is_lower(at + 1)) {
                parts.push(run.start + start..run.start + at);
                start = at;
            }
        }
        parts.push(run.start + start..run.end);
    }
    parts
}

/// Returns the longest stretches of letters.
fn runs(text: &str) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.char_indices().filter(|(_, c)| c.is_ascii_alphabetic()) {
        match runs.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_split_on_underscores_digits_and_camel_case() {
        let code = "is_told HTTPServer2Arm ToldARM";
        let names: Vec<&str> = parts(code).into_iter().map(|part| &code[part]).collect();
        assert_eq!(names, ["is", "told", "HTTP", "Server", "Arm", "Told", "ARM"]);
    }

    #[test]
    fn parts_of_words_are_no_words() {
        let words = |hits: Vec<Hit>| hits.len();
        assert_eq!(words(identifier("retold carry armed TASK kitchen", 0)), 0);
        assert_eq!(words(prose("A beaker of asking-price; essays.", 0)), 1);
        assert_eq!(words(placeholders("{told} {seen:?} {{kept}} {a.b}", 0)), 3);
    }
}
