//! Effective options: differing ones first, all of them folded.

use std::collections::{BTreeMap, BTreeSet};

use model::RunRecord;

use crate::document::{Cell, Part, Table, Tone};
use crate::input::ReportInput;

/// Returns a table per engine of the options that differ between its variants.
pub(super) fn section(input: &ReportInput<'_>) -> Vec<Part> {
    let mut parts = settings(input);
    let about = "Read back from the engines after open. The table shows options that differ \
                 between variants of one engine; all other options of that engine are the same in \
                 all its variants.";
    parts.extend([Part::Heading(3, "Options".to_owned()), Part::Text(about.to_owned())]);
    for (engine, variants) in &by_engine(input) {
        let differing = differing(variants);
        parts.push(if variants.len() < 2 {
            Part::Strong(format!("{engine} has one variant."))
        } else if differing.is_empty() {
            let count = variants.len();
            Part::Strong(format!("{engine}: nothing differs between its {count} variants."))
        } else {
            let mut table = Table::named(*engine, differing.iter().copied());
            for variant in variants {
                let value =
                    |name: &&str| code(variant.effective_options.get(name), "not known to it");
                table.labels(&variant.cell.variant, differing.iter().map(value));
            }
            Part::Table(table)
        });
    }
    parts
}

/// Returns the settings common to all engines that differ between variants.
fn settings(input: &ReportInput<'_>) -> Vec<Part> {
    let variants = &input.manifest.plan.experiment.variants;
    let mut all: BTreeMap<&str, Vec<Option<String>>> = BTreeMap::new();
    for (name, value) in variants.iter().flat_map(|variant| variant.settings.labels()) {
        all.entry(name).or_default().push(value);
    }
    all.retain(|_, values| values.windows(2).any(|pair| pair[0] != pair[1]));
    let mut table = Table::named("", all.keys().copied());
    for (index, variant) in variants.iter().enumerate() {
        let value =
            |values: &Vec<Option<String>>| code(values[index].as_ref(), "left to the engine");
        table.labels(&variant.name, all.values().map(value));
    }
    let about = Part::Text("Options that differ between variants.".to_owned());
    Part::Heading(3, "Settings".to_owned()).above(about.above([Part::Table(table)]))
}

/// Returns a value as code.
fn code(value: Option<impl std::fmt::Display>, unknown: &str) -> Cell {
    value.map_or_else(|| Cell::new(unknown, Tone::Grey), |value| format!("`{value}`").into())
}

/// Returns every effective option of each variant, each variant folded.
pub(super) fn all(input: &ReportInput<'_>) -> Vec<Part> {
    let folded = |run: &&RunRecord| {
        let mut table = Table::named("", run.effective_options.iter().map(|(name, _)| name));
        table.labels("", run.effective_options.iter().map(|(_, value)| code(Some(value), "")));
        let summary = format!("Effective options of {}", run.cell.variant);
        Part::Folded(summary, vec![Part::Table(table)])
    };
    by_engine(input).values().flatten().map(folded).collect()
}

/// Returns a run of each variant that was opened, by engine, in the comparison's order.
fn by_engine<'a>(input: &ReportInput<'a>) -> BTreeMap<&'a str, Vec<&'a RunRecord>> {
    let mut engines: BTreeMap<&str, Vec<&RunRecord>> = BTreeMap::new();
    for variant in &input.comparison.variants {
        let opened = |run: &&RunRecord| run.cell.variant == variant.name && run.identity.is_some();
        if let Some(run) = input.runs.iter().find(opened) {
            engines.entry(&run.variant.build.engine).or_default().push(run);
        }
    }
    engines
}

/// Returns the names of options that are not the same in all variants.
fn differing<'a>(runs: &[&'a RunRecord]) -> BTreeSet<&'a str> {
    let names = runs.iter().flat_map(|run| run.effective_options.iter()).map(|(name, _)| name);
    let is_same = |name: &str| {
        let values: BTreeSet<_> = runs.iter().map(|run| run.effective_options.get(name)).collect();
        values.len() < 2
    };
    names.filter(|name| !is_same(name)).collect()
}
