//! Experiments on servers that run already.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::shared_server::SharedServer;
use crate::workspace::{ProgramOutput, Workspace};

/// Output of a run, and its records by variant.
pub(crate) type Recorded = (ProgramOutput, BTreeMap<String, Value>);

/// Runs an experiment on a shared server, as [`run_at`] does; prints why without the server.
pub(super) fn run_on(
    server: &'static str,
    experiment: (&str, &str),
    files: &[(&str, &str)],
) -> Option<Recorded> {
    let server = SharedServer::of(server)?;
    let _turn = server.take_turn();
    Some(run_at(&server.variant, experiment, files))
}

/// Runs the experiment NAME on a server, with `files` next to it; returns the records by variant.
///
/// `engine = "SERVER"` in its text is replaced by the lines that name the server.
pub(crate) fn run_at(
    variant: &str,
    (name, experiment): (&str, &str),
    files: &[(&str, &str)],
) -> Recorded {
    let workspace = Workspace::new();
    for (file, text) in files {
        workspace.write(file, *text);
    }
    workspace.write("experiment.toml", experiment.replace("engine = \"SERVER\"", variant));
    let output = workspace.assay(&["run", "experiment.toml"]);
    let experiments = fs::read_dir(workspace.path(&format!("results/{name}")));
    let experiments = experiments.into_iter().flatten().flatten();
    let runs = experiments.flat_map(|entry| fs::read_dir(entry.path().join("runs")));
    let files = runs.flat_map(|runs| runs.flatten().map(|run| run.path().join("record.json")));
    let records = files.map(|path| {
        let text = fs::read_to_string(path).expect("a record");
        let record: Value = serde_json::from_str(&text).expect("JSON");
        (record["cell"]["variant"].as_str().expect("a name").to_owned(), record)
    });
    let records = records.collect();
    (output, records)
}
