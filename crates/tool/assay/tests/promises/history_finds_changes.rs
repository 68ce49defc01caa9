//! `assay history` finds changes in files and in the archive.
//!
//! It marks the relevant ones, and ends with an exit code for CI.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use archive::Results;
use insta::assert_snapshot;
use serde_json::Value;

use crate::stored::ALONE;
use crate::workspace::{ProgramOutput, Workspace};

/// A deterministic pseudo-random value between -1 and 1 for a point.
///
/// Source: G. L. Steele, D. Lea and C. H. Flood, 2014, "Fast Splittable Pseudorandom Number
/// Generators", OOPSLA, figure 17.
fn scatter(point: u32) -> f64 {
    let mut bits = u64::from(point + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let share = u32::try_from((bits ^ (bits >> 31)) >> 32).expect("32 bits");
    f64::from(share) / f64::from(u32::MAX) * 2.0 - 1.0
}

/// Forty days: `ops` loses 6 % on day 21, `p99_ms` grows by 10 % with it, `rss` never changes, and
/// `size` grows slowly all the time. Two values of `p99_ms` are missing.
fn nightly() -> String {
    let mut csv = "time,ops,p99_ms,rss,size\n".to_owned();
    for day in 0..40_u32 {
        let (month, date) = (1 + day / 28, 1 + day % 28);
        let is_late = day >= 20;
        let noise = |column: u32| 1.0 + 0.01 * scatter(day * 4 + column);
        let ops = if is_late { 235_000.0 } else { 250_000.0 } * noise(1);
        let p99 = if is_late { 1.54 } else { 1.4 } * noise(2);
        let p99 = if day == 5 || day == 30 { String::new() } else { format!("{p99:.4}") };
        let (rss, size) = (100.0 * noise(3), (50.0 + 0.2 * f64::from(day)) * noise(4));
        writeln!(csv, "2026-{month:02}-{date:02},{ops:.0},{p99},{rss:.3},{size:.3}")
            .expect("a text");
    }
    csv
}

fn workspace() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("nightly.csv", nightly());
    workspace
}

fn history(workspace: &Workspace, more: &[&str]) -> ProgramOutput {
    workspace.assay(&[&["history", "--import", "nightly.csv"], more].concat())
}

const DIRECTIONS: &[&str] = &["--higher-is-better", "ops", "--lower-is-better", "p99_ms,rss,size"];

