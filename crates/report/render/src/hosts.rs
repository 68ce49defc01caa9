//! One experiment on several hosts, in every format and as a page.

use analysis::{AcrossHosts, CellAcross, GOOD_COV, OnHost};
use model::{Label, Unit, metric};
use serde::Serialize;
use serde_json::{Value, json};

use crate::document::{Cell, Document, Part, Rows, Table, Tone, known, merged, ratio_fields};
use crate::figure::{declared, digits, figure, interval, percent, sign};
use crate::format::{Format, Style};
use crate::html::document_page;
use crate::label::{level_suffix, meaning};
use crate::meta::Meta;
use crate::report::Report;

const CSV: &str = "step,clients,variant,metric,host,runs,mean,cov,ratio,ratio_low,ratio_high,\
                   max_per_mean,cov_of_hosts";

/// The experiment of one host: its facts and how far its own comparison can be trusted.
#[derive(Debug, Clone)]
pub struct HostExperiment {
    /// Facts of the experiment.
    pub meta: Meta,
    /// Label of the comparison on this host alone.
    pub label: Label,
    /// Whether a run's answers were wrong, or rows were lost.
    pub has_failed_check: bool,
}

/// Hosts, variation and ratios.
pub struct HostsCompared<'a> {
    /// The comparison.
    pub across: &'a AcrossHosts,
    /// The experiments, in the order of the hosts.
    pub experiments: &'a [HostExperiment],
}

impl Report for HostsCompared<'_> {
    fn document(&self, _: Format, _: Style) -> Document {
        document(self.across, self.experiments)
    }

    fn rows(&self) -> Option<Rows> {
        let rows = self.across.cells.iter().flat_map(|cell| rows(self.across, cell));
        Some(Rows::of(CSV.split(','), rows))
    }

    fn data(&self) -> impl Serialize {
        let label = |one: &HostExperiment| json!({ "id": one.meta.id, "label": one.label });
        let experiments: Vec<_> = self.experiments.iter().map(label).collect();
        json!({ "experiments": experiments, "across": self.across })
    }
}

/// Returns the same as one self-contained HTML page.
pub fn page_of_hosts(across: &AcrossHosts, experiments: &[HostExperiment]) -> String {
    let name = experiments.first().map_or("", |one| one.meta.name.as_str());
    document_page(&format!("{name} across hosts"), &document(across, experiments))
}

fn document(across: &AcrossHosts, experiments: &[HostExperiment]) -> Document {
    let mut document = Document::default();
    if let Some(first) = experiments.first() {
        let title = first.meta.title.clone();
        let what = format!(
            "{} hosts, different on purpose: A046 is not applied, and runs of different hosts are \
             never pooled",
            across.hosts.len()
        );
        document.add([
            Part::Heading(1, title),
            Part::Text(what),
            Part::Table(hosts(across, experiments)),
        ]);
        document.add(first.meta.disclaimer.clone().map(Part::Text));
    }
    let goal = format!(
        "Variation between the runs of a host: largest and mean CoV over all steps and variants; at \
         most {} is good",
        declared(GOOD_COV)
    );
    let tables = [
        (goal, variation(across)),
        ("Mean of the runs on each host (CoV)".to_owned(), means(across)),
        ("Relative to the base on the same host: ratio [95 % interval]".to_owned(), ratios(across)),
    ];
    for (title, table) in tables {
        document.add(Part::title(title).above([Part::Table(table)]));
    }
    let mut metrics: Vec<&str> = across.cells.iter().map(|cell| cell.metric).collect();
    metrics.sort_unstable();
    metrics.dedup();
    document.add(
        metrics.iter().filter_map(|name| metric::find(name)).map(|it| Part::Note(meaning(it))),
    );
    document
}

/// Returns a row for each host: its experiment with the label, and the facts that differ.
fn hosts(across: &AcrossHosts, experiments: &[HostExperiment]) -> Table {
    let mut table = Table::named("host", across.hosts.iter().map(String::as_str));
    table.labels("experiment", experiments.iter().map(|one| one.meta.id.as_str()));
    table.labels("label", experiments.iter().map(|one| one.label.to_string()));
    for one in &across.differences {
        table.labels(
            one.fact.replace('_', " "),
            one.values.iter().map(|value| known(value.clone())),
        );
    }
    table
}

