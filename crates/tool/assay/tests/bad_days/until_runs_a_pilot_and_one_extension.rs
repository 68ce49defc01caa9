//! `assay run --until` runs a pilot and one extension.
//!
//! An interruption loses nothing and causes no third stage.

use std::time::Duration;

use archive::ExperimentDir;
use model::Manifest;
use rustix::process::Signal;

use crate::disturbance::on_quiet_host;
use crate::sandbox::{NAME, Sandbox, joined_text, output_text, ran, send, wait_until};

/// Longest time for anything here to begin: it only guards against hanging for ever.
const LONG: Duration = Duration::from_secs(300);
/// A precision that no machine reaches with four repetitions of 120 ms.
const UNREACHABLE_PRECISION: [&str; 4] = ["--until", "0.01%", "--max-repetitions", "4"];

/// Two identical simulated servers and a reading step.
fn sandbox() -> Sandbox {
    let server = || "\"server.work\" = \"1ms\"".to_owned();
    let benchmark = "steps = [\"fillseq\", \"readrandom\"]\nrows = 60\nduration = \"120ms\"\n\
                     warmup = \"10ms\"\n[factors]\nrepetitions = 3";
    Sandbox::with_options(benchmark, &[("a", "faulty", server()), ("b", "faulty", server())])
}

fn manifest(sandbox: &Sandbox) -> (ExperimentDir, Manifest) {
    let dir = sandbox.experiment().expect("the experiment was begun");
    let manifest = dir.manifest().expect("a manifest is always readable");
    (dir, manifest)
}

/// Returns the cells in the order in which they were run.
fn order(dir: &ExperimentDir, manifest: &Manifest) -> Vec<String> {
    let mut runs = dir.runs(manifest).expect("records are always readable");
    assert!(runs.iter().all(|run| run.end.is_complete()));
    runs.sort_by(|a, b| a.started_at.cmp(&b.started_at));
    runs.into_iter().map(|run| run.cell.id).collect()
}

fn planned(manifest: &Manifest) -> Vec<String> {
    manifest.plan.cells.iter().map(|cell| cell.id.clone()).collect()
}

/// Goal: a pilot that is too noisy is extended once, by as much as its noise requires.
#[test]
fn pilot_is_extended_once() {
    on_quiet_host(|_| {
        let sandbox = sandbox();
        let output = sandbox.run(&UNREACHABLE_PRECISION).output().expect("it runs");
        assert!(output.status.success(), "{}", output_text(&output));
        let message = joined_text(&output);
        assert!(
            message.contains("--max-repetitions limits the repetitions to 4, where"),
            "{message}"
        );
        let pilot = "4 runs each; noise from the pilot's 3 repetitions";
        assert!(message.contains(pilot), "{message}");
        let (dir, manifest) = manifest(&sandbox);
        assert_eq!(manifest.plan.pilot_repetitions, Some(3));
        assert_eq!(manifest.plan.experiment.repetitions, 4);
        assert_eq!(manifest.plan.cells.len(), 8);
        assert_eq!(order(&dir, &manifest), planned(&manifest));
        // Resumed with a larger limit: both stages are over.
        let again = ["run", "--resume", NAME, "--until", "0.01%", "--max-repetitions", "9"];
        ran(&mut sandbox.assay(&again));
        assert_eq!(dir.manifest().expect("readable"), manifest);
    });
}

#[test]
fn precise_pilot_is_not_extended() {
    on_quiet_host(|_| {
        let sandbox = sandbox();
        // Long enough for this precision on a busy host.
        let long = ["--rows", "200", "--duration", "400ms"];
        let output = sandbox.run(&["--until", "100%"]).args(long).output().expect("it runs");
        let text = joined_text(&output);
        assert!(output.status.success(), "{text}");
        let (_, manifest) = manifest(&sandbox);
        let is_extended = manifest.plan.pilot_repetitions.is_some();
        assert_eq!((is_extended, manifest.plan.cells.len()), (false, 6), "{text}");
        assert!(text.contains("in every step needs 3 repetitions"), "{text}");
    });
}

/// Goal: an interrupted extension is completed as it was planned, without a third stage.
/// Method: the interrupt comes when the extension is planned, before the last of its two runs ends.
#[test]
fn interrupted_extension_is_completed_by_resume() {
    on_quiet_host(|_| {
        let sandbox = sandbox();
        let child = sandbox.run(&UNREACHABLE_PRECISION).spawn().expect("it runs");
        let has_gone_on = || {
            let dir = sandbox.experiment();
            let manifest = dir.and_then(|dir| dir.manifest().ok());
            manifest.is_some_and(|manifest| manifest.plan.pilot_repetitions.is_some())
        };
        assert!(wait_until(LONG, has_gone_on));
        send(child.id(), Signal::INT);
        let output = child.wait_with_output().expect("own child");
        assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
        let text = joined_text(&output);
        assert!(text.contains("of 8 runs are complete"), "{text}");
        let (dir, before) = manifest(&sandbox);
        ran(&mut sandbox.assay(&["run", "--resume", NAME, "--until", "0.01%"]));
        let (_, after) = manifest(&sandbox);
        assert_eq!(after, before);
        assert_eq!(order(&dir, &after), planned(&after));
    });
}

#[test]
fn interrupted_pilot_is_extended_by_resume() {
    on_quiet_host(|_| {
        let sandbox = sandbox();
        let child = sandbox.run(&UNREACHABLE_PRECISION).spawn().expect("it runs");
        assert!(wait_until(LONG, || !sandbox.records().is_empty()));
        send(child.id(), Signal::INT);
        let output = child.wait_with_output().expect("own child");
        assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
        let text = joined_text(&output);
        assert!(text.contains(" --until 0.01% --max-repetitions 4"), "{text}");
        assert_eq!(manifest(&sandbox).1.plan.pilot_repetitions, None);
        let resumed = [&["run", "--resume", NAME], &UNREACHABLE_PRECISION[..]].concat();
        ran(&mut sandbox.assay(&resumed));
        let (dir, manifest) = manifest(&sandbox);
        assert_eq!((manifest.plan.pilot_repetitions, manifest.plan.cells.len()), (Some(3), 8));
        assert_eq!(order(&dir, &manifest), planned(&manifest));
    });
}

/// Goal: precision that no pilot can estimate is refused, not left out in silence.
#[test]
fn resume_of_a_single_run_refuses_a_precision() {
    let sandbox = Sandbox::reading("50ms", &[("one", "faulty", "")]);
    ran(&mut sandbox.run(&[]));
    let mut resumed = sandbox.assay(&["run", "--resume", NAME, "--until", "2%"]);
    let output = resumed.output().expect("it ends");
    assert_eq!(output.status.code(), Some(1), "{}", output_text(&output));
    let text = joined_text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("has 1 x 1") && text.contains("anew with --until"), "{text}");
}
