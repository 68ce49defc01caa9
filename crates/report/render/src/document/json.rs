//! Data as JSON, for programs.

use model::is_obeyed;
use serde::Serialize;
use serde_json::Value;

use super::part::Content;

/// Returns the data of content as JSON.
pub(crate) fn write(content: &Content<'_>) -> String {
    (content.data)()
}

/// Returns the data as one indented JSON value.
pub(crate) fn json(data: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(data);
    let text = text.expect("its maps have text keys and its numbers are finite") + "\n";
    // JSON escapes those below U+0020 only; the others stand in texts.
    let is_escaped = |c: char| is_obeyed(c) && c != '\n';
    let escape = |c: char| match is_escaped(c) {
        true => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        false => c.to_string(),
    };
    if text.contains(is_escaped) { text.chars().map(escape).collect() } else { text }
}

/// Returns one object with the fields of all, in order.
pub(crate) fn merged(objects: impl IntoIterator<Item = Value>) -> Value {
    let fields = |object| {
        let Value::Object(fields) = object else { unreachable!("only objects are merged") };
        fields
    };
    Value::Object(objects.into_iter().flat_map(fields).collect())
}
