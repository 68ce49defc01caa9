//! The labelled series analysed by Apache Otava, where installed.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use crate::labelled::{EACH, FAMILIES, Labelled, POINTS};
use crate::recall::ours;
use crate::score::Score;

/// Fewest of the 318 true changes that a working Otava finds: fewer are an output we cannot read.
const MIN_FOUND: usize = 150;
/// Message without Otava.
const SKIPPED: &str = "skipped: otava is not installed (pip install apache-otava)";
/// Settings of Otava: its default, and stricter ones that suit histories better.
const SETTINGS: [&[&str]; 5] = [
    &[],
    &["-P", "0.0001"],
    &["-P", "0.00001"],
    &["-P", "0.0001", "--window", "100"],
    &["-P", "0.00001", "--window", "200"],
];

/// Returns the name of a series: that of its family's place and its own.
fn name(family: usize, index: usize) -> String {
    format!("f{family:02}s{index:02}")
}

/// Writes the series as columns of one file, with the configuration that Otava needs.
fn write(dir: &Path, all: &[Vec<Labelled>]) {
    let columns = || {
        let of = |(family, series): (usize, &Vec<Labelled>)| {
            (0..series.len()).map(move |index| name(family, index)).collect::<Vec<_>>()
        };
        all.iter().enumerate().flat_map(of)
    };
    let mut csv = format!("time,{}\n", columns().collect::<Vec<_>>().join(","));
    for point in 0..POINTS {
        let values = all.iter().flatten().map(|series| series.values[point].to_string());
        let values: Vec<String> = values.collect();
        csv += &format!("{},{}\n", 1_700_000_000 + 86_400 * point, values.join(","));
    }
    fs::write(dir.join("series.csv"), csv).expect("a scratch file");
    let metrics: Vec<String> =
        columns().map(|name| format!("      {name}: {{direction: 1, column: {name}}}")).collect();
    let config = format!(
        "tests:\n  series:\n    type: csv\n    file: series.csv\n    time_column: time\n    metrics:\n{}\n",
        metrics.join("\n")
    );
    fs::write(dir.join("otava.yaml"), config).expect("a scratch file");
}

/// Returns whether Otava is installed.
fn is_installed() -> bool {
    let help = Command::new("otava").arg("--help").output();
    !help.is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Returns the changes that Otava finds in each series.
fn theirs(dir: &Path, settings: &[&str]) -> Vec<Vec<Vec<usize>>> {
    let output = Command::new("otava")
        .args(["analyze", "series", "--config-file", "otava.yaml", "--output", "json"])
        .args(["--since", "2020-01-01", "--last", "100000"])
        .args(settings)
        .current_dir(dir)
        .output()
        .expect("otava can be run");
    let text = String::from_utf8(output.stdout).expect("Otava prints UTF-8");
    let start = text.find('{').unwrap_or_else(|| {
        panic!("no JSON in Otava's output: {text}{}", String::from_utf8_lossy(&output.stderr))
    });
    let json: serde_json::Value = serde_json::from_str(text[start..].trim()).expect("JSON");
    let each = usize::try_from(EACH).expect("few series");
    let mut found = vec![vec![Vec::new(); each]; FAMILIES.len()];
    for group in json["series"].as_array().expect("groups of changes") {
        let time = group["time"].as_u64().expect("a time");
        let point = usize::try_from((time - 1_700_000_000) / 86_400).expect("a point");
        for change in group["changes"].as_array().expect("changes") {
            let name = change["metric"].as_str().expect("a name");
            let part = |from: usize| name[from..from + 2].parse::<usize>().expect("a number");
            found[part(1)][part(4)].push(point);
        }
    }
    found
}

/// Returns the score of one method in each family.
fn scores(all: &[Vec<Labelled>], found: impl Fn(usize, usize) -> Vec<usize>) -> Vec<Score> {
    let of = |(family, series): (usize, &Vec<Labelled>)| {
        let mut score = Score::default();
        for (index, one) in series.iter().enumerate() {
            score += Score::of(&found(family, index), &one.changes);
        }
        score
    };
    all.iter().enumerate().map(of).collect()
}

fn total(scores: &[Score]) -> Score {
    let mut total = Score::default();
    scores.iter().for_each(|score| total += *score);
    total
}

/// Goal: recall and precision are above Otava's, whatever its settings.
///
/// Method: both analyse the same labelled series. Otava must find a part of the changes: an output
/// without any is one that this test cannot read.
#[test]
fn more_is_found_and_less_of_it_is_false_than_by_otava() {
    if !is_installed() {
        println!("{SKIPPED}");
        return;
    }
    let dir = tempfile::tempdir().expect("a scratch directory");
    let all: Vec<Vec<Labelled>> = FAMILIES.iter().map(|family| family.all()).collect();
    write(dir.path(), &all);
    let mut columns = vec![("ours".to_owned(), scores(&all, |f, i| ours(&all[f][i])))];
    for settings in SETTINGS {
        let found = theirs(dir.path(), settings);
        let name = format!("otava {}", settings.join(" "));
        columns.push((name, scores(&all, |family, index| found[family][index].clone())));
    }
    for (index, family) in FAMILIES.iter().enumerate() {
        let parts = columns.iter().map(|(_, scores)| {
            let one = scores[index];
            format!("{:>4}{:>4}{:>4}", one.found, one.false_ones, one.missed)
        });
        println!("{:<30}{}", family.name, parts.collect::<Vec<_>>().join("  "));
    }
    let ours = total(&columns[0].1);
    for (name, scores) in &columns {
        let all = total(scores);
        let (recall, precision, f1) = (all.recall(), all.precision(), all.f1());
        println!("{name:<32} recall {recall:.3}  precision {precision:.3}  F1 {f1:.3}  {all:?}");
    }
    for (name, scores) in &columns[1..] {
        let other = total(scores);
        assert!(other.found >= MIN_FOUND, "{name}: {other:?}");
        let is_better = ours.recall() > other.recall() && ours.precision() > other.precision();
        assert!(is_better, "{name}: {other:?}, ours {ours:?}");
    }
}
