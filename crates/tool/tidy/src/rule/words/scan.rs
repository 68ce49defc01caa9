//! Old words of identifiers and prose, with their places.

use std::ops::Range;

use super::list::{self, Scope, Word};

/// One use of an old word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    /// Where it stands, in bytes.
    pub(super) range: Range<usize>,
    /// The word.
    pub(super) word: &'static Word,
    /// Whether it stands in prose, and in no identifier.
    pub(super) is_prose: bool,
}

impl Hit {
    /// Returns the same use in a text in which this one begins at `offset`.
    pub(super) fn shifted(self, offset: usize) -> Self {
        Self { range: self.range.start + offset..self.range.end + offset, ..self }
    }
}

/// Returns the old words of an identifier, or of code.
pub(super) fn identifier(code: &str) -> Vec<Hit> {
    let hit = |range: Range<usize>| {
        let word = list::find(&code[range.clone()])?;
        Some(Hit { range, word, is_prose: false })
    };
    parts(code).into_iter().filter_map(hit).collect()
}

/// Returns the old words of prose, and of the code that it has in backticks.
pub(super) fn prose(text: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    for range in runs(text, |c| c.is_ascii_alphabetic()) {
        let word = list::find(&text[range.clone()]);
        let word = word.filter(|word| word.scope == Scope::Everywhere);
        hits.extend(word.map(|word| Hit { range, word, is_prose: true }));
    }
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        // Between a first and a second backtick is code, between the second and a third is prose.
        let mut at = start;
        for (number, part) in line.split('`').enumerate() {
            if number % 2 == 1 && at + part.len() < start + line.len() {
                hits.extend(identifier(part).into_iter().map(|hit| hit.shifted(at)));
            }
            at += part.len() + 1;
        }
        start += line.len();
    }
    hits
}

/// Returns the old words of the placeholders of a text: `{name}`, `{name:..}`.
pub(super) fn placeholders(text: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    for (at, _) in text.match_indices('{') {
        let rest = &text[at + 1..];
        let name = rest.find(|c: char| !(c == '_' || c.is_ascii_alphanumeric())).unwrap_or(0);
        if rest[name..].starts_with(['}', ':']) {
            hits.extend(identifier(&rest[..name]).into_iter().map(|hit| hit.shifted(at + 1)));
        }
    }
    hits
}

/// Returns the parts of identifiers: split on `_`, digits and camel case.
fn parts(code: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    for run in runs(code, |c| c.is_ascii_alphabetic()) {
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

/// Returns the longest stretches of such characters.
fn runs(text: &str, is_own: fn(char) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| is_own(*c)) {
        match runs.last_mut() {
            Some(last) if last.end == at => last.end += c.len_utf8(),
            _ => runs.push(at..at + c.len_utf8()),
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
        assert_eq!(words(identifier("retold carry armed TASK kitchen")), 0);
        assert_eq!(words(prose("A beaker of asking-price; essays.")), 1);
        assert_eq!(words(placeholders("{told} {seen:?} {{kept}} {a.b}")), 3);
    }
}
