//! The page of histories: a metric over all experiments, with its changes.

use maud::html;

use super::Frame;
use crate::document::html as parts;
use crate::format::{Format, Style};
use crate::history::HistoryInput;
use crate::plot::histories;
use crate::report::Report as _;

/// What the histories are of; an empty text restricts nothing.
const FIELDS: [(&str, &str); 6] = [
    ("metric", "Metric"),
    ("engine", "Engine"),
    ("variant", "Variant"),
    ("step", "Step"),
    ("experiment", "Experiment"),
    ("host", "Host"),
];

/// Returns the page; `found` is the study, or why there is none.
pub fn history_page<'a>(
    frame: &Frame,
    found: Result<&HistoryInput<'_>, &str>,
    value: &dyn Fn(&str) -> &'a str,
) -> String {
    let body = html! {
        header { h1 { "History" } }
        main {
            form.filter data-auto="" {
                @for (name, title) in FIELDS {
                    label { (title) " " input name=(name) value=(value(name)); }
                }
                button { "Show" } " " a href="./" { "Reset" }
            }
            @match found {
                Ok(input) => {
                    (parts(input.document(Format::Text, Style::default()).parts()))
                    (histories(input.study).figure())
                }
                Err(why) => @for line in why.lines() { p { (line) } },
            }
        }
    };
    frame.page("Assay: history", "history/", &body)
}
