//! An experiment is written to one file, read there, and brought into another archive.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::LazyLock;

use archive::Results;

use crate::journey::check_journey;
use crate::rejection::unwrapped;
use crate::workspace::Workspace;

/// A workspace with an experiment of two variants, and the experiment in one file.
static PAIR: LazyLock<Workspace> = LazyLock::new(|| {
    let workspace = Workspace::with_pair();
    let exported = workspace.assay(&["export", "pair", "-o", "pair.assay"]);
    assert_eq!((exported.code, exported.err.as_str()), (0, ""));
    assert!(exported.out.starts_with("pair.assay: "), "{}", exported.out);
    workspace.until_exit()
});

/// Returns a workspace with the file alone.
fn elsewhere() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("pair.assay", fs::read(PAIR.path("pair.assay")).expect("it was exported"));
    workspace
}

#[test]
fn the_same_experiment_gives_the_same_file() {
    assert_eq!(PAIR.assay(&["export", "pair", "-o", "again.assay"]).code, 0);
    let bytes = |name: &str| fs::read(PAIR.path(name)).expect("it was exported");
    assert!(bytes("pair.assay") == bytes("again.assay"));
}

/// A server with a standby, whose statements have waits, plans and texts of their own.
const SERVER: &str = r#"[experiment]
name = "server"
question = "Does each text of a server travel?"

[benchmark]
workload = "sysbench"
steps = ["load", "index", "read-write"]
rows = "1k"
duration = "300ms"
warmup = "0s"

[[variant]]
name = "postgres"
engine = "postgres@15.10"
options = { "assay.replica" = "async" }
"#;

/// Goal: nothing is lost on the way.
/// Method: what the verbs print of the file and of the imported experiment is that of the original,
/// for embedded engines and a server; other tests do it for storage and shared loads.
#[test]
fn the_file_and_the_imported_experiment_read_as_the_original() {
    check_journey(&PAIR, "pair");
    if let Err(reason) = supply::testing::build("postgres@15.10") {
        return println!("skipped in part: {reason}");
    }
    let workspace = Workspace::new();
    workspace.write("server.toml", SERVER);
    workspace.assay_on_servers(&["run", "server.toml"]).recorded();
    let files = check_journey(&workspace, "server");
    for expected in ["record.json", "engine/server.log", "engine/replica.log"] {
        assert!(files.iter().any(|name| name == expected), "{expected}: {files:?}");
    }
}

#[test]
fn a_file_has_a_page_next_to_it() {
    let other = elsewhere();
    let page = other.assay(&["report", "pair.assay"]);
    assert_eq!(page.out.trim(), "pair.html");
    let page = fs::read_to_string(other.path("pair.html")).expect("written");
    assert!(page.trim_end().ends_with("</html>"));
}

/// Goal: any changed byte is found, and nothing of a damaged file reaches the archive.
/// Method: bytes at even distances are inverted; the file is truncated at even distances.
#[test]
fn changed_and_truncated_files_are_refused() {
    let other = elsewhere();
    let whole = fs::read(other.path("pair.assay")).expect("it was exported");
    let step = (whole.len() / 60).max(1);
    let (results, bad) = (Results::at(&other.path("results")), other.path("bad.assay"));
    let refused = |bytes: &[u8], what: &str| {
        other.write("bad.assay", bytes);
        let error = results.import(&bad).expect_err(what).to_string();
        assert!(error.contains("bad.assay is damaged: "), "{what}: {error}");
        let left = fs::read_dir(other.path("results")).expect("made").count();
        assert_eq!(left, 0, "{what}");
    };
    let mut refusals = 0;
    for at in (0..whole.len()).step_by(step).chain(0..10) {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        refused(&changed, &format!("byte {at} of {}", whole.len()));
        refused(&whole[..at], &format!("truncated at {at} of {}", whole.len()));
        refusals += 2;
    }
    assert!(refusals > 120, "{refusals}");
    // The command reports the last of them.
    let output = other.assay(&["import", "bad.assay"]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("bad.assay is damaged: "), "{}", output.err);
    let error = other.assay(&["import", "absent.assay"]).err;
    assert!(error.contains("cannot read absent.assay"), "{error}");
}

#[test]
fn what_is_no_file_is_not_replaced() {
    fs::create_dir(PAIR.path("place")).expect("writable");
    PAIR.write("place/file", "");
    symlink(PAIR.path("place/file"), PAIR.path("link.assay")).expect("writable");
    for place in ["place", "link.assay", "absent/pair.assay"] {
        let output = PAIR.assay(&["export", "pair", "-o", place]);
        assert_eq!(output.code, 1, "{place}");
        let err = unwrapped(&output.err);
        assert!(err.contains(&format!("cannot write {place}: ")), "{err}");
        assert!(err.contains("name another place for the file"), "{err}");
    }
    assert!(PAIR.path("link.assay").is_symlink());
}

#[test]
fn a_file_is_imported_before_it_is_resumed() {
    let output = elsewhere().assay(&["run", "--resume", "pair.assay"]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("assay import pair.assay, then"), "{}", output.err);
}

#[test]
fn a_changed_experiment_is_not_exported() {
    let workspace = elsewhere();
    assert_eq!(workspace.assay(&["import", "pair.assay"]).code, 0);
    let dir = Results::at(&workspace.path("results")).find("pair").expect("imported");
    let path = dir.path().join("runs/one.c1.r1/intervals.jsonl");
    let mut text = fs::read(&path).expect("a run");
    text[20] ^= 1;
    fs::write(&path, text).expect("writable");
    let output = workspace.assay(&["export", "pair", "-o", "changed.assay"]);
    assert_eq!(output.code, 1);
    assert!(output.err.contains("is damaged"), "{}", output.err);
    let again = workspace.assay(&["import", "pair.assay"]);
    assert_eq!(again.code, 1);
    assert!(again.err.contains("is there already, with other files"), "{}", again.err);
    assert!(output.err.contains("intervals.jsonl"), "{}", output.err);
    assert!(!workspace.path("changed.assay").exists());
}
