//! Runs begin from one loaded database, which is saved, checked, listed and removed.

use std::fs;
use std::path::PathBuf;

use archive::Results;
use serde_json::Value;

use crate::journey::check_journey;
use crate::workspace::{ProgramOutput, Workspace};

const FILE: &str = r#"[experiment]
name = "shared"
question = "Is the load shared?"

[benchmark]
steps = ["filluniquerandom", "readrandom", "overwrite"]
rows = "2k"
duration = "30ms"
warmup = "10ms"
load = "per-variant"

[factors]
repetitions = 2
"#;

/// Engines that keep their rows in files.
const ENGINES: [&str; 5] = ["sqlite", "lmdb", "redb", "fjall", "indexlog"];

fn file(engines: &[&str]) -> String {
    let variant =
        |engine: &&str| format!("[[variant]]\nname = \"{engine}\"\nengine = \"{engine}\"\n");
    format!("{FILE}{}", engines.iter().map(variant).collect::<String>())
}

impl Workspace {
    fn run_shared(&self, more: &[&str]) -> ProgramOutput {
        self.recorded(&[&["run", "shared.toml"], more].concat())
    }

    /// Returns the records of the newest experiment, by run.
    fn runs(&self) -> Vec<Value> {
        let listed =
            Results::at(&self.path("results")).list(&archive::Summaries::new()).experiments;
        let id = &listed.last().expect("it was run").id;
        let runs = fs::read_dir(self.path("results/shared").join(id).join("runs"));
        let mut runs: Vec<PathBuf> =
            runs.expect("it has runs").flatten().map(|run| run.path()).collect();
        runs.sort();
        assert!(runs.len() >= 2, "{runs:?}");
        let read = |run: &PathBuf| fs::read(run.join("record.json")).expect("a record");
        runs.iter().map(|run| serde_json::from_slice(&read(run)).expect("JSON")).collect()
    }

    /// Returns the only file of the only snapshot.
    fn saved_file(&self) -> PathBuf {
        let only = |dir: PathBuf| {
            let entries = fs::read_dir(dir).expect("it was saved");
            entries.flatten().next().expect("it holds one").path()
        };
        only(only(self.path("assay-data/snapshots")).join("files"))
    }
}

fn steps(run: &Value) -> Vec<&str> {
    let steps = run["steps"].as_array().expect("a list");
    steps.iter().filter_map(|step| step["step"]["name"].as_str()).collect()
}

/// Goal: a database is loaded once, and writes of one run never reach the next one.
/// Method: every engine with files; one run loads, the other restores; the snapshots are
/// checked after.
#[test]
fn a_variant_s_runs_begin_from_one_load() {
    let workspace = Workspace::new();
    workspace.write("shared.toml", file(&ENGINES));
    let output = workspace.run_shared(&[]);
    // A busy host may leave no valid second of a step.
    let is_busy = output.out.contains("Verdict: BOGUS.");
    assert!(is_busy || output.out.contains(", for these loads."), "{}", output.out);
    let linted = workspace.assay(&["lint", "shared"]).out;
    assert!(linted.contains("A063 one load\n"), "{linted}");
    let runs = workspace.runs();
    for engine in ENGINES {
        let own: Vec<_> = runs.iter().filter(|run| run["cell"]["variant"] == engine).collect();
        let loading = own.iter().filter(|run| steps(run).len() == 3).count();
        assert_eq!((own.len(), loading), (2, 1), "{engine}");
        for run in &own {
            assert_eq!(run["load"]["snapshot"], own[0]["load"]["snapshot"], "{engine}");
            assert_eq!(run["load"]["made_by"], own[0]["load"]["made_by"], "{engine}");
            assert!(steps(run).ends_with(&["readrandom", "overwrite"]), "{engine}");
        }
    }
    check_journey(&workspace, "shared");
    snapshots_are_listed_shown_and_removed(&workspace);
}

fn snapshots_are_listed_shown_and_removed(workspace: &Workspace) {
    let list = workspace.assay(&["snapshot", "list"]);
    assert_eq!(list.out.lines().count(), ENGINES.len(), "{}", list.out);
    let verified = workspace.assay(&["snapshot", "verify"]);
    assert_eq!(verified.code, 0, "{}", verified.out);
    assert_eq!(verified.out.matches("as saved").count(), ENGINES.len());
    let id = list.out.split_whitespace().next().expect("an identifier");
    let shown = workspace.assay(&["snapshot", "show", id]);
    assert!(shown.out.contains("filluniquerandom: "), "{}", shown.out);
    assert!(shown.out.contains("seed "), "{}", shown.out);
    assert_eq!(workspace.assay(&["snapshot", "remove", "--all"]).code, 0);
    assert!(workspace.assay(&["snapshot", "list"]).out.starts_with("no snapshot in "));
    assert_eq!(workspace.assay(&["snapshot", "remove", id]).code, 1);
}

