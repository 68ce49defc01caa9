//! The order workload after TPC-C runs on three servers and keeps its conditions.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::workspace::{ProgramOutput, Workspace};

/// Two small warehouses on a server, prepared and as text.
const EXPERIMENT: &str = r#"[experiment]
name = "orders"
question = "Do the conditions hold?"

[benchmark]
workload = "WORKLOAD"
rows = 2000
duration = "3s"
warmup = "0s"

[benchmark.parameters]
items = 1000
customers = 100
names = 50
undelivered = 30

[factors]
clients = [3]

[[variant]]
name = "prepared"
engine = "SERVER"

[[variant]]
name = "text"
engine = "SERVER"
options = { "assay.protocol" = "text" }
"#;

const SERVERS: [&str; 3] = ["postgres@15.10", "mysql@8.0.31", "mariadb@10.11"];

/// Runs the workload on a server; returns the records by variant. Prints why without a server.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn run(server: &str, own: Option<&str>) -> Option<(ProgramOutput, BTreeMap<String, Value>)> {
    if let Err(reason) = supply::testing::server(server) {
        println!("skipped: {reason}");
        return None;
    }
    let workspace = Workspace::new();
    let workload = if own.is_some() { "./own.toml" } else { "tproc-c" };
    if let Some(own) = own {
        workspace.write("own.toml", own);
    }
    let experiment = EXPERIMENT.replace("SERVER", server).replace("WORKLOAD", workload);
    workspace.write("orders.toml", experiment);
    let mut run = workspace.program(&["run", "orders.toml"]);
    // The servers lie in the ordinary cache.
    run.env_remove("XDG_CACHE_HOME");
    let output = ProgramOutput::of(run.output().expect("the program starts"));
    let experiments = fs::read_dir(workspace.path("results/orders"));
    let experiments = experiments.into_iter().flatten().flatten();
    let runs = experiments.flat_map(|entry| fs::read_dir(entry.path().join("runs")));
    let files = runs.flat_map(|runs| runs.flatten().map(|run| run.path().join("record.json")));
    let records = files.filter_map(|path| {
        let record: Value = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
        Some((record["cell"]["variant"].as_str()?.to_owned(), record))
    });
    Some((output, records.collect()))
}

#[test]
fn conditions_of_the_order_workload_hold_on_every_server() {
    for server in SERVERS {
        let Some((output, records)) = run(server, None) else { continue };
        assert_eq!(output.code, 0, "{server}: {}{}", output.out, output.err);
        assert_eq!(records.len(), 2, "{server}");
        for (variant, record) in &records {
            let name = format!("{server} {variant}");
            assert_eq!(record["end"]["how"], "complete", "{name}: {}", record["end"]);
            let procedures = record["steps"][2]["procedures"].as_array().expect("a list");
            let calls: BTreeMap<_, _> =
                procedures.iter().map(|one| (one["name"].as_str().expect("a name"), one)).collect();
            let number = |of: &str, key: &str| calls[of][key].as_u64().unwrap_or_default();
            let all: u64 = calls.keys().map(|of| number(of, "done")).sum();
            println!("{name}: {all} transactions in 3 s");
            assert!(all > 100, "{name}: {procedures:?}");
            // The mix, within 6 standard deviations.
            for (of, share) in [("new_order", 0.45), ("payment", 0.43), ("delivery", 0.04)] {
                let spread = 6.0 * (all as f64 * share * (1.0 - share)).sqrt();
                let off = (number(of, "done") as f64 - all as f64 * share).abs();
                assert!(off < spread + 3.0, "{name}, {of}: {procedures:?}");
            }
            let orders = number("new_order", "done");
            assert!(number("new_order", "rolled_back") < orders / 20 + 5, "{name}");
            for of in calls.keys() {
                assert_eq!(number(of, "failed"), 0, "{name}, {of}: {}", calls[of]);
                assert_eq!(number(of, "within_limit"), number(of, "done"), "{name}, {of}");
            }
        }
    }
}

#[test]
fn a_missing_order_line_violates_condition_4() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../applications/tproc-c.toml");
    let text = fs::read_to_string(file).expect("the application");
    let (old, new) = ("CURRENT_TIMESTAMP, :lines, 1)", "CURRENT_TIMESTAMP, :lines + 1, 1)");
    assert_eq!(text.matches(old).count(), 1);
    let Some((output, records)) = run(SERVERS[0], Some(&text.replace(old, new))) else { return };
    assert_ne!(output.code, 0, "{}", output.out);
    let end = &records["prepared"]["end"];
    assert_eq!(end["how"], "failed", "{end}");
    let reason = end["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("check `condition 4: "), "{reason}");
}
