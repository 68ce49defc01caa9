//! Messages of a worker that are lost, damaged or contradict each other.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use model::{Nanos, RunEnd};
use serde_json::{Value, json};

use crate::bench::{Bench, numbered};
use crate::{OPENED, STEP_BEGINS};

/// Operations of each interval.
const DONE: [u64; 3] = [5, 0, 7];

/// The times of so many operations of 1 us each: HdrHistogram V2, base64.
fn times(count: u64) -> String {
    let mut histogram = load::empty_histogram();
    histogram.record_n(1_000, count).expect("it is in range");
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(&histogram, &mut bytes).expect("it is written to memory");
    STANDARD.encode(bytes)
}

fn counts(done: u64) -> Value {
    json!({
        "done": done, "not_found": 0, "failed": 0, "rows": done, "bytes": 9 * done, "verified": 0
    })
}

/// Counts of a kind of operation, and its histograms of `timed` values.
fn puts(done: u64, timed: u64) -> Value {
    json!([{
        "kind": "put",
        "counts": counts(done),
        "response": times(timed), "service": times(timed)
    }])
}

fn interval(start: usize, puts: &Value, is_warmup: bool) -> String {
    json!({
        "type": "interval", "probe": null, "is_warmup": is_warmup, "start": start * 1_000_000_000,
        "length": 1_000_000_000, "clients": puts, "writers": [], "start_lag": null, "backlog": 0,
        "growth": {}, "engine": {}
    })
    .to_string()
}

/// All messages of a run of one step, which reports `done` operations at its end.
fn messages(done: u64) -> Vec<String> {
    let begins = r#"{"type":"measuring_begins","before":{},"is_patient":false}"#;
    let step_ends = json!({
        "type": "step_ends", "index": 0, "duration": 3_000_000_000_u64,
        "counts": {"clients": {"put": counts(done)}, "writers": {}}, "growth": {}, "after": {}, "settle": null, "end": {"how": "finished"}
    });
    let closed = r#"{"type":"closed","clock":{"source":"tsc","drift_ppm":null,"is_sound":true}}"#;
    let measured = DONE.iter().enumerate();
    let measured = measured.map(|(second, done)| interval(second, &puts(*done, *done), false));
    [OPENED, STEP_BEGINS, begins]
        .map(str::to_owned)
        .into_iter()
        .chain(measured)
        .chain([step_ends.to_string(), closed.to_owned()])
        .collect()
}

/// The lines of a sound run.
fn lines() -> Vec<String> {
    lines_of(&messages(DONE.iter().sum()))
}

