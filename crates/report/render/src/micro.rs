//! The tables of a microbenchmark in every format.

use analysis::{KernelCell, kernel_cells};
use model::{Bytes, Kernel, MicroRecord};
use serde::Serialize;
use serde_json::{Value, json};

use crate::document::{Document, Part, Rows, Table, merged, ratio_fields};
use crate::figure::{MISSING, digits, interval, limits, sign};
use crate::format::{Format, Style};
use crate::report::Report;

/// Columns of the CSV format.
const CSV: &str = "kernel,block_bytes,implementation,rounds,ns_per_block,ns_low,ns_high,mb_per_s,\
                   ratio,ratio_low,ratio_high,verdict";

impl Report for MicroRecord {
    fn document(&self, _: Format, _: Style) -> Document {
        document(self, &kernel_cells(self))
    }

    fn rows(&self) -> Option<Rows> {
        Some(Rows::of(CSV.split(','), kernel_cells(self).iter().map(fields)))
    }

    fn data(&self) -> impl Serialize {
        let published = PUBLISHED.iter();
        let published = published
            .map(|one| json!({ "kernel": one.kernel, "machine": one.machine, "found": one.found }));
        let published: Vec<_> = published.collect();
        json!({
            "record": self,
            "cells": kernel_cells(self),
            "published": { "source": SOURCE, "findings": published },
        })
    }
}