/// Returns a row for each host, with two columns for each level of clients.
fn variation(across: &AcrossHosts) -> Table {
    let mut levels: Vec<u32> = across.setups.iter().map(|setup| setup.clients).collect();
    levels.sort_unstable();
    levels.dedup();
    let mut table = Table::named("host", across.hosts.iter().map(String::as_str));
    for level in levels {
        let own = || across.setups.iter().filter(move |setup| setup.clients == level);
        let suffix = level_suffix(level);
        table.figures(format!("largest{suffix}"), own().map(|setup| share(setup.cov_max)));
        table.figures(format!("mean{suffix}"), own().map(|setup| share(setup.cov_mean)));
    }
    table
}

/// Returns a CoV, marked if it is not good.
fn share(cov: Option<f64>) -> Cell {
    let tone = match cov {
        Some(cov) if cov > GOOD_COV => Tone::Worse,
        Some(_) => Tone::Better,
        None => Tone::Plain,
    };
    let mark = if tone == Tone::Worse { " !" } else { "" };
    Cell::new(known(cov.map(|cov| percent(cov) + mark)), tone)
}

/// Returns a row for each variant in each step: the hosts' means and how far they differ.
fn means(across: &AcrossHosts) -> Table {
    let mut table = table_of(across, &across.cells.iter().collect::<Vec<_>>(), |cell, on| {
        let unit = metric::find(cell.metric).map_or(Unit::Count, |metric| metric.unit);
        Cell::from(figure(unit, on.mean))
            .with(on.cov.map(|cov| format!("({})", percent(cov))).unwrap_or_default())
    });
    let cells = || across.cells.iter();
    table.figures("max/mean", cells().map(|cell| known(cell.max_per_mean.map(digits))));
    table.figures("CoV of hosts", cells().map(|cell| known(cell.cov.map(percent))));
    table
}

/// Returns a row for each variant but the base in each step: its ratios by host.
fn ratios(across: &AcrossHosts) -> Table {
    let has_ratio =
        |cell: &&CellAcross| cell.hosts.iter().flatten().any(|on| on.versus_base.is_some());
    let cells: Vec<&CellAcross> = across.cells.iter().filter(has_ratio).collect();
    table_of(across, &cells, |_, on| match &on.versus_base {
        None => Cell::default(),
        Some(versus) => {
            let mark = if versus.is_blocked { "" } else { sign(versus) };
            Cell::from(format!("{} {mark}", digits(versus.ratio)).trim_end())
                .with(versus.interval.as_ref().map(interval).unwrap_or_default())
        }
    })
}

/// Returns a table with a row for each cell and a column for each host.
fn table_of(
    across: &AcrossHosts,
    cells: &[&CellAcross],
    shown: impl Fn(&CellAcross, &OnHost) -> Cell,
) -> Table {
    let has_levels = across.setups.iter().any(|one| one.clients != across.setups[0].clients);
    let step = |cell: &&CellAcross| match has_levels {
        true => format!("{}, {}", cell.step, cell.clients),
        false => cell.step.clone(),
    };
    let mut table = Table::named("step", cells.iter().map(step));
    table.labels("variant", cells.iter().map(|cell| cell.variant.as_str()));
    for (at, host) in across.hosts.iter().enumerate() {
        let of_host = cells.iter().map(|cell| match &cell.hosts[at] {
            Some(on) => shown(cell, on),
            None => known(None).into(),
        });
        table.figures(host, of_host);
    }
    table
}

/// Returns the fields of a cell on each host that measured it.
fn rows(across: &AcrossHosts, cell: &CellAcross) -> Vec<Value> {
    let row = |(host, on): (&String, &Option<OnHost>)| {
        let on = on.as_ref()?;
        let own = json!({
            "step": cell.step,
            "clients": cell.clients.level,
            "variant": cell.variant,
            "metric": cell.metric,
            "host": host,
            "runs": on.runs,
            "mean": on.mean,
            "cov": on.cov,
            "max_per_mean": cell.max_per_mean,
            "cov_of_hosts": cell.cov,
        });
        Some(merged([own, ratio_fields(on.versus_base.as_ref())]))
    };
    across.hosts.iter().zip(&cell.hosts).filter_map(row).collect()
}
