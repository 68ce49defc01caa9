//! Masks the passwords in displayed text of experiment files.
//!
//! In a file the address is found by its place, so any quote, space or sign may be in it. Every
//! byte becomes a star, line ends excepted: positions stay valid.

use std::ops::Range;

use model::secret::{
    follows_secret_name, has_login, is_secret_name, masked, password_place, starred, variable,
};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::scheme::Scheme;

/// Key of a server's address.
const DSN: &str = "dsn";
/// Tables around the address of a variant: the file and the variant.
const DSN_DEPTH: usize = 2;

/// A value of a file, or a key.
struct Text<'a> {
    place: Range<usize>,
    /// Empty when it is not a text.
    text: &'a str,
    role: Role,
}

/// What a value of a file is by its key.
#[derive(PartialEq, Eq)]
enum Role {
    /// The `dsn` of a table of the file, where alone an address may stand.
    Dsn,
    /// A `dsn` elsewhere.
    OtherDsn,
    /// The value of a key with the name of a secret.
    Secret,
    /// Another value, or a key.
    Other,
}

/// Returns the text of a file without the passwords in it.
pub(crate) fn masked_source(text: &str) -> String {
    let places = match DeTable::parse(text) {
        Ok(table) => places_of(text, &texts(&table)),
        Err(_not_toml) => places_of_lines(text),
    };
    // Comments may have passwords, too.
    masked(&starred(text, places)).into_owned()
}

/// Returns the places of passwords in a file with these keys and values.
fn places_of(text: &str, strings: &[Text<'_>]) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    for (at, word) in text.match_indices("://").chain(text.match_indices(DSN)) {
        // In a comment: up to the end of its line.
        if !strings.iter().any(|string| string.place.contains(&at)) {
            places.push(at + word.len()..line_end(text, at));
        }
    }
    for string in strings {
        if string.role == Role::Secret {
            places.push(string.place.clone());
        } else if string.role != Role::Other
            || has_login(string.text)
            || scheme_bytes(string.text).is_some()
        {
            let mut secret = secret_at(text, string);
            // A quote in a password makes a comment of what follows its `#`, or another key: the
            // last `@` of the text is within the password, too.
            let rest = rest_of_line(text, string.place.end);
            if rest.contains(['#', '@']) {
                let address = address_at(text, string.place.clone()).unwrap_or(secret.clone());
                let colon = text[address.clone()].find(':').map(|at| address.start + at + 1);
                secret.start = secret.start.min(colon.unwrap_or(secret.start));
                secret.end = string.place.end + rest.len();
            }
            places.push(secret);
        }
    }
    places
}

/// Returns the place of the first secret that stands outside of a `dsn`.
///
/// Elsewhere it would be quoted by errors, or stored with the plan.
pub(crate) fn misplaced_secret(table: &Spanned<DeTable<'_>>) -> Option<Range<usize>> {
    let texts = texts(table);
    let found = texts.iter().find(|it| it.role != Role::Dsn && has_login(it.text))?;
    Some(found.place.clone())
}

/// Returns whether an `@` follows the text that ends at `end` on its line.
///
/// A quote of a password may have ended the text: what it has after an `@` may be secret.
pub fn has_at_behind(text: &str, end: usize) -> bool {
    rest_of_line(text, end).contains('@')
}

/// Returns every key and text of a file, in its order.
fn texts<'a>(table: &'a Spanned<DeTable<'_>>) -> Vec<Text<'a>> {
    let mut found = Vec::new();
    visit_table(table.get_ref(), "", 1, &mut found);
    found
}

/// Adds the keys and values of a table, whose own key is `outer`.
fn visit_table<'a>(table: &'a DeTable<'_>, outer: &str, depth: usize, found: &mut Vec<Text<'a>>) {
    for (key, node) in table {
        let (place, text) = (key.span(), &**key.get_ref());
        found.push(Text { place, text, role: Role::Other });
        // What a table with the name of a secret contains is secret.
        visit(node, if is_secret_name(outer) { outer } else { text }, depth, found);
    }
}

fn visit<'a>(node: &'a Spanned<DeValue<'_>>, key: &str, depth: usize, found: &mut Vec<Text<'a>>) {
    let value = node.get_ref();
    if let DeValue::Array(items) = value {
        items.iter().for_each(|item| visit(item, key, depth, found));
    } else if let DeValue::Table(table) = value {
        visit_table(table, key, depth + 1, found);
    } else {
        let role = match key {
            DSN if depth == DSN_DEPTH => Role::Dsn,
            DSN => Role::OtherDsn,
            name if is_secret_name(name) => Role::Secret,
            _ => Role::Other,
        };
        found.push(Text { place: node.span(), text: value.as_str().unwrap_or_default(), role });
    }
}

