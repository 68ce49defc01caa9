//! Effective options: differing ones first, all of them folded.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use model::{Options, RunRecord};

use crate::input::ReportInput;

/// Returns a table per engine of the options that differ between its variants.
pub(super) fn section(input: &ReportInput<'_>) -> Markup {
    let engines = by_engine(input);
    html! {
        (settings(input))
        h3 { "Options" }
        p { "Read back from the engines after open. Shown are those that differ between variants \
             of one engine; all others of that engine are the same in all its variants." }
        @for (engine, variants) in &engines {
            @let differing = differing(variants);
            @if variants.len() < 2 {
                p { b { (engine) } ": one variant, nothing to differ. Requested: "
                    (requested(variants)) }
            } @else if differing.is_empty() {
                p { b { (engine) } ": nothing differs between its " (variants.len()) " variants." }
            } @else {
                (table(engine, variants, &differing))
            }
        }
    }
}

/// Returns the settings common to all engines that differ between variants.
fn settings(input: &ReportInput<'_>) -> Markup {
    let variants = &input.manifest.plan.experiment.variants;
    let mut all: BTreeMap<&str, Vec<Option<String>>> = BTreeMap::new();
    for (name, value) in variants.iter().flat_map(|variant| variant.settings.labels()) {
        all.entry(name).or_default().push(value);
    }
    all.retain(|_, values| values.windows(2).any(|pair| pair[0] != pair[1]));
    html! {
        @if !all.is_empty() {
            h3 { "Settings" }
            p { "Those that differ between variants." }
            div.wide { table {
                thead { tr {
                    th {}
                    @for variant in variants { th.text { (variant.name) } }
                } }
                tbody { @for (name, values) in &all {
                    tr {
                        th.text scope="row" { (name) }
                        @for value in values {
                            td.text { @match value {
                                Some(value) => code { (value) },
                                None => span.none { "left to the engine" },
                            } }
                        }
                    }
                } }
            } }
        }
    }
}

/// Returns every effective option of each variant, each variant folded.
pub(super) fn all(input: &ReportInput<'_>) -> Markup {
    html! {
        @for variant in by_engine(input).values().flatten() {
            details {
                summary { "Effective options of " (variant.name) }
                table { tbody { @for (name, value) in variant.effective.iter() {
                    tr { th.text scope="row" { (name) } td.text { code { (value) } } }
                } } }
            }
        }
    }
}

/// One variant's options.
struct Variant<'a> {
    name: &'a str,
    requested: &'a Options,
    effective: &'a Options,
}

/// Returns the variants that were opened, by engine, in the comparison's order.
fn by_engine<'a>(input: &ReportInput<'a>) -> BTreeMap<&'a str, Vec<Variant<'a>>> {
    let mut engines: BTreeMap<&str, Vec<Variant<'_>>> = BTreeMap::new();
    for variant in &input.comparison.variants {
        let opened = |run: &&RunRecord| run.cell.variant == variant.name && run.identity.is_some();
        if let Some(run) = input.runs.iter().find(opened) {
            let own = Variant {
                name: &run.cell.variant,
                requested: &run.variant.options,
                effective: &run.effective_options,
            };
            engines.entry(&run.variant.build.engine).or_default().push(own);
        }
    }
    engines
}

/// Returns the names of options that are not the same in all variants.
fn differing<'a>(variants: &[Variant<'a>]) -> BTreeSet<&'a str> {
    let names = variants.iter().flat_map(|one| one.effective.iter()).map(|(name, _)| name);
    let is_same = |name: &str| {
        let values: BTreeSet<_> = variants.iter().map(|one| one.effective.get(name)).collect();
        values.len() < 2
    };
    names.filter(|name| !is_same(name)).collect()
}

fn requested(variants: &[Variant<'_>]) -> String {
    let options = variants.iter().flat_map(|one| one.requested.iter());
    let texts: Vec<String> = options.map(|(name, value)| format!("{name} = {value}")).collect();
    if texts.is_empty() { "nothing, its defaults.".to_owned() } else { texts.join(", ") + "." }
}

fn table(engine: &str, variants: &[Variant<'_>], differing: &BTreeSet<&str>) -> Markup {
    html! {
        div.wide { table {
            thead { tr {
                th.text { (engine) }
                @for variant in variants { th.text { (variant.name) } }
            } }
            tbody { @for name in differing {
                tr {
                    th.text scope="row" { (name) }
                    @for variant in variants {
                        td.text { @match variant.effective.get(name) {
                            Some(value) => code { (value) },
                            None => span.none { "not known to it" },
                        } }
                    }
                }
            } }
        } }
    }
}
