//! The page of an experiment in progress; without script it is loaded again every five seconds.

use maud::html;

use super::Frame;
use crate::list::complete_runs;

/// The charts of the step in hand: metric and title.
const CHARTS: [(&str, &str); 3] = [
    ("per_s", "Operations per second"),
    ("p99_ns", "p99 of response times"),
    ("lag_ns", "p99 of start lag"),
];

/// An experiment in progress.
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
}

/// Returns the page.
pub fn live_page(frame: &Frame, progress: &Progress<'_>) -> String {
    let Progress { name, question, complete, cells, is_running } = progress;
    let body = html! {
        @if *is_running { noscript { meta http-equiv="refresh" content="5"; } }
        header { p.kicker { "Assay \u{b7} " (name) } h1 { (question) } }
        main data-events="events" {
            p #progress aria-live="polite" { (complete_runs(*complete, *cells)) }
            progress #bar aria-label="Runs done" max=(cells) value=(complete) { (complete) " of " (cells) }
            p #now {}
            p #connection role="status" {}
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
            p { a href="../" { "The experiment" } }
        }
    };
    frame.page(&format!("{name}: in progress"), "", &body)
}
