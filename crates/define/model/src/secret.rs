//! Passwords, and the mask that hides them in displayed and stored text.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A password: no `Debug` shows it.
///
/// It can be serialized, since a worker needs it, so no stored type may contain one.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Prefix of the environment variables that passwords are read from.
///
/// A stranger's file may name a variable and a host: no other secret of the environment is sent.
pub const PASSWORD_VARIABLE: &str = "ASSAY_PASSWORD_";

/// Last words of the names of secrets, in lower case, without the signs between words.
///
/// Source: libpq's `password`, `sslpassword`; MySQL's `password`, `pwd`; the usual names of keys
/// and tokens of services. `sslkey` is a file.
#[rustfmt::skip]
const SECRET_NAMES: [&str; 11] = [
    "password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "accesskey",
    "secretkey", "privatekey", "credentials",
];
/// Names that are secrets only as a whole: other names end with these.
const SHORT_NAMES: [&str; 2] = ["pass", "pw"];
/// Quotes around a name, a value or an address.
const QUOTES: [char; 3] = ['`', '\'', '"'];
/// Longest name, scheme or clause before a value; our choice, far above any.
const NAME_BYTES_MAX: usize = 100;

/// Returns whether a name is the name of a secret: `password`, `--mysql-pwd`, `api_key`.
pub fn is_secret_name(name: &str) -> bool {
    let letters = name.chars().filter(|letter| !"-_.".contains(*letter));
    let letters: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    SECRET_NAMES.iter().any(|secret| letters.ends_with(secret))
        || SHORT_NAMES.contains(&letters.as_str())
        || name.starts_with(PASSWORD_VARIABLE)
}

/// Returns the variable's name in `${NAME}`.
pub fn variable(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${")?.strip_suffix('}')?;
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    (!name.is_empty() && name.chars().all(fits)).then_some(name)
}

/// Returns a text with a star for each byte of a password; line ends stay.
///
/// Masked are the password of an address, the value behind the name of a secret, and the password
/// of an SQL statement. What is quoted ends at its quote, and else at white space.
pub fn masked(text: &str) -> Cow<'_, str> {
    starred(text, secrets(text, false))
}

/// Masks a text that is one value: an argument, or a string of a file or record.
///
/// An address or a named value at its begin lasts to its end, whatever signs are in it.
pub fn masked_value(value: &str) -> Cow<'_, str> {
    starred(value, secrets(value, true))
}

/// Returns whether a value contains a password.
pub fn has_secret(value: &str) -> bool {
    !secrets(value, true).is_empty()
}

/// Returns whether an address in a value has a password; columns of SQL may have any name.
pub fn has_login(value: &str) -> bool {
    !logins(value, true).is_empty()
}

/// Returns whether the sign at `at`, `=` or `:`, follows the name of a secret.
pub fn follows_secret_name(text: &str, at: usize) -> bool {
    name_before(text, at).is_some_and(|place| is_secret_name(&text[place]))
}

/// Returns the place of the password in what follows the scheme of an address.
///
/// It lasts from the first colon to the last `@`; without an `@` to the end, unless it is a port.
pub fn password_place(rest: &str) -> Option<Range<usize>> {
    let colon = rest.find(':')? + 1;
    let Some(at) = rest.rfind('@') else {
        let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_host = rest.starts_with('[') || rest.get(colon..authority).is_none_or(is_port);
        return (!is_host).then_some(colon..rest.len());
    };
    (colon < at && variable(&rest[colon..at]).is_none()).then_some(colon..at)
}

/// Returns a text whose `places` are stars.
pub fn starred(text: &str, places: Vec<Range<usize>>) -> Cow<'_, str> {
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    for place in places {
        bytes[place].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b'*');
    }
    // Whole characters were replaced, by ASCII.
    Cow::Owned(String::from_utf8(bytes).unwrap_or_default())
}

/// Returns the places of the passwords of addresses in a text, which is one value or prose.
fn logins(text: &str, is_value: bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut end = 0;
    for (at, mark) in text.match_indices("://") {
        if at < end {
            continue;
        }
        let start = word_start(text, at, "+.:_=-");
        let begin = at + mark.len();
        end = token_end(text, start, begin, is_value);
        let address = text[begin..end].trim_end_matches(['.', ',', ';', ':', ')']);
        let places = [password_place(address), parameter_place(address)];
        let places = places.into_iter().flatten().filter(|_| start < at);
        found.extend(places.map(|place| begin + place.start..begin + place.end));
    }
    found
}

/// Returns the place of the first password among the parameters of an address.
fn parameter_place(address: &str) -> Option<Range<usize>> {
    let query = address.find('?')?;
    let mut signs = address.match_indices('=').map(|(at, _)| at).filter(|at| *at > query);
    let begin = signs.find(|at| follows_secret_name(address, *at))? + 1;
    let end = address[begin..].find('&').map_or(address.len(), |length| begin + length);
    (begin < end && variable(&address[begin..end]).is_none()).then_some(begin..end)
}

