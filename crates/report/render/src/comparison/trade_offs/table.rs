//! The table as a document, with what is missing in it and legends.

use analysis::IncompleteRun;
use serde::Serialize;

use super::data;
use super::row::{COLUMNS, is_known, rows, size_labels};
use crate::document::{Document, Part, Rows, Table};
use crate::format::{Format, Style};
use crate::input::Compared;
use crate::label::incomplete_line;
use crate::legend::MEANS;
use crate::report::Report;
use crate::trust::headline;

/// Title of the section in reports.
pub(crate) const TRADE_OFFS: &str = "Reads, writes, space and cache";

/// What the figures are; each after its column's name.
const MEANINGS: &str = "Of whole runs, settles included; less is better.   read: read requests to \
    storage per row of point reads; blocks: blocks or pages accessed per row   range read: \
    requests per row returned   bytes written: by the engine, log included; \u{2265} is a lower \
    bound and has no rank   to storage: pages that these bytes changed, each once until its \
    write-back   space: bytes on storage at the end per byte of rows   cache: memory held per byte \
    of rows whose reads it answers without storage, NA where each read may have needed storage";

/// What marks and intervals are.
const MARKS: &str = "best: better than some other variant with a figure in its size and level, and \
    no variant is better; worst likewise; the marks follow verdicts on all pairs, adjusted for \
    their number. Several variants may be best, and without a verdict no variant is.   [low, \
    high]: 95 % interval of the mean, from the variance of the variant's runs, or of the runs of \
    all variants if it has fewer than five; [smallest..largest run] without an interval";

/// The table of these sizes, compared each on its own.
///
/// It has a row per size, level of clients and variant.
pub struct TradeOffs<'a>(pub &'a [Compared<'a>]);

impl Report for TradeOffs<'_> {
    fn document(&self, _: Format, _: Style) -> Document {
        document(self.0)
    }

    fn rows(&self) -> Option<Rows> {
        Some(data::table(self.0))
    }

    fn data(&self) -> impl Serialize {
        data::data(self.0)
    }
}

/// Returns table and legends of one size for the page; nothing where there is no trade-off.
///
/// One takes several variants, and three columns at least.
pub(crate) fn trade_offs(compared: &Compared<'_>) -> Vec<Part> {
    let sizes = std::slice::from_ref(compared);
    let known = COLUMNS.iter().filter(|column| is_known(compared, column)).count();
    match known >= 3 && compared.comparison.variants.len() > 1 {
        true => body(sizes).collect(),
        false => Vec::new(),
    }
}

fn document(sizes: &[Compared<'_>]) -> Document {
    let mut document = Document::default();
    if let [one] = sizes {
        let meta = one.meta;
        document.add([
            Part::Strong(headline(one)),
            Part::Heading(1, meta.title.clone()),
            Part::Text(meta.host.clone()),
            Part::Text(meta.data.clone()),
            Part::Text(meta.durability.clone()),
        ]);
        document.add(meta.disclaimer.clone().map(Part::Text));
    } else {
        let labels = size_labels(sizes);
        let line = |(one, label): (&Compared<'_>, &String)| {
            format!("{label}, {}: {}. {}", one.meta.name, one.meta.durability, headline(one))
        };
        document.add([Part::Sentences(sizes.iter().zip(&labels).map(line).collect())]);
    }
    let has_rows = sizes.iter().any(|one| !one.comparison.trade_offs.is_empty());
    if has_rows {
        document.add(body(sizes));
    } else {
        document.add([Part::Text("No run finished every step: there is nothing to show.".into())]);
    }
    let line = |(one, run): (&Compared<'_>, &IncompleteRun)| {
        let of = if sizes.len() > 1 { format!("{}: ", one.meta.name) } else { String::new() };
        of + &incomplete_line(run)
    };
    let runs =
        sizes.iter().flat_map(|one| one.comparison.incomplete.iter().map(move |run| (one, run)));
    let incomplete: Vec<String> = runs.map(line).collect();
    document.add(Part::title("Incomplete runs").above([Part::Items(incomplete)]));
    document
}

/// Returns the table, what is missing in it, and the legends.
fn body(sizes: &[Compared<'_>]) -> impl Iterator<Item = Part> + use<> {
    let missing = Part::Sentences(missing(sizes));
    let means = format!("{MARKS}   {MEANS}");
    [Part::Table(table(sizes)), missing, Part::Note(MEANINGS.to_owned()), Part::Note(means)]
        .into_iter()
        .filter(|part| !part.is_empty())
}

fn table(sizes: &[Compared<'_>]) -> Table {
    let labels = size_labels(sizes);
    let rows = rows(sizes);
    let mut table = Table::named("", rows.iter().map(|row| row.label(&labels)));
    table.figures("n", rows.iter().map(|row| row.runs().to_string()));
    for (index, column) in COLUMNS.iter().enumerate() {
        // A column that needs nothing is an extra.
        if !column.needs.is_empty() || sizes.iter().any(|one| is_known(one, column)) {
            table.figures(column.heading, rows.iter().map(|row| row.cell(index)));
        }
    }
    table
}

/// Returns what would fill the empty columns, of each size where they differ.
fn missing(sizes: &[Compared<'_>]) -> Vec<String> {
    let text = |one: &Compared<'_>| {
        let empty = COLUMNS.iter().filter(|column| !is_known(one, column));
        let needs: Vec<&str> =
            empty.map(|column| column.needs).filter(|needs| !needs.is_empty()).collect();
        (!needs.is_empty()).then(|| format!("Not measured: {}.", needs.join("; ")))
    };
    let mut texts: Vec<Option<String>> = sizes.iter().map(text).collect();
    if texts.iter().all(|text| *text == texts[0]) {
        texts.truncate(1);
        return texts.into_iter().flatten().collect();
    }
    let labelled = |(text, label): (Option<String>, String)| Some(format!("{label}: {}", text?));
    texts.into_iter().zip(size_labels(sizes)).filter_map(labelled).collect()
}
