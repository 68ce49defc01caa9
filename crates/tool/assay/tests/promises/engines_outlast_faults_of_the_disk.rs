//! A full disk and a failed fsync are events: engines fail meanwhile, and work afterwards.

use std::process::Command;

use archive::Results;
use model::record::{FailureClass, total_counts};
use model::{EventKind, EventRecord, RunRecord};
use rustix::process::geteuid;

use crate::workspace::{ProgramOutput, Workspace};

/// A step with events on one engine, and a read that needs the engine afterwards.
///
/// Its values fill a page each, so that every update needs space.
const FAULTS: &str = r#"[experiment]
name = "faults"
question = "What does it do without a disk?"

[benchmark]
steps = ["fillseq", { step = "overwrite", load = LOAD, events = [EVENTS] }, "readrandom"]
rows = ROWS
value_bytes = "4KiB"
duration = "6s"
warmup = "0s"
durability = "sync"

[factors]
clients = [2]

[[variant]]
name = "one"
engine = "ENGINE"
"#;
/// Why a machine cannot simulate a disk.
const LACKING: &str = "need a simulated disk";
const FULL: &str = r#"{ at = "1s", do = "disk_full" }, { at = "3s", do = "disk_free" }"#;
const FSYNC: &str = r#"{ at = "1s", do = "fsync_fails" }"#;
const REOPEN: &str = r#"{ at = "4s", do = "reopen" }"#;

fn write(workspace: &Workspace, engine: &str, rows: &str, events: &str) {
    let load = r#"{ rate = "500/s" }"#;
    let text = FAULTS.replace("ENGINE", engine).replace("LOAD", load).replace("ROWS", rows);
    workspace.write("faults.toml", text.replace("EVENTS", events));
}

/// Runs the experiment and returns its record; `None` where no disk can be simulated.
fn run(workspace: &Workspace, engine: &str, events: &str) -> Option<RunRecord> {
    write(workspace, engine, "\"2k\"", events);
    let output = workspace.assay_on_servers(&["run", "faults.toml"]);
    if output.err.contains(LACKING) {
        skip(&one_line(&output.err));
        return None;
    }
    output.recorded();
    let dir = Results::at(&workspace.path("results")).find("faults").expect("it was run");
    let records = dir.runs(&dir.manifest().expect("a manifest")).expect("records");
    let record = records.into_iter().next().expect("there is one run");
    assert!(record.end.is_complete(), "{engine}: {}", record.end.phrase());
    let [before, after] = [0, 2].map(|at| total_counts(&record.steps[at].clients));
    assert!(before.failed == 0 && after.failed == 0 && after.done > 0, "{engine}: {after:?}");
    Some(record)
}

/// Prints why a test is skipped.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn skip(reason: &str) {
    println!("skipped: {reason}");
}

