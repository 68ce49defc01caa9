//! Control and format characters of data, made visible.
//!
//! Names, questions and engine messages may hold escape sequences, which a terminal would obey, and
//! characters that reorder or hide text.

use std::borrow::Cow;

/// Returns text with its control and format characters escaped: `\u{1b}`.
///
/// Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| is_obeyed(c) && !matches!(c, '\n' | '\t');
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let escape = |c: char| if is_escaped(c) { c.escape_unicode().to_string() } else { c.into() };
    Cow::Owned(text.chars().map(escape).collect())
}

/// Returns text in one line: of data, no line break begins a line that could be one of Assay's.
pub fn in_line(text: &str) -> Cow<'_, str> {
    match text.contains(is_break) {
        true => Cow::Owned(text.replace(is_break, " ")),
        false => Cow::Borrowed(text),
    }
}

/// Returns a text of at most so many signs, without its middle: the text hides no end.
pub fn shortened(text: &str, signs_max: usize) -> String {
    let signs: Vec<char> = text.chars().collect();
    if signs.len() <= signs_max {
        return text.to_owned();
    }
    let half = signs_max / 2;
    let [start, end] = [&signs[..half], &signs[signs.len() - half..]].map(String::from_iter);
    format!("{start} ({} signs) {end}", signs.len() - 2 * half)
}

fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r')
}

/// Returns whether a reader obeys a character instead of showing it.
///
/// Source: ECMA-48, 1991, 5th edition, 5.2 and 5.3: the control functions C0 and C1. Unicode
/// Technical Report 36, 2014, 2.5 and 3.5: characters that set a direction, have no width, end a
/// line, or are tags.
pub fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped_and_text_stays() {
        let text = "naïve\tтекст\n日本 \u{301}\u{a0}\u{202f}";
        assert!(matches!(visible(text), Cow::Borrowed(shown) if shown == text));
        let hostile = "\u{1b}[2J \u{9b}2J \u{7f}\r \u{202e}txt \u{200b}\u{2028}\u{feff}\u{e0041}";
        assert_eq!(
            visible(hostile),
            "\\u{1b}[2J \\u{9b}2J \\u{7f}\\u{d} \\u{202e}txt \\u{200b}\\u{2028}\\u{feff}\\u{e0041}"
        );
    }
}
