//! Masks passwords in displayed text.

/// Returns the text with passwords replaced by stars.
///
/// Passwords of addresses (`scheme://user:password@host`) and of `password=`; one star per byte
/// keeps positions valid.
pub(crate) fn masked(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (at, _) in text.match_indices("://") {
        let begin = at + "://".len();
        // Up to the last `@` of the word: an unescaped one may be part of the password.
        let word = &text[begin..word_end(text, begin)];
        let (Some(colon), Some(end)) = (word.find(':'), word.rfind('@')) else { continue };
        if colon < end && variable(&word[colon + 1..end]).is_none() {
            bytes[begin + colon + 1..begin + end].fill(b'*');
        }
    }
    for (at, key) in text.match_indices("password=") {
        let begin = at + key.len();
        let value = &text[begin..word_end(text, begin)];
        let end = value.find('&').unwrap_or(value.len());
        bytes[begin..begin + end].fill(b'*');
    }
    // Whole characters were replaced, by ASCII.
    String::from_utf8(bytes).unwrap_or_default()
}

/// Returns the variable's name in `${NAME}`.
pub(crate) fn variable(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${")?.strip_suffix('}')?;
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    (!name.is_empty() && name.chars().all(fits)).then_some(name)
}

/// Returns the end of a word that begins at `begin`: a quote, white space or a backtick.
fn word_end(text: &str, begin: usize) -> usize {
    let ends = |letter: char| letter.is_whitespace() || "\"'`".contains(letter);
    text[begin..].find(ends).map_or(text.len(), |length| begin + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_masked_in_place() {
        let text = "dsn = \"postgres://me:h/u@sh@db:5432/x\" # mysql://a:b@c and http://d:1/e";
        let shown = "dsn = \"postgres://me:******@db:5432/x\" # mysql://a:*@c and http://d:1/e";
        assert_eq!(masked(text), shown);
        assert_eq!(masked("m://a@h/d?password=x&y=1"), "m://a@h/d?password=*&y=1");
        assert_eq!(masked("p://me:\u{e4}@h"), "p://me:**@h");
    }

    #[test]
    fn a_variable_name_is_not_masked() {
        let text = "mysql://me:${PASSWORD}@db/x";
        assert_eq!(masked(text), text);
        assert_eq!(variable("${PG_PW}"), Some("PG_PW"));
        assert_eq!(variable("${}"), None);
        assert_eq!(variable("${a b}"), None);
    }
}
