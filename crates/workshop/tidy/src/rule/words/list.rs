//! The old words and what to write instead.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;

/// One old word in all its forms.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Word {
    /// Its forms, in lower case.
    forms: Vec<String>,
    /// What to do about it.
    pub(super) instead: String,
    /// Whether prose may use it; identifiers and names of files may not.
    #[serde(default)]
    pub(super) in_prose: bool,
    /// Phrases in which it is the field's own; one in lower case stands for any case.
    #[serde(default)]
    allowed: Vec<String>,
    /// Endings of files in which it is the field's own.
    #[serde(default)]
    allowed_in: Vec<String>,
}

/// Every old word.
static WORDS: LazyLock<Vec<Word>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct File {
        word: Vec<Word>,
    }
    toml::from_str::<File>(include_str!("words.toml")).expect("the file is tested").word
});

/// The old words by form.
static BY_FORM: LazyLock<BTreeMap<&str, &Word>> = LazyLock::new(|| {
    WORDS.iter().flat_map(|word| word.forms.iter().map(move |form| (form.as_str(), word))).collect()
});

/// Returns the old word of this form, in any case.
pub(super) fn find(form: &str) -> Option<&'static Word> {
    BY_FORM.get(form.to_ascii_lowercase().as_str()).copied()
}

impl Word {
    /// Returns whether the use at `range` of a file's text is the field's own.
    pub(super) fn is_allowed(&self, path: &str, text: &str, range: &Range<usize>) -> bool {
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        self.allowed_in.iter().any(|allowed| allowed == ending)
            || self.allowed.iter().any(|phrase| is_inside(text, range, phrase))
    }

    /// Returns whether the path may hold the word.
    pub(super) fn is_allowed_in_path(&self, path: &str) -> bool {
        self.allowed.iter().any(|phrase| path.contains(phrase))
    }
}

/// Returns whether a range stands inside a phrase of the text.
fn is_inside(text: &str, range: &Range<usize>, phrase: &str) -> bool {
    let is_any_case = !phrase.bytes().any(|byte| byte.is_ascii_uppercase());
    let is_phrase = |found: &[u8]| match is_any_case {
        true => found.eq_ignore_ascii_case(phrase.as_bytes()),
        false => found == phrase.as_bytes(),
    };
    let first = range.end.saturating_sub(phrase.len());
    let found = |start: usize| text.as_bytes().get(start..start + phrase.len());
    (first..=range.start).any(|start| found(start).is_some_and(is_phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_lower_case_and_unique() {
        let forms: Vec<&str> =
            WORDS.iter().flat_map(|word| &word.forms).map(String::as_str).collect();
        assert!(forms.iter().all(|form| form.bytes().all(|byte| byte.is_ascii_lowercase())));
        assert_eq!(forms.len(), BY_FORM.len());
    }
}
