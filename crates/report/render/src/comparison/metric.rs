//! One metric over all steps, with its verdicts: what `compare --metric` prints.

use analysis::{CellComparison, Measured};
use model::{Metric, metric};
use serde::Serialize;
use serde_json::{Value, json};
use stats::{Effect, Verdict};

use super::csv;
use super::tables::{ratio_cell, spread_cell};
use crate::document::{Cell, Document, Part, Rows, Table, merged};
use crate::figure::{self, unit_name};
use crate::format::{Format, Style};
use crate::input::Compared;
use crate::label::{meaning, runs_suffix, step_heading, variant_label};
use crate::legend::means;
use crate::report::Report;
use crate::trust::headline;

/// One metric's figures and verdicts by step, then over whole runs.
///
/// A verdict is `higher` or `lower` whatever the metric: which of these is better stands above.
pub struct MetricReport<'a> {
    compared: &'a Compared<'a>,
    metric: &'static Metric,
    places: Vec<Place<'a>>,
}

/// Cells in which a metric was measured.
struct Place<'a> {
    heading: String,
    /// Step, part and clients, for programs.
    place: Value,
    cells: &'a [CellComparison],
}

impl<'a> MetricReport<'a> {
    /// Returns the report; `None` when the model has no metric of that name, or no run a value.
    pub fn of(compared: &'a Compared<'a>, name: &str) -> Option<Self> {
        let metric = metric::find(name)?;
        let mut places = places(compared);
        places.retain(|place| place.cells.iter().any(|cell| cell.metric(name).is_some()));
        (!places.is_empty()).then_some(Self { compared, metric, places })
    }

    /// Returns the metric of each variant in each place.
    fn lines(&self) -> Value {
        let of_place = |Place { place, cells, .. }: &Place<'_>| {
            let line = |cell: &CellComparison| {
                let measured = json!(cell.metric(self.metric.name)?);
                Some(merged([place.clone(), json!({ "variant": cell.variant }), measured]))
            };
            cells.iter().filter_map(line).collect::<Vec<_>>()
        };
        self.places.iter().flat_map(of_place).collect()
    }
}

impl Report for MetricReport<'_> {
    fn document(&self, _: Format, _: Style) -> Document {
        let compared = self.compared;
        let head = vec![Part::Text(headline(compared)), Part::Text(meaning(self.metric))];
        let mut document = Document::from([head]);
        document.add(compared.meta.disclaimer.clone().map(Part::Text));
        let table = |it: &Place<'_>| table(compared, self.metric, &it.heading, it.cells);
        let tables = self.places.iter().map(|place| Part::Table(table(place)));
        document.add(tables.chain([Part::Note(means(compared.comparison).to_owned())]));
        document
    }

    /// Has the lines of this metric of the whole comparison's.
    fn rows(&self) -> Option<Rows> {
        let rows = csv::rows(self.compared);
        Some(rows.with("metric", self.metric.name))
    }

    fn data(&self) -> impl Serialize {
        json!({
            "label": self.compared.label,
            "metric": self.metric.name,
            "unit": unit_name(self.metric.unit),
            "rows": self.lines(),
        })
    }
}

/// Returns every step, its parts, and the whole runs.
fn places<'a>(compared: &'a Compared<'_>) -> Vec<Place<'a>> {
    let comparison = compared.comparison;
    let mut places = Vec::new();
    for step in &comparison.steps {
        let heading = step_heading(comparison, step);
        let place = |part: Option<&str>| {
            let (step, index, clients) = (&step.name, step.index, step.clients.level);
            json!({ "step": step, "step_index": index, "part": part, "clients": clients })
        };
        places.push(Place { heading: heading.clone(), place: place(None), cells: &step.cells });
        places.extend(step.parts.iter().map(|part| {
            let name = part.name.name.as_str();
            let heading = format!("{heading}, {name}");
            Place { heading, place: place(Some(name)), cells: &part.cells }
        }));
    }
    places.extend(comparison.runs.iter().map(|runs| {
        let (clients, suffix) = (runs.clients, runs_suffix(comparison, runs.clients));
        let heading = format!("whole runs{suffix}");
        let place = json!({ "step": null, "step_index": null, "part": null, "clients": clients });
        Place { heading, place, cells: &runs.cells }
    }));
    places
}