/// Returns the tables with their captions.
fn document(record: &MicroRecord, cells: &[KernelCell]) -> Document {
    let first = record.implementations.first().map_or(MISSING, |one| one.name.as_str());
    let rounds = cells.iter().map(|cell| cell.rounds).max().unwrap_or(0);
    let about = [
        "CPU time of one block, in a loop over 16 blocks that compress to half".to_owned(),
        format!(
            "geometric means of {rounds} interleaved rounds, intervals of 95 %; MB of uncompressed \
             block"
        ),
        format!(
            "ratios compare times with {first}: \u{25b2} slower, \u{25bc} faster, \u{2248} the \
             same within 2 %, ? inconclusive"
        ),
    ];
    let mut document = Document::default();
    document.add(about.map(Part::Text));
    let titled = |title: String| Part::Heading(2, title);
    for block_bytes in sizes(cells) {
        let title = titled(format!("Blocks of {}", Bytes(u64::from(block_bytes))));
        document.add([title, Part::Table(times(cells, block_bytes))]);
    }
    document.add([titled("Served by".to_owned()), Part::Table(served(record, cells))]);
    let source = Part::Sentences(SOURCE.lines().map(str::to_owned).collect());
    document.add([titled("Published".to_owned()), source, Part::Table(published(cells))]);
    document
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
        Table::new(["kernel", "<from", "ns/block", "interval", "MB/s", "ratio", "interval", ""]);
    for cell in cells.iter().filter(|cell| cell.block_bytes == block_bytes) {
        let within = cell.interval.as_ref().map(|of| limits(digits(of.low), digits(of.high)));
        let versus = cell.versus_first.as_ref();
        table.push([
            cell.kernel.name().to_owned(),
            cell.implementation.clone(),
            digits(cell.ns_per_block),
            within.unwrap_or_default(),
            digits(cell.mb_per_s),
            versus.map(|effect| digits(effect.ratio)).unwrap_or_default(),
            versus.and_then(|effect| effect.interval.as_ref()).map(interval).unwrap_or_default(),
            versus.map_or("", sign).to_owned(),
        ]);
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
    let mut table = Table::named("kernel", measured(cells).map(Kernel::name));
    for one in &record.implementations {
        let served = measured(cells).map(|kernel| match one.serves.get(&kernel) {
            Some(Ok(what)) => what.clone(),
            Some(Err(why)) => format!("none: {why}"),
            None => MISSING.to_owned(),
        });
        table.labels(&one.name, served);
    }
    table
}

/// Returns the published findings of the kernels that were measured.
fn published(cells: &[KernelCell]) -> Table {
    let mut table = Table::new(["kernel", "<machine", "<found there"]);
    let measured: Vec<Kernel> = measured(cells).collect();
    for one in PUBLISHED.iter().filter(|one| measured.contains(&one.kernel)) {
        table.push([one.kernel.name(), one.machine, one.found]);
    }
    table
}

/// Returns the fields of a cell.
fn fields(cell: &KernelCell) -> Value {
    let effect = cell.versus_first.as_ref();
    let more = json!({
        "ns_low": cell.interval.map(|it| it.low),
        "ns_high": cell.interval.map(|it| it.high),
        "verdict": effect.map(sign),
    });
    merged([json!(cell), ratio_fields(effect), more])
}

/// One published ratio or speed.
#[derive(Debug, Clone, Copy)]
struct PublishedSpeed {
    kernel: Kernel,
    /// Machine and compiler.
    machine: &'static str,
    /// What was found there.
    found: &'static str,
}

const fn speed(kernel: Kernel, machine: &'static str, found: &'static str) -> PublishedSpeed {
    PublishedSpeed { kernel, machine, found }
}

/// Source: [Callaghan 2023-01-03].
const SOURCE: &str = "Callaghan, 2023-01-03, RocksDB microbenchmarks: crc32c, xxh3 and \
    lz4 uncompress\n\
    gcc 11.3 and clang 14.0; blocks of 4 KiB; loops inside db_bench, benchHash for MB/s";

/// The post's findings, in its order.
#[rustfmt::skip]
const PUBLISHED: &[PublishedSpeed] = &[
    speed(Kernel::Crc32c, "Intel NUC i7-8559U", "gcc 1.4 times as fast as clang"),
    speed(Kernel::Crc32c, "AMD Ryzen 7 4700U", "gcc 1.1 times as fast as clang"),
    speed(Kernel::Crc32c, "c6i.2xlarge (x86)", "gcc 1.6 times as fast as clang"),
    speed(Kernel::Crc32c, "c6i.2xlarge to c7g.2xlarge (ARM)", "1.4 with gcc, 1/1.2 with clang"),
    speed(Kernel::Xxh3, "Intel NUC i7-8559U", "clang 1.05 times as fast as gcc"),
    speed(Kernel::Xxh3, "AMD Ryzen 7 4700U", "clang 1.15 times as fast as gcc"),
    speed(Kernel::Xxh3, "c6i.2xlarge (x86)", "gcc 1.2 times as fast as clang"),
    speed(Kernel::Xxh3, "c7g.2xlarge (ARM)", "clang 1.6 times as fast as gcc"),
    speed(Kernel::Xxh3, "c6i.2xlarge to c7g.2xlarge (ARM)", "5 with gcc, 2.4 with clang"),
    speed(Kernel::Xxh3, "c6i.2xlarge (x86), gcc -O3", "23,119 MB/s (xxHash 0.8.1: 23,167)"),
    speed(Kernel::Xxh3, "c7g.2xlarge (ARM), gcc -O3", "14,745 MB/s (xxHash 0.8.1: 21,705)"),
    speed(Kernel::Lz4Uncompress, "Intel NUC i7-8559U", "clang 1.05 to 1.1 times as fast as gcc"),
    speed(Kernel::Lz4Uncompress, "c6i.2xlarge (x86)", "gcc 1.05 times as fast as clang"),
    speed(Kernel::Lz4Uncompress, "c6i.2xlarge to c7g.2xlarge (ARM)", "1.01 to 1.06"),
];

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
        insta::assert_snapshot!(record().render(Format::Text, Style::default()));
    }

    #[test]
    fn every_csv_line_has_as_many_fields_as_its_header() {
        let text = record().render(Format::Csv, Style::default());
        let fields: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(fields, [12, 12, 12, 12]);
        let json = record().render(Format::Json, Style::default());
        let all: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(all["cells"].as_array().map(Vec::len), Some(3));
    }
}
