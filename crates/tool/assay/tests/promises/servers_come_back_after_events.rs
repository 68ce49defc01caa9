//! A server that an event ends comes back while arrivals go on, and so does an embedded engine.

use archive::Results;
use model::record::total_counts;
use model::{EventKind, RunRecord, StepRecord};

use crate::workspace::Workspace;

/// A step with an event on one engine, and a read that needs the engine afterwards.
pub(crate) const EVENTS: &str = r#"[experiment]
name = "events"
question = "How long is it away?"

[benchmark]
steps = ["fillseq", { step = "overwrite", load = LOAD, events = [EVENT] }, "readrandom"]
rows = "2k"
duration = "4s"
warmup = "200ms"

[factors]
clients = [2]

[[variant]]
name = "one"
engine = "ENGINE"
"#;

/// Runs the experiment with an engine, a load and events; returns its record.
fn run(workspace: &Workspace, engine: &str, load: &str, event: &str) -> RunRecord {
    let file = EVENTS.replace("ENGINE", engine).replace("LOAD", load).replace("EVENT", event);
    run_file(workspace, &file)
}

/// Runs an experiment; returns its record.
pub(crate) fn run_file(workspace: &Workspace, file: &str) -> RunRecord {
    workspace.write("events.toml", file);
    workspace.assay_on_servers(&["run", "events.toml"]).recorded();
    let dir = Results::at(&workspace.path("results")).find("events").expect("it was run");
    let records = dir.runs(&dir.manifest().expect("a manifest")).expect("records");
    let record = records.into_iter().next().expect("there is one run");
    assert!(record.end.is_complete(), "{}", record.end.phrase());
    let after = total_counts(&record.steps[2].clients);
    assert!(after.done > 0 && after.failed == 0, "the engine works afterwards: {after:?}");
    record
}

/// Checks that the engine has every acknowledged write of a step.
fn check_writes(step: &StepRecord) {
    let writes = step.writes.expect("its writes were compared");
    assert!(writes.acknowledged > 0 && writes.lost == 0, "{writes:?}");
    assert!(writes.applied <= writes.failed, "{writes:?}");
}

/// Checks that every arrival of a step is counted, and returns its events.
pub(crate) fn events(step: &StepRecord) -> Vec<(EventKind, f64)> {
    let counts = total_counts(&step.clients);
    let arrivals = step.arrivals.as_ref().expect("it is an open loop");
    let counted = counts.done + counts.failed + arrivals.censored;
    // On a busy host arrivals of the warm-up are served in the measured span.
    let most = arrivals.offered + arrivals.offered / 4;
    assert!((arrivals.offered..=most).contains(&counted), "{counts:?}, {arrivals:?}");
    let one = |event: &model::EventRecord| {
        let away_s = event.unavailable().as_secs_f64();
        assert!(event.action.start_ns >= event.planned.at, "{event:?}");
        (event.planned.kind, away_s)
    };
    step.events.iter().map(one).collect()
}

/// Goal: a Postgres that is killed under an open loop is away for a while and comes back.
#[test]
fn a_killed_server_comes_back_and_every_arrival_counts() {
    if let Err(reason) = supply::testing::build("postgres@15.10") {
        return println!("skipped: {reason}");
    }
    let workspace = Workspace::new();
    let kill = r#"{ at = "1500ms", do = "kill" }"#;
    let record = run(&workspace, "postgres@15.10", r#"{ rate = "100/s" }"#, kill);
    let step = &record.steps[1];
    let [(EventKind::Kill, away_s)] = events(step)[..] else { panic!("{:?}", step.events) };
    assert!(away_s > 0.0 && away_s < 4.0, "{:?}", step.events);
    let failed = total_counts(&step.clients).failures;
    assert!(!failed.is_empty() && step.reconnect.is_some(), "{}", failed.phrase());
    check_writes(step);
    let show = workspace.assay(&["show", "events"]);
    assert!(show.out.contains("kill at 1.50 s"), "{}", show.out);
    assert!(show.out.contains(" rows 0 were lost, and "), "{}", show.out);
    if let Some(reason) = &record.invalid {
        return println!("skipped in part: host too busy for a comparison ({reason})");
    }
    let compare = workspace.assay(&["compare", "events"]);
    assert!(compare.out.contains("Unavailability after events"), "{}", compare.out);
    let json = workspace.assay(&["compare", "events", "--format", "json"]);
    assert!(json.out.contains("\"availability\""), "{}", json.out);
}

/// Goal: clients of a closed loop do without a server that is restarted, and with one that does not
/// answer.
#[test]
fn a_closed_loop_goes_on_after_a_restart_and_a_stop() {
    if let Err(reason) = supply::testing::build("postgres@15.10") {
        return println!("skipped: {reason}");
    }
    let workspace = Workspace::new();
    let all = r#"{ at = "500ms", do = "restart" }, { at = "2s", do = "stop" },
        { at = "2600ms", do = "continue" }"#
        .replace('\n', " ");
    // The restart may end late on a busy host, and the stop follows it.
    let file = EVENTS.replace("ENGINE", "postgres@15.10").replace("LOAD", "\"closed\"");
    let record = run_file(&workspace, &file.replace("EVENT", &all).replace("\"4s\"", "\"8s\""));
    check_writes(&record.steps[1]);
    let events = &record.steps[1].events;
    let kinds: Vec<EventKind> = events.iter().map(|event| event.planned.kind).collect();
    assert_eq!(kinds, [EventKind::Restart, EventKind::Stop, EventKind::Continue]);
    assert!(events[0].unavailable().0 > 0, "{events:?}");
    let stopped = events[2].action.start_ns.since(events[1].action.start_ns);
    // A client may have been in an operation when the processes stopped one after the other.
    assert!(events[1].unavailable().0 > stopped.0 / 2, "{events:?}");
}

/// Goal: an embedded engine is closed and opened again, its rows are there, and arrivals wait.
#[test]
fn an_embedded_engine_is_opened_again_under_load() {
    let workspace = Workspace::new();
    let twice = r#"{ at = "1s", do = "reopen" }, { at = "2s", do = "reopen" }"#;
    for engine in ["sqlite", "fjall"] {
        let record = run(&workspace, engine, r#"{ rate = "200/s" }"#, twice);
        let step = &record.steps[1];
        let kinds: Vec<EventKind> = events(step).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [EventKind::Reopen; 2], "{engine}");
        check_writes(step);
        assert_eq!(total_counts(&step.clients).failed, 0, "{engine}");
        assert!(step.events.iter().all(|it| it.action.length().0 > 0), "{:?}", step.events);
        let record = run(&workspace, engine, "\"closed\"", twice);
        // On a busy host the first may last until the second is due.
        assert!((1..=2).contains(&record.steps[1].events.len()), "{engine}");
    }
}
