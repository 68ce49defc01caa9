//! Masks the passwords of server addresses in displayed text.
//!
//! In a file the address is found by its place, so any quote, space or sign may be in it. Every
//! byte becomes a star, line ends excepted: positions stay valid.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Key of a server's address.
const DSN: &str = "dsn";
/// Tables around the address of a variant: the file and the variant.
const DSN_DEPTH: usize = 2;

/// Schemes of addresses.
const SCHEMES: [&str; 4] = ["postgres://", "postgresql://", "mysql://", "mariadb://"];

/// A text of a file: value or key.
struct Text<'a> {
    place: Range<usize>,
    text: &'a str,
    /// Whether it is the value of a `dsn`.
    is_dsn: bool,
    /// Whether an address may stand here: in the `dsn` of a table of the file.
    may_be_address: bool,
}

/// Returns the text of a file without the passwords in it.
pub(crate) fn masked_source(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    match DeTable::parse(text) {
        Ok(table) => {
            let strings = texts(&table);
            for (at, word) in text.match_indices("://").chain(text.match_indices(DSN)) {
                // In a comment: up to the end of its line.
                if !strings.iter().any(|string| string.place.contains(&at)) {
                    star(&mut bytes, at + word.len()..line_end(text, at));
                }
            }
            for string in strings.iter().filter(|it| it.is_dsn || scheme(it.text).is_some()) {
                let mut secret = secret_at(text, string.place.clone());
                // A quote in a password makes a comment of what follows its `#`, or another key.
                let rest = string.place.end..line_end(text, string.place.end);
                if text[rest.clone()].contains(['#', '@']) {
                    secret.end = rest.end;
                }
                star(&mut bytes, secret);
            }
        }
        Err(_not_toml) => mask_lines(text, &mut bytes),
    }
    // Whole characters were replaced, by ASCII.
    String::from_utf8(bytes).unwrap_or_default()
}

/// Returns a message about typed text without the passwords in it.
pub(crate) fn masked(message: &str) -> String {
    let mut bytes = message.as_bytes().to_vec();
    if let Some(Range { start, .. }) = scheme(message) {
        // Without an `@`, the end of the password is not known.
        let end = message.rfind('@').filter(|at| *at > start).map_or(message.len(), |at| at + 1);
        star(&mut bytes, offset(secret(&message[start..end]), start));
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Returns the place of the first address of a server that stands outside of a `dsn`.
///
/// Elsewhere it would be quoted by errors, or stored with the plan.
pub(crate) fn misplaced_address(table: &Spanned<DeTable<'_>>) -> Option<Range<usize>> {
    let texts = texts(table);
    let found = texts.iter().find(|it| !it.may_be_address && has_address(it.text))?;
    Some(found.place.clone())
}

/// Returns whether a text holds the address of a server with a user.
pub(crate) fn has_address(text: &str) -> bool {
    scheme(text).is_some_and(|scheme| text[scheme.end..].contains('@'))
}

/// Returns the variable's name in `${NAME}`.
pub(crate) fn variable(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${")?.strip_suffix('}')?;
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    (!name.is_empty() && name.chars().all(fits)).then_some(name)
}

/// Returns every key and text of a file, in its order.
fn texts<'a>(table: &'a Spanned<DeTable<'_>>) -> Vec<Text<'a>> {
    let mut found = Vec::new();
    visit_table(table.get_ref(), 1, &mut found);
    found
}

fn visit_table<'a>(table: &'a DeTable<'_>, depth: usize, found: &mut Vec<Text<'a>>) {
    for (key, node) in table {
        let (place, text) = (key.span(), &**key.get_ref());
        found.push(Text { place, text, is_dsn: false, may_be_address: false });
        visit(node, text, depth, found);
    }
}

fn visit<'a>(node: &'a Spanned<DeValue<'_>>, key: &str, depth: usize, found: &mut Vec<Text<'a>>) {
    if let Some(text) = node.get_ref().as_str() {
        let is_dsn = key == DSN;
        let may_be_address = is_dsn && depth == DSN_DEPTH;
        found.push(Text { place: node.span(), text, is_dsn, may_be_address });
    } else if let DeValue::Array(items) = node.get_ref() {
        items.iter().for_each(|item| visit(item, key, depth, found));
    } else if let DeValue::Table(table) = node.get_ref() {
        visit_table(table, depth + 1, found);
    }
}

/// Returns the place of the first known scheme.
fn scheme(text: &str) -> Option<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let places = SCHEMES.iter().filter_map(|it| lower.find(it).map(|at| at..at + it.len()));
    places.min_by_key(|place| place.start)
}

/// Returns the place of what is secret in a quoted text at `place`.
fn secret_at(text: &str, place: Range<usize>) -> Range<usize> {
    let written = &text[place.clone()];
    let value = written.trim_matches(['"', '\'']);
    // An escape may hide any sign.
    if value.contains('\\') {
        return place;
    }
    let begin = place.start + (written.len() - written.trim_start_matches(['"', '\'']).len());
    offset(secret(value), begin)
}

