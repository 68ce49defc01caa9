//! What is pasted in the place of an address: quoted, with a name, or another form.

use reader::error::PlanError;

use super::text::wrong;

/// Quotes that a text may be copied with.
const QUOTES: [char; 3] = ['"', '\'', '`'];
/// Clients whose command lines hold an address or its parts.
const CLIENTS: [&str; 8] =
    ["psql", "pgcli", "pgbench", "mysql", "mariadb", "mycli", "mysqlsh", "export"];

/// Returns whether a text in the place of an engine is meant as an address.
pub(crate) fn is_meant(text: &str) -> bool {
    text.contains("://")
        || text.contains(['=', '(', '$'])
        || text.trim_start().starts_with("jdbc:")
        || (text.contains('@') && text.contains([':', '/']))
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
            .remedy("write it on one line; a line break of a password is %0A"));
    }
    if text.starts_with(QUOTES) {
        return Err(wrong("the address begins with a quote that does not end it")
            .remedy("leave the quote out; within a password it is %22, %27 or %60"));
    }
    if text.starts_with('$') || text.starts_with("{{") {
        return Err(wrong("the address is a variable that nothing expands").remedy(
            "write the address itself; the password alone may be a variable, \
             ${ASSAY_PASSWORD_NAME}",
        ));
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    let command = first.rsplit('/').next().unwrap_or_default();
    if first.len() < text.len() && CLIENTS.contains(&command) {
        return Err(wrong(format!("this is a command line of {command}, and not an address")));
    }
    if head.contains('=') {
        return Err(wrong("the address has the name of a variable in front of it")
            .remedy("leave out the name and its `=`"));
    }
    if head.is_empty() { Err(without_scheme(text)) } else { Ok(text) }
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
    if ["tcp(", "unix("].iter().any(|call| text.contains(call)) {
        return wrong("this is an address in the form of Go's MySQL driver")
            .remedy("write mysql://user:${ASSAY_PASSWORD_NAME}@host:port/database");
    }
    if text.starts_with("jdbc:") {
        return wrong("the JDBC address names no host: it has no `//`");
    }
    wrong("the address has no scheme")
}