/// Goal: a later experiment begins from the load of an earlier one, if all it depends on is equal.
#[test]
fn a_load_serves_later_experiments_with_the_same_rows() {
    let workspace = Workspace::new();
    workspace.write("shared.toml", file(&["sqlite"]));
    workspace.run_shared(&[]);
    let first = workspace.runs()[0]["load"]["made_by"].clone();
    let again = workspace.run_shared(&["--duration", "40ms"]);
    assert!(workspace.runs().iter().all(|run| run["load"]["made_by"] == first), "{}", again.err);
    assert!(workspace.runs().iter().all(|run| steps(run).len() == 2));
    workspace.run_shared(&["--rows", "3k"]);
    assert!(workspace.runs().iter().all(|run| run["load"]["made_by"] != first));
    workspace.run_shared(&["--load", "fresh"]);
    assert!(workspace.runs().iter().all(|run| run.get("load").is_none()));
}

#[test]
fn several_loads_are_compared_by_their_means() {
    let workspace = Workspace::new();
    workspace.write("shared.toml", file(&["sqlite", "lmdb"]));
    let more = ["--runs-per-load", "2", "--repetitions", "4"];
    let output = workspace.run_shared(&more);
    assert!(!output.out.contains("for these loads"), "{}", output.out);
    let text = output.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Runs share 2 loads of each variant"), "{text}");
    let json = workspace.assay(&["compare", "shared", "--format", "json"]).out;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let cells = json["comparison"]["steps"][1]["cells"].as_array().expect("cells");
    assert_eq!(cells.len(), 2);
    assert!(cells.iter().all(|cell| cell["loads"] == 2 && cell["runs"] == 4));
    let loads = ["load = \"per-variant\"", "load = \"per-block\""];
    workspace.write("shared.toml", file(&["sqlite"]).replace(loads[0], loads[1]));
    workspace.run_shared(&["--clients", "1,2"]);
    let made: std::collections::BTreeSet<String> =
        workspace.runs().iter().map(|run| run["load"]["made_by"].to_string()).collect();
    assert_eq!(made.len(), 2, "one for each block: {made:?}");
}

/// Goal: a damaged snapshot is named and never used, and nothing measured is lost.
#[test]
fn a_flipped_byte_is_named_and_the_database_loaded() {
    let workspace = Workspace::new();
    workspace.write("shared.toml", file(&["sqlite"]));
    workspace.run_shared(&[]);
    let path = workspace.saved_file();
    let mut bytes = fs::read(&path).expect("it is saved");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).expect("it is writable");
    let verified = workspace.assay(&["snapshot", "verify"]);
    assert_eq!(verified.code, 1);
    assert!(
        verified.out.contains("is damaged: data.sqlite is not what was saved"),
        "{}",
        verified.out
    );
    let first = workspace.runs()[0]["load"]["snapshot"].clone();
    workspace.write("shared.toml", file(&["sqlite", "lmdb"]));
    let again = workspace.run_shared(&[]);
    // One line, before the run that loads because of it.
    let lines = again.err.lines().filter(|line| line.contains("is damaged"));
    let lines: Vec<_> = lines.map(|line| line.matches("is damaged: data.sqlite").count()).collect();
    assert_eq!(lines, [1], "{}", again.err);
    assert!(workspace.runs().iter().all(|run| run["load"]["snapshot"] != first));
    assert_eq!(workspace.runs().iter().filter(|run| steps(run).len() == 3).count(), 2);
    let later = workspace.run_shared(&[]);
    assert!(!later.err.contains("damaged"), "another one serves: {}", later.err);
}

