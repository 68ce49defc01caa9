//! The Insert Benchmark runs on three servers without losing rows.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::workspace::Workspace;

/// Two clients and every kind of step, on small tables.
///
/// After each step the tables are counted; a row too many or too few fails the run.
const TOY: &str = r#"[experiment]
name = "toy"
question = "Do servers store every row?"

[benchmark]
workload = "ibench-current"
steps = [
    "l.i0", "l.x", "l.i1", { step = "l.i2", load = { pipeline = 4 } }, "qr1000", "qp1000",
    { step = "qr1000", load = { pipeline = 16 } },
]
rows = "4k"
duration = "300ms"
warmup = "0s"
cache = "64MiB"
parameters = { inserts = "2k" }

[factors]
clients = [2]

[[variant]]
name = "postgres"
engine = "postgres@15.10"
profile = "postgres"

[[variant]]
name = "innodb"
engine = "mysql@8.0.31"
profile = "innodb"

[[variant]]
name = "myrocks"
engine = "mariadb@10.11"
profile = "myrocks-mariadb"
"#;

/// Returns why a server is unavailable, if so; CI panics instead.
fn unavailable() -> Option<String> {
    let builds = ["postgres@15.10", "mysql@8.0.31", "mariadb@10.11"];
    builds.into_iter().find_map(|build| supply::testing::build(build).err())
}

#[test]
fn three_servers_run_the_insert_benchmark_without_losing_rows() {
    if let Some(reason) = unavailable() {
        println!("skipped: {reason}");
        return;
    }
    let workspace = Workspace::new();
    workspace.write("toy.toml", TOY);
    let output = workspace.assay_on_servers(&["run", "toy.toml"]).recorded();
    let records = records(&workspace);
    assert_eq!(records.len(), 3, "{}", output.err);
    for (variant, record) in &records {
        assert_eq!(record["end"]["how"], "complete", "{variant}: {}", record["end"]);
        let steps = record["steps"].as_array().expect("a list of steps");
        assert_eq!(steps.len(), 7, "{variant}");
        let rows = |step: &Value, kind: &str| step["clients"][kind]["counts"]["rows"].as_u64();
        // Each of two clients completes its batch.
        assert_eq!(rows(&steps[0], "insert"), Some(4000), "{variant}");
        assert_eq!(rows(&steps[2], "insert"), rows(&steps[2], "delete"), "{variant}");
        for step in &steps[4..] {
            let (inserted, deleted) = (written(step, "insert"), written(step, "delete"));
            // For each of two clients at most eight calls of 50 rows, and one under way.
            assert!(inserted > 0 && inserted.abs_diff(deleted) <= 900, "{variant}: {step}");
        }
        // Sequential, and sixteen in flight.
        for step in [&steps[4], &steps[6]] {
            let count = |name| step["clients"]["scan"]["counts"][name].as_u64().unwrap_or_default();
            let (done, rows) = (count("done"), count("rows"));
            // Fewer only where a range begins near the end of its index.
            assert!(
                done > 0 && rows <= done * 10 && rows * 100 >= done * 990,
                "{variant}: {rows} of {done} ranges"
            );
        }
        assert_eq!(steps[6]["step"]["load"]["pipelined"], 16, "{variant}");
    }
}

/// Returns the rows inserted or deleted by the background writers.
fn written(step: &Value, kind: &str) -> u64 {
    step["writers"][kind]["counts"]["rows"].as_u64().unwrap_or_default()
}

/// Returns the record of each run by the name of its variant.
fn records(workspace: &Workspace) -> BTreeMap<String, Value> {
    let experiments = fs::read_dir(workspace.path("results/toy")).expect("results").flatten();
    let runs = experiments.flat_map(|entry| fs::read_dir(entry.path().join("runs")));
    let files = runs.flat_map(|runs| runs.flatten().map(|run| run.path().join("record.json")));
    let read = |path| fs::read_to_string(path).expect("a record");
    let records = files.map(|path| serde_json::from_str(&read(path)).expect("valid JSON"));
    records
        .map(|record: Value| {
            let variant = record["cell"]["variant"].as_str().expect("a name").to_owned();
            (variant, record)
        })
        .collect()
}

/// Two clients on one shared table of two partitions with one index, by TCP, next to transactions
/// that are held open.
const SHARED: &str = r#"[experiment]
name = "toy"
question = "Do servers store every row?"

[benchmark]
workload = "ibench-current"
steps = ["l.i0", "l.x", "l.i1", "qr1000"]
rows = "4k"
duration = "1500ms"
warmup = "0s"
parameters = { inserts = "1k", indexes = 1, tables = 1, partitions = 2, hold_seconds = 1 }

[factors]
clients = [2]

[[variant]]
name = "postgres"
engine = "postgres@15.10"
[variant.options]
"assay.transport" = "tcp"

[[variant]]
name = "innodb"
engine = "mysql@8.0.31"
[variant.options]
"assay.transport" = "tcp"

[[variant]]
name = "mariadb"
engine = "mariadb@10.11"
[variant.options]
"assay.transport" = "tcp"
"assay.protocol" = "prepared"
"#;

/// Goal: parameters of tables, indexes and partitions, transactions held open and TCP work together
/// on three servers.
#[test]
fn one_shared_table_is_partitioned_and_read_in_held_transactions() {
    if let Some(reason) = unavailable() {
        println!("skipped: {reason}");
        return;
    }
    let workspace = Workspace::new();
    workspace.write("toy.toml", SHARED);
    let output = workspace.assay_on_servers(&["run", "toy.toml"]).recorded();
    let records = records(&workspace);
    assert_eq!(records.len(), 3, "{}", output.err);
    for (variant, record) in records {
        assert_eq!(record["end"]["how"], "complete", "{variant}: {}", record["end"]);
        let transport = record["identity"]["facts"]["server_transport"].as_str();
        assert!(transport.is_some_and(|it| it.starts_with("tcp 127.0.0.1:")), "{variant}");
        let protocol = match variant.as_str() {
            "mariadb" => "prepared",
            "innodb" => {
                "prepared; text: insert100, first100, insert50, insert5, delete50, delete5, market,"
            }
            _ => "prepared; text: insert100, first100, insert50, insert5, delete50, delete5",
        };
        let in_force = record["effective_options"]["assay.protocol"].as_str().unwrap_or_default();
        assert!(in_force.starts_with(protocol), "{variant}: {in_force}");
        let steps = record["steps"].as_array().expect("a list of steps");
        let rows = |step: &Value, kind: &str| step["clients"][kind]["counts"]["rows"].as_u64();
        assert_eq!(rows(&steps[1], "insert"), Some(100), "{variant}: 100 in all");
        assert_eq!(rows(&steps[2], "insert"), rows(&steps[2], "delete"), "{variant}");
        // One second of each client's session after the other, and what is left: a client that
        // begins late on a busy host holds but once, one that ends late holds more.
        let holds = &steps[3]["holds"];
        let seconds = steps[3]["duration_ns"].as_u64().expect("a length") / 1_000_000_000;
        let held = holds["held"].as_u64().expect("a count");
        assert!((2..=2 * (seconds + 1)).contains(&held) && holds["failed"] == 0, "{holds}");
        assert!(holds["longest_ns"].as_u64().is_some_and(|ns| ns >= 1_000_000_000), "{holds}");
        assert!(steps[2].get("holds").is_none());
    }
}
