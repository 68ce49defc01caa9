//! One line per variant and step, with the columns of public reports.

use render::{Compared, Format, Lines, Meta, Style, render_lines};

use crate::fixture::{Fixture, ibench, two_releases};

fn rendered(fixture: &Fixture, lines: Lines, format: Format) -> String {
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    let compared = Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings);
    render_lines(&compared, (lines, host.cpus), format, Style::default())
}

#[test]
fn insert_benchmark_lines_are_relative_first() {
    insta::assert_snapshot!(rendered(&ibench(), Lines::Ibench, Format::Text));
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