/// Returns the places of passwords in a text, which is one value or prose.
fn secrets(text: &str, is_value: bool) -> Vec<Range<usize>> {
    let mut found = logins(text, is_value);
    let mut end = 0;
    for (at, sign) in text.match_indices(['=', ':', '\'', '"']) {
        let place = match sign {
            _ if at < end => None,
            // A parameter of an address.
            "=" if found.iter().any(|place| place.start == at + 1) => None,
            "=" | ":" => named_value(text, at, is_value),
            _ => sql_password(text, at),
        };
        end = place.as_ref().map_or(end, |place| place.end);
        found.extend(place.filter(|place| !place.is_empty()));
    }
    found
}

/// Returns where the letters, digits and `signs` before `end` begin.
fn word_start(text: &str, end: usize, signs: &str) -> usize {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || signs.as_bytes().contains(byte);
    let word = text.as_bytes()[..end].iter().rev().take(NAME_BYTES_MAX).take_while(|it| fits(it));
    end - word.count()
}

/// Returns the end of a token that begins at `begin`, and whose quote is before `start`.
fn token_end(text: &str, start: usize, begin: usize, is_value: bool) -> usize {
    let quote = text[..start].chars().next_back().filter(|sign| QUOTES.contains(sign));
    let is_end = |sign: char| sign.is_whitespace() || sign == '`' || sign == '"';
    let end = match quote {
        None if is_value && start == 0 => Some(text.len()),
        None => None,
        Some(quote) => closing(text, begin, quote),
    };
    end.or_else(|| text[begin..].find(is_end).map(|at| begin + at)).unwrap_or(text.len())
}

/// Returns the place of the quote that ends a text; one within a word, or escaped, does not.
fn closing(text: &str, begin: usize, quote: char) -> Option<usize> {
    let is_end = |at: &usize| {
        let before = text[begin..*at].bytes().rev().take_while(|byte| *byte == b'\\').count();
        let next = text[at + 1..].chars().next();
        before % 2 == 0 && !next.is_some_and(|next| next.is_alphanumeric() || next == quote)
    };
    text[begin..].match_indices(quote).map(|(at, _)| begin + at).find(is_end)
}

/// Returns the place of the name before a sign, which may be quoted.
fn name_before(text: &str, sign: usize) -> Option<Range<usize>> {
    let before = text[..sign].trim_end_matches([' ', '\t']);
    let end = before.trim_end_matches(QUOTES).len();
    let start = word_start(text, end, "_.-");
    let has_quotes = before[end..].is_empty() || before[..start].ends_with(&before[end..]);
    (start < end && has_quotes).then_some(start..end)
}

/// Returns the place of the value behind the name of a secret and `=` or `:`.
fn named_value(text: &str, sign: usize, is_value: bool) -> Option<Range<usize>> {
    let name = name_before(text, sign).filter(|place| is_secret_name(&text[place.clone()]))?;
    let rest = text[sign + 1..].trim_start_matches(['=', '>']);
    let value = rest.trim_start_matches([' ', '\t']);
    let begin = text.len() - value.len();
    if let Some(quote) = value.chars().next().filter(|sign| QUOTES.contains(sign)) {
        let quotes = value.len() - value.trim_start_matches(quote).len();
        let begin = begin + if quotes == 2 { 1 } else { quotes };
        let line = || text[begin..].find('\n').map_or(text.len(), |at| begin + at);
        return Some(begin..closing(text, begin, quote).unwrap_or_else(line));
    }
    if text[sign..].starts_with(':') {
        // A sentence, a path of code, or another type of JSON.
        let is_other =
            ["true", "false", "null", ":", "[", "{"].iter().any(|it| value.starts_with(it));
        let is_number = value.starts_with(|first: char| first.is_ascii_digit() || first == '-');
        if is_other || is_number || value.len() < rest.len() {
            return None;
        }
    }
    let end = token_end(text, name.start, begin, is_value);
    let pair = |(at, _): &(usize, &str)| {
        let next = text[begin + at + 1..end].split_once('=').map_or("", |(name, _)| name);
        !next.is_empty() && word_start(next, next.len(), "_.-") == 0
    };
    let mut ends = text[begin..end].match_indices([' ', '&', ';']);
    let end = ends.find(|it| it.1 != " " || pair(it)).map_or(end, |(at, _)| begin + at);
    (begin < end && variable(&text[begin..end]).is_none()).then_some(begin..end)
}

