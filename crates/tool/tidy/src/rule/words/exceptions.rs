//! Uses of the listed words that are the field's own.

use super::list::Word;
use super::scan::Hit;

/// Where an exception holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Inside this phrase; one in lower case stands for any case.
    Phrase(&'static str),
    /// Inside this phrase, in prose only.
    Prose(&'static str),
    /// In files whose path contains this.
    Path(&'static str),
    /// In files with this ending.
    Ending(&'static str),
}

/// One use of a word that is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exception {
    /// A form of the word; the others are allowed there too.
    pub word: &'static str,
    /// Where.
    pub place: Place,
    /// Why.
    pub reason: &'static str,
}

const fn phrase(word: &'static str, text: &'static str, reason: &'static str) -> Exception {
    Exception { word, place: Place::Phrase(text), reason }
}

const C: &str = "a type of C";
const LOOKUP: &str = "the field's verb for a lookup";
const WAL: &str = "the write-ahead log";
const READ_AHEAD: &str = "reading ahead, of a file system or an engine";
const CPU: &str = "the CPU architecture";
const RUST: &str = "an API of Rust or of a crate";
const TESTS: &str = "the tests of guarantees, by their path";
const RULE: &str = "the name of this rule";
/// The archive keeps its names.
const STORED: &str = "the name of a stored metric";
const MODEL: &str = "the name of a type of `model`";

/// Every exception.
#[rustfmt::skip]
pub const EXCEPTIONS: &[Exception] = &[
    phrase("void", "c_void", C),
    phrase("void", "void *", C),
    phrase("void", "(void)", C),
    phrase("void", "void probe(", C),
    phrase("void", "static void", C),
    Exception { word: "void", place: Place::Ending("c"), reason: C },
    Exception { word: "void", place: Place::Ending("h"), reason: C },
    phrase("look", "client_looks", STORED),
    phrase("look", "look up", LOOKUP),
    phrase("look", "looks up", LOOKUP),
    phrase("look", "looked up", LOOKUP),
    phrase("look", "looking up", LOOKUP),
    phrase("look", "look-up", LOOKUP),
    phrase("ahead", "write-ahead", WAL),
    phrase("ahead", "write_ahead", WAL),
    phrase("ahead", "read-ahead", READ_AHEAD),
    phrase("ahead", "read_ahead", READ_AHEAD),
    phrase("drain", ".drain(", RUST),
    phrase("drain", "::drain`", RUST),
    phrase("arm", "ARM", CPU),
    phrase("arm", "arm64", CPU),
    phrase("arm", "aarch64_arm", CPU),
    phrase("arm", "and_arm", CPU),
    Exception { word: "arm", place: Place::Prose("Arm"), reason: CPU },
    phrase("arm", "syn::Arm", RUST),
    phrase("arm", "Arm::", RUST),
    phrase("arm", "wildcard_enum_match_arm", RUST),
    phrase("traffic", "traffic_spec", MODEL),
    phrase("traffic", "TrafficSpec", MODEL),
    Exception { word: "promises", place: Place::Path("tests/promises"), reason: TESTS },
    phrase("promises", "tests/promises", TESTS),
    phrase("promises", "mod promises", TESTS),
    phrase("promises", "promises::", TESTS),
    phrase("promises", "promises__", TESTS),
    phrase("words", "mod words", RULE),
    phrase("words", "sources, words", RULE),
    phrase("words", "words::check", RULE),
];

/// Returns whether an exception allows this use.
pub(super) fn covers(path: &str, text: &str, hit: &Hit) -> bool {
    of(hit.word).any(|exception| match exception.place {
        Place::Phrase(phrase) => is_inside(text, hit, phrase),
        Place::Prose(phrase) => hit.is_prose && is_inside(text, hit, phrase),
        Place::Ending(ending) => path.rsplit_once('.').is_some_and(|(_, own)| own == ending),
        Place::Path(_) => false,
    })
}

/// Returns whether an exception allows the word in a path.
pub(super) fn is_path(path: &str, word: &Word) -> bool {
    of(word).any(|exception| matches!(exception.place, Place::Path(part) if path.contains(part)))
}

fn of(word: &Word) -> impl Iterator<Item = &'static Exception> {
    EXCEPTIONS.iter().filter(|exception| word.forms.contains(&exception.word))
}

/// Returns whether a word stands inside a phrase of the text.
fn is_inside(text: &str, hit: &Hit, phrase: &str) -> bool {
    let is_any_case = !phrase.bytes().any(|byte| byte.is_ascii_uppercase());
    let is_phrase = |found: &[u8]| match is_any_case {
        true => found.eq_ignore_ascii_case(phrase.as_bytes()),
        false => found == phrase.as_bytes(),
    };
    let first = hit.range.end.saturating_sub(phrase.len());
    let found = |start: usize| text.as_bytes().get(start..start + phrase.len());
    (first..=hit.range.start).any(|start| found(start).is_some_and(is_phrase))
}

#[cfg(test)]
mod tests {
    use super::super::list;
    use super::*;

    #[test]
    fn every_exception_is_of_a_listed_word_and_has_a_reason() {
        for exception in EXCEPTIONS {
            assert!(list::find(exception.word).is_some(), "{exception:?}");
            assert!(!exception.reason.is_empty(), "{exception:?}");
        }
    }
}
