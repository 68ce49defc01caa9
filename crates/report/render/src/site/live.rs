//! The page of an experiment in progress, and of the replay of its runs.
//!
//! Without script, a page in progress is loaded again every five seconds.

use maud::{Markup, PreEscaped, html};

use super::{Frame, PageHost};
use crate::html::page;
use crate::list::complete_runs;

/// The charts of the step in hand: metric and title.
const CHARTS: [(&str, &str); 3] = [
    ("per_s", "Operations or rows per second"),
    ("p99_ns", "p99 of response times"),
    ("lag_ns", "p99 of start lag"),
];

/// An experiment in progress, or its replay.
pub struct Progress<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its question.
    pub question: &'a str,
    /// Complete runs.
    pub complete: usize,
    /// Planned runs.
    pub cells: usize,
    /// Whether a process is writing runs of it.
    pub is_running: bool,
    /// Whether this browser has requested a stop.
    pub is_stopping: bool,
    /// Style sheet, script and events (JSON without `<`) of a page that is one file.
    pub inlined: Option<[&'a str; 3]>,
}

/// Returns the page.
pub fn live_page(frame: &Frame, progress: &Progress<'_>) -> String {
    let Progress { name, question, complete, cells, is_running, .. } = progress;
    let body = html! {
        @if *is_running { noscript { meta http-equiv="refresh" content="5"; } }
        header { p.kicker { "Assay \u{b7} " (name) } h1 { (question) } }
        main data-events=[is_running.then_some("events")] {
            @if !*is_running && frame.has_script { (replay(frame)) }
            p #progress aria-live="polite" { (complete_runs(*complete, *cells)) }
            progress #bar aria-label="Runs done" max=(cells) value=(complete) { (complete) " of " (cells) }
            p #now {}
            p #connection role="status" {}
            @if progress.is_stopping && *is_running { p { "A stop is requested." } }
            @if frame.host == PageHost::Runs { (buttons(progress)) }
            section { h2 { "The verdict so far" }
                p.verdict #label { "preliminary: runs are missing" }
                ul.sentences #verdict {}
            }
            section { h2 { "The step in hand" }
                @for (metric, title) in CHARTS {
                    figure.live data-metric=(metric) { h3 { (title) } }
                }
            }
            section { h2 { "Runs" } ol #log tabindex="0" aria-label="Runs that ended" {} }
            @if progress.inlined.is_none() { p { a href="../" { "The experiment" } } }
        }
    };
    let state = if *is_running { "in progress" } else { "replay" };
    let title = format!("{name}: {state}");
    let Some([style, script, events]) = progress.inlined else {
        return frame.page(&title, "", &body);
    };
    let body = html! {
        style { (PreEscaped(style)) }
        (body)
        script #recording type="application/json" { (PreEscaped(events)) }
        script { (PreEscaped(script)) }
    };
    page(&title, &body)
}

/// Returns the controls of a replay, which the script shows.
fn replay(frame: &Frame) -> Markup {
    html! {
        div.tools #replay hidden role="group" aria-label="Replay" data-replay="replay.json" {
            button type="button" { "Play" }
            select aria-label="Speed" autocomplete="off" {
                @for speed in [1, 10, 60, 600] { option value=(speed) selected[speed == 60] { (speed) "x" } }
            }
            input type="range" min="0" step="any" autocomplete="off" aria-label="Time since the first run";
            span #time {}
            @if frame.has_forms() { a href="replay.html" download { "Save the replay as one file" } }
        }
    }
}

/// Returns the buttons that stop or resume runs of an experiment.
fn buttons(progress: &Progress<'_>) -> Markup {
    html! {
        @if progress.is_running {
            form.buttons method="post" action="stop" {
                button { "Stop after this run" } " "
                button name="when" value="now" { "Stop now" }
            }
        } @else if progress.complete < progress.cells {
            form.buttons method="post" action="resume" { button { "Resume: run what is missing" } }
        }
    }
}
