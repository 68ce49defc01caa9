//! One line per variant and step, with the columns of public reports.

use model::metric;
use render::{Compared, Format, Lines, Meta, Style, render_html, render_lines};

use crate::fixture::{Fixture, ibench, two_releases};

/// Returns the lines of an experiment.
pub(crate) fn rendered(fixture: &Fixture, lines: Lines, format: Format) -> String {
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    let compared = Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings);
    render_lines(&compared, (lines, host.cpus), format, Style::default())
}

#[test]
fn insert_benchmark_lines_are_relative_first() {
    let text = rendered(&ibench(), Lines::Ibench, Format::Text);
    assert!(text.contains("(0.78)"), "the writers missed their rate: {text}");
    insta::assert_snapshot!(text);
}

#[test]
fn rocksdb_and_iostat_have_their_columns() {
    let text = rendered(&two_releases(5), Lines::Rocksdb, Format::Text);
    insta::assert_snapshot!(text);
    let markdown = rendered(&two_releases(5), Lines::Iostat, Format::Markdown);
    assert!(markdown.contains("## Relative to ") && markdown.contains("f_await"), "{markdown}");
}

#[test]
fn data_have_means_and_empty_fields() {
    let csv = rendered(&ibench(), Lines::Ibench, Format::Csv);
    let mut lines = csv.lines();
    let columns = lines.next().unwrap().split(',').count();
    assert_eq!(columns, 4 + render::COLUMNS.len() - 1, "all but the tag");
    assert!(lines.clone().count() > 3 && lines.all(|line| line.split(',').count() == columns));
    let json = rendered(&ibench(), Lines::Ibench, Format::Json);
    let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(parsed[0]["values"]["ips"].is_number(), "{json}");
}

#[test]
fn tab_separated_lines_have_the_fields_of_the_csv() {
    let of = |format| rendered(&ibench(), Lines::Ibench, format);
    let tsv = of(Format::Tsv);
    assert!(tsv.starts_with("step\tclients\tvariant\tn\tips\t"), "{tsv}");
    // No field here is quoted.
    assert_eq!(tsv.replace('\t', ","), of(Format::Csv));
}

#[test]
fn rocksdb_lines_have_blob_files_and_stalls() {
    let mut fixture = two_releases(5);
    for step in fixture.runs.iter_mut().flat_map(|run| &mut run.steps) {
        step.counters.set(metric::ENGINE_STALLS, 7_u64);
        step.counters.set(metric::ENGINE_BLOB_WRITE_BYTES, 3_u64 << 30);
        step.gauges_end.set(metric::ENGINE_DISK_BYTES, 6_u64 << 30);
        step.gauges_end.set(metric::ENGINE_BLOB_BYTES, 2_u64 << 30);
    }
    let json = rendered(&fixture, Lines::Rocksdb, Format::Json);
    let lines: serde_json::Value = serde_json::from_str(&json).unwrap();
    for (column, mean) in [("Nstall", 7.0), ("b_wgb", 3.0), ("lsm_sz", 4.0), ("blob_sz", 2.0)] {
        assert_eq!(lines[0]["values"][column], mean, "{column}");
    }
}

#[test]
fn page_has_the_lines_folded_below_the_costs_relative_first() {
    for (fixture, report, column) in [
        (ibench(), "the Insert Benchmark", "wkbpi"),
        (two_releases(5), "RocksDB's benchmark.sh", "Nstall"),
    ] {
        let page = render_html(&fixture.input());
        let (_, costs) = page.split_once("<section id=\"costs\">").unwrap();
        let (costs, _) = costs.split_once("</section>").unwrap();
        let title = format!("<summary>A line per variant and step, in the columns of {report}<");
        let (_, lines) = costs.split_once(title.as_str()).unwrap();
        let (relative, means) = lines.split_once("<h3>Means</h3>").unwrap();
        assert!(relative.contains("<h3>Relative to ") && means.contains(column), "{report}");
        let is_coloured = |tone: &str| relative.contains(&format!("<td class=\"{tone}\">"));
        assert!(is_coloured("better") || is_coloured("worse"), "{report}");
    }
}
