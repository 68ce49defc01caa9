//! The parent process against faulty workers.
//!
//! Shells that send a worker's messages and then fail. The experiment is the archive's fixture.

mod bench;
mod messages;

use std::collections::BTreeMap;

use engine::{Refusal, Setting};
use malloc::Libraries;
use model::validity::SearchRecord;
use model::{Address, Allocator, Bytes, Endpoint, LoginOptions, Nanos, RunEnd};
use runner::{DataRoot, Interrupt, RunnerError, Served, Workbench, WorkerProgram, check_variants};

use crate::bench::{Bench, numbered};

/// Longest silence of the workers that are to be found hung.
const SILENT_MAX: Nanos = Nanos::from_secs(3);

/// A worker's message that its engine is open.
pub(crate) const OPENED: &str = concat!(
    r#"{"type":"opened","effective_options":{},"keep":[],"#,
    r#""identity":{"engine":"shell","version":"1","origin":"linked","sha256":null,"facts":{}}}"#
);
pub(crate) const STEP_BEGINS: &str = r#"{"type":"step_begins","index":0}"#;
const STEP_FAILED: &str = concat!(
    r#"{"type":"step_ends","index":0,"duration":0,"counts":{"clients":{},"writers":{}},"#,
    r#""growth":{},"#,
    r#""after":{},"settle":null,"end":{"how":"failed","reason":"out of paper"}}"#
);
/// A finished step with invalid histograms.
const BROKEN: &str = concat!(
    r#"{"type":"step_ends","index":0,"duration":5,"counts":{"clients":{},"writers":{}},"#,
    r#""growth":{},"censored":{"kind":null,"ages":"AAAA"},"#,
    r#""after":{},"settle":null,"end":{"how":"finished"}}"#
);

/// A probe that has ended, in a search that has not.
const PROBE_ENDS: &str = concat!(
    r#"{"type":"probe_ends","search":{"limit":null,"found":null,"ended":"","#,
    r#""is_path_dependent":false,"probes":[{"number":0,"purpose":"capacity","clients":1,"#,
    r#""offered_ops_per_s":null,"throughput_ops_per_s":5.0,"goodput_ops_per_s":5.0,"#,
    r#""late_share":0.0,"late_interval":[0.0,0.1],"response":{"count":5,"mean_ns":9.0,"p50_ns":9,"#,
    r#""p90_ns":9,"p99_ns":9,"p999_ns":9,"p9999_ns":9,"max_ns":9},"service":{"count":5,"#,
    r#""mean_ns":9.0,"p50_ns":9,"p90_ns":9,"p99_ns":9,"p999_ns":9,"p9999_ns":9,"max_ns":9},"#,
    r#""duration_ns":1000000000,"debt_bytes":null,"drained_ns":0,"outcome":"passed","#,
    r#""reason":"a hint"}]}}"#
);

/// Goal: no worker is started, since the allocator is missing.
#[test]
fn an_allocator_that_is_not_installed_is_refused_before_a_worker_starts() {
    let mut fixture = Bench::new();
    let experiment = &mut fixture.manifest.plan.experiment;
    experiment.variants[0].settings.allocator = Allocator::Tcmalloc;
    let data =
        DataRoot::take(&fixture.dir.path().join("data"), &mut |_| ()).expect("a scratch directory");
    let bench = Workbench {
        program: WorkerProgram { path: "/no/worker".into(), arguments: Vec::new() },
        data: &data,
        libraries: BTreeMap::new(),
        servers: BTreeMap::new(),
        server_user: None,
        allocators: Libraries::new(vec!["/no/libraries".into()]),
        watchdog: Nanos::SECOND,
        disk_floor: Bytes(0),
        snapshot_limit: None,
        profiler: None,
        drive: None,
        machine: None,
        block: None,
        clients: None,
        confinement: None,
        interrupt: Interrupt::default(),
    };
    let error = check_variants(&bench, &fixture.manifest.plan.experiment, &mut |_| {})
        .expect_err("refused");
    let RunnerError::Refused(_, Refusal::Setting { setting, reason, remedy }) = error else {
        panic!("{error}")
    };
    assert_eq!(setting, Setting::Allocator);
    assert!(reason.ends_with("no libtcmalloc_minimal.so.4 in /no/libraries"), "{reason}");
    assert!(remedy.contains("apt install libtcmalloc-minimal4"), "{remedy}");
}

fn end_of(messages: &[&str], then: &str) -> RunEnd {
    Bench::new().run(&numbered(messages), then).end
}

/// Returns the end of a worker that becomes silent; what it does before takes milliseconds.
fn end_of_silent(messages: &[&str], then: &str) -> RunEnd {
    Bench::with_watchdog(SILENT_MAX).run(&numbered(messages), then).end
}

