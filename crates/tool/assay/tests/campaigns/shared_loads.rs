//! `kill -9` while loads are saved, restored and evicted: nothing half-made is ever used.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::attempts::AttemptHistory;
use crate::moments::Moments;
use crate::sandbox::{Sandbox, note, send, wait_until};
use crate::scale::cases;

/// Kills of Assay.
const KILLS: (u64, u64) = (4, 60);
/// Kills per experiment, which is then completed.
const KILLS_PER_ROUND: u64 = 6;
/// Longest time from the start of `assay run` to its kill.
const KILL_WITHIN: Duration = Duration::from_millis(2_500);
/// Runs of the experiment.
const RUNS: usize = 6;
/// Longest time for anything here.
const LONG: Duration = Duration::from_secs(300);

const VARIANTS: &[(&str, &str, &str)] = &[("sqlite", "sqlite", ""), ("lmdb", "lmdb", "")];

/// Long loads of 6 MiB, which two of three snapshots fit: the third evicts one.
fn sandbox() -> Sandbox {
    let benchmark = "steps = [\"fillseq\", \"readrandom\", \"overwrite\"]\nrows = \"15k\"\n\
                     duration = \"50ms\"\nload = \"per-variant\"\n[factors]\n\
                     repetitions = 3\nruns_per_load = 2";
    Sandbox::of(benchmark, VARIANTS)
}

fn start(sandbox: &Sandbox) -> Child {
    let is_begun = sandbox.experiment().is_some();
    let mut command = if is_begun { sandbox.resume() } else { sandbox.run(&[]) };
    command.args(["--snapshot-limit", "18MiB"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs")
}

/// Returns whether a load is saved.
fn is_saved(sandbox: &Sandbox) -> bool {
    let mut snapshots =
        fs::read_dir(sandbox.path("data/snapshots")).into_iter().flatten().flatten();
    snapshots.any(|snapshot| snapshot.path().join("record.json").exists())
}

/// Returns what a verb of `assay snapshot` prints.
fn snapshots(sandbox: &Sandbox, verb: &str) -> (bool, String) {
    let output = sandbox.assay(&["snapshot", verb]).output().expect("it runs");
    (output.status.success(), String::from_utf8(output.stdout).expect("Assay writes UTF-8"))
}

/// Goal: whenever Assay is killed, no damaged or unfinished snapshot is used, nothing measured is
/// lost, and the experiment completes.
/// Method: kill, check every whole snapshot and every record, resume and kill again; half of the
/// kills come after a load is saved.
#[test]
fn killing_assay_while_it_shares_loads_uses_nothing_half_made() {
    let mut moments = Moments::new(9);
    let (mut kills, mut unfinished, mut saved) = (0, 0, 0);
    let wanted = cases(KILLS.0, KILLS.1);
    while kills < wanted {
        let (sandbox, mut history) = (sandbox(), AttemptHistory::default());
        for number in 0..KILLS_PER_ROUND.min(wanted - kills) {
            let mut parent = start(&sandbox);
            let mut has_exited = || matches!(parent.try_wait(), Ok(Some(_)));
            if number >= KILLS_PER_ROUND / 2 {
                assert!(
                    wait_until(LONG, || has_exited() || is_saved(&sandbox)),
                    "no load is saved"
                );
            }
            let has_ended = wait_until(moments.within(KILL_WITHIN), has_exited);
            send(parent.id(), Signal::KILL);
            parent.wait().expect("own child");
            assert!(wait_until(LONG, || sandbox.workers().is_empty()), "workers outlive Assay");
            if has_ended {
                break;
            }
            kills += 1;
            history.check(&sandbox);
            let (_, verified) = snapshots(&sandbox, "verify");
            for line in verified.lines().filter(|line| !line.starts_with("no snapshot")) {
                let is_unfinished = line.contains("is unfinished: a killed process left it");
                assert!(line.contains(" as saved") || is_unfinished, "{line}");
                unfinished += u32::from(is_unfinished);
                saved += u32::from(!is_unfinished);
            }
        }
        let code = start(&sandbox).wait().expect("own child").code();
        assert!(matches!(code, Some(0 | 3)), "{code:?}");
        history.check_complete(&sandbox, RUNS);
        assert_eq!(sandbox.data_left(), ["snapshots"]);
        let (is_sound, verified) = snapshots(&sandbox, "verify");
        assert!(is_sound && verified.contains(" as saved"), "{verified}");
        check_loads(&sandbox);
    }
    assert!(saved > 0, "no load was saved before a kill");
    note(&format!("{kills} kills; {saved} whole and {unfinished} unfinished snapshots after them"));
}

/// Checks that every run has its load: its own steps, or those of the run that made it.
fn check_loads(sandbox: &Sandbox) {
    let records = sandbox.records();
    let loads = |index: u32| records.values().filter(move |one| one.steps[0].index == index);
    let makers: BTreeSet<&str> = loads(0).map(|one| one.id.as_str()).collect();
    assert!(loads(1).count() > 0, "no run restored a load");
    for run in loads(1) {
        let load = run.load.as_ref().expect("it restored one");
        assert_ne!(load.made_by, run.id);
        let experiment = run.id.split_once('/').expect("an experiment").0;
        let is_known = makers.contains(load.made_by.as_str());
        assert!(is_known || !load.made_by.starts_with(experiment), "{} is lost", load.made_by);
    }
}

/// Goal: a full disk while a load is saved ends no run, and the reason is reported.
/// Method: an engine that reserves 64 MiB for its journal, and no room for another 64 MiB.
#[test]
fn full_disk_while_saving_leaves_the_run_its_database() {
    let benchmark = "steps = [\"fillseq\", \"readrandom\"]\nrows = \"15k\"\n\
                     duration = \"50ms\"\nload = \"per-variant\"\n[factors]\nrepetitions = 2";
    let sandbox = Sandbox::of(benchmark, &[("fjall", "fjall", "")]);
    let mut run: Command = sandbox.run(&["--snapshot-limit", "1GiB"]);
    run.args(crate::sandbox::IN_MEMORY);
    let Some(output) = crate::sandbox::on_disk_of("60m", "data", &run, "true") else { return };
    let text = crate::sandbox::output_text(&output);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{text}");
    assert!(text.contains("the load is not saved: there is no room for the snapshot"), "{text}");
    let records = sandbox.records();
    assert_eq!(records.len(), 2);
    assert!(records.values().all(|run| run.end.is_complete()));
}
