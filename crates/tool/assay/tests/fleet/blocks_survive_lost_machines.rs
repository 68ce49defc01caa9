//! Lost, frozen and failing machines: one complete record per cell remains.

use crate::cluster::Cluster;
use crate::fixture::{Fixture, MOVE_MAX, SOON, ended, number};
use crate::programs::wait_for;

/// Length of a reading step in which a machine is lost.
const LONG: &str = "2s";

/// Goal: of six blocks on three machines, the block of a machine that is lost in its middle is run
/// again elsewhere, and what it had measured is in `attempts/`.
#[test]
fn block_of_a_lost_machine_is_run_again_elsewhere() {
    let Some(mut cluster) = Cluster::start(&["", "", ""]) else { return };
    let fixture = Fixture::new(6, LONG);
    let run = fixture.run(Some(&cluster), &["--on", "slurm"]).spawn().unwrap();
    // Its first run has ended, and its second one runs.
    let block = wait_for("a block with one run", SOON, || {
        (1..=3).find(|block| fixture.runs_of(*block) == 1)
    });
    let machine = fixture.machine_of(block).expect("it runs");
    cluster.node(number(&machine)).kill();
    let output = ended(run, MOVE_MAX);
    fixture.assert_whole();
    let (_, records) = fixture.records();
    let again = records.iter().find(|record| record.cell.repetition == block).unwrap();
    assert_ne!(again.machine.as_ref().unwrap().name, machine, "{}", output.err);
    assert_eq!(fixture.attempts().len(), 1, "{}", output.err);
    let note = format!("block {block}: a later attempt replaces the attempt of {machine}");
    assert!(output.err.contains(&note), "{}", output.err);
}

/// Goal: a process that lives on when its machine counts as lost adds nothing, and stops.
#[test]
fn frozen_daemon_leaves_one_complete_record_per_cell() {
    let Some(mut cluster) = Cluster::start(&["", ""]) else { return };
    // Longer than the time until the machine counts as lost.
    let fixture = Fixture::new(1, "25s");
    let run = fixture.run(Some(&cluster), &["--on", "slurm"]).spawn().unwrap();
    let machine =
        wait_for("the first block runs", SOON, || fixture.machine_of(1).map(|it| number(&it)));
    cluster.node(machine).stop_daemon();
    let other = wait_for("the block runs elsewhere", MOVE_MAX, || {
        fixture.machine_of(1).map(|it| number(&it)).filter(|other| *other != machine)
    });
    assert_ne!(other, machine);
    cluster.node(machine).continue_daemon();
    let output = ended(run, MOVE_MAX);
    fixture.assert_whole();
    let note = format!("block 1: a later attempt replaces the attempt of n{machine}");
    assert!(output.err.contains(&note), "{}", output.err);
    assert!(fixture.attempts().len() <= 1, "{}", output.err);
}

/// Goal: a machine on which every block fails is named, and gets no third block.
#[test]
fn machine_that_fails_every_block_is_excluded() {
    let Some(cluster) = Cluster::start(&["", ""]) else { return };
    let fixture = Fixture::new(4, "100ms");
    // The data directory of one machine is a file.
    std::fs::create_dir(fixture.path("data")).unwrap();
    std::fs::write(fixture.path("data/.assay-data"), "Made by assay; runs put their data here.\n")
        .unwrap();
    std::fs::write(fixture.path("data/n1"), "").unwrap();
    let run = fixture.run(Some(&cluster), &["--on", "slurm"]).spawn().unwrap();
    let output = ended(run, MOVE_MAX);
    fixture.assert_whole();
    let (_, records) = fixture.records();
    assert!(records.iter().all(|record| record.machine.as_ref().unwrap().name == "n2"));
    assert!(output.err.contains("n1: failed: "), "{}", output.err);
}

/// Goal: a block that a machine could not launch, which Slurm then holds, runs on another one.
#[test]
fn block_that_cannot_be_launched_runs_elsewhere() {
    let flag = tempfile::tempdir().unwrap();
    let path = flag.path().join("failed");
    // One machine makes the directory.
    let prolog = format!("! mkdir {}", path.display());
    let Some(cluster) = Cluster::with_prolog(&["", ""], &prolog) else { return };
    let fixture = Fixture::new(2, "100ms");
    let run = fixture.run(Some(&cluster), &["--on", "slurm"]).spawn().unwrap();
    let output = ended(run, MOVE_MAX);
    fixture.assert_whole();
    assert!(path.exists(), "{}", output.err);
    assert!(output.err.contains("Slurm could not launch its job"), "{}", output.err);
}

