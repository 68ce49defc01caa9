//! The tables of a microbenchmark in every format.

use std::fmt::Write as _;

use analysis::{KernelCell, kernel_cells};
use model::{Bytes, Kernel, MicroRecord};
use serde_json::json;

use super::published::{PUBLISHED, SOURCE};
use crate::figure::{MISSING, digits, interval, limits, ratio, sign};
use crate::format::{Format, Style};
use crate::table::{Cell, Table};

/// Columns of the CSV format.
const CSV: &str = "kernel,block_bytes,implementation,rounds,ns_per_block,ns_low,ns_high,mb_per_s,\
                   ratio,ratio_low,ratio_high,verdict";

/// Returns a microbenchmark in `format`.
#[must_use]
pub fn render_micro(record: &MicroRecord, format: Format, style: Style) -> String {
    let cells = kernel_cells(record);
    match format {
        Format::Text => {
            let table = |table: &Table| table.text(style.width, style.has_colour);
            document(record, &cells, &table)
        }
        Format::Markdown => document(record, &cells, &Table::markdown),
        Format::Csv => csv(&cells),
        Format::Json => json_of(record, &cells),
    }
}

/// Returns the tables with their captions, as text or Markdown.
fn document(
    record: &MicroRecord,
    cells: &[KernelCell],
    table: &dyn Fn(&Table) -> String,
) -> String {
    let mut text = String::new();
    let first = record.implementations.first().map_or(MISSING, |one| one.name.as_str());
    let rounds = cells.iter().map(|cell| cell.rounds).max().unwrap_or(0);
    push(
        &mut text,
        format!(
            "CPU time of one block, in a loop over 16 blocks that compress to half\n\
             {rounds} interleaved rounds, intervals of 95 %; MB of uncompressed block\n\
             ratios are times over those of {first}: \u{25b2} slower, \u{25bc} faster, \u{2248} the \
             same within 2 %, ? inconclusive"
        ),
    );
    for block_bytes in sizes(cells) {
        push(&mut text, format!("\nBlocks of {}\n", Bytes(u64::from(block_bytes))));
        push(&mut text, table(&times(cells, block_bytes)));
    }
    push(&mut text, "\nServed by\n".to_owned());
    push(&mut text, table(&served(record, cells)));
    push(&mut text, format!("\nPublished\n{SOURCE}\n"));
    push(&mut text, table(&published(cells)));
    text
}

fn push(text: &mut String, line: String) {
    text.push_str(&line);
    text.push('\n');
}

/// Returns the block sizes, in the order of the record.
fn sizes(cells: &[KernelCell]) -> Vec<u32> {
    let mut sizes: Vec<u32> = Vec::new();
    for cell in cells {
        if !sizes.contains(&cell.block_bytes) {
            sizes.push(cell.block_bytes);
        }
    }
    sizes
}

fn times(cells: &[KernelCell], block_bytes: u32) -> Table {
    let mut table =
        Table::new(["kernel", "from", "ns/block", "interval", "MB/s", "ratio", "interval", ""]);
    table.align_left(&[1]);
    for cell in cells.iter().filter(|cell| cell.block_bytes == block_bytes) {
        let within = |of: Option<&stats::Interval>| {
            of.map_or(String::new(), |of| limits(digits(of.low), digits(of.high)))
        };
        let versus = cell.versus_first.as_ref();
        let row = [
            cell.kernel.name().to_owned(),
            cell.implementation.clone(),
            digits(cell.ns_per_block),
            within(cell.interval.as_ref()),
            digits(cell.mb_per_s),
            versus.map_or(String::new(), |effect| ratio(effect.ratio)),
            versus.and_then(|effect| effect.interval.as_ref()).map_or(String::new(), interval),
            versus.map_or("", sign).to_owned(),
        ];
        table.push(row.into_iter().map(Cell::plain).collect());
    }
    table
}

/// Returns the kernels that some implementation has.
fn measured(cells: &[KernelCell]) -> impl Iterator<Item = Kernel> {
    let is_there = |kernel: &Kernel| cells.iter().any(|cell| cell.kernel == *kernel);
    Kernel::ALL.into_iter().filter(is_there)
}

