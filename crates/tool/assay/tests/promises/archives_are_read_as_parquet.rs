//! The Parquet files of an archive: a cache, equal when it is made again, and never wrong.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::stored::{ALONE, HELD, SIZES, UNLIKE};
use crate::workspace::{ProgramOutput, Workspace};

/// Commands that read the set.
const READING: [&[&str]; 5] = [
    &["list"],
    &["list", "--format", "json"],
    &["history", "--format", "json"],
    &["history", "--metric", "response_ns_p99", "--metric", "cpu_us_per_op", "--format", "csv"],
    &["history", "--variant", "one", "--engine", "sqlite"],
];

/// Creates a workspace with twelve stored experiments.
fn archive() -> Workspace {
    let workspace = Workspace::with_pair();
    [HELD, ALONE].iter().chain(&SIZES).chain(&UNLIKE).for_each(|one| workspace.import(one));
    workspace
}

/// Returns the directories of the experiments, in order.
fn experiments(workspace: &Workspace) -> Vec<PathBuf> {
    let below = |dir: PathBuf| {
        let entries =
            fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("it").path());
        let mut dirs: Vec<_> = entries.filter(|path| !is_hidden(path)).collect();
        dirs.sort();
        dirs
    };
    below(workspace.path("results")).into_iter().flat_map(below).collect()
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Copies an experiment under a later identifier, as another machine would have it.
fn copy(workspace: &Workspace, number: usize) {
    let from = experiments(workspace).remove(0);
    let to = from.with_file_name(format!("20261201T000000Z-{number:04x}"));
    let copied = Command::new("cp").arg("-r").args([&from, &to]).status().expect("cp starts");
    assert!(copied.success());
}

fn written(workspace: &Workspace) -> ProgramOutput {
    let output = workspace.assay(&["archive", "parquet"]);
    assert_eq!(output.code, 0, "{}", output.err);
    output
}

/// Returns inode and bytes of each file of the set.
fn files(workspace: &Workspace) -> BTreeMap<String, (u64, Vec<u8>)> {
    let entries = fs::read_dir(workspace.path("results/.parquet")).expect("it was written");
    let file = |path: PathBuf| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let inode = fs::metadata(&path).expect("a file").ino();
        (name, (inode, fs::read(&path).expect("a file")))
    };
    entries.map(|entry| file(entry.expect("an entry").path())).collect()
}

fn printed(workspace: &Workspace) -> Vec<(i32, String, String)> {
    let outputs = READING.iter().map(|call| workspace.assay(call));
    outputs.map(|output| (output.code, output.out, output.err)).collect()
}

/// Goal: what is printed does not depend on the set, fresh or not, whole or damaged.
#[test]
fn list_and_history_print_the_same_with_and_without_the_files() {
    let workspace = archive();
    // As many values as a history needs.
    (0..4).for_each(|number| copy(&workspace, number));
    let plain = printed(&workspace);
    assert_eq!(plain[0].1.lines().count(), 16);
    assert!(plain[2].1.contains("\"subject\": \"readrandom of"), "{}", plain[2].1);
    written(&workspace);
    assert_eq!(printed(&workspace), plain);
    // Nothing but the set can answer now: the caches next to the experiments are gone.
    let record = experiments(&workspace).into_iter().flat_map(|dir| {
        fs::remove_dir_all(dir.join("derived")).ok();
        let runs = fs::read_dir(dir.join("runs")).expect("runs");
        runs.map(|run| run.expect("a run").path().join("record.json")).collect::<Vec<_>>()
    });
    let records: Vec<_> = record.map(|path| (fs::read(&path).expect("a record"), path)).collect();
    records.iter().for_each(|(_, path)| fs::write(path, "{").expect("a record"));
    assert_eq!(printed(&workspace), plain, "the records are not read");
    records.iter().for_each(|(text, path)| fs::write(path, text).expect("a record"));
    let runs = workspace.path("results/.parquet/runs-000001-000016.parquet");
    let bytes = fs::read(&runs).expect("it was written");
    fs::write(&runs, &bytes[..bytes.len() - 9]).expect("a file");
    for ((code, out, err), (_, expected, _)) in printed(&workspace).into_iter().zip(&plain).skip(2)
    {
        assert_eq!((code, &out), (0, expected));
        assert!(err.contains("000001-000016.parquet is damaged: its length"), "{err}");
        assert!(err.contains("`assay archive parquet`"), "{err}");
    }
    let again = written(&workspace);
    assert!(again.out.contains("written now: 16 experiments in 1 parts"), "{}", again.out);
    assert_eq!(fs::read(&runs).expect("it was written"), bytes);
    assert_eq!(printed(&workspace), plain);
}

