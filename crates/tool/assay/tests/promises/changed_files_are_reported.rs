//! A changed byte in the archive is reported: by `verify`, and by the verbs that read it.

use std::fs;
use std::path::{Path, PathBuf};

use archive::{ExperimentDir, Results};
use model::record::OpSummary;

use crate::scale::is_long;
use crate::workspace::Workspace;

/// Bytes changed in a sample; `ASSAY_CAMPAIGN=long` changes each.
const SAMPLE: usize = 400;

/// Returns the experiment of a workspace.
fn experiment(workspace: &Workspace) -> ExperimentDir {
    Results::at(&workspace.path("results")).find("pair").expect("it was run")
}

/// Returns the files that hold results: those of `derived` are a cache that checks itself.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("a directory of the archive");
    let mut files: Vec<_> = entries
        .map(|entry| entry.expect("readable").path())
        .filter(|path| !path.ends_with("derived") && !path.ends_with("lock"))
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect();
    files.sort();
    files
}

/// Returns another byte of the same kind: a digit for a digit.
fn other(byte: u8) -> u8 {
    match byte {
        b'9' => b'0',
        b'0'..=b'8' => byte + 1,
        _ => byte ^ 1,
    }
}

/// Goal: no byte of a finished archive can change unnoticed.
/// Method: bytes at even distances over all files are changed one by one, digits to digits.
#[test]
fn every_changed_byte_is_reported() {
    let workspace = Workspace::with_pair();
    let dir = experiment(&workspace);
    assert!(dir.verify().expect("readable").mismatches.is_empty());
    let files = files(dir.path());
    let bytes: usize = files.iter().map(|path| fs::read(path).expect("readable").len()).sum();
    let count = if is_long() { bytes } else { SAMPLE };
    let (mut next, step, mut tried) = (0, (bytes / count).max(1), 0);
    for path in &files {
        let written = fs::read(path).expect("readable");
        while next < written.len() {
            let mut changed = written.clone();
            changed[next] = other(changed[next]);
            fs::write(path, &changed).expect("writable");
            let found = dir.verify().expect("readable");
            let is_list = path.ends_with("checksums");
            let is_named = found.mismatches.iter().any(|one| one.path == *path || is_list)
                || is_list && !found.absent.is_empty();
            assert!(is_named, "byte {next} of {}: {found:?}", path.display());
            (next, tried) = (next + step, tried + 1);
        }
        next -= written.len();
        fs::write(path, &written).expect("writable");
    }
    println!("{tried} changed bytes of {bytes} in {} files, all reported", files.len());
    assert!(tried >= count.min(bytes));
}

/// Goal: one changed digit of a record is named by every verb that reads it, once.
#[test]
fn a_changed_digit_is_reported_by_readers_and_by_verify() {
    let workspace = Workspace::with_pair();
    let sound = workspace.assay(&["verify"]);
    assert_eq!((sound.code, sound.err.as_str()), (0, ""), "{}", sound.out);
    assert_eq!(sound.out.lines().count(), 1, "{}", sound.out);
    assert!(sound.out.starts_with("1 experiment, 4 sound runs, "), "{}", sound.out);
    assert!(sound.out.contains("8 steps counted again, mismatches: 0, not checked: "));

    let record = experiment(&workspace).run_dir("one.c1.r1").join("record.json");
    let text = fs::read_to_string(&record).expect("readable");
    let at = text.find("\"done\": ").expect("a count") + "\"done\": ".len();
    let mut changed = text.into_bytes();
    changed[at] = other(changed[at]);
    fs::write(&record, changed).expect("writable");

    let pair: &[&[&str]] = &[
        &["compare", "pair"],
        &["show", "pair"],
        &["list", "pair"],
        &["list"],
        &["history"],
        &["report", "pair"],
        &["lint", "pair", "--fail-on", "blocking"],
        &["explain", "one", "two"],
    ];
    for arguments in pair {
        let err = workspace.assay(arguments).err;
        assert_eq!(err.matches("warning: record.json of ").count(), 1, "{arguments:?}: {err}");
        assert!(err.contains("one.c1.r1 has changed since the run"), "{arguments:?}: {err}");
    }
    let found = workspace.assay(&["verify", "pair"]);
    assert_eq!(found.code, 1, "{}", found.out);
    assert!(found.out.contains("mismatches: 1,"), "{}", found.out);
    let line = found.out.lines().nth(1).expect("a mismatch");
    assert!(line.contains("one.c1.r1/record.json: its checksum differs"), "{line}");
    assert!(line.contains("restore it from a copy"), "{line}");
}

