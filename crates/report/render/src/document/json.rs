//! Data as JSON, for programs.

use serde::Serialize;

/// Returns the data as one indented JSON value.
pub(crate) fn json(data: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(data);
    let text = text.expect("its maps have text keys and its numbers are finite") + "\n";
    // JSON escapes those below U+0020 only; the others stand in texts.
    let is_obeyed = |c: char| c.is_control() && c != '\n';
    let escape = |c: char| if is_obeyed(c) { format!("\\u{:04x}", u32::from(c)) } else { c.into() };
    if text.contains(is_obeyed) { text.chars().map(escape).collect() } else { text }
}