#[test]
fn a_silent_worker_is_hung() {
    for then in ["exec sleep 100", "kill -STOP $$"] {
        let end = end_of_silent(&[], then);
        assert!(matches!(&end, RunEnd::Hung { step, .. } if step == "open"), "{then}: {end:?}");
    }
}

/// Goal: an engine that reports why it makes no progress is quoted.
#[test]
fn the_last_line_of_a_hung_worker_is_recorded() {
    let end = end_of_silent(&[OPENED], "echo 'Flush failed' >&2; exec sleep 100");
    assert!(end.phrase().ends_with("; last log line: Flush failed"), "{end:?}");
}

/// Goal: a hung run names the lock that its statements wait for, unless they went on since.
#[test]
fn the_lock_that_a_hung_worker_waits_for_is_recorded() {
    let waits = r#"{"type":"waits","text":"`UPDATE t` waits for session 7"}"#;
    let end = end_of_silent(&[OPENED, STEP_BEGINS, waits], "exec sleep 100");
    assert!(end.phrase().ends_with("; `UPDATE t` waits for session 7"), "{end:?}");
    let end = end_of_silent(&[OPENED, waits, STEP_BEGINS], "exec sleep 100");
    assert!(!end.phrase().contains("session 7"), "{end:?}");
}

/// Goal: an engine that fails and then hangs while it closes cannot block the plan; the failure is
/// recorded.
#[test]
fn a_worker_that_hangs_after_a_failure_is_killed_and_recorded_as_failed() {
    let end = end_of_silent(&[OPENED, STEP_BEGINS, STEP_FAILED], "exec sleep 100");
    let step = "filluniquerandom".to_owned();
    assert_eq!(end, RunEnd::Failed { step, reason: "out of paper".to_owned() });
}

/// Goal: a row-count mismatch is the engine's failure, in the step before.
#[test]
fn missing_rows_fail_the_step_before_the_count() {
    let violated = r#"{"type":"violated","reason":"table `pi1` holds 9 rows"}"#;
    let end = end_of(&[OPENED, STEP_BEGINS, violated], "exit 0");
    let step = "filluniquerandom".to_owned();
    assert_eq!(end, RunEnd::FailedCheck { step, reason: "table `pi1` holds 9 rows".to_owned() });
}

#[test]
fn processes_of_a_worker_end_with_it() {
    let end = end_of_silent(&[OPENED], "sleep 100; echo never");
    assert!(matches!(end, RunEnd::Hung { .. }), "{end:?}");
}

#[test]
fn the_engine_s_last_line_is_recorded_when_it_dies() {
    let then = "echo 'Segmentation fault in my library' >&2; exit 7";
    let end = end_of(&[OPENED, STEP_BEGINS], then);
    let RunEnd::Crashed { step, reason } = end else { panic!("{end:?}") };
    assert_eq!(step, "filluniquerandom");
    assert_eq!(reason, "exit code 7; last log line: Segmentation fault in my library");
}

#[test]
fn a_worker_that_exits_before_its_work_is_done_has_crashed() {
    let end = end_of(&[OPENED, STEP_BEGINS], "exit 0");
    let RunEnd::Crashed { reason, .. } = end else { panic!("{end:?}") };
    assert_eq!(reason, "it ended before its work was done");
}

/// Goal: what fails because the user stops the run is stored as no failure of the engine.
#[test]
fn a_failure_after_a_request_to_stop_is_an_interruption() {
    let messages = numbered(&[OPENED, STEP_BEGINS, STEP_FAILED]);
    let fails = format!("printf '%s' '{}' >&0; exit 0", messages[2]);
    for then in ["exit 7", "exit 0", "kill -TERM $$", &fails] {
        let bench = Bench { is_stopped: true, ..Bench::new() };
        let end = bench.run(&messages[..2], &format!("read stop; {then}")).end;
        assert_eq!(end, RunEnd::Interrupted { step: "filluniquerandom".to_owned() }, "{then}");
    }
}