fn table(
    compared: &Compared<'_>,
    metric: &Metric,
    heading: &str,
    cells: &[CellComparison],
) -> Table {
    let name = metric.name;
    let mut table = Table::new([heading, "n", "mean [min..max]", "ratio [95 %]", "q", "<verdict"]);
    for cell in cells {
        let measured = cell.metric(name);
        let n = measured.map_or(0, |one| one.spread.n);
        let effect = measured.and_then(|one: &Measured| one.versus_base);
        let q = effect.and_then(|effect| effect.q).map(figure::digits);
        table.push([
            Cell::from(variant_label(compared.comparison, &cell.variant)),
            n.to_string().into(),
            spread_cell(name, cell),
            match measured {
                Some(_) => ratio_cell(compared, name, cell, cells),
                None => Cell::default(),
            },
            q.unwrap_or_default().into(),
            effect.map(|effect| verdict(compared, &effect)).unwrap_or_default().into(),
        ]);
    }
    table
}

/// Returns the verdict in words; of an inconclusive one with the detectable difference.
fn verdict(compared: &Compared<'_>, effect: &Effect) -> String {
    let margin = figure::declared(compared.comparison.margin);
    let way = if effect.ratio < 1.0 { "lower" } else { "higher" };
    match compared.verdict(effect) {
        None => "none may be drawn".to_owned(),
        Some(Verdict::Above | Verdict::Below) => way.to_owned(),
        Some(Verdict::SmallButReal) => format!("{way}, by less than {margin}"),
        Some(Verdict::Equivalent) => format!("no difference beyond {margin}"),
        Some(Verdict::Inconclusive) => {
            format!("inconclusive; detectable {}", figure::difference(effect.detectable))
        }
    }
}

#[cfg(test)]
mod tests {
    use stats::Why;

    use super::*;
    use crate::sentence::testing::{Sample, effect, open};

    fn shown(sample: &Sample, name: &str) -> Option<String> {
        let style = Style { width: 100, has_colour: false, has_costs: false };
        sample.with(|compared| Some(MetricReport::of(compared, name)?.render(Format::Text, style)))
    }

    #[test]
    fn inconclusive_verdict_shows_the_detectable_difference() {
        let sample = Sample::of(&[
            ("more", 3, effect(1.08, 1.052, 1.114, Verdict::Above)),
            ("less", 3, effect(0.3, 0.29, 0.315, Verdict::Below)),
            ("little", 3, effect(1.009, 1.004, 1.014, Verdict::SmallButReal)),
            ("equal", 3, effect(1.002, 0.991, 1.013, Verdict::Equivalent)),
            ("open", 3, open(1.006, 0.987, 1.025, Why::Wide)),
        ]);
        insta::assert_snapshot!(shown(&sample, "throughput_ops_per_s").unwrap(), @r"
        Verdict: TRUE. No warning.
        throughput_ops_per_s: operations done per second over the whole step; more is better

        readrandom  n      mean [min..max]          ratio [95 %]      q  verdict
        old (base)  3  1.00 k [0.99..1.01]
        more        3  1.08 k [1.07..1.09]   1.08 ▲ [1.05, 1.11]  0.040  higher
        less        3       300 [297..303]   0.30 ▼ [0.29, 0.32]  0.040  lower
        little      3  1.01 k [1.00..1.02]  1.01 △ [1.004, 1.01]  0.040  higher, by less than 2 %
        equal       3  1.00 k [0.99..1.01]   1.00 ≈ [0.99, 1.01]  0.040  no difference beyond 2 %
        open        3  1.01 k [1.00..1.02]   1.01 ? [0.99, 1.02]  0.040  inconclusive; detectable 2.7 %
        Means of runs are geometric, and a ratio is the ratio of the two means. If a run gave 0, the mean is
        arithmetic and there is no ratio.
        ");
        insta::assert_snapshot!(shown(&sample.bogus(), "throughput_ops_per_s").unwrap(), @r"
        Verdict: BOGUS. No verdict may be drawn from this comparison: A001 durability mismatch (assay lint
        sample).
        throughput_ops_per_s: operations done per second over the whole step; more is better

        readrandom  n      mean [min..max]        ratio [95 %]      q  verdict
        old (base)  3  1.00 k [0.99..1.01]
        more        3  1.08 k [1.07..1.09]   1.08 [1.05, 1.11]  0.040  none may be drawn
        less        3       300 [297..303]   0.30 [0.29, 0.32]  0.040  none may be drawn
        little      3  1.01 k [1.00..1.02]  1.01 [1.004, 1.01]  0.040  none may be drawn
        equal       3  1.00 k [0.99..1.01]   1.00 [0.99, 1.01]  0.040  none may be drawn
        open        3  1.01 k [1.00..1.02]   1.01 [0.99, 1.02]  0.040  none may be drawn
        Means of runs are geometric, and a ratio is the ratio of the two means. If a run gave 0, the mean is
        arithmetic and there is no ratio.
        ");
    }

    #[test]
    fn unmeasured_metric_has_no_table() {
        let sample = Sample::of(&[]);
        assert_eq!(shown(&sample, "no_such_metric"), None);
        assert_eq!(shown(&sample, "write_amplification"), None);
    }
}
