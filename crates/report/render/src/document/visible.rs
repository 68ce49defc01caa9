//! Control characters of data, made visible.
//!
//! Names, questions and engine messages may hold escape sequences, which a terminal would obey.

use std::borrow::Cow;

/// Returns text with its control characters escaped: `\u{1b}`.
///
/// Line breaks and tabs stay.
///
/// Source: ECMA-48, 1991, 5th edition, 5.2 and 5.3: the control functions C0 and C1.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| if is_obeyed(c) { c.escape_unicode().to_string() } else { c.into() };
    Cow::Owned(text.chars().map(escape).collect())
}
