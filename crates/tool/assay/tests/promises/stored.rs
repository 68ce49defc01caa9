//! Experiments in files, for tests that read results and need no run of their own.
//!
//! Each was run on a quiet host and exported. `assay rerun FILE` repeats one, and
//! `assay export NAME -o FILE` replaces the file.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use archive::Results;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::workspace::Workspace;

/// Two variants of SQLite with equal settings, each run twice: the experiment of `pair.toml`.
pub(crate) const PAIR: &[u8] = include_bytes!("../data/pair.assay");

/// The experiment with published findings.
pub(crate) const HELD: &[u8] = include_bytes!("../data/held.assay");
/// Rows of two sizes in two engines.
pub(crate) const SIZES: [&[u8]; 2] =
    [include_bytes!("../data/small.assay"), include_bytes!("../data/large.assay")];
/// One variant of SQLite, run once, and experiments that differ from it in what they are named
/// after.
pub(crate) const ALONE: &[u8] = include_bytes!("../data/alone.assay");
pub(crate) const UNLIKE: [&[u8]; 7] = [
    include_bytes!("../data/other.assay"),
    include_bytes!("../data/big.assay"),
    include_bytes!("../data/long.assay"),
    include_bytes!("../data/steps.assay"),
    include_bytes!("../data/meaning.assay"),
    include_bytes!("../data/careless.assay"),
    include_bytes!("../data/twice.assay"),
];

impl Workspace {
    /// Creates a directory with `pair.toml` and its stored experiment in the archive.
    pub(crate) fn with_pair() -> Self {
        let workspace = Self::with_pair_file();
        workspace.import(PAIR);
        workspace
    }

    /// Gives the step `readrandom` of each run of the pair a profile.
    pub(crate) fn with_profiles(self) -> Self {
        let experiments = fs::read_dir(self.path("results/pair")).expect("it was imported");
        for experiment in experiments.map(|entry| entry.expect("an entry").path()) {
            for run in fs::read_dir(experiment.join("runs")).expect("runs") {
                let run = run.expect("an entry").path();
                let own = if run.display().to_string().contains("one.") { "Old" } else { "New" };
                let text = format!(
                    "worker;client;assay`load::run;assay`sqlite3_step;assay`{own}<int> 30\n\
                     worker;client;assay`load::run;assay`sqlite3_step;[kernel]`read 50\n\
                     worker;main;assay`main 20\n"
                );
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(text.as_bytes()).expect("memory takes it");
                let packed = encoder.finish().expect("memory takes it");
                replace(&run, "1.readrandom.profile.folded.gz", &packed);
                let record = fs::read_to_string(run.join("record.json")).expect("a record");
                let mut record: Value = serde_json::from_str(&record).expect("JSON");
                record["steps"][1]["profiles"] = json!([{
                    "target": "worker",
                    "event": "cpu-clock",
                    "hz": 199,
                    "unwinder": "frame_pointers",
                    "sample_cost_ns": 25_000,
                    "samples": 100,
                    "lost": 0,
                    "expected": 100.0,
                }]);
                replace(&run, "record.json", record.to_string().as_bytes());
            }
        }
        self
    }

    /// Gives each run of the pair the machine of its repetition, with the host of the manifest.
    pub(crate) fn on_machines(self, names: [&str; 2]) -> Self {
        for dir in Results::at(&self.path("results")).newest() {
            let host = json!(dir.manifest().expect("a manifest").host);
            for run in fs::read_dir(dir.path().join("runs")).expect("runs") {
                let run = run.expect("an entry").path();
                let record = fs::read_to_string(run.join("record.json")).expect("a record");
                let mut record: Value = serde_json::from_str(&record).expect("JSON");
                let repetition = record["cell"]["repetition"].as_u64().expect("a number");
                let name = names[usize::try_from(repetition).expect("a small one") - 1];
                record["machine"] = json!({ "name": name, "host": host });
                replace(&run, "record.json", record.to_string().as_bytes());
            }
        }
        self
    }

    /// Brings a stored experiment into the archive.
    pub(crate) fn import(&self, stored: &[u8]) {
        let file = self.path("stored.assay");
        fs::write(&file, stored).expect("a file in the workspace");
        Results::at(&self.path("results")).import(&file).expect("it is sound");
        fs::remove_file(file).expect("a file in the workspace");
    }
}

/// Replaces a file of a run, with its checksum.
fn replace(run: &Path, name: &str, bytes: &[u8]) {
    let sums = run.join("checksums");
    let list = fs::read_to_string(&sums).expect("a list");
    let others = list.lines().filter(|line| line.get(66..) != Some(name));
    let mut lines: Vec<String> = others.map(str::to_owned).collect();
    let sum: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    lines.push(format!("{sum}  {name}"));
    lines.sort_by(|a, b| a[64..].cmp(&b[64..]));
    fs::write(&sums, lines.join("\n") + "\n").expect("a list");
    fs::write(run.join(name), bytes).expect("a file");
}
