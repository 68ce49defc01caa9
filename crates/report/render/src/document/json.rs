//! Data as JSON, for programs.

use serde::Serialize;

/// Returns the data as one indented JSON value.
pub(crate) fn json(data: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(data);
    text.expect("its maps have text keys and its numbers are finite") + "\n"
}