#[test]
fn history_help_shows_file_format_and_exit_code() {
    let output = Workspace::new().assay(&["history", "--help"]);
    assert_eq!(output.code, 0);
    assert_snapshot!(output.out, @r#"
    Find changes over many experiments, or in an imported file

    Usage: assay history [OPTIONS]

    Options:
          --metric <NAME>    Metric, or column of the file; repeat for more [default:
                             throughput_ops_per_s, or every column]
          --format <FORMAT>  Output format [default: text] [possible values: text, markdown, csv, tsv,
                             json]
          --plot <FILE>      Write a plot of the histories to this file, as SVG
          --strictness <N>   Penalty for a change: 4 for alarms, 3 to detect more [default: 4]
      -h, --help             Print help

    Regressions:
          --fail-on-regression        Exit with code 1 if there is a regression, and with 3 if the
                                      newest point has no value or nothing is decided
          --min-effect <PERCENT>      Smallest change that matters, such as 2% [default: 2%]
          --since <LABEL>             Label of the first point at which regressions count [default: the
                                      first]
          --higher-is-better <NAMES>  Columns where higher is better, separated by commas
          --lower-is-better <NAMES>   Columns where lower is better, separated by commas

    From the archive:
          --engine <BUILD>     Engine: NAME for all its builds, or NAME@VERSION
          --variant <NAME>     Variant
          --step <NAME>        Step [default: every step]
          --experiment <NAME>  Experiment, by name [default: every experiment]
          --host <PART>        Host, by its fingerprint or a part of it [default: the host of the newest
                               experiment]

    From a file:
          --import <FILE>  Read the histories from a CSV or JSON file instead of the archive; - for
                           standard input

    Directories:
          --results <DIR>    Directory of the archive [default: results]
          --data-dir <DIR>   Directory for the data of running engines [default: assay-data]
          --cache-dir <DIR>  Directory of fetched engine builds [default: ~/.cache/assay]

    Examples:
      assay history --engine rocksdb                    throughput of every step, over all experiments
      assay history --metric response_ns_p99 --metric cpu_us_per_op --engine lmdb --step readrandom
      assay history --import nightly.csv --lower-is-better p99_ms --plot nightly.svg
      assay history --import nightly.csv --metric ops --higher-is-better ops --fail-on-regression
      assay history --engine rocksdb --format json      the same for programs

    An imported file:
      time,ops,p99_ms                 the first column is a time, a version, a commit or an index,
      2026-11-19,251000,1.41 ms       oldest first; each further column is one metric
      2026-11-20,250400,              an empty field is a missing value
      Semicolons, tabs, comments (#) and decimal commas are read too, and JSON, a list of such rows:
      [{"time": "2026-11-19", "ops": 251000}, ...]

    Statistics alone find the changes, and --min-effect selects the relevant changes.

    Exit code: 0 if there is no regression or there are fewer than 4 points, 2 on an error. With
    --fail-on-regression: 1 if a relevant change or drift for the worse has not been recovered, 3 if the
    newest point has no value or if every history could miss a change by a factor of 2.
    "#);
}

#[test]
fn text_starts_with_a_summary_then_each_history() {
    let output = history(&workspace(), DIRECTIONS);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    assert_snapshot!(output.out, @"
    2 changes and 1 drift in 4 histories: 3 regressions of 2 % or more.

    ops  40 points, 2026-01-01 to 2026-02-12
      ▇▇██████▇▇▇█▇▆█▇▇███▁▁▁▁▂▁▁▁▂▁▁▂▂▁▂▁▂▁▁▁  234 k .. 252 k
      ▼ 2026-01-21  250 k -> 235 k  -5.89 % [-6.22, -5.55]  worse, confirmed by 20 points

    p99_ms  40 points, 2026-01-01 to 2026-02-12
      ▁▁▁▁▁ ▁▂▂▁▁▁▂▂▂▁▁▂▂▂▇█▇▇█▇████ ████▇▇▇██  1.39 .. 1.55
      ▲ 2026-01-21  1.40 -> 1.54  +9.79 % [+9.28, +10.3]  worse, confirmed by 19 points
      2 of 40 values are missing; they are left out and not filled in

    rss  40 points, 2026-01-01 to 2026-02-12
      █▇▇▅▇▃▂▂▄▃▁▄█▅▇█▅▇█▄▂▅▇▁▂▆▂▁█▄▂▁█▄▂█▁▅▆▇  99.1 .. 101
      no change found; detectable (80 % power): a lasting step of 0.98 % half-way, of 1.48 % at the last points

    size  40 points, 2026-01-01 to 2026-02-12
      ▁▁▁▁▂▂▂▂▂▃▃▃▃▃▄▃▄▄▄▅▄▄▅▅▅▆▅▆▆▆▇▇▇▇▇█▇███  49.6 .. 58.2
      ▲ drift from 2026-01-01 to 2026-02-11: 50.0 -> 57.7  +15.3 %, +0.38 % a point, worse

    One event at 2026-01-21: ops, p99_ms
    ");
}

#[test]
fn json_has_changes_by_index_and_label() {
    let output = history(&workspace(), &["--format", "json"]);
    let json: Value = serde_json::from_str(&output.out).expect("JSON");
    let metrics = json["metrics"].as_array().expect("metrics");
    let names: Vec<_> = metrics.iter().filter_map(|metric| metric["name"].as_str()).collect();
    assert_eq!(names, ["ops", "p99_ms", "rss", "size"]);
    let change = &metrics[0]["change_points"][0];
    assert_eq!(
        (change["index"].as_u64(), change["label"].as_str()),
        (Some(20), Some("2026-01-21"))
    );
    let number = |name: &str| change[name].as_f64().unwrap_or_else(|| panic!("{name}: {change}"));
    assert!((number("before") / 250_000.0 - 1.0).abs() < 0.01, "{change}");
    assert!((number("after") / 235_000.0 - 1.0).abs() < 0.01, "{change}");
    assert!(number("low") < -0.06 && -0.06 < number("high") && number("p") < 1e-6, "{change}");
    assert!((number("effect") + 0.06).abs() < 0.01, "{change}");
    assert!(metrics[0]["drift"].is_null());
    // Missing values are left out, and indexes are those of the file.
    assert_eq!(metrics[1]["change_points"][0]["index"], 20);
    assert_eq!(metrics[1]["missing"], 2);
    assert_eq!(metrics[2]["change_points"].as_array().map(Vec::len), Some(0));
    // A slow ramp is a drift, not a series of steps.
    let drift = &metrics[3]["drift"];
    assert_eq!(metrics[3]["change_points"].as_array().map(Vec::len), Some(0));
    let slope = drift["slope_per_point"].as_f64().expect("a slope");
    assert!((slope - 0.0036).abs() < 0.001, "{drift}");
}

#[test]
fn json_import_gives_the_same_result_as_csv() {
    let workspace = workspace();
    let mut rows = Vec::new();
    for line in nightly().lines().skip(1) {
        let fields: Vec<_> = line.split(',').collect();
        let value =
            |field: &str| if field.is_empty() { "null".to_owned() } else { field.to_owned() };
        let row: Vec<String> = ["ops", "p99_ms", "rss", "size"]
            .iter()
            .zip(&fields[1..])
            .map(|(name, field)| format!("\"{name}\": {}", value(field)))
            .collect();
        rows.push(format!("{{\"time\": \"{}\", {}}}", fields[0], row.join(", ")));
    }
    workspace.write("nightly.json", format!("[{}]", rows.join(",\n")));
    let of_json = workspace.assay(&["history", "--import", "nightly.json"]);
    assert_eq!(of_json.out, history(&workspace, &[]).out);
}

#[test]
fn exit_code_is_1_on_a_relevant_lasting_regression() {
    let workspace = workspace();
    let code =
        |more: &[&str]| history(&workspace, &[more, &["--fail-on-regression"]].concat()).code;
    assert_eq!(code(&["--metric", "ops", "--higher-is-better", "ops"]), 1);
    assert_eq!(code(&["--metric", "ops", "--lower-is-better", "ops"]), 0);
    assert_eq!(code(&["--metric", "rss", "--lower-is-better", "rss"]), 0);
    // The change is found at any margin; the margin decides its relevance.
    let large = ["--metric", "ops", "--higher-is-better", "ops", "--min-effect", "10%"];
    assert_eq!(code(&large), 0);
    assert!(history(&workspace, &large).out.contains("worse, small"));
    let later = ["--metric", "ops", "--higher-is-better", "ops", "--since", "2026-02-01"];
    assert_eq!(code(&later), 0);
    // A drift for the worse is a regression too.
    assert_eq!(code(&["--metric", "size", "--lower-is-better", "size"]), 1);
}

#[test]
fn exit_codes_of_a_regression_an_unknown_point_and_an_error_differ() {
    let workspace = workspace();
    let code = |name: &str, csv: &str| {
        workspace.write(name, csv);
        let call = ["history", "--import", name, "--fail-on-regression", "--higher-is-better"];
        workspace.assay(&[&call[..], &["ops,p99_ms,rss,size"]].concat()).code
    };
    let all = nightly();
    assert_eq!(code("all.csv", &all), 1);
    // The regression counts, whatever the last point lacks.
    assert_eq!(code("ended.csv", &format!("{all}2026-02-13,,,,\n")), 1);
    let flat: String =
        (1..30).map(|day| format!("{day},100,{},7,1\n", if day > 26 { "2" } else { "" })).collect();
    let header = "time,ops,p99_ms,rss,size\n";
    // A young column closes no file.
    assert_eq!(code("flat.csv", &format!("{header}{flat}")), 0);
    assert_eq!(code("unknown.csv", &format!("{header}{flat}30,,,,\n")), 3);
    assert_eq!(code("wrong.csv", &format!("{header}{flat}29,5\n")), 2);
}

#[test]
fn commits_are_read_in_the_order_of_the_file_and_that_is_reported() {
    let workspace = Workspace::new();
    let row = |row: usize| format!("{:07x},{}\n", 0xf00d_0000_usize / (row + 1), 100 + row % 3);
    workspace.write("nightly.csv", format!("commit,ops\n{}", (0..9).map(row).collect::<String>()));
    let output = history(&workspace, &[]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(
        output.out.contains("the order is not checked, because the labels are not times"),
        "{}",
        output.out
    );
    let json = history(&workspace, &["--format", "json"]).out;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["metrics"][0]["is_order_checked"], false);
}

#[test]
fn small_values_are_printed_with_their_digits() {
    let workspace = Workspace::new();
    let row = |row: u32| {
        let level = if row < 20 { 0.0004 } else { 0.0005 };
        format!("{row},{}\n", level * (1.0 + 0.001 * scatter(row)))
    };
    workspace.write("nightly.csv", format!("time,share\n{}", (0..40).map(row).collect::<String>()));
    let output = history(&workspace, &["--plot", "nightly.svg"]);
    assert!(output.out.contains("4.00e-4 -> 5.00e-4"), "{}", output.out);
    assert!(!output.out.contains("<0.001"), "{}", output.out);
    let svg = fs::read_to_string(workspace.path("nightly.svg")).expect("a picture");
    assert!(!svg.contains("&lt;0.001"), "{svg}");
}

#[test]
fn recovered_regression_does_not_count() {
    let workspace = Workspace::new();
    let mut csv = "build,ops\n".to_owned();
    for build in 0..45_u32 {
        let level = if (15..30).contains(&build) { 90.0 } else { 100.0 };
        writeln!(csv, "b{build},{}", level * (1.0 + 0.01 * scatter(build))).expect("a text");
    }
    workspace.write("nightly.csv", csv);
    let output = history(&workspace, &["--higher-is-better", "ops", "--fail-on-regression"]);
    assert_eq!(output.code, 0, "{}", output.out);
    assert!(output.out.contains("worse, recovered since"), "{}", output.out);
}

#[test]
fn appended_points_do_not_move_earlier_changes() {
    let workspace = Workspace::new();
    let all = nightly();
    let lines: Vec<&str> = all.lines().collect();
    let mut indexes = Vec::new();
    for rows in [25, 30, 35, 40] {
        workspace.write("nightly.csv", lines[..=rows].join("\n"));
        let output = history(&workspace, &["--metric", "ops", "--format", "json"]);
        let json: Value = serde_json::from_str(&output.out).expect("JSON");
        indexes.push(json["metrics"][0]["change_points"][0]["index"].clone());
        assert_eq!(output.out, history(&workspace, &["--metric", "ops", "--format", "json"]).out);
    }
    assert_eq!(indexes, [20, 20, 20, 20]);
}

#[test]
fn plot_is_an_svg_with_every_history() {
    let workspace = workspace();
    let output = history(&workspace, &["--plot", "nightly.svg"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let svg = fs::read_to_string(workspace.path("nightly.svg")).expect("a picture");
    assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>"));
    for word in ["ops", "p99_ms", "rss", "size", "do not start at zero", "2026-01-21"] {
        assert!(svg.contains(word), "{word}");
    }
}

/// Experiments in the archive.
const POINTS: u32 = 5;

/// Copies the stored experiment, begun so many hours later under another identifier; returns the
/// copy's directory.
///
/// Without checksums nothing is known of the files.
pub(crate) fn repeat(workspace: &Workspace, number: u32) -> PathBuf {
    let first = Results::at(&workspace.path("results")).find("alone").expect("it is stored");
    let manifest = first.manifest().expect("a manifest");
    let day = manifest.created_at[..10].to_owned();
    let id = format!("{}T{number:02}0000Z-0000", day.replace('-', ""));
    let to = workspace.path("results/alone").join(&id);
    fs::create_dir_all(to.join("runs/one.c1.r1")).expect("a directory");
    let changes = [(manifest.id, id), (manifest.created_at, format!("{day}T{number:02}:00:00Z"))];
    for name in ["manifest.json", "runs/one.c1.r1/record.json"] {
        let text = fs::read_to_string(first.path().join(name)).expect("a file of the archive");
        let text = changes.iter().fold(text, |text, (old, new)| text.replace(old.as_str(), new));
        fs::write(to.join(name), text).expect("a file of the archive");
    }
    to
}

#[test]
fn archive_gives_histories_of_experiments() {
    let workspace = Workspace::new();
    workspace.import(ALONE);
    (1..POINTS).for_each(|number| drop(repeat(&workspace, number)));
    let query = ["history", "--engine", "sqlite", "--step", "readrandom", "--format", "json"];
    let output = workspace.assay(&query);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let json: Value = serde_json::from_str(&output.out).expect("JSON");
    let metrics = json["metrics"].as_array().expect("metrics");
    assert_eq!(metrics.len(), 1, "{json}");
    assert_eq!(metrics[0]["name"], "throughput_ops_per_s");
    assert_eq!((&metrics[0]["points"], &metrics[0]["better"]), (&POINTS.into(), &"higher".into()));
    assert!(
        metrics[0]["subject"].as_str().is_some_and(|of| of.starts_with("readrandom of sqlite"))
    );
    assert_eq!(json["experiments_on_other_hosts"], 0);
    let rejected = |arguments: &[&str]| {
        let output = workspace.assay(arguments);
        assert_eq!((output.code, output.out.as_str()), (2, ""));
        output.err
    };
    let output = rejected(&["history", "--engine", "lmdb"]);
    assert!(output.contains("`throughput_ops_per_s` of engine `lmdb`"), "{output}");
    assert!(output.contains("available: sqlite"), "{output}");
    assert_snapshot!(rejected(&["history", "--metric", "throughput_ops_per_sec"]), @"
    × no metric is named `throughput_ops_per_sec`
    help: did you mean `throughput_ops_per_s`?
    ");
}
