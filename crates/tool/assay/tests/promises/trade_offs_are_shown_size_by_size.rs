//! `compare --rum` shows reads, writes, space and cache, size by size.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use insta::assert_snapshot;
use serde_json::Value;

use crate::stored::SIZES;
use crate::workspace::{ProgramOutput, Workspace};

/// Two engines with a step for each column; `NAME` and `VALUE` make a size.
const EXPERIMENT: &str = r#"[experiment]
name = "NAME"
question = "What does each pay?"

[benchmark]
steps = ["filluniquerandom", "overwrite", "settle", "readrandom", "fwdrange"]
rows = 1000
value_bytes = VALUE
duration = "60ms"
warmup = "10ms"

[factors]
repetitions = 1

[[variant]]
name = "tree"
engine = "lmdb"

[[variant]]
name = "log"
engine = "indexlog"
"#;

/// Stored results of both sizes, for all tests of this file.
static RUN: LazyLock<Workspace> = LazyLock::new(|| {
    let workspace = Workspace::new();
    SIZES.iter().for_each(|stored| workspace.import(stored));
    workspace.until_exit()
});

fn shown(format: &str) -> String {
    let output = RUN.assay(&["compare", "small", "large", "--rum", "--format", format]);
    assert_eq!((output.code, output.err.as_str()), (0, ""), "{}", output.out);
    output.out
}

/// Returns the rows of CSV, each by column.
fn records(csv: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv.lines().map(|line| line.split(',').map(str::to_owned));
    let header: Vec<String> = reader.next().expect("a header").collect();
    reader.map(|fields| header.iter().cloned().zip(fields).collect()).collect()
}

#[test]
fn text_and_markdown_have_a_row_per_size_and_variant() {
    for format in ["text", "markdown"] {
        let text = shown(format);
        for size in ["100 B \u{b7} 117 KiB", "1.95 KiB \u{b7} 1.93 MiB"] {
            for variant in ["tree (base)", "log"] {
                let row = format!("{size} \u{b7} {variant} ");
                assert!(text.contains(&row), "{row}: {text}");
            }
        }
        for column in ["read", "range read", "bytes written", "to storage", "space", "cache"] {
            assert!(text.contains(column), "{column}: {text}");
        }
        assert!(text.contains("large: durability class"), "{text}");
    }
}

/// Goal: the table has the figures of each experiment alone. Method: every mean is that of the
/// same metric of whole runs in `compare` of its experiment.
#[test]
fn figures_are_those_of_each_experiment_alone() {
    let rows = records(&shown("csv"));
    assert!(rows.iter().any(|row| row["column"] == "space"), "{rows:?}");
    for name in ["small", "large"] {
        let alone = records(&RUN.assay(&["compare", name, "--format", "csv"]).out);
        let own: Vec<_> = rows.iter().filter(|row| row["experiment"] == name).collect();
        assert!(!own.is_empty());
        for row in own {
            let is_same = |other: &&BTreeMap<String, String>| {
                let has = |column: &str| other[column] == row[column];
                other["scope"] == "run" && has("variant") && has("metric")
            };
            let same = alone.iter().find(is_same).expect("the metric of whole runs");
            assert_eq!((&same["mean"], &same["n"]), (&row["mean"], &row["n"]), "{row:?}");
        }
    }
    let json: Value = serde_json::from_str(&shown("json")).expect("JSON");
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(rows.len()));
    assert_eq!(json["sizes"][1]["experiment"]["shape"]["value_bytes"], 2000);
}

#[test]
fn missing_steps_are_named() {
    let workspace = Workspace::new();
    let loads = "steps = [\"fillseq\"]";
    let steps = EXPERIMENT.lines().find(|line| line.starts_with("steps")).expect("steps");
    let text = EXPERIMENT.replace(steps, loads).replace("NAME", "load").replace("VALUE", "100");
    workspace.write("load.toml", text);
    workspace.recorded(&["run", "load.toml"]);
    let output = workspace.assay(&["compare", "load", "--rum"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let text = output.out.replace('\n', " ");
    for part in ["Not measured:", "(readrandom)", "(fwdrange)", "tree (base)", "NA"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn page_has_the_trade_offs() {
    let output = RUN.assay(&["report", "small", "-o", "page.html"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let page = std::fs::read_to_string(RUN.path("page.html")).expect("the page");
    // Fewer than three columns are known where the device is not.
    let known = records(&shown("csv")).iter().filter(|row| row["variant"] == "log").count() / 2;
    assert_eq!(page.contains("id=\"trade-offs\""), known >= 3, "{known}");
}

#[test]
fn another_base_and_unknown_experiments_are_rejected() {
    let rejected = |arguments: &[&str], code: i32| -> String {
        let ProgramOutput { code: found, out, err } = RUN.assay(arguments);
        assert_eq!((found, out.as_str()), (code, ""), "{err}");
        err
    };
    assert_snapshot!(rejected(&["compare", "small", "--rum", "--base", "log"], 2), @"
    error: the argument '--rum' cannot be used with '--base <VARIANT>'

    Usage: assay compare --rum <EXPERIMENT|RUN>...

    For more information, try '--help'.
    ");
    assert_snapshot!(rejected(&["compare", "small", "medium", "--rum"], 1), @"  × there are no \
                                                                              results named \
                                                                              `medium` in results; \
                                                                              `assay list` shows \
                                                                              the results there");
}
