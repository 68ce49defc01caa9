//! The trade-off table in every format, of one size and of several.

use model::{Bytes, metric};
use render::{Compared, Format, Meta, Report, Style, TradeOffs, render_html};
use serde_json::Value;

use crate::fixture::{Fixture, bogus, quickstart, two_releases};

/// Device reads per point read and memory held, of each variant in turn.
const HELD: [(f64, f64); 8] = [
    (0.42, 180.0),
    (0.43, 178.0),
    (0.71, 181.0),
    (0.40, 199.0),
    (0.21, 200.0),
    (0.33, 196.0),
    (0.55, 150.0),
    (1.08, 152.0),
];

/// The quickstart with a cap of 200 MiB, of rows with values of this size.
fn capped(value_bytes: u32) -> Fixture {
    let mut fixture = quickstart(5);
    let experiment = &mut fixture.manifest.plan.experiment;
    experiment.memory_bytes = Some(Bytes(200 << 20));
    let grown = if value_bytes > 400 { 1.3 } else { 1.0 };
    experiment.name = format!("sizes-{value_bytes}");
    experiment.data.value_bytes = value_bytes;
    for run in &mut fixture.runs {
        let variants = &experiment.variants;
        let at = variants.iter().position(|one| one.name == run.cell.variant).unwrap();
        let (reads, mib) = HELD[at];
        let noise = 1.0 + 0.01 * f64::from(run.cell.repetition);
        // As LMDB with MDB_WRITEMAP does: its figure is a lower bound.
        let maps = f64::from(u8::from(run.cell.variant == "lmdb"));
        let is_rocksdb = run.cell.variant.starts_with("rocksdb");
        for step in &mut run.steps {
            let ops: u64 = step.clients.values().map(|summary| summary.counts.done).sum();
            let ops = f64::from(u32::try_from(ops).unwrap());
            step.gauges_max.set(metric::UNCOUNTED_WRITE_MAPS, maps);
            step.gauges_end.set(metric::CGROUP_MEMORY_BYTES, mib * 1_048_576.0);
            let requests = if step.step.name == "fwdrange" { 2.0 * reads } else { reads };
            step.counters.set(metric::DEVICE_READS, ops * noise * requests * grown);
            step.counters.set(metric::ENGINE_BLOCK_LOOKUPS, is_rocksdb.then_some(ops * 3.1));
        }
    }
    fixture.compared()
}

fn shown(fixtures: &[&Fixture], format: Format, style: Style) -> String {
    let metas: Vec<Meta> = fixtures.iter().map(|one| Meta::of(&one.manifest)).collect();
    let sizes = fixtures.iter().zip(&metas).map(|(one, meta)| {
        Compared::of(&one.comparison, meta, &one.runs, &one.manifest.host, &one.findings)
    });
    TradeOffs(&sizes.collect::<Vec<_>>()).render(format, style)
}

#[test]
fn one_size_has_a_row_per_variant_with_best_and_worst() {
    let text = shown(&[&capped(400)], Format::Text, Style::default());
    assert!(text.lines().all(|line| line.chars().count() <= 120), "too wide:\n{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn sizes_are_rows_of_one_table_and_have_their_own_best() {
    let sizes = [&capped(400), &capped(1_024)];
    insta::assert_snapshot!(shown(&sizes, Format::Markdown, Style::default()));
    let twins = shown(&[&capped(400), &capped(400)], Format::Markdown, Style::default());
    assert!(twins.contains("2:1 \u{b7} sizes-400/quickstart/2026"), "same sizes are distinguished");
}

#[test]
fn data_have_a_line_per_metric_and_agree_with_each_other() {
    let sizes = [&capped(400), &capped(1_024)];
    let csv = shown(&sizes, Format::Csv, Style::default());
    let mut lines = csv.lines();
    let header = lines.next().unwrap();
    insta::assert_snapshot!(csv.lines().take(7).collect::<Vec<_>>().join("\n"));
    let json: Value = serde_json::from_str(&shown(&sizes, Format::Json, Style::default())).unwrap();
    assert_eq!(json["sizes"].as_array().unwrap().len(), 2);
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), lines.clone().count());
    let mean = header.split(',').position(|name| name == "mean").unwrap();
    for (line, row) in lines.zip(rows) {
        let of_csv: f64 = line.split(',').nth(mean).unwrap().parse().unwrap();
        let of_json = row["mean"].as_f64().unwrap();
        assert!((of_csv / of_json - 1.0).abs() < 1e-14, "{line}");
    }
}

#[test]
fn colour_marks_what_text_marks() {
    let fixture = capped(400);
    let coloured = Style { has_colour: true, ..Style::default() };
    let text = shown(&[&fixture], Format::Text, coloured);
    assert!(text.contains("\u{1b}[38;5;14m") && text.contains("best "), "{text}");
    assert!(!shown(&[&fixture], Format::Text, Style::default()).contains('\u{1b}'));
}

#[test]
fn one_run_or_blocked_verdicts_mark_nothing() {
    for fixture in [two_releases(5), bogus()] {
        let text = shown(&[&fixture], Format::Text, Style::default());
        let (table, _legend) = text.split_once("Not measured").unwrap();
        assert!(!table.contains("best") && !table.contains("worst"), "{table}");
    }
    let csv = shown(&[&bogus()], Format::Csv, Style::default());
    assert!(csv.lines().count() > 1, "{csv}");
    assert!(csv.lines().skip(1).all(|line| line.ends_with(",,bogus")), "{csv}");
}

#[test]
fn missing_columns_name_the_steps_that_fill_them() {
    let mut fixture = two_releases(5);
    for run in &mut fixture.runs {
        run.steps.retain(|step| step.step.name == "settle");
    }
    let text = shown(&[&fixture.compared()], Format::Text, Style::default());
    for step in ["readrandom", "fwdrange", "overwrite", "a memory cap"] {
        assert!(text.contains(step), "{step}: {text}");
    }
    assert!(text.contains("NA") && text.contains("rocksdb-11.8"), "{text}");
}

#[test]
fn page_has_the_table_of_its_experiment() {
    let page = render_html(&capped(400).input());
    let (_, section) = page.split_once("<section id=\"trade-offs\">").unwrap();
    let (section, _) = section.split_once("</section>").unwrap();
    assert!(section.contains("best ") && section.contains("range read"), "{section}");
}
