//! Bytes written per byte put are the engine's, whatever the page cache absorbs.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::workspace::Workspace;

/// Three engines that rewrite few rows: by write calls, through a map, with a count of their own.
const EXPERIMENT: &str = r#"[experiment]
name = "written"
question = "What does each write?"

[benchmark]
steps = ["fillseq", "overwrite", "settle"]
rows = 500
value_bytes = 1000
duration = "300ms"
durability = "os"

[factors]
repetitions = 2

[[variant]]
name = "calls"
engine = "lmdb"

[[variant]]
name = "mapped"
engine = "lmdb"
[variant.options]
MDB_WRITEMAP = true

[[variant]]
name = "counted"
engine = "redb"
"#;

/// Its results, for all tests of this file.
static RUN: LazyLock<Workspace> = LazyLock::new(|| {
    let workspace = Workspace::new();
    workspace.write("written.toml", EXPERIMENT);
    workspace.recorded(&["run", "written.toml"]);
    workspace.until_exit()
});

/// Returns the rows of a comparison as CSV, each by column.
fn rows(arguments: &[&str]) -> Vec<BTreeMap<String, String>> {
    let output = RUN.assay(&[&["compare", "written", "--format", "csv"], arguments].concat());
    // Two runs of each variant may decide nothing about throughput.
    assert!([0, 3].contains(&output.code), "{}: {}", output.code, output.err);
    let mut lines = output.out.lines().map(|line| line.split(',').map(str::to_owned));
    let header: Vec<String> = lines.next().expect("a header").collect();
    lines.map(|fields| header.iter().cloned().zip(fields).collect()).collect()
}

/// Goal: the figure is what the engine wrote, and what reached storage is far less. Method: LMDB
/// writes whole pages for each row, of few rows; redb counts its own writes.
#[test]
fn page_cache_absorbs_nothing_of_bytes_written() {
    let rows = rows(&[]);
    let of = |variant: &str, metric: &str| -> Option<f64> {
        let is_it = |row: &&BTreeMap<String, String>| {
            (&*row["scope"], &*row["variant"], &*row["metric"]) == ("run", variant, metric)
        };
        rows.iter().find(is_it).map(|row| row["mean"].parse().expect("a number"))
    };
    let written = "bytes_written_per_byte_put";
    for variant in ["calls", "counted"] {
        let bytes = of(variant, written).expect("write calls are counted");
        // Absent where the files are in memory.
        let stored = of(variant, "write_amplification_process").unwrap_or(0.0);
        assert!(bytes > 8.0 && bytes > 4.0 * stored, "{variant}: {bytes} {stored}");
    }
    let (bytes, own) = (of("counted", written), of("counted", "write_amplification"));
    let ratio = bytes.expect("write calls are counted") / own.expect("redb counts its writes");
    // A commit may lie between the readings of the two counters.
    assert!((0.97..1.03).contains(&ratio), "{ratio}");
    assert_eq!(of("mapped", written), None);
    assert!(of("mapped", "bytes_written_per_byte_put_min").is_some(), "{rows:?}");
}

/// Goal: a lower bound is marked wherever it stands, and has no rank.
#[test]
fn lower_bounds_are_marked() {
    for option in ["--rum", "--costs"] {
        let text = RUN.assay(&["compare", "written", option]).out;
        let mut of_mapped = text.lines().filter(|line| line.starts_with("mapped"));
        assert!(of_mapped.any(|line| line.contains('\u{2265}')), "{text}");
        assert!(text.contains("to storage"), "{text}");
    }
    let of_trade_offs = rows(&["--rum"]);
    let of_column: Vec<_> = of_trade_offs.iter().filter(|row| row["column"] == "write").collect();
    assert_eq!(of_column.len(), 3, "{of_trade_offs:?}");
    for row in of_column {
        let is_bound = row["variant"] == "mapped";
        assert_eq!(row["metric"].ends_with("_min"), is_bound, "{row:?}");
        assert!(!is_bound || row["rank"].is_empty(), "{row:?}");
    }
    let lint = RUN.assay(&["lint", "written"]).out;
    assert!(lint.contains("A070") && lint.contains("mapped"), "{lint}");
}