/// Goal: only new files are written, and however the set grew, it equals one made at once.
#[test]
fn files_grow_by_new_ones_and_are_equal_when_made_again() {
    let workspace = archive();
    written(&workspace);
    let mut before = files(&workspace);
    for number in 0..22 {
        copy(&workspace, number);
        let output = written(&workspace);
        assert!(output.out.contains("written now: 1 experiments in 1 parts"), "{}", output.out);
        let after = files(&workspace);
        let is_new = |name: &&String| !before.contains_key(*name);
        let new: Vec<_> = after.keys().filter(is_new).collect();
        assert_eq!(new.len(), 3, "{new:?}");
        for (name, file) in after.iter().filter(|(name, _)| *name != "set.json") {
            assert!(before.get(name).is_none_or(|earlier| earlier == file), "{name} was written");
        }
        before = after;
    }
    assert!(before.keys().any(|name| name == "runs-000001-000016.parquet"), "{:?}", before.keys());
    fs::remove_dir_all(workspace.path("results/.parquet")).expect("a cache");
    written(&workspace);
    let bytes = |files: BTreeMap<String, (u64, Vec<u8>)>| -> BTreeMap<_, _> {
        files.into_iter().map(|(name, (_, bytes))| (name, bytes)).collect()
    };
    assert!(bytes(files(&workspace)) == bytes(before), "made again, the files differ");
}

/// Goal: a changed experiment is read from its plain files until the set is written again.
#[test]
fn new_and_removed_runs_make_an_experiment_stale() {
    let workspace = archive();
    written(&workspace);
    let pair = workspace.path("results/pair");
    let id = fs::read_dir(&pair).expect("it").next().expect("one").expect("an entry").path();
    fs::rename(id.join("runs/two.c1.r2"), workspace.path("elsewhere")).expect("a run");
    let listed = workspace.assay(&["list"]).out;
    assert!(listed.contains("3 of 4 runs are complete"), "{listed}");
    let again = written(&workspace);
    assert!(again.out.contains("written now: 1 experiments in 1 parts"), "{}", again.out);
    assert_eq!(workspace.assay(&["list"]).out, listed);
    fs::remove_dir_all(pair).expect("it");
    written(&workspace);
    assert_eq!(workspace.assay(&["list"]).out.lines().count(), listed.lines().count() - 1);
}

#[test]
fn damaged_experiments_are_named_and_left_out_each_time() {
    let workspace = archive();
    let dirs = experiments(&workspace);
    let record = dirs[0].join("runs");
    let run = fs::read_dir(&record).expect("runs").next().expect("a run").expect("an entry").path();
    let texts = [run.join("record.json"), dirs[1].join("manifest.json")];
    texts.iter().for_each(|path| fs::write(path, "{").expect("a file"));
    let plain = printed(&workspace);
    for _ in 0..2 {
        let output = workspace.assay(&["archive", "parquet"]);
        assert_eq!(output.code, 0, "{}", output.err);
        for path in &texts {
            let damage = output.err.lines().filter(|line| line.contains("is damaged"));
            let name = path.strip_prefix(workspace.path("")).expect("below").display().to_string();
            assert_eq!(damage.filter(|line| line.contains(&name)).count(), 1, "{}", output.err);
        }
        assert_eq!(printed(&workspace), plain);
    }
}

