//! Texts pasted in the place of an address: quoted, named, or in another form.

use std::ops::Range;

use model::secret::{PASSWORD_VARIABLE, password_place};
use reader::error::PlanError;

use super::text::{has_variable, is_placeholder, wrong};

/// Quotes that a text may be copied with.
const QUOTES: [char; 3] = ['"', '\'', '`'];
/// Quotes that an editor of texts makes of them.
const TYPOGRAPHIC: [char; 6] =
    ['\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}', '\u{ab}'];
/// Returns whether a text in the place of an engine is meant as an address.
pub(crate) fn is_meant(text: &str) -> bool {
    text.contains("://")
        || text.contains(['=', '(', '$'])
        || text.trim_start().starts_with("jdbc:")
        || (text.contains('@') && text.contains([':', '/']))
        || is_command(text)
}

/// Returns whether a text is a command line of a server's client.
fn is_command(text: &str) -> bool {
    let program = text.split_once(' ').map_or("", |(program, _)| program);
    ["psql", "mysql", "mariadb"].contains(&program.rsplit('/').next().unwrap_or_default())
}

/// Returns whether an argument is an address with a placeholder, in a password or elsewhere.
pub fn has_placeholder(argument: &str) -> bool {
    let Some((_, rest)) = argument.split_once("://") else { return false };
    let is_one = |place: Range<usize>| is_placeholder(&rest[place]);
    has_variable(&rest.replace(&format!("${{{PASSWORD_VARIABLE}"), ""))
        || password_place(rest).is_some_and(is_one)
}

/// Returns the address in a text, without spaces and quotes around it.
///
/// # Errors
/// For another form; its text, which may be a password, is not repeated.
pub(super) fn unwrapped(text: &str) -> Result<&str, PlanError> {
    let text = text.trim();
    let quoted = |quote: &char| text.strip_prefix(*quote)?.strip_suffix(*quote);
    let text = QUOTES.iter().find_map(quoted).map_or(text, str::trim);
    let head = text.split_once("://").map_or("", |(head, _)| head);
    if text.is_empty() {
        return Err(wrong("the address is empty"));
    }
    if text.contains(char::is_control) {
        return Err(wrong("the address has a line break or another control character in it")
            .remedy("write the address on one line; a line break of a password is %0A"));
    }
    if text.starts_with(QUOTES) || text.starts_with(TYPOGRAPHIC) {
        return Err(wrong("the address begins with a quote and does not end with the same quote")
            .remedy("leave the quote out; a quote of a password is written %22, %27 or %60"));
    }
    if text.starts_with('$') || text.starts_with("{{") {
        return Err(wrong("the address is a variable that nothing expands").remedy(
            "write the address itself; the password alone may be a variable, \
             ${ASSAY_PASSWORD_NAME}",
        ));
    }
    if head.contains(|sign: char| sign == '=' || sign.is_whitespace()) {
        return Err(wrong("words stand in front of the scheme of the address")
            .remedy("write the address alone, without a command or the name of a variable"));
    }
    if head.is_empty() { Err(without_scheme(text)) } else { Ok(text) }
}

/// Returns whether the host of a text is in the form of Go's MySQL driver.
pub(super) fn is_of_go(text: &str) -> bool {
    ["tcp(", "unix("].iter().any(|call| text.contains(call))
}

/// Returns the error of an address in the form of Go's MySQL driver.
pub(super) fn form_of_go() -> PlanError {
    wrong("this is an address in the form of Go's MySQL driver").remedy(
        "write mysql://user:${ASSAY_PASSWORD_NAME}@host:port/database, or ?socket=/path behind it",
    )
}

