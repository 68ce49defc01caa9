//! Charts that the script draws: series, a heat map, and their place in a page.

use analysis::StepComparison;
use maud::{Markup, html};
use model::Unit;
use serde::Serialize;

use super::View;
use crate::document::{Part, html as parts};
use crate::figure::unit_name;
use crate::input::{Compared, ReportInput};
use crate::label::{counts_rows, measured_steps, step_heading};
use crate::plot::{Picture, Subject, throughput_traces};

/// Unit of an axis of quantiles, from 0 to 1.
const PERCENTILE: &str = "percentile";
/// Unit of an axis of moments, in seconds since 1970.
pub(super) const TIME: &str = "time";

/// How values lie on an axis.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios.
    Log,
}

/// An axis of a chart.
#[derive(Debug, Clone, Serialize)]
pub struct Axis {
    /// Its label.
    pub label: String,
    /// What it measures, by the name of the unit: the script formats it for people.
    pub unit: &'static str,
    /// How values lie on it.
    pub scale: Scale,
}

/// A line of a chart.
#[derive(Debug, Clone, Serialize)]
pub struct Series {
    /// Its name: the run.
    pub name: String,
    /// What it has its colour from: the variant.
    pub group: String,
    /// Places on the horizontal axis, ascending.
    pub x: Vec<f64>,
    /// Values, one for each place.
    pub y: Vec<f64>,
}

/// A span of the horizontal axis that does not count in a variant's runs.
#[derive(Debug, Clone, Serialize)]
pub struct Shade {
    /// Its begin.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// The variant.
    pub group: String,
    /// Why it does not count.
    pub why: String,
}

/// A place of the horizontal axis that has a text and an address: a change, or another build.
#[derive(Debug, Clone, Serialize)]
pub struct Mark {
    /// Index of its point.
    #[serde(skip)]
    pub point: usize,
    /// Its place.
    pub x: f64,
    /// What is there, in a few words.
    pub text: String,
    /// Address of what explains the mark.
    pub href: String,
}

/// Counts of operations by time and latency.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Heat {
    /// Begins of the columns, s.
    pub columns: Vec<f64>,
    /// Width of a column, s.
    pub column_width: f64,
    /// Lower bounds of the buckets, ns, and the upper end of the last.
    pub rows: Vec<f64>,
    /// Counts, column by column: one for each bucket.
    pub counts: Vec<u64>,
}

/// A chart, as the script reads it.
#[derive(Debug, Clone, Serialize)]
pub struct Chart {
    /// Its title.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
    /// What does not count.
    pub shades: Vec<Shade>,
    /// The marks, in their order.
    pub marks: Vec<Mark>,
    /// The heat map, in place of lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heat: Option<Heat>,
}

/// Returns throughput by second of the step at a place of the comparison; `None` without such a
/// step.
pub fn by_second_chart(
    input: &ReportInput<'_>,
    compared: &Compared<'_>,
    view: &View,
    place: usize,
) -> Option<Chart> {
    let subject = Subject::of(*input, compared);
    let title = subject.headings.get(place)?.clone();
    let is_of_rows = subject.steps.get(place).is_some_and(|step| counts_rows(step));
    let rate = if is_of_rows { "rows per second" } else { "operations per second" };
    let (mut series, mut shades) = (Vec::new(), Vec::new());
    for row in 0..subject.rows.len() {
        let comparison = input.comparison;
        let group = comparison.variants[row].name.clone();
        if group != comparison.base && !view.has_variant(&group) {
            continue;
        }
        for trace in throughput_traces(&subject, place, row) {
            let (x, y) = trace.points.into_iter().unzip();
            series.push(Series { name: trace.run, group: group.clone(), x, y });
            for ([from, to], _, why) in trace.shades {
                shades.push(Shade { from, to, group: group.clone(), why });
            }
        }
    }
    Some(Chart {
        title,
        x: axis("time since the step's start", unit_name(Unit::Seconds), Scale::Linear),
        y: axis(rate, unit_name(Unit::OpsPerSecond), Scale::Linear),
        series,
        shades,
        marks: Vec::new(),
        heat: None,
    })
}

/// Returns a chart of percentile curves.
pub fn percentile_chart(title: String, series: Vec<Series>) -> Chart {
    Chart {
        title,
        x: axis("percentile", PERCENTILE, Scale::Linear),
        y: axis("latency", unit_name(Unit::Nanos), Scale::Log),
        series,
        shades: Vec::new(),
        marks: Vec::new(),
        heat: None,
    }
}

impl Heat {
    /// Returns the chart of this heat map.
    pub fn chart(self, title: String) -> Chart {
        Chart {
            title,
            x: axis("time since the step's start", unit_name(Unit::Seconds), Scale::Linear),
            y: axis("latency", unit_name(Unit::Nanos), Scale::Log),
            series: Vec::new(),
            shades: Vec::new(),
            marks: Vec::new(),
            heat: Some(self),
        }
    }
}

pub(super) fn axis(label: &str, unit: &'static str, scale: Scale) -> Axis {
    Axis { label: label.to_owned(), unit, scale }
}

/// A measured step with its heading.
#[derive(Debug, Clone)]
pub struct HeadedStep<'a> {
    /// The step.
    pub step: &'a StepComparison,
    /// Its name, with its clients or place where another step has that name too.
    pub heading: String,
}

/// Returns the measured steps, in the order of the charts.
pub fn headed_steps<'a>(compared: &Compared<'a>) -> Vec<HeadedStep<'a>> {
    let steps = measured_steps(compared.comparison).into_iter();
    let headed = |step| HeadedStep { step, heading: step_heading(compared.comparison, step) };
    steps.map(headed).collect()
}

/// A chart's place in a page: what is there without script.
pub(crate) struct Figure<'a> {
    /// Name of the figure in the page.
    pub(crate) id: String,
    /// Relative address of its data.
    pub(crate) address: String,
    pub(crate) title: String,
    pub(crate) caption: &'a str,
    /// Charts of one name share cursor and zoom.
    pub(crate) sync: Option<&'a str>,
    pub(crate) picture: Option<Picture>,
    pub(crate) table: Vec<Part>,
}

impl Figure<'_> {
    /// Returns the figure, with its drawing and its table.
    pub(crate) fn markup(&self) -> Markup {
        html! {
            figure.chart id=(self.id) data-chart=(self.address) data-sync=[self.sync] {
                h3 { (self.title) }
                figcaption { (self.caption) }
                div.static { @if let Some(picture) = &self.picture { (picture.svg(None)) } }
                @if !self.table.is_empty() {
                    details { summary { "The figures as a table" } (parts(&self.table)) }
                }
            }
        }
    }
}