/// Goal: figures that agree with their checksum and not with the measured seconds are reported.
#[test]
fn a_record_that_its_seconds_do_not_give_is_reported() {
    let workspace = Workspace::with_pair();
    let dir = experiment(&workspace);
    let run = dir.run_dir("two.c1.r2");
    let sound = archive::read_record(&run).expect("readable");
    let other: [(_, fn(&mut OpSummary)); 5] = [
        ("operations", |one| one.counts.done += 1),
        ("response times", |one| one.response.p99_ns += 1),
        ("service times", |one| one.service.mean_ns *= 1.0 + 1e-9),
        ("service times", |one| one.service.p9999_ns -= 1),
        ("response times", |one| one.response.max_ns *= 2),
    ];
    for (what, change) in other {
        let mut record = sound.clone();
        record.steps[1].clients.values_mut().for_each(change);
        let attempt = archive::RunWriter::create(run.clone()).expect("writable");
        attempt.finish(&record).expect("writable");
        let found = workspace.assay(&["verify"]);
        assert_eq!(found.code, 1, "{}", found.out);
        let expected = format!("step 1 readrandom has other {what} than its intervals");
        assert!(found.out.contains(&expected), "{}", found.out);
    }
}

/// Goal: of an archive without checksums only the figures are checked, and no reader warns.
#[test]
fn steps_of_an_older_archive_are_counted_again() {
    let workspace = Workspace::with_pair();
    let dir = experiment(&workspace);
    for file in files(dir.path()).iter().filter(|path| path.ends_with("checksums")) {
        fs::remove_file(file).expect("writable");
    }
    let output = workspace.assay(&["verify"]);
    assert_eq!((output.code, output.err.as_str()), (0, ""));
    let counts = "8 steps counted again, mismatches: 0, not checked: 5 without checksums";
    assert!(output.out.contains(counts), "{}", output.out);
    assert_eq!(workspace.assay(&["compare", "pair"]).err, "");
    let record = dir.run_dir("one.c1.r1").join("record.json");
    let text = fs::read_to_string(&record).expect("readable");
    let changed = text.replacen("\"max_ns\": ", "\"max_ns\": 1", 1);
    fs::write(&record, changed).expect("writable");
    let output = workspace.assay(&["verify"]);
    assert_eq!(output.code, 1, "{}", output.out);
    assert!(output.out.contains("record.json: step 0 fillseq has other "), "{}", output.out);
}

/// Goal: a run, an earlier attempt or a manifest that the archive has had does not vanish silently.
#[test]
fn absent_runs_and_manifests_are_reported() {
    let workspace = Workspace::new();
    let run = ["fillseq", "--engine", "memory", "--rows", "100", "--repetitions", "2"];
    workspace.recorded(&[&["run"][..], &run].concat());
    let dir = Results::at(&workspace.path("results")).find("quick-fillseq").expect("it was run");
    let cell = "memory.c1.r2";
    let (run, attempt) = (dir.run_dir(cell), dir.path().join(format!("attempts/{cell}.1")));
    let verified = |code: i32, text: &str| {
        let found = workspace.assay(&["verify"]);
        assert_eq!(found.code, code, "{}", found.out);
        assert!(found.out.contains(text), "{text}: {}", found.out);
    };
    verified(0, "2 sound runs, 11 checksums compared, 2 steps");
    verified(0, "mismatches: 0, not checked: nothing");
    let lost = format!("runs/{cell}: the run has ended, and its directory is absent; restore it");
    fs::remove_dir_all(&run).expect("writable");
    verified(1, &lost);
    // The list is in the exported file, so the run is absent for its readers too.
    let file = workspace.path("one.assay");
    let export = workspace.assay(&["export", "quick-fillseq", "-o", file.to_str().expect("UTF-8")]);
    assert_eq!(export.code, 0, "{}", export.err);
    let other = Workspace::new();
    Results::at(&other.path("results")).import(&file).expect("it is sound");
    assert!(other.assay(&["verify"]).out.contains(&lost));
    let resumed = workspace.assay(&["run", "--resume", "quick-fillseq"]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    verified(0, "mismatches: 0, not checked: nothing");

    let writer = dir.begin_run(cell).expect("writable");
    verified(0, "2 sound runs");
    writer.finish(&archive::read_record(&attempt).expect("readable")).expect("writable");
    let found = dir.verify().expect("readable");
    assert!(found.absent.is_empty() && found.mismatches.is_empty(), "{found:?}");
    assert_eq!((found.sound.len(), found.unlisted), (3, 0));
    fs::remove_dir_all(&attempt).expect("writable");
    assert_eq!(dir.verify().expect("readable").absent, [attempt]);
    fs::remove_file(run.join("checksums")).expect("writable");
    verified(1, "r2/checksums: it cannot be read: there is no regular file");

    fs::remove_file(dir.path().join("manifest.json")).expect("writable");
    verified(1, ": the directory has runs and no manifest.json, so no command shows them; restore");
    let listed = workspace.assay(&["list"]);
    assert!(listed.err.contains("/manifest.json: No such file"), "{}", listed.err);
}

/// Goal: an experiment whose runs no list names, as of an older Assay, is sound and not complete.
#[test]
fn an_older_archive_without_a_list_of_runs_is_sound() {
    let found = Workspace::with_pair().assay(&["verify"]);
    assert_eq!(found.code, 0, "{}", found.out);
    let expected = "not checked: whether runs are absent (1 experiment without a list of runs)\n";
    assert!(found.out.ends_with(expected), "{}", found.out);
}