#[test]
fn a_place_that_is_no_archive_is_refused_with_the_remedy() {
    let workspace = archive();
    workspace.write("file", "notes");
    for place in ["file", "absent", "cache"] {
        let output = workspace.assay(&["archive", "parquet", place]);
        assert_eq!(output.code, 1);
        let err = output.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(err.contains(&format!("no experiment found in {place}")), "{err}");
        assert!(err.contains("name the directory of an archive"), "{err}");
        assert!(!workspace.path(place).join(".parquet").exists());
    }
    let mut limited = Command::new("sh");
    let program = assert_cmd::cargo::cargo_bin("assay");
    limited.args(["-c", "ulimit -f 4; \"$0\" archive parquet"]).arg(program);
    let output = limited.current_dir(workspace.path("")).output().expect("sh starts");
    let output = ProgramOutput::of(output);
    assert_eq!(output.code, 1, "{}", output.err);
    assert!(output.err.contains("cannot write") && output.err.contains("help:"), "{}", output.err);
    assert!(experiments(&workspace).len() > 10);
    let left = fs::read_dir(workspace.path("results")).expect("it").flatten();
    let left: Vec<_> = left.map(|entry| entry.path()).filter(|path| is_hidden(path)).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Goal: a kill at any moment leaves the old set or the new one, and the next call removes the
/// rest.
#[test]
#[expect(clippy::disallowed_methods, reason = "the moment of a kill needs no exact clock")]
fn a_kill_at_any_moment_leaves_a_whole_set() {
    let workspace = archive();
    written(&workspace);
    let plain = printed(&workspace);
    let mut killed = 0;
    for wait_ms in (0..160).step_by(8) {
        fs::remove_dir_all(workspace.path("cache")).ok();
        // Every part is stale.
        for dir in experiments(&workspace) {
            let list = dir.join("manifest.json");
            let text = fs::read(&list).expect("a manifest");
            fs::write(&list, text).expect("a manifest");
        }
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("assay"))
            .args(["archive", "parquet"])
            .current_dir(workspace.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        std::thread::sleep(Duration::from_millis(wait_ms));
        child.kill().ok();
        killed += usize::from(child.wait().expect("it ends").code().is_none());
        assert_eq!(printed(&workspace), plain, "after {wait_ms} ms");
    }
    assert!(killed > 3, "{killed} kills");
    written(&workspace);
    let hidden = fs::read_dir(workspace.path("results")).expect("it").flatten();
    let hidden: Vec<_> = hidden.map(|entry| entry.path()).filter(|path| is_hidden(path)).collect();
    assert_eq!(hidden, [workspace.path("results/.parquet")]);
}

#[test]
fn archives_of_several_machines_are_joined_and_verified() {
    let (one, two) = (archive(), Workspace::with_pair());
    let there = one.path("results").display().to_string();
    let merged = two.assay(&["archive", "merge", &there]);
    assert_eq!(merged.code, 0, "{}", merged.err);
    assert!(merged.out.contains("11 experiments added, 1 were there already"), "{}", merged.out);
    assert_eq!(two.assay(&["verify"]).code, 0);
    assert_eq!(two.assay(&["list"]).out, one.assay(&["list"]).out);
    let run = experiments(&one).remove(0).join("runs");
    let run = fs::read_dir(run).expect("runs").next().expect("a run").expect("an entry").path();
    fs::write(run.join("intervals.jsonl"), "").expect("a file");
    let refused = two.assay(&["archive", "merge", &there]);
    assert_eq!(refused.code, 1);
    let err = refused.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(err.contains("nothing is copied: remove one of them"), "{err}");
    let fresh = Workspace::new();
    let partly = fresh.assay(&["archive", "merge", &there]);
    assert_eq!(partly.code, 1);
    assert!(partly.err.contains("left out: "), "{}", partly.err);
    assert!(partly.out.contains("11 experiments added"), "{}", partly.out);
    assert_eq!(fresh.assay(&["verify"]).code, 0);
}

/// Goal: a repaired file is read again, though no record changed.
#[test]
fn a_repaired_file_is_written_again() {
    let workspace = archive();
    let run = experiments(&workspace).remove(0).join("runs");
    let run = fs::read_dir(run).expect("runs").next().expect("a run").expect("an entry").path();
    let intervals = run.join("intervals.jsonl");
    let text = fs::read(&intervals).expect("a file");
    fs::write(&intervals, "{").expect("a file");
    let damaged = written(&workspace);
    assert!(damaged.err.contains("intervals.jsonl"), "{}", damaged.err);
    fs::write(&intervals, text).expect("a file");
    let repaired = written(&workspace);
    assert!(repaired.out.contains("written now: 1 experiments"), "{}", repaired.out);
    assert_eq!(repaired.err, "");
    assert!(written(&workspace).out.contains("written now: 0 experiments"));
    fs::write(&intervals, "{").expect("a file");
    let damaged = written(&workspace);
    assert!(damaged.out.contains("written now: 1 experiments"), "{}", damaged.out);
    assert!(damaged.err.contains("intervals.jsonl"), "{}", damaged.err);
}

/// Goal: `archive parquet` removes nothing that another program wrote, and ends with any list.
#[test]
fn foreign_files_and_damaged_lists_are_named() {
    let workspace = archive();
    written(&workspace);
    let plain = workspace.assay(&["list"]).out;
    let (index, notes) = ("results/.parquet/set.json", "results/.parquet/notes.txt");
    workspace.write(index, "{");
    let listed = workspace.assay(&["list"]);
    assert_eq!(listed.out, plain);
    assert!(listed.err.contains("set.json is damaged"), "{}", listed.err);
    assert!(written(&workspace).err.contains("set.json is damaged"));
    workspace.write(notes, "mine");
    let refused = workspace.assay(&["archive", "parquet"]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("notes.txt"), "{}", refused.err);
    assert!(workspace.path(notes).exists());
}