/// Returns the place of the password that an SQL statement quotes at `quote`.
fn sql_password(text: &str, quote: usize) -> Option<Range<usize>> {
    let before = text[..quote].trim_end();
    let start = word_start(before, before.len(), "_");
    let is = |word: &str| before[start..].eq_ignore_ascii_case(word);
    let clause = &before.as_bytes()[start.saturating_sub(NAME_BYTES_MAX)..start];
    let mut parts = clause.windows(b"identified".len());
    let is_secret = is("password") && before.len() < quote
        || (is("by") || is("as")) && parts.any(|it| it.eq_ignore_ascii_case(b"identified"));
    let sign = text[quote..].chars().next()?;
    Some(quote + 1..closing(text, quote + 1, sign)?).filter(|_| is_secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts, and what is displayed of them.
    const TEXTS: &[(&str, &str)] = &[
        ("no results named `postgres://u:hush@h`", "no results named `postgres://u:****@h`"),
        (
            "`mysql://u:hu sh@h/d` is not an engine build: write NAME@VERSION",
            "`mysql://u:*****@h/d` is not an engine build: write NAME@VERSION",
        ),
        ("'MySQL://u:it's@h' and a@b", "'MySQL://u:****@h' and a@b"),
        ("{\"a\":\"p://u:h\\\"u@h\",\"b\":\"x@y\"}", "{\"a\":\"p://u:****@h\",\"b\":\"x@y\"}"),
        (
            "of a://u:x@h and postgres+ssl://v:y%40@k:1/d.",
            "of a://u:*@h and postgres+ssl://v:****@k:1/d.",
        ),
        ("[a](postgres://u:${NAME}@h/d)", "[a](postgres://u:${NAME}@h/d)"),
        ("mysql://u:hush is wrong", "mysql://u:**** is wrong"),
        (
            "http://h:80, http://[::1]:80/ https://h/a:b",
            "http://h:80, http://[::1]:80/ https://h/a:b",
        ),
        ("jdbc:mysql://h/d?user=u&password=a,b&x=1", "jdbc:mysql://h/d?user=u&password=***&x=1"),
        ("'mysql://h?user=u&password=a b\"c'", "'mysql://h?user=u&password=*****'"),
        ("mysql://h?user=u&password=${NAME}", "mysql://h?user=u&password=${NAME}"),
        ("host=h password='a b' user=u", "host=h password='***' user=u"),
        ("`host=h password=a user=u` ends", "`host=h password=* user=u` ends"),
        ("'--password=a b' is unexpected", "'--password=***' is unexpected"),
        ("MYSQL_PWD=x sslpassword = y SSLKEY=/k", "MYSQL_PWD=* sslpassword = * SSLKEY=/k"),
        ("{\"api-key\": \"a\\\"b\", \"token\":1}", "{\"api-key\": \"****\", \"token\":1}"),
        ("\"has_password\":true,\"password\":null", "\"has_password\":true,\"password\":null"),
        (
            "the password: give one (using password: YES)",
            "the password: give one (using password: YES)",
        ),
        ("secret:x, secret::path", "secret:** secret::path"),
        ("ALTER ROLE a PASSWORD 'x y'; ORDER BY 'z'", "ALTER ROLE a PASSWORD '***'; ORDER BY 'z'"),
        ("u IDENTIFIED WITH p BY 'x'", "u IDENTIFIED WITH p BY '*'"),
        (
            "MASTER_PASSWORD = 'x', password_encryption = md5",
            "MASTER_PASSWORD = '*', password_encryption = md5",
        ),
        ("password = \"\"\"a\nb\"\"\"", "password = \"\"\"*\n***\""),
        ("password = 'a\nb", "password = '*\nb"),
        (
            "passwords: 2, bypass=1, a\u{e4}=b, ://, =, password",
            "passwords: 2, bypass=1, a\u{e4}=b, ://, =, password",
        ),
    ];

    #[test]
    fn the_secret_alone_is_masked() {
        for (text, expected) in TEXTS {
            assert_eq!(masked(text), *expected);
            assert_eq!(masked(&masked(text)), *expected, "a second time");
        }
    }

    #[test]
    fn a_value_that_begins_with_a_secret_has_it_whole() {
        for (value, expected) in [
            ("postgres://u:a b\"c'd`e@h", "postgres://u:*********@h"),
            ("x=mysql://u:a @b", "x=mysql://u:**@b"),
            ("password=a b", "password=***"),
            ("see a://h or me@x.org", "see a://h or me@x.org"),
        ] {
            assert_eq!(masked_value(value), expected);
            assert_eq!(has_secret(value), value != expected);
        }
    }

    #[test]
    fn a_variable_has_a_name() {
        assert_eq!(variable("${PG_PW}"), Some("PG_PW"));
        assert_eq!(variable("${}"), None);
        assert_eq!(variable("${a b}"), None);
    }
}