/// Returns the error of a text without a scheme and `//`.
fn without_scheme(text: &str) -> PlanError {
    let is_key = |key: &str| {
        let is_sign = |sign: char| sign.is_ascii_alphanumeric() || "_- ".contains(sign);
        !key.trim().is_empty() && key.chars().all(is_sign)
    };
    if text.split_once('=').is_some_and(|(key, _)| is_key(key)) {
        return wrong("this is a list of `key=value`, as in libpq and .NET, and not an address")
            .remedy(
                "write its values as postgres://USER:${ASSAY_PASSWORD_NAME}@HOST:PORT/DATABASE, \
                 or mysql://..., and other keys as parameters: ?sslmode=require",
            );
    }
    if is_of_go(text) {
        return form_of_go();
    }
    if is_command(text) {
        return wrong("this is a command line, and not an address").remedy(
            "write its values as postgres://USER:${ASSAY_PASSWORD_NAME}@HOST:PORT/DATABASE, or \
             mysql://...",
        );
    }
    if text.starts_with("jdbc:") {
        return wrong("the JDBC address names no host: it has no `//`");
    }
    wrong("the address has no scheme")
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn a_waived_protection_and_an_ignored_role_are_stated() {
        for (address, exposure) in [
            (
                "postgres://me:x@h/d?require_auth=password",
                ", which is sent in clear text if the server requests it",
            ),
            (
                "mysql://me:x@h/d?allowPublicKeyRetrieval=true",
                ", which is sent encrypted by an unverified key if the server requests it",
            ),
            ("mysql://me:x@h/d", ""),
        ] {
            let found = parse(address).map(|parsed| parsed.dsn.exposure());
            assert_eq!(found.ok(), Some(exposure), "{address}");
        }
        let standby = parse("postgres://me@h/d?target_session_attrs=prefer-standby");
        let notes = standby.map(|parsed| parsed.dsn.notes).unwrap_or_default();
        assert_eq!(notes, ["`target_session_attrs` has no effect: the address names one host"]);
    }

    #[test]
    fn what_a_page_or_another_driver_has_in_an_address_is_named() {
        let variable = |part: &str| format!("the {part} has a variable that nothing expands");
        let placeholder = |part: &str| format!("the {part} is a placeholder that nothing fills in");
        let go = "this is an address in the form of Go's MySQL driver";
        let keys = "the host is a list of keys, as in MySQL's Connector/J";
        let scheme = "the scheme has more than `jdbc:` and the name of a server";
        for (address, expected) in [
            ("postgres://me@[::1]:${PORT:-1}/x", variable("port")),
            ("postgres://me@${HOST:-h}:1/x", variable("host")),
            ("postgres://me@[YOUR-HOST]:1/x", placeholder("host")),
            ("postgres://me@h/{db}", placeholder("database")),
            ("postgres://me@[1:h]/x", "the host is not an IPv6 address".to_owned()),
            ("mysql://me:hush@tcp(127.0.0.1:3398)/x", go.to_owned()),
            ("mysql://me@unix(/tmp/x.sock)/x", go.to_owned()),
            ("jdbc:mysql://(host=127.0.0.1,port=3398)/x?user=me", keys.to_owned()),
            ("jdbc:mysql://address=(host=h)(port=1)/x?user=me", keys.to_owned()),
            (
                "mysql://me@http://127.0.0.1:1/x",
                "a second scheme stands in front of the host".to_owned(),
            ),
            ("jdbc:mysql:loadbalance://h/x", scheme.to_owned()),
            (
                "\u{201c}postgres://me@h/x\u{201d}",
                "the address begins with a quote and does not end with the same quote".to_owned(),
            ),
        ] {
            assert_eq!(parse(address).map_err(|error| error.to_string()).err(), Some(expected));
        }
    }

    #[test]
    fn a_placeholder_of_an_argument_is_found_and_an_escape_or_our_variable_is_none() {
        for login in ["me:$PW@db", "me:{{ pw }}@db", "me:pw@$(hostname)", "a:<b>@c"] {
            assert!(has_placeholder(&format!("--engine=postgres://{login}/x")), "{login}");
        }
        for login in ["me:${ASSAY_PASSWORD_PG}@db", "me:a%41b%42@db", "me:5$@db", "me@[::1]:1"] {
            assert!(!has_placeholder(&format!("postgres://{login}/x")), "{login}");
        }
    }
}
