//! One line per variant and step, with the columns of public reports.

use model::record::OpCounts;
use model::{StepRecord, metric};
use render::{Compared, Format, Lines, LinesOf, Meta, Report, Style, render_html};
use serde_json::Value;

use crate::fixture::{Fixture, ibench, sweep, two_releases};

/// Returns the lines of an experiment.
pub(crate) fn rendered(fixture: &Fixture, lines: Lines, format: Format) -> String {
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    let compared = Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings);
    LinesOf { compared: &compared, lines, cpus: host.cpus }.render(format, Style::default())
}

/// Returns the lines of an experiment as data.
pub(crate) fn parsed(fixture: &Fixture, lines: Lines) -> Vec<Value> {
    serde_json::from_str(&rendered(fixture, lines, Format::Json)).unwrap()
}

/// Returns the first line of that step.
fn first<'a>(lines: &'a [Value], step: &str) -> &'a Value {
    lines.iter().find(|line| line["step"] == step).unwrap()
}

/// Changes every step of every run.
fn change(fixture: &mut Fixture, by: impl Fn(&mut StepRecord)) {
    fixture.runs.iter_mut().flat_map(|run| &mut run.steps).for_each(by);
}

#[test]
fn insert_benchmark_lines_are_relative_first() {
    let text = rendered(&ibench(), Lines::Ibench, Format::Text);
    assert!(text.contains("(0.78)"), "the writers missed their rate: {text}");
    let (_, means) = text.split_once("Means").unwrap();
    assert!(means.contains("  (610)  ") && !means.contains("(1000)"), "so did not the base's");
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
    assert_eq!(columns, 6 + 2 * (render::COLUMNS.len() - 1), "all but the tag, twice");
    assert!(lines.clone().count() > 3 && lines.all(|line| line.split(',').count() == columns));
}

/// Goal: data have what the tables have: names of steps, ratios, and where a rate was missed.
#[test]
fn data_have_ratios_and_missed_rates_and_the_names_of_steps() {
    let lines = parsed(&ibench(), Lines::Ibench);
    let missed: Vec<_> = lines.iter().filter(|line| line["has_missed_rate"] == true).collect();
    let [late] = missed[..] else { panic!("{missed:?}") };
    assert_eq!((&late["step"], &late["variant"]), (&"qr1000".into(), &"innodb-8.0".into()));
    let base = first(&lines, "qr1000");
    let value = |line: &Value, of: &str| line[of]["ips"].as_f64().unwrap();
    assert!((value(late, "values") / value(base, "values") - value(late, "relative")).abs() < 1e-9);
    assert!((value(late, "relative") - 0.61).abs() < 1e-9);
    let header = rendered(&ibench(), Lines::Ibench, Format::Csv);
    assert!(header.contains(",p99,step_index,has_missed_rate,ips_rel,"), "{header}");
    let levels = parsed(&sweep(), Lines::Rocksdb);
    assert!(levels.iter().any(|line| line["step"] == "readrandom" && line["clients"] == 8));
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
    change(&mut fixture, |step| {
        step.counters.set(metric::ENGINE_STALLS, 7_u64);
        step.counters.set(metric::ENGINE_BLOB_WRITE_BYTES, 3_u64 << 30);
        step.gauges_end.set(metric::ENGINE_DISK_BYTES, 6_u64 << 30);
        step.gauges_end.set(metric::ENGINE_BLOB_BYTES, 2_u64 << 30);
    });
    let lines = parsed(&fixture, Lines::Rocksdb);
    for (column, mean) in [("Nstall", 7.0), ("b_wgb", 3.0), ("lsm_sz", 4.0), ("blob_sz", 2.0)] {
        assert_eq!(lines[0]["values"][column], mean, "{column}");
    }
}

/// Goal: an overload, which withholds response times, changes no time in these columns.
#[test]
fn times_of_rocksdb_lines_are_service_times() {
    let mut fixture = two_releases(5);
    let before = parsed(&fixture, Lines::Rocksdb);
    change(&mut fixture, |step| {
        for summary in step.clients.values_mut() {
            summary.response.p50_ns *= 9;
            summary.response.max_ns *= 9;
        }
    });
    assert_eq!(parsed(&fixture, Lines::Rocksdb), before);
}

#[test]
fn steps_without_operations_have_no_rate_and_no_time_per_operation() {
    let mut fixture = two_releases(5);
    change(&mut fixture, |step| {
        if step.step.name == "readrandom" {
            step.clients.values_mut().for_each(|summary| summary.counts = OpCounts::default());
        }
    });
    let lines = parsed(&fixture, Lines::Rocksdb);
    let of = |step: &str| {
        ["ops_sec", "mb_sec", "usec_op"].map(|column| first(&lines, step)["values"][column].clone())
    };
    assert_eq!(of("settle"), [Value::Null, Value::Null, Value::Null]);
    assert_eq!(of("readrandom"), [0.0.into(), 0.0.into(), Value::Null]);
}

#[test]
fn foreign_server_has_no_cpu_and_no_memory_in_rocksdb_lines() {
    let mut fixture = ibench();
    let is_known = |fixture: &Fixture| {
        let lines = parsed(fixture, Lines::Rocksdb);
        ["u_cpu", "s_cpu", "rss"].map(|column| lines[0]["values"][column].is_number())
    };
    assert_eq!(is_known(&fixture), [true; 3]);
    change(&mut fixture, |step| {
        step.counters.retain(|name, _| !name.starts_with("server_"));
        step.gauges_max.retain(|name, _| !name.starts_with("server_"));
    });
    assert_eq!(is_known(&fixture), [false; 3]);
}

/// Goal: control groups of version 1 count no writes: those of the device stand under their own
/// name, and none are the server's.
/// Method: the invented device wrote 1.3 times what the server did.
#[test]
fn writes_that_a_server_s_group_does_not_count_are_named_the_device_s() {
    let mut fixture = ibench();
    let before = parsed(&fixture, Lines::Ibench);
    change(&mut fixture, |step| {
        step.counters.retain(|name, _| !name.starts_with("server_write"));
    });
    let lines = parsed(&fixture, Lines::Ibench);
    for column in ["wps", "wmbps", "wpi", "wkbpi"] {
        let of_device = format!("dev_{column}");
        let of = |lines: &[Value], column: &str| lines[0]["values"][column].as_f64();
        let ratio = of(&lines, &of_device).unwrap() / of(&before, column).unwrap();
        assert!((ratio - 1.3).abs() < 1e-9, "{column}");
        assert_eq!([of(&lines, column), of(&before, &of_device)], [None, None], "{column}");
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