/// Returns a message without its frame.
fn one_line(text: &str) -> String {
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

/// Returns whether the build of an engine is here; prints why not.
fn is_here(build: &str) -> bool {
    let found = supply::testing::build(build);
    found.map_err(|reason| skip(&reason)).is_ok()
}

/// Checks the kinds of the events of the second step and that arrivals count, and returns them.
fn events(record: &RunRecord, kinds: &[EventKind]) -> Vec<EventRecord> {
    let step = &record.steps[1];
    let counts = total_counts(&step.clients);
    let arrivals = step.arrivals.as_ref().expect("it is an open loop");
    assert_eq!(counts.done + counts.failed + arrivals.censored, arrivals.offered);
    let found: Vec<EventKind> = step.events.iter().map(|event| event.planned.kind).collect();
    assert_eq!(found, kinds, "{:?}", step.events);
    step.events.clone()
}

/// Goal: writes to a full disk fail in a class of their own, and the server serves when it is
/// free; the record and the comparison name the simulated disk.
#[test]
fn a_full_disk_fails_writes_of_postgres_until_it_is_free() {
    if !is_here("postgres@15.10") {
        return;
    }
    let workspace = Workspace::new();
    let Some(record) = run(&workspace, "postgres@15.10", FULL) else { return };
    let found = events(&record, &[EventKind::DiskFull, EventKind::DiskFree]);
    assert!(found[0].failures.of(FailureClass::DiskFull) > 0, "{found:?}");
    let counts = total_counts(&record.steps[1].clients);
    assert!(counts.done > counts.failed, "{counts:?}");
    let show = workspace.assay(&["show", "faults"]);
    let sentence = "a disk simulated in memory: its throughput is not this machine's";
    let shown = one_line(&show.out);
    assert!(shown.contains(sentence) && shown.contains("disk full"), "{shown}");
    if let Some(reason) = &record.invalid {
        return println!("skipped in part: host too busy for findings ({reason})");
    }
    let lint = workspace.assay(&["lint", "faults"]);
    let found = one_line(&lint.out);
    assert!(found.contains("A071") && found.contains(sentence), "{found}");
}

/// Goal: MySQL outlasts a full disk: InnoDB updates these rows in place, and needs no space.
#[test]
fn mysql_outlasts_a_full_disk() {
    if !is_here("mysql@8.0.31") {
        return;
    }
    let workspace = Workspace::new();
    let Some(record) = run(&workspace, "mysql@8.0.31", FULL) else { return };
    events(&record, &[EventKind::DiskFull, EventKind::DiskFree]);
}

/// Goal: an fsync that fails ends every session of Postgres, which recovers and is back.
#[test]
fn postgres_comes_back_after_an_fsync_that_fails() {
    if !is_here("postgres@15.10") {
        return;
    }
    let workspace = Workspace::new();
    let Some(record) = run(&workspace, "postgres@15.10", FSYNC) else { return };
    let found = events(&record, &[EventKind::FsyncFails]);
    assert!(!found[0].failures.is_empty() && found[0].unavailable().0 > 0, "{found:?}");
}

/// Goal: an embedded engine fails operations after a fault of the disk, and works once it is
/// opened again. Method: fjall appends to files, and sqlite writes to the pages that it has.
#[test]
fn embedded_engines_are_opened_again_after_faults_of_the_disk() {
    let workspace = Workspace::new();
    let full = format!("{FULL}, {REOPEN}");
    let Some(record) = run(&workspace, "fjall", &full) else { return };
    let kinds = [EventKind::DiskFull, EventKind::DiskFree, EventKind::Reopen];
    let found = events(&record, &kinds);
    assert!(!found[0].failures.is_empty(), "{found:?}");
    for engine in ["fjall", "sqlite"] {
        let failing = format!("{FSYNC}, {REOPEN}");
        let record = run(&workspace, engine, &failing).expect("a disk was simulated");
        let found = events(&record, &[EventKind::FsyncFails, EventKind::Reopen]);
        assert!(!found[0].failures.is_empty(), "{engine}: {found:?}");
    }
}

#[test]
fn events_on_the_disk_that_cannot_be_done_are_refused_with_a_remedy() {
    let workspace = Workspace::new();
    for (rows, events, why, remedy) in [
        ("2_000", FSYNC, "until it is opened again", "write a `reopen` after it"),
        ("2_000", r#"{ at = "1s", do = "disk_full" }"#, "has no end", "write a `disk_free`"),
        ("900_000", &format!("{FSYNC}, {REOPEN}"), "simulated in memory", "use fewer rows"),
    ] {
        write(&workspace, "sqlite", rows, events);
        let ProgramOutput { code, err, .. } = workspace.assay(&["run", "faults.toml"]);
        let text = one_line(&err);
        assert_ne!(code, 0, "{text}");
        assert!(text.contains(why) && text.contains(remedy), "{why}: {text}");
        assert!(!workspace.path("results").exists(), "nothing is begun");
    }
}

/// Goal: without the right to mount, nothing is begun. Method: root gives that right away.
#[test]
fn a_disk_that_cannot_be_mounted_is_refused_with_a_remedy() {
    let workspace = Workspace::new();
    write(&workspace, "sqlite", "2_000", &format!("{FSYNC}, {REOPEN}"));
    let mut command = Command::new(if geteuid().is_root() { "setpriv" } else { "env" });
    if geteuid().is_root() {
        command.args(["--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"]);
    }
    command.arg(assert_cmd::cargo::cargo_bin!("assay")).args(["run", "faults.toml"]);
    let output = command.current_dir(workspace.path("")).output();
    let ProgramOutput { code, err, .. } = ProgramOutput::of(output.expect("it starts"));
    let text = one_line(&err);
    assert_ne!(code, 0, "{text}");
    assert!(text.contains(LACKING) && text.contains("run as root"), "{text}");
    assert!(!workspace.path("results").exists(), "nothing is begun");
}