/// Returns the place of what is secret in a quoted text at `place`.
///
/// A text that does not begin with a scheme is secret as a whole; an escape may hide any sign.
fn secret_at(text: &str, string: &Text<'_>) -> Range<usize> {
    let place = string.place.clone();
    let Some(Range { start: begin, end }) = address_at(text, place.clone()) else { return place };
    let address = &text[begin..end];
    let none = end..end;
    let scheme = text[place.start..begin].trim_start_matches(['"', '\'']).trim_end_matches("://");
    let is_known = Scheme::parse(scheme).is_some_and(|scheme| scheme.dialect.is_some());
    let is_address = is_known || string.role == Role::Other;
    // Without an `@` a password may have ended the text: a port may be its begin.
    let colon = address.find([':', '/']).filter(|at| address[*at..].starts_with(':'));
    let rest = colon.filter(|_| !address.contains('@')).map(|at| at + 1..address.len());
    let place = match rest.or_else(|| password_place(address)) {
        // An unknown scheme may be a user, and what follows it a password that begins with `//`.
        _ if !is_address => address.rfind('@').map(|at| 0..at).or(Some(0..address.len())),
        place => place,
    };
    // A password among the parameters may have any sign: it lasts to the end.
    let mut signs = address.match_indices('=').map(|(at, _)| at);
    let named = signs.find(|at| {
        let value = address[at + 1..].split('&').next().unwrap_or_default();
        follows_secret_name(address, *at) && variable(value).is_none()
    });
    let named = named.map(|at| at + 1..address.len());
    let place = match (place, named) {
        (Some(place), Some(named)) => Some(place.start.min(named.start)..named.end),
        (place, named) => place.or(named),
    };
    place.map_or(none, |place| begin + place.start..begin + place.end)
}

/// Returns the place of an address after its scheme, in a quoted text at `place`.
fn address_at(text: &str, place: Range<usize>) -> Option<Range<usize>> {
    let written = &text[place.clone()];
    let value = written.trim_start_matches(['"', '\'']);
    let scheme_bytes = scheme_bytes(value).filter(|_| !written.contains('\\'))?;
    let begin = place.end - value.len() + scheme_bytes;
    Some(begin..begin + value[scheme_bytes..].trim_end_matches(['"', '\'']).len())
}

/// Returns the length of the scheme that an address begins with.
fn scheme_bytes(address: &str) -> Option<usize> {
    let (scheme, _) = address.split_once("://")?;
    Scheme::parse(scheme).map(|_| scheme.len() + 3)
}

/// Returns the places of passwords in a text that is not TOML: up to the next entry.
fn places_of_lines(text: &str) -> Vec<Range<usize>> {
    let mut places = Vec::new();
    let mut start = 0;
    let mut is_inside = false;
    for line in text.split_inclusive('\n') {
        let marks = ["://", DSN].map(|mark| line.find(mark).map(|at| at + mark.len()));
        let mut signs = line.match_indices(['=', ':']).map(|(at, _)| at);
        let named = signs.find(|at| follows_secret_name(line, *at)).map(|at| at + 1);
        let begins = marks.into_iter().chain([named]).flatten().min();
        is_inside &= !is_entry(line);
        if let Some(from) = if is_inside { Some(0) } else { begins } {
            places.push(start + from..start + line.len());
            is_inside = true;
        }
        start += line.len();
    }
    places
}

/// Returns whether a line begins an entry or a table of TOML.
fn is_entry(line: &str) -> bool {
    let line = line.trim_start();
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || "_-. \"".contains(letter);
    let key = line.split_once('=').map(|(key, _)| key);
    line.starts_with('[') || key.is_some_and(|key| !key.is_empty() && key.chars().all(is_bare))
}

fn line_end(text: &str, from: usize) -> usize {
    from + rest_of_line(text, from).len()
}

fn rest_of_line(text: &str, from: usize) -> &str {
    text.get(from..).and_then(|rest| rest.split('\n').next()).unwrap_or_default()
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
            ("mysql://a@h/d?password=x&y=1", "mysql://a@h/d?password=*****"),
            ("mysql://h/d?user=a&password=${PW}&x=1", "mysql://h/d?user=a&password=${PW}&x=1"),
            ("jdbc:mysql://h?user=a&password=x y", "jdbc:mysql://h?user=a&password=***"),
            ("mysql://a@/d?socket=/run/s", "mysql://a@/d?socket=/run/s"),
            ("mysql://me:hush", "mysql://me:****"),
            ("mysql://db/x", "mysql://db/x"),
            ("me:hush@db/x", "************"),
            ("me://hu:sh@db", "me://*****@db"),
            ("me:hu@db://sh", "*************"),
            ("mysql://me:${PASSWORD}@db/x", "mysql://me:${PASSWORD}@db/x"),
        ] {
            assert_eq!(shown(written), expected);
        }
        assert_eq!(masked_source("dsn = \"a\\u003ab\""), "dsn = **********");
        assert_eq!(masked_source("# m://a:b@c\nb = 1"), "# m://*****\nb = 1");
        assert_eq!(masked_source("dsn = 'mysql://a:b@c'#@h/d"), "dsn = 'mysql://a:*********");
        let quote = "dsn = 'mysql://a:@bc'#@h/d";
        assert_eq!(masked_source(quote), "dsn = 'mysql://a:*********");
        let comment = "dsn = 'mysql://a@h/d' # b";
        assert_eq!(masked_source(comment), "dsn = 'mysql://a@h/d*****");
        let key = "\"mysql://a:\".\".J;@h/d\" = 1";
        assert_eq!(masked_source(key), "\"mysql://a:***************");
        assert_eq!(masked_source("[pw]\na = { b = 'c' }"), "[pw]\na = { b = *** }");
        assert_eq!(masked_source("a = 1 # token = x y"), "a = 1 # token = * y");
        assert_eq!(
            masked_source("pwd = 12\n\"api_key\" = ['a', 'b']"),
            "pwd = **\n\"api_key\" = ***** ***]"
        );
    }

    #[test]
    fn a_file_that_is_not_toml_shows_no_address() {
        let text = "a = 1\ndsn = \"p://me:a\"b\nc@db/x\"\n[b]\nc = 2";
        assert_eq!(masked_source(text), "a = 1\ndsn**************\n*******\n[b]\nc = 2");
        assert_eq!(masked_source("a = 1\npassword: x y\nb = 2"), "a = 1\npassword:****\nb = 2");
    }
}
