//! Parts of an address: escapes, and variables that nothing expands.

use percent_encoding::percent_decode_str;
use reader::error::PlanError;

/// The form of an address.
const FORM: &str = "write postgres://user:${ASSAY_PASSWORD_NAME}@host:port/database, or \
                    mysql://...; for a unix socket add ?host=/directory or ?socket=/path";

/// Returns the error of an address; neither it nor its remedy contains the password.
pub(super) fn wrong(why: impl Into<String>) -> PlanError {
    PlanError::new(why).remedy(FORM)
}

/// Returns a part of an address with its escapes decoded.
pub(super) fn decoded(text: &str, part: &str) -> Result<String, PlanError> {
    let bytes = text.as_bytes();
    let is_escape = |at: usize| {
        let digits = bytes.get(at + 1..at + 3);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if text.match_indices('%').any(|(at, _)| !is_escape(at)) {
        return Err(wrong(format!(
            "a `%` in the {part} is not followed by two hexadecimal digits"
        ))
        .remedy("write a `%` itself as %25"));
    }
    let decoded = percent_decode_str(text).decode_utf8();
    let decoded = decoded.map_err(|_not_text| {
        wrong(format!("the {part} is not text")).remedy("escape the bytes of UTF-8")
    })?;
    if decoded.contains('\0') {
        return Err(wrong(format!("the {part} has a zero byte, %00"))
            .remedy("leave the zero byte out: no server takes a zero byte"));
    }
    Ok(decoded.into_owned())
}

/// Returns whether a text has a variable of a shell or template in it.
pub(super) fn has_variable(text: &str) -> bool {
    let is_name = |rest: &str| {
        rest.starts_with(|sign: char| sign.is_ascii_alphabetic() || "_{(".contains(sign))
    };
    text.contains("{{") || text.match_indices('$').any(|(at, _)| is_name(&text[at + 1..]))
}

/// Returns whether a text stands in the brackets of a placeholder.
fn is_bracketed(text: &str) -> bool {
    let is_within = |(begin, end)| text.starts_with(begin) && text.ends_with(end);
    [('<', '>'), ('[', ']'), ('{', '}')].into_iter().any(is_within)
}

/// Returns whether a password has a variable in it, or is a placeholder of a page or a console.
pub(super) fn is_placeholder(text: &str) -> bool {
    let letters = text.chars().filter(char::is_ascii_alphabetic);
    let letters: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    has_variable(text)
        || is_bracketed(text)
        || (letters.starts_with("your") && letters.contains("passw"))
        || text.chars().all(|sign| sign == '*' || sign == '\u{2022}')
}

/// Checks that a part of an address is no placeholder, and has no variable in it.
pub(super) fn check_expanded(text: &str, part: &str) -> Result<(), PlanError> {
    if !has_variable(text) {
        if !is_bracketed(text) || text.contains(':') {
            return Ok(());
        }
        return Err(wrong(format!("the {part} is a placeholder that nothing fills in"))
            .remedy(format!("write the {part} itself in its place")));
    }
    Err(wrong(format!("the {part} has a variable that nothing expands")).remedy(format!(
        "write the {part} literally, with `$` as %24; only a password may be a variable, such as \
         ${{ASSAY_PASSWORD_NAME}}"
    )))
}

/// Stores what an address states; it may state it once.
pub(super) fn once<T>(slot: &mut Option<T>, value: T, part: &str) -> Result<(), PlanError> {
    if slot.is_some() {
        return Err(twice(&format!("the {part}")));
    }
    *slot = Some(value);
    Ok(())
}

/// Returns the error of what an address states twice.
pub(super) fn twice(what: &str) -> PlanError {
    wrong(format!("the address states {what} twice")).remedy("leave one of them out")
}
