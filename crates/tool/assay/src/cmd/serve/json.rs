//! Data of pages as JSON.

use model::is_obeyed;
use serde::Serialize;

/// Returns data as JSON that can stand in a page.
///
/// No text of the data ends the element of the JSON, and control characters become visible.
pub(super) fn json(data: &impl Serialize) -> String {
    let text = serde_json::to_string(data).expect("data of pages are always valid JSON");
    let escape = |c: char| match c {
        '<' => "\\u003c".to_owned(),
        _ if is_obeyed(c) => format!("\\{}", c.escape_unicode()),
        _ => c.into(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn no_text_in_json_ends_an_element_or_is_obeyed() {
        for text in ["</script><!--", "\u{202e}x", "\u{7f}\u{9b}", "\u{2028}\"\\", "\n\t", "a < b"]
        {
            let written = json(&[text]);
            assert!(!written.contains('<') && !written.contains(is_obeyed), "{written}");
            let read: Value = serde_json::from_str(&written).unwrap();
            assert_eq!(read[0], *model::visible(text), "{written}");
        }
    }
}
