//! Applications, run on servers that Assay starts.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::workspace::{ProgramOutput, Workspace};

/// The servers on which applications are tried.
pub(crate) const SERVERS: [&str; 3] = ["postgres@15.10", "mysql@8.0.31", "mariadb@10.11"];

/// Runs the experiment NAME on a server, with `files` next to it; returns the records by variant.
///
/// `SERVER` in its text is the server. Prints why without it.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
pub(crate) fn run_on(
    server: &str,
    (name, experiment): (&str, &str),
    files: &[(&str, &str)],
) -> Option<(ProgramOutput, BTreeMap<String, Value>)> {
    if let Err(reason) = supply::testing::build(server) {
        println!("skipped: {reason}");
        return None;
    }
    let workspace = Workspace::new();
    for (file, text) in files {
        workspace.write(file, *text);
    }
    workspace.write("experiment.toml", experiment.replace("SERVER", server));
    let output = workspace.assay_on_servers(&["run", "experiment.toml"]);
    let experiments = fs::read_dir(workspace.path(&format!("results/{name}")));
    let experiments = experiments.into_iter().flatten().flatten();
    let runs = experiments.flat_map(|entry| fs::read_dir(entry.path().join("runs")));
    let files = runs.flat_map(|runs| runs.flatten().map(|run| run.path().join("record.json")));
    let records = files.map(|path| {
        let text = fs::read_to_string(path).expect("a record");
        let record: Value = serde_json::from_str(&text).expect("JSON");
        (record["cell"]["variant"].as_str().expect("a name").to_owned(), record)
    });
    Some((output, records.collect()))
}