/// Goal: a server that does not answer costs its time limit once, and is named once.
#[test]
fn a_silent_server_is_not_queried_by_later_runs() {
    let mut bench = Bench::new();
    let mut cells = vec![bench.manifest.plan.cells[0].clone(); 3];
    cells.iter_mut().zip(1..).for_each(|(cell, number)| cell.id = format!("only.c1.r{number}"));
    let served = Served::Foreign(Box::new(Endpoint {
        address: Address::tcp("db", 5432),
        user: "me".to_owned(),
        password: None,
        database: "bench".to_owned(),
        is_foreign: true,
        login: LoginOptions::default(),
    }));
    bench.servers.insert(cells[0].variant.clone(), served);
    bench.manifest.plan.cells = cells;
    let refused = |reason: &str| {
        let refusal = Refusal::Build { reason: reason.to_owned() };
        let refusal = serde_json::to_string(&refusal).expect("it is sent as JSON");
        numbered(&[&format!("{{\"type\":\"refused\",\"refusal\":{refusal}}}")])
    };
    let number_of_runs = |bench: &Bench| {
        let is_recorded = |id: &str| bench.experiment.run(id).expect("readable").is_some();
        bench.manifest.plan.cells.iter().filter(|cell| is_recorded(&cell.id)).count()
    };
    bench.run(&refused("db:5432 accepts connections but does not answer"), "exit 0");
    assert_eq!((number_of_runs(&bench), bench.notes.borrow().len()), (1, 1));
    let note = bench.notes.borrow()[0].clone();
    assert!(note.starts_with("the server at db:5432 does not answer: "), "{note}");
    bench.run(&refused("the login is refused"), "exit 0");
    assert_eq!((number_of_runs(&bench), bench.notes.borrow().len()), (3, 1));
}

#[test]
fn a_histogram_that_does_not_decode_ends_the_run() {
    let end = end_of(&[OPENED, STEP_BEGINS, BROKEN], "exec sleep 100");
    let RunEnd::Failed { reason, .. } = end else { panic!("{end:?}") };
    assert!(reason.starts_with("a broken histogram"), "{reason}");
}

/// Goal: the finished probes of a killed search are archived.
#[test]
fn the_probes_of_an_unfinished_search_are_archived() {
    let bench = Bench::new();
    let record = bench.run(&numbered(&[OPENED, STEP_BEGINS, PROBE_ENDS]), "exit 7");
    assert!(matches!(record.end, RunEnd::Crashed { .. }), "{:?}", record.end);
    let dir = bench.experiment.run_dir(&bench.manifest.plan.cells[0].id);
    let text = std::fs::read(dir.join("0.filluniquerandom.search.json")).expect("it is archived");
    let search: SearchRecord = serde_json::from_slice(&text).expect("a search");
    assert_eq!((search.probes.len(), search.probes[0].reason.as_str()), (1, "a hint"));
}

/// Returns a script of a worker that prepares its data, `$dir`, and reports this log in them.
fn naming_log(name: &str, prepare: &str) -> String {
    let opened = OPENED.replace("\"keep\":[]", &format!("\"keep\":[\"'$dir'/{name}\"]"));
    let dir = r#"dir=$(echo "$order" | sed 's/.*"dir":"\([^"]*\)".*/\1/')"#;
    let [opened] = &numbered(&[&opened])[..] else { panic!("one message") };
    format!("{dir}; {prepare}; printf '%s\\n' '{}' >&0; exit 7", opened.trim_end())
}

/// Goal: a file of the engine that cannot be archived leaves no run in the state "running".
/// Method: the worker names a directory as a log.
#[test]
fn a_log_that_cannot_be_stored_is_noted_and_the_run_ends() {
    let then = naming_log("LOG", "mkdir \"$dir/LOG\"");
    let record = Bench::new().run(&[], &then);
    assert!(matches!(record.end, RunEnd::Crashed { .. }), "{:?}", record.end);
    let note = &record.identity.expect("it was opened").facts["files_not_stored"];
    assert!(
        note.ends_with(
            "/LOG: it is a link, a directory, a pipe or a device, and not a regular \
                        file"
        ),
        "{note}"
    );
}

/// Goal: no link that a hostile engine makes leads to a file outside of its data.
/// Method: the worker names a log behind a linked directory, a link, a second name, dots.
#[test]
fn a_file_outside_of_the_data_is_not_archived() {
    let secret = tempfile::tempdir().expect("a scratch directory");
    std::fs::write(secret.path().join("LOG"), "secret").expect("ours");
    let outside = secret.path().display();
    for (name, prepare) in [
        ("logs/LOG", format!("ln -s {outside} \"$dir/logs\"")),
        ("LOG", format!("ln -s {outside}/LOG \"$dir/LOG\"")),
        ("LOG", format!("ln {outside}/LOG \"$dir/LOG\"")),
        ("logs/../../LOG", format!("mkdir \"$dir/logs\"; cp {outside}/LOG \"$dir/..\"")),
    ] {
        let bench = Bench::new();
        let record = bench.run(&[], &naming_log(name, &prepare));
        assert!(matches!(record.end, RunEnd::Crashed { .. }), "{:?}", record.end);
        assert!(!bench.run_dir().join("engine/LOG").exists(), "{prepare}");
        assert!(record.identity.expect("it was opened").facts.contains_key("files_not_stored"));
    }
}

#[test]
fn an_engine_that_is_opened_twice_ends_the_run() {
    let end = end_of(&[OPENED, OPENED], "exec sleep 100");
    let RunEnd::Failed { reason, .. } = end else { panic!("{end:?}") };
    assert_eq!(reason, "the worker opened its engine twice");
}
