//! The graph workload after LinkBench runs on three servers, and its counts agree with its links.

use std::collections::BTreeMap;

use super::run::run_on;
use super::shared_server::SERVERS;

/// A small graph, changed by four clients: few nodes have most of the links.
///
/// Its statements are text; those of the order workload are prepared.
const EXPERIMENT: &str = r#"[experiment]
name = "graph"
question = "Do the counts agree?"

[benchmark]
workload = "linkbench"
steps = ["load", "index", { step = "mix", operations = 500 }]
rows = 1000
warmup = "0s"

[factors]
clients = [4]

[[variant]]
name = "text"
engine = "SERVER"
options = { "assay.protocol" = "text" }
"#;

/// Shares of the mix that are checked.
const MIX: [(&str, f64); 4] =
    [("get_link_list", 0.507), ("get_node", 0.129), ("add_link", 0.09), ("delete_node", 0.01)];

#[test]
fn counts_of_the_graph_workload_agree_on_every_server() {
    for server in SERVERS {
        let Some((output, records)) = run_on(server, ("graph", EXPERIMENT), &[]) else { continue };
        output.recorded();
        assert_eq!(records.len(), 1, "{server}");
        for (variant, record) in &records {
            let name = format!("{server} {variant}");
            // The checks of the application hold, or the run has failed.
            assert_eq!(record["end"]["how"], "complete", "{name}: {}", record["end"]);
            let procedures = record["steps"][2]["procedures"].as_array().expect("a list");
            let calls: BTreeMap<_, _> =
                procedures.iter().map(|one| (one["name"].as_str().expect("a name"), one)).collect();
            let done = |of: &str| calls[of]["done"].as_f64().unwrap_or_default();
            let all: f64 = calls.keys().map(|of| done(of)).sum();
            assert!(all >= 490.0, "{name}: {procedures:?}");
            for (of, share) in MIX {
                // Within 6 standard deviations.
                let spread = 6.0 * (all * share * (1.0 - share)).sqrt();
                assert!((done(of) - all * share).abs() < spread + 3.0, "{name}, {of}: {calls:?}");
            }
            let failed = calls.values().find(|one| one["failed"].as_u64() != Some(0));
            assert_eq!(failed, None, "{name}");
        }
    }
}
