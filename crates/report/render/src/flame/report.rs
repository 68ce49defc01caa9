//! A flame graph's functions as a table, and the graph as a file.

use analysis::profile::{FlameGraph, HotFunction, Side, Us, hottest_functions};
use model::units::clients;
use serde::Serialize;
use serde_json::json;

use super::picture::{Subject, signed};
use crate::document::{Document, Part, Table};
use crate::figure::digits;
use crate::format::{Format, Style};
use crate::meta::Meta;
use crate::report::Report;

/// Functions in a table for people.
const SHOWN: usize = 20;

/// The profile of a step in one variant, or in a variant and its base.
pub struct FlameReport<'a> {
    /// The experiment.
    pub meta: Meta,
    /// The step.
    pub step: &'a str,
    /// Number of clients.
    pub clients: u32,
    /// The variant that is shown.
    pub shown: &'a Side<'a>,
    /// The variant that it is compared with.
    pub base: Option<&'a Side<'a>>,
    /// The tree of both.
    pub graph: FlameGraph,
}

impl FlameReport<'_> {
    /// Returns the picture as an SVG file with zoom and search.
    pub fn svg(&self) -> String {
        let step = self.heading();
        let name = "flame".to_owned();
        Subject { graph: &self.graph, step: &step, name, is_file: true }.picture().file()
    }

    fn heading(&self) -> String {
        format!("{} of {}, {}", self.step, self.meta.name, clients(self.clients))
    }

    /// Returns a line with the samples and the CPU of a side.
    fn side(side: &Side<'_>, us: f64) -> String {
        let (name, samples, us) = (&side.name, side.samples(), digits(us));
        let runs = model::units::many(side.runs.len(), "run");
        format!("{name}: {us} us of CPU per operation, {samples} samples of {runs}")
    }
}

impl Report for FlameReport<'_> {
    fn document(&self, _: Format, _: Style) -> Document {
        let functions = hottest_functions(&self.graph);
        let count = functions.len();
        let shown = &functions[..count.min(SHOWN)];
        let whole = self.graph.cpu();
        let base = self.base.zip(whole.base).map(|(side, us)| Self::side(side, us));
        let sides = [Self::side(self.shown, whole.shown)].into_iter().chain(base);
        let head = [Part::Strong(self.heading())].into_iter();
        let head = head.chain(sides.map(Part::Text)).collect();
        let table = Part::Table(table(shown, self.base.is_some()));
        let note = format!("{} of {count} functions, by own CPU.", shown.len());
        Document::from([head, vec![table], vec![Part::Note(note)]])
    }

    fn data(&self) -> impl Serialize {
        json!({
            "experiment": self.meta,
            "step": self.step,
            "clients": self.clients,
            "variant": self.graph.shown,
            "versus": self.graph.base,
            "cpu": self.graph.cpu(),
            "waits": self.shown.waits,
            "base_waits": self.base.map(|base| &base.waits),
            "functions": hottest_functions(&self.graph),
        })
    }
}

/// Returns the functions in rows: own and inclusive CPU, and their differences.
fn table(functions: &[HotFunction], has_base: bool) -> Table {
    let names = functions.iter().map(|cost| cost.function.as_str());
    let mut table = Table::named("function", names).shortened();
    table.labels("group", functions.iter().map(|cost| cost.group.phrase()));
    let own: fn(&HotFunction) -> Us = |cost| cost.own;
    for (heading, us) in [("own\nus/op", own), ("inclusive\nus/op", |cost| cost.inclusive)] {
        table.figures(heading, functions.iter().map(|cost| digits(us(cost).shown)));
        if has_base {
            let change = |cost: &HotFunction| us(cost).difference().map(signed);
            let changes = functions.iter().map(|cost| change(cost).unwrap_or_default());
            table.figures("\ndifference", changes);
        }
    }
    table
}