/// Goal: a link in the place of a saved file is damage, to `verify` and before it is restored.
#[test]
fn a_link_in_the_place_of_a_saved_file_is_not_followed() {
    let workspace = Workspace::new();
    workspace.write("shared.toml", file(&["sqlite"]));
    workspace.run_shared(&[]);
    let (path, elsewhere) = (workspace.saved_file(), workspace.path("elsewhere"));
    fs::rename(&path, &elsewhere).expect("it is saved");
    std::os::unix::fs::symlink(&elsewhere, &path).expect("a link is made");
    let first = workspace.runs()[0]["load"]["snapshot"].clone();
    let again = workspace.run_shared(&[]);
    assert!(again.err.contains("is damaged: data.sqlite is a link"), "{}", again.err);
    assert!(workspace.runs().iter().all(|run| run["load"]["snapshot"] != first));
    let verified = workspace.assay(&["snapshot", "verify"]);
    assert!(verified.out.contains("is damaged: data.sqlite is a link"), "{}", verified.out);
    assert_eq!(verified.out.matches("is damaged").count(), 1, "{}", verified.out);
}

#[test]
fn an_engine_without_files_is_named_and_loads_each_time() {
    let workspace = Workspace::new();
    workspace.write("shared.toml", file(&["null"]));
    let output = workspace.run_shared(&[]);
    let reason = "the load is not saved: the engine leaves no files to save";
    assert!(output.err.contains(reason), "{}", output.err);
    assert!(workspace.runs().iter().all(|run| steps(run).len() == 3 && run.get("load").is_none()));
}

/// Goal: without room nothing is lost: each run loads, and the reason is reported.
#[test]
fn snapshots_respect_their_limit() {
    let workspace = Workspace::new();
    workspace.write("shared.toml", file(&["sqlite", "lmdb"]));
    let output = workspace.run_shared(&["--snapshot-limit", "1KiB"]);
    assert!(
        output.err.contains("the load is not saved: there is no room for the snapshot"),
        "{}",
        output.err
    );
    assert!(workspace.runs().iter().all(|run| steps(run).len() == 3));
    workspace.run_shared(&["--snapshot-limit", "1500KiB"]);
    let list = workspace.assay(&["snapshot", "list"]).out;
    assert_eq!(list.lines().count(), 1, "the least recently used made room: {list}");
}

#[test]
fn plans_price_each_way_and_long_loads_of_readers_are_shared() {
    let workspace = Workspace::new();
    let plan = |more: &[&str]| {
        let args = ["plan", "readrandom", "--engine", "sqlite", "--repetitions", "5"];
        workspace.assay(&[&args[..], more].concat()).out
    };
    let long = plan(&["--rows", "3M"]);
    assert!(long.contains("load      per-variant; machine time: fresh "), "{long}");
    let written = workspace.assay(&["plan", "overwrite", "--engine", "sqlite", "--rows", "3M"]).out;
    assert!(!written.contains("load      per-variant"), "{written}");
    assert!(!plan(&["--rows", "100k"]).contains("per-variant; machine time"));
    let fresh = plan(&["--rows", "3M", "--load", "fresh"]);
    assert!(fresh.contains("load      fresh; machine time: fresh "), "{fresh}");
}

#[test]
fn contradictions_are_refused_before_anything_is_run() {
    let workspace = Workspace::new();
    let refused = |was: &str, now: &str, reason: &str| {
        workspace.write("shared.toml", file(&["sqlite"]).replace(was, now));
        let output = workspace.assay(&["run", "shared.toml"]);
        let text: Vec<_> = output.err.split_whitespace().filter(|word| *word != "│").collect();
        assert_eq!(output.code, 1, "{now}");
        assert!(text.join(" ").contains(reason), "{now}: {}", output.err);
    };
    let load = "load = \"per-variant\"";
    refused(load, "load = \"per-day\"", "unknown load `per-day`");
    refused(load, "load = { reuse = \"per-day\" }", "unknown reuse `per-day`");
    refused(
        "repetitions = 2",
        "repetitions = 2\nruns_per_load = 0",
        "the number of runs of a load",
    );
    let fresh = format!("{load}\n[factors]\nruns_per_load = 2");
    refused(
        &format!("{load}\n\n[factors]"),
        &fresh.replace("per-variant", "fresh"),
        "runs_per_load is only for",
    );
    refused(
        load,
        &format!("{load}\nmemory = \"1GiB\"\npage_cache = \"warm\""),
        "outside of the memory cap",
    );
    let step = "{ step = \"readrandom\", load = \"per-block\" }";
    refused("\"readrandom\"", step, "runs can share a loaded database, steps cannot");
    let dsn = "engine = \"postgres\"\ndsn = \"postgres://me@localhost/x\"";
    refused("engine = \"sqlite\"", dsn, "is a running server: its files cannot be saved");
    assert!(!workspace.path("results").exists() && !workspace.path("assay-data").exists());
}