fn lines_of(messages: &[String]) -> Vec<String> {
    numbered(&messages.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Returns an experiment of one step.
fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.manifest.plan.experiment.steps.truncate(1);
    bench
}

fn end_of(lines: &[String]) -> RunEnd {
    bench().run(lines, "exit 0").end
}

/// Returns the reason of a failed run.
fn failure(lines: &[String]) -> String {
    let end = end_of(lines);
    let RunEnd::Failed { reason, .. } = end else { panic!("{end:?}") };
    reason
}

/// Goal: a run is complete only with every message, once and in order.
/// Method: each message in turn is lost, late or repeated.
#[test]
fn no_message_is_lost_late_or_repeated_unnoticed() {
    let sound = lines();
    assert_eq!(end_of(&sound), RunEnd::Complete);
    for at in 0..sound.len() {
        let mut lost = sound.clone();
        lost.remove(at);
        if at + 1 < sound.len() {
            let reason = failure(&lost);
            let expected = format!("message {at} is missing: message {} came instead", at + 1);
            assert!(reason.contains(&expected), "{at}: {reason}");
            let mut late = sound.clone();
            late.swap(at, at + 1);
            assert!(failure(&late).contains(&expected), "{at}");
        } else {
            assert!(matches!(end_of(&lost), RunEnd::Crashed { .. }), "{at}");
        }
        let mut repeated = sound.clone();
        repeated.insert(at, sound[at].clone());
        let reason = failure(&repeated);
        let expected = format!("message {at} came again instead of message {}", at + 1);
        assert!(reason.contains(&expected), "{at}: {reason}");
    }
}

/// Goal: a message is read as it was sent, or the run is not complete.
/// Method: each message in turn is truncated or overwritten.
#[test]
fn no_message_is_damaged_unnoticed() {
    let sound = lines();
    for at in 0..sound.len() {
        let mut truncated = sound.clone();
        truncated[at].truncate(sound[at].len() / 2);
        let end = end_of(&truncated);
        assert!(matches!(end, RunEnd::Failed { .. } | RunEnd::Crashed { .. }), "{at}: {end:?}");
        let mut overwritten = sound.clone();
        overwritten[at] = format!("engine prints hello{}", sound[at]);
        let reason = failure(&overwritten);
        assert!(reason.contains(&format!("message {at} cannot be read")), "{at}: {reason}");
    }
}

/// Goal: a run whose end breaks off is not complete, though its process exits well.
#[test]
fn a_message_that_breaks_off_at_the_end_is_noticed() {
    let mut lines = lines();
    lines.push("{\"number\":8,".to_owned());
    assert!(matches!(end_of(&lines), RunEnd::Crashed { .. }));
}

/// Goal: a step and its intervals have the same operations, or the run fails.
#[test]
fn sums_that_do_not_agree_fail_the_run() {
    for done in [11, 13] {
        let reason = failure(&lines_of(&messages(done)));
        assert_eq!(
            reason,
            format!(
                "the step's put operations differ from the sum of its intervals: {done} done and 0 \
                 failed in the step, 12 and 0 in its intervals"
            )
        );
    }
    // An interval that no longer counts, one without times, a step that comes twice.
    let sound = messages(DONE.iter().sum());
    let mut not_measured = sound.clone();
    not_measured[3] = interval(0, &puts(5, 5), true);
    assert!(
        failure(&lines_of(&not_measured)).contains("12 done and 0 failed in the step, 7 and 0")
    );
    for is_warmup in [false, true] {
        let mut not_timed = sound.clone();
        not_timed[3] = interval(0, &puts(5, 4), is_warmup);
        let reason = failure(&lines_of(&not_timed));
        assert_eq!(reason, "4 put service times of 5 operations done");
    }
    for at in [1, 6] {
        let mut twice = sound.clone();
        twice.insert(7, sound[at].clone());
        let reason = failure(&lines_of(&twice));
        assert!(reason.contains("step 0 instead of step 1"), "{reason}");
    }
}

/// Goal: whatever an engine prints, nothing is lost, and the end of it is archived.
/// Method: a part of a line, forged messages and a flood, on standard output and error.
#[test]
fn output_of_the_engine_is_no_message() {
    let bench = bench();
    let forged = numbered(&[r#"{"type":"refused","refusal":{"build":{"reason":"forged"}}}"#]);
    let forged = forged.concat();
    let then = format!(
        "for fd in 1 2; do printf half >&$fd; printf '%s' '{forged}' >&$fd; \
         yes flood | head -c 3000000 >&$fd; printf 'the end' >&$fd; done"
    );
    assert_eq!(bench.run(&lines(), &then).end, RunEnd::Complete);
    for name in ["stdout.txt", "stderr.txt"] {
        let text = std::fs::read_to_string(bench.run_dir().join("engine").join(name));
        let text = text.expect("it is archived");
        assert!(text.ends_with("flood\nthe end") && text.len() < 100_000, "{name}");
    }
}

/// Goal: time in which the parent is blocked, as by a slow disk, is no silence of the worker.
/// Method: a sound run; after its first interval, which is progress, the parent is blocked for
/// longer than the watchdog waits.
#[test]
fn a_parent_blocked_by_its_archive_does_not_end_the_run() {
    let mut bench = bench();
    (bench.watchdog, bench.blocked) = (Nanos::from_secs(2), Duration::from_secs(3));
    assert_eq!(bench.run(&lines(), "exit 0").end, RunEnd::Complete);
}

/// Goal: a worker that ends its messages and lives on is killed.
#[test]
fn a_worker_that_closes_its_connection_early_is_killed() {
    let end = bench().run(&lines()[..4], "exec 0</dev/null; sleep 100").end;
    let RunEnd::Crashed { reason, .. } = end else { panic!("{end:?}") };
    assert_eq!(reason, "it did not exit within 5.00 s of its last message");
}

/// Goal: a process that outlives its worker, and holds all that it inherited, delays nothing.
/// Method: one in a session of its own, which no signal to the worker's group reaches; without a
/// guard the run would end with it.
#[test]
fn a_process_that_outlives_the_worker_is_not_waited_for() {
    let bench = bench();
    let pid = bench.dir.path().join("pid");
    let then = format!("exec 3<&0; setsid sleep 1000 & echo $! > '{}'; exit 0", pid.display());
    let end = bench.run(&lines(), &then).end;
    let pid = std::fs::read_to_string(pid).expect("it was started");
    let is_killed = std::process::Command::new("kill").arg(pid.trim()).status();
    assert!(is_killed.expect("it runs").success(), "it lives on");
    assert_eq!(end, RunEnd::Complete);
}