/// Returns what served each kernel, and why one is missing.
fn served(record: &MicroRecord, cells: &[KernelCell]) -> Table {
    let names = record.implementations.iter().map(|one| one.name.clone());
    let mut table = Table::new(std::iter::once("kernel".to_owned()).chain(names));
    let columns: Vec<usize> = (1..=record.implementations.len()).collect();
    table.align_left(&columns);
    for kernel in measured(cells) {
        let cell = |one: &model::Implementation| match one.serves.get(&kernel) {
            Some(Ok(what)) => Cell::plain(what),
            Some(Err(why)) => Cell::plain(format!("none: {why}")),
            None => Cell::plain(MISSING),
        };
        let mut row = vec![Cell::plain(kernel.name())];
        row.extend(record.implementations.iter().map(cell));
        table.push(row);
    }
    table
}

/// Returns the published findings of the kernels that were measured.
fn published(cells: &[KernelCell]) -> Table {
    let mut table = Table::new(["kernel", "machine", "found there"]);
    table.align_left(&[1, 2]);
    let measured: Vec<Kernel> = measured(cells).collect();
    for one in PUBLISHED.iter().filter(|one| measured.contains(&one.kernel)) {
        table.push([one.kernel.name(), one.machine, one.found].map(Cell::plain).into());
    }
    table
}

fn csv(cells: &[KernelCell]) -> String {
    let mut text = format!("{CSV}\n");
    for cell in cells {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let effect = cell.versus_first.as_ref();
        let of = |pick: fn(&stats::Interval) -> f64| {
            number(effect.and_then(|effect| effect.interval.as_ref()).map(pick))
        };
        let own = |pick: fn(&stats::Interval) -> f64| number(cell.interval.as_ref().map(pick));
        writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{},{}",
            cell.kernel,
            cell.block_bytes,
            cell.implementation,
            cell.rounds,
            cell.ns_per_block,
            own(|of| of.low),
            own(|of| of.high),
            cell.mb_per_s,
            number(effect.map(|effect| effect.ratio)),
            of(|of| of.low),
            of(|of| of.high),
            effect.map_or("", sign),
        )
        .expect("a string takes every text");
    }
    text
}

fn json_of(record: &MicroRecord, cells: &[KernelCell]) -> String {
    let published: Vec<_> = PUBLISHED
        .iter()
        .map(|one| json!({ "kernel": one.kernel, "machine": one.machine, "found": one.found }))
        .collect();
    let all = json!({
        "record": record,
        "cells": cells,
        "published": { "source": SOURCE, "findings": published },
    });
    let mut text = serde_json::to_string_pretty(&all).expect("plain data");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::{Host, Implementation, KernelTimes};

    use super::*;

    fn record() -> MicroRecord {
        let serves = |what: &str| {
            let lacks = Err("it does not export ROCKSDB_XXH3_64bits".to_owned());
            BTreeMap::from([
                (Kernel::Crc32c, Ok(what.to_owned())),
                (Kernel::Xxh3, if what.starts_with("crate") { Ok(what.to_owned()) } else { lacks }),
            ])
        };
        let implementation = |name: &str, what: &str| Implementation {
            name: name.to_owned(),
            origin: String::new(),
            facts: BTreeMap::new(),
            serves: serves(what),
        };
        let times = |kernel, name: &str, ns: f64| KernelTimes {
            kernel,
            block_bytes: 4096,
            implementation: name.to_owned(),
            ns_per_block: [1.0, 1.01, 0.99, 1.02, 0.98, 1.0, 1.01]
                .map(|part| ns * part + 1.0 / part)
                .into(),
        };
        MicroRecord {
            created_at: "2026-11-21T00:00:00.000Z".to_owned(),
            assay_version: "0.1.0".to_owned(),
            host: Host::default(),
            span_ns: 20_000_000,
            implementations: vec![
                implementation("crates", "crate x 1.0"),
                implementation("rocksdb@5.18.4", "rocksdb::crc32c::Extend"),
            ],
            times: vec![
                times(Kernel::Crc32c, "crates", 300.0),
                times(Kernel::Crc32c, "rocksdb@5.18.4", 3000.0),
                times(Kernel::Xxh3, "crates", 180.0),
            ],
        }
    }

    #[test]
    fn text_has_times_implementations_and_published_speeds() {
        insta::assert_snapshot!(render_micro(&record(), Format::Text, Style::default()));
    }

    #[test]
    fn every_csv_line_has_as_many_fields_as_its_header() {
        let text = render_micro(&record(), Format::Csv, Style::default());
        let fields: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(fields, [12, 12, 12, 12]);
        let json = render_micro(&record(), Format::Json, Style::default());
        let all: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(all["cells"].as_array().map(Vec::len), Some(3));
    }
}
