//! A page of one message: what is not found, or cannot be shown.

use maud::html;

use super::Frame;

/// Returns a page with a message; each line of it is a paragraph.
pub fn message_page(frame: &Frame, title: &str, message: &str) -> String {
    let body = html! {
        main { h1 { (title) } @for line in message.lines() { p { (line) } } }
    };
    frame.page(title, "-", &body)
}
