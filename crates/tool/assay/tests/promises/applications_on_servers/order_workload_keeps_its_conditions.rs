//! The order workload after TPC-C runs on three servers and keeps its conditions.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::run::run_on;
use super::shared_server::SERVERS;
use crate::sample::Sample;
use crate::workspace::ProgramOutput;

/// Two small warehouses on a server.
///
/// Of 300 transactions one in three hundred thousand has no delivery.
pub(crate) const EXPERIMENT: &str = r#"[experiment]
name = "orders"
question = "Do the conditions hold?"

[benchmark]
workload = "WORKLOAD"
steps = ["load", "index", { step = "mix", operations = 300 }]
rows = 2000
warmup = "0s"

[benchmark.parameters]
items = 1000
customers = 100
names = 50
undelivered = 30

[factors]
clients = [3]
"#;
/// A server with prepared statements.
pub(crate) const PREPARED: &str = r#"
[[variant]]
name = "prepared"
engine = "SERVER"
"#;
/// The same server with statements as text.
pub(crate) const TEXT: &str = r#"
[[variant]]
name = "text"
engine = "SERVER"
options = { "assay.protocol" = "text" }
"#;
/// Transactions of a run.
const TRANSACTIONS: u64 = 300;

/// Runs the workload on a server; returns the records by variant.
fn run(
    server: &'static str,
    own: Option<&str>,
) -> Option<(ProgramOutput, BTreeMap<String, Value>)> {
    let workload = if own.is_some() { "./own.toml" } else { "tproc-c" };
    let experiment = EXPERIMENT.replace("WORKLOAD", workload) + PREPARED;
    run_on(server, ("orders", &experiment), &[("own.toml", own.unwrap_or_default())])
}

/// Checks the runs of a server: complete, so that every condition holds; the mix; no failure.
fn assert_mix(server: &str, records: &BTreeMap<String, Value>, suffix: &str) {
    for (variant, record) in records {
        let name = format!("{server} {variant}");
        assert_eq!(record["end"]["how"], "complete", "{name}: {}", record["end"]);
        let procedures = record["steps"][2]["procedures"].as_array().expect("a list");
        assert_eq!(procedures.len(), 5, "{name}: {procedures:?}");
        let calls: BTreeMap<_, _> =
            procedures.iter().map(|one| (one["name"].as_str().expect("a name"), one)).collect();
        let number = |of: &str, key: &str| {
            calls[format!("{of}{suffix}").as_str()][key].as_u64().unwrap_or_default()
        };
        let done = |one: &&Value| one["done"].as_u64().unwrap_or_default();
        let all: u64 = calls.values().map(done).sum();
        assert!(all >= TRANSACTIONS, "{name}: {procedures:?}");
        // The mix, within 6 standard deviations.
        for (of, share) in [("new_order", 0.45), ("payment", 0.43), ("delivery", 0.04)] {
            let spread = 6.0 * (all as f64 * share * (1.0 - share)).sqrt();
            let off = (number(of, "done") as f64 - all as f64 * share).abs();
            assert!(off < spread + 3.0, "{name}, {of}: {procedures:?}");
        }
        let orders = number("new_order", "done");
        assert!(number("new_order", "rolled_back") < orders / 20 + 5, "{name}");
        for (of, one) in &calls {
            assert!(one["done"].as_u64() > Some(0), "{name}, {of}: {one}");
            assert_eq!(one["failed"].as_u64(), Some(0), "{name}, {of}: {one}");
            assert_eq!(one["within_limit"], one["done"], "{name}, {of}");
        }
    }
}

#[test]
fn conditions_of_the_order_workload_hold_on_every_server() {
    for server in SERVERS {
        let Some((output, records)) = run(server, None) else { continue };
        output.recorded();
        assert_eq!(records.len(), 1, "{server}");
        assert_mix(server, &records, "");
    }
}

/// Goal: a transaction that is one call keeps the conditions too.
/// Method: of a sample, each server gets its statements in one of two ways.
#[test]
fn stored_procedures_of_the_order_workload_keep_its_conditions() {
    let experiment = EXPERIMENT.replace("WORKLOAD", "tproc-c");
    let experiment = experiment.replace("items = 1000", "items = 1000\nstored = 1");
    let mut sample = Sample::new(2);
    for (place, server) in SERVERS.into_iter().enumerate() {
        let variants = sample.partners(place, &[PREPARED, TEXT]);
        let variants: String = variants.iter().copied().copied().collect();
        let experiment = format!("{experiment}{variants}");
        let Some((output, records)) = run_on(server, ("orders", &experiment), &[]) else {
            continue;
        };
        output.recorded();
        assert_eq!(records.len(), variants.matches("[[variant]]").count(), "{server}");
        assert_mix(server, &records, "_stored");
    }
    println!("{sample} servers and kinds of statements, all with their conditions");
}

#[test]
fn a_missing_order_line_violates_condition_4() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../applications/tproc-c.toml");
    let text = fs::read_to_string(file).expect("the application");
    let (old, new) = ("CURRENT_TIMESTAMP, :lines, 1)", "CURRENT_TIMESTAMP, :lines + 1, 1)");
    assert_eq!(text.matches(old).count(), 1);
    let Some((output, records)) = run(SERVERS[0], Some(&text.replace(old, new))) else { return };
    assert_eq!(output.code, 4, "{}", output.out);
    assert_eq!(records.len(), 1);
    let end = &records["prepared"]["end"];
    assert_eq!(end["how"], "failed_check", "{end}");
    let reason = end["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("check `condition 4: "), "{reason}");
}
