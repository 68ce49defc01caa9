//! Time lines as a report.

use serde::Serialize;

use super::data::{self, RunTimeline};
use super::rows::{activities, series};
use super::sentence::{associations, spans, stalls};
use crate::document::{Document, Part, Rows};
use crate::format::{Format, Style};
use crate::report::Report;
use model::units::many;

/// What is shown of a time line without server or engine.
const OLD: &str = "These intervals contain no readings of the engine: an older version recorded \
                   them, or the engine reports none.";
/// How the text is read.
const LEGEND: &str = "Bars: lowest to highest, each the mean of its seconds, without the \
                      warm-up.   \u{25a0} a stall, or an activity that ran, in a second of this column.   A stall is a \
                      second below a tenth of the usual throughput, or of ten times the usual p99.";

impl Report for [RunTimeline<'_>] {
    fn document(&self, _: Format, style: Style) -> Document {
        let mut all = Document::default();
        self.iter().for_each(|one| all.append(document(one, style)));
        all
    }

    fn rows(&self) -> Option<Rows> {
        Some(data::rows(self))
    }

    fn data(&self) -> impl Serialize {
        data::data(self)
    }
}

fn document(one: &RunTimeline<'_>, style: Style) -> Document {
    let timeline = &one.timeline;
    let length: f64 = timeline.seconds.iter().map(|(_, length)| length).sum();
    let (counted, stalled) = timeline.counts();
    let head = format!(
        "{}: {length:.0} s, {} counted, {} of them in {}",
        one.step.step.name,
        many(counted, "second"),
        stalled,
        many(timeline.stalls.len(), "stall")
    );
    let (table, zero) = series(timeline, style.width);
    let mut document =
        Document::from([vec![Part::Heading(1, one.run.id.clone()), Part::Sentences(vec![head])]]);
    document.add([Part::Table(table)]);
    document.add(zero.map(Part::Text));
    let has_engine = timeline.series.iter().any(|series| series.name.starts_with("engine_"));
    document.add((!has_engine).then(|| Part::Text(OLD.to_owned())));
    document.add([Part::Note(LEGEND.to_owned())]);
    document.add(stalls(timeline));
    document.add([Part::Sentences(associations(timeline))]);
    document.add(activities(timeline));
    document.add(spans(timeline));
    document
}
