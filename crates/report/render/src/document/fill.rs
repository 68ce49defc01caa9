//! Text broken into lines.

/// Breaks `text` at spaces into lines of at most `width` columns.
///
/// A percent sign stays with its number.
pub(crate) fn fill(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    let mut rest = text.split(' ').peekable();
    while let Some(first) = rest.next() {
        let mut word = first.to_owned();
        while let Some(sign) = rest.next_if(|next| next.starts_with('%')) {
            word.push_str(&format!(" {sign}"));
        }
        let line = lines.last_mut().expect("there is always a line");
        let is_first = line.is_empty();
        if !is_first && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word);
            continue;
        }
        if !is_first {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines.join("\n")
}