/// Returns the part of an address that is secret: from the user's end to the last `@`.
///
/// Without `@` it lasts to the end; so does a query, unless it names a socket. A text that begins
/// with no known scheme is secret as a whole, and the name of a variable is not.
fn secret(address: &str) -> Range<usize> {
    let Some(Range { start: 0, end: begin }) = scheme(address) else { return 0..address.len() };
    let rest = &address[begin..];
    let at = rest.rfind('@');
    let host = at.unwrap_or(0);
    let query = rest[host..].find('?').map(|query| host + query);
    let is_socket = |query: usize| {
        let query = &rest[query + 1..];
        ["host=/", "socket=/"].iter().any(|key| query.starts_with(key)) && !query.contains('&')
    };
    let query = query.filter(|query| !is_socket(*query)).map(|query| query + 1);
    let colon = rest.find(':').map(|colon| colon + 1);
    let login = colon.filter(|colon| at.is_none_or(|at| *colon <= at));
    let is_variable = login.zip(at).is_some_and(|(from, to)| variable(&rest[from..to]).is_some());
    let secret = match (login.filter(|_| !is_variable), at, query) {
        (Some(from), Some(to), None) => from..to,
        (Some(from), ..) => from..rest.len(),
        (None, _, Some(from)) => from..rest.len(),
        (None, _, None) => rest.len()..rest.len(),
    };
    offset(secret, begin)
}

/// Masks the lines of a text that is not TOML: an address, and what follows it up to an entry.
fn mask_lines(text: &str, bytes: &mut [u8]) {
    let mut start = 0;
    let mut is_inside = false;
    for line in text.split_inclusive('\n') {
        let marks = ["://", DSN].map(|mark| line.find(mark).map(|at| at + mark.len()));
        let begins = marks.into_iter().flatten().min();
        is_inside &= !is_entry(line);
        if let Some(from) = if is_inside { Some(0) } else { begins } {
            star(bytes, start + from..start + line.len());
            is_inside = true;
        }
        start += line.len();
    }
}

/// Returns whether a line begins an entry or a table of TOML.
fn is_entry(line: &str) -> bool {
    let line = line.trim_start();
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || "_-. \"".contains(letter);
    let key = line.split_once('=').map(|(key, _)| key);
    line.starts_with('[') || key.is_some_and(|key| !key.is_empty() && key.chars().all(is_bare))
}

fn star(bytes: &mut [u8], place: Range<usize>) {
    bytes[place].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b'*');
}

fn line_end(text: &str, from: usize) -> usize {
    text[from..].find('\n').map_or(text.len(), |length| from + length)
}

fn offset(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(address: &str) -> String {
        let text = masked_source(&format!("dsn = '{address}'"));
        text["dsn = '".len()..text.len() - 1].to_owned()
    }

    #[test]
    fn passwords_are_masked_in_place() {
        for (written, expected) in [
            ("postgres://me:h/u@sh@db:5432/x", "postgres://me:******@db:5432/x"),
            ("mysql://me:a b\"c@h/d", "mysql://me:*****@h/d"),
            ("mysql://me:\u{e4}@h", "mysql://me:**@h"),
            ("mysql://a@h/d?password=x&y=1", "mysql://a@h/d?**************"),
            ("mysql://a@/d?socket=/run/s", "mysql://a@/d?socket=/run/s"),
            ("mysql://me:hush", "mysql://me:****"),
            ("mysql://db/x", "mysql://db/x"),
            ("me:hush@db/x", "************"),
            ("me://hush@db", "************"),
            ("mysql://me:${PASSWORD}@db/x", "mysql://me:${PASSWORD}@db/x"),
        ] {
            assert_eq!(shown(written), expected);
        }
        assert_eq!(masked_source("dsn = \"a\\u003ab\""), "dsn = **********");
        assert_eq!(masked_source("# m://a:b@c\nb = 1"), "# m://*****\nb = 1");
        assert_eq!(masked_source("dsn = 'mysql://a:b@c'#@h/d"), "dsn = 'mysql://a:*********");
        let key = "\"mysql://a:\".\".J;@h/d\" = 1";
        assert_eq!(masked_source(key), "\"mysql://a:***************");
        assert_eq!(masked("`MySQL://a:b c@d` and e"), "`MySQL://a:***@d` and e");
        assert_eq!(masked("a@`MySQL://a:b c-d`"), "a@`MySQL://a:******");
    }

    #[test]
    fn a_file_that_is_not_toml_shows_no_address() {
        let text = "a = 1\ndsn = \"p://me:a\"b\nc@db/x\"\n[b]\nc = 2";
        assert_eq!(masked_source(text), "a = 1\ndsn**************\n*******\n[b]\nc = 2");
    }

    #[test]
    fn a_variable_has_a_name() {
        assert_eq!(variable("${PG_PW}"), Some("PG_PW"));
        assert_eq!(variable("${}"), None);
        assert_eq!(variable("${a b}"), None);
    }
}