/// Goal: an engine that crashes is a record of its cell, not a reason to repeat the block.
#[test]
fn crash_of_a_worker_is_a_record() {
    let Some(cluster) = Cluster::start(&[""]) else { return };
    let fixture = Fixture::with_second(
        1,
        "100ms",
        "engine = \"faulty\"\noptions = { fault = \"die abort at 600\" }\n",
    );
    let run = fixture.run(Some(&cluster), &["--on", "slurm"]).spawn().unwrap();
    let output = ended(run, SOON);
    let (manifest, records) = fixture.records();
    assert_eq!(records.len(), manifest.plan.cells.len(), "{}", output.err);
    let crashed = records.iter().find(|record| record.variant.name == "two").unwrap();
    assert!(!crashed.end.is_complete(), "{:?}", crashed.end);
    assert_eq!(fixture.attempts(), Vec::<String>::new());
    assert_ne!(output.code, Some(0));
}

/// Goal: neither a killed submitter nor a killed controller loses a block or repeats one.
#[test]
fn submitter_and_controller_may_be_killed() {
    let Some(mut cluster) = Cluster::start(&[""]) else { return };
    // The first block is longer than the wait below: a start that is not saved is forgotten.
    let fixture = Fixture::new(2, "5s");
    let mut run = fixture.run(Some(&cluster), &["--on", "slurm"]).spawn().unwrap();
    wait_for("the first block runs", SOON, || fixture.machine_of(1));
    run.kill().unwrap();
    run.wait().unwrap();
    Cluster::wait_until_saved();
    cluster.kill_controller();
    wait_for("a block that ends without a controller", SOON, || {
        fixture.experiment()?.run("one.c1.r1").ok().flatten()
    });
    cluster.start_controller();
    let output = ended(fixture.resume(Some(&cluster)).spawn().unwrap(), MOVE_MAX);
    assert_ne!(output.code, Some(1), "{}", output.err);
    fixture.assert_whole();
    assert_eq!(fixture.attempts(), Vec::<String>::new(), "{}", output.err);
}

/// Goal: Ctrl-C leaves the blocks running, and a second command attaches to them.
#[test]
fn ctrl_c_detaches() {
    let Some(cluster) = Cluster::start(&[""]) else { return };
    let fixture = Fixture::new(2, "3s");
    let run = fixture.run(Some(&cluster), &["--on", "slurm"]).spawn().unwrap();
    wait_for("the first block runs", SOON, || fixture.machine_of(1));
    let pid = rustix::process::Pid::from_child(&run);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let detached = ended(run, SOON);
    assert!(detached.err.contains("detached  the blocks go on"), "{}", detached.err);
    assert!(detached.out.contains("assay run --resume"), "{}", detached.out);
    let output = ended(fixture.resume(Some(&cluster)).spawn().unwrap(), SOON);
    assert_ne!(output.code, Some(1), "{}", output.err);
    fixture.assert_whole();
    assert!(!output.err.contains("submitted"), "nothing twice: {}", output.err);
}

/// Goal: a cancelled block stays open and is named; `--resume` runs it.
#[test]
fn cancelled_block_is_named_and_can_be_resumed() {
    let Some(cluster) = Cluster::start(&[""]) else { return };
    let fixture = Fixture::new(2, "3s");
    let run = fixture.run(Some(&cluster), &["--on", "slurm"]).spawn().unwrap();
    wait_for("the first block runs", SOON, || fixture.machine_of(1));
    cluster.output("scancel", &["1_2"]);
    let output = ended(run, SOON);
    assert!(output.err.contains("block 2  was cancelled"), "{}", output.err);
    assert_eq!(output.code, Some(1), "{}", output.err);
    let resumed = ended(fixture.resume(Some(&cluster)).spawn().unwrap(), SOON);
    assert_ne!(resumed.code, Some(1), "{}", resumed.err);
    fixture.assert_whole();
}

/// Goal: a requeued block begins anew, and its first attempt is set aside.
#[test]
fn requeued_block_begins_anew() {
    let Some(cluster) = Cluster::start(&[""]) else { return };
    // The second run is longer than a busy host takes to notice the first, and to requeue.
    let fixture = Fixture::new(1, "6s");
    let run = fixture.run(Some(&cluster), &["--on", "slurm"]).spawn().unwrap();
    wait_for("the first run has ended", SOON, || (fixture.runs_of(1) == 1).then_some(()));
    cluster.output("scontrol", &["requeue", "1_1"]);
    let output = ended(run, MOVE_MAX);
    fixture.assert_whole();
    assert!(!fixture.attempts().is_empty(), "{}", output.err);
}
