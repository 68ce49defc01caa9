//! Pages where an experiment is written, checked and started.

use maud::html;
use serde::Serialize;

use super::Frame;
use super::view::encoded;

/// An error of an experiment file, as the script reads it.
#[derive(Debug, Clone, Serialize)]
pub struct Problem {
    /// Its line, from 1; 1 for an error without a place.
    pub line: usize,
    /// Its column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to write.
    pub help: Option<String>,
}

/// An experiment that is written.
pub struct Editor<'a> {
    /// The text of its file.
    pub text: &'a str,
    /// Its errors.
    pub errors: &'a [Problem],
    /// Its plan; empty with errors.
    pub plan: &'a str,
    /// Names of experiments to begin with.
    pub examples: &'a [&'a str],
}

/// The command that a page started.
pub struct Launch<'a> {
    /// The end of its output.
    pub output: &'a str,
    /// How it ended; `None` while it goes on.
    pub end: Option<&'a str>,
}

/// Returns the page of the editor.
///
/// Without script the file is checked by its button; with it, while it is typed.
pub fn editor_page(frame: &Frame, editor: &Editor<'_>) -> String {
    let body = html! {
        header { h1 { "Run an experiment" } }
        main {
            details.more {
                summary { "Begin with a shipped experiment" }
                p { @for name in editor.examples { a href=(format!("./?from={}", encoded(name))) { (name) } " " } }
            }
            form.run method="post" action="start" {
                textarea name="text" rows="24" spellcheck="false" aria-label="Experiment file"
                    aria-describedby="errors" data-check="check" { "\n" (editor.text) }
                ul #errors aria-live="polite" { @for problem in editor.errors {
                    li { "line " (problem.line) ", column " (problem.column) ": " (problem.message)
                        small { (problem.help.as_deref().unwrap_or_default()) } }
                } }
                noscript { button formaction="./" { "Check" } " " }
                button #start disabled[!editor.errors.is_empty()] { "Start" }
                pre #plan tabindex="0" aria-label="Plan and price" { (editor.plan) }
            }
        }
    };
    frame.page("Assay: run an experiment", "run/", &body)
}

/// Returns the page of a command that is being prepared, or has ended; it is loaded again every
/// two seconds until then.
pub fn launch_page(frame: &Frame, launch: &Launch<'_>) -> String {
    let title = if launch.end.is_some() { "The run has ended" } else { "The run is prepared" };
    let body = html! {
        @if launch.end.is_none() { meta http-equiv="refresh" content="2"; }
        header { h1 { (title) } }
        main {
            p role="status" { @match launch.end {
                Some(end) => { "The command ended: " (end) "." },
                None => { "Builds and settings are checked. This page then shows the run." },
            } }
            @if launch.end.is_none() { form.buttons method="post" action="stop" { button { "Stop" } } }
            pre tabindex="0" aria-label="Output of the command" { (launch.output) }
            p { a href=(frame.to("run/")) { "Run another experiment" } " \u{b7} "
                a href=(frame.to("")) { "Archive" } }
        }
    };
    frame.page(&format!("Assay: {title}"), "run/", &body)
}
