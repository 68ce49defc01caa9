//! Power cuts of Assay itself: the archive loses no run that Assay has reported as complete.
//!
//! The archive is on a simulated disk, in namespaces that leave no mount after a kill.
//! `ASSAY_SEED` sets the moments.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crashfs::{Disk, Mounted, Names, Survival};
use rustix::process::Signal;

use crate::attempts::AttemptHistory;
use crate::moments::Moments;
use crate::sandbox::{Sandbox, note, send, wait_until};
use crate::scale::{cases, variable};

/// Power cuts, every other one with a subset of the unsynced changes.
const CUTS: (u64, u64) = (5, 1_000);
/// Cuts per experiment, which is then completed.
const CUTS_PER_ROUND: u64 = 5;
/// Longest time from the start of `assay run`, or of a run, to the cut.
const CUT_WITHIN: Duration = Duration::from_secs(3);
/// Runs of the experiment.
const RUNS: usize = 6;
/// Bytes of memory of the disk.
const LIMIT_BYTES: u64 = 256 << 20;
/// Longest time for anything here.
const LONG: Duration = Duration::from_secs(300);
/// Variable that is set in the namespaces.
const INSIDE: &str = "ASSAY_TEST_POWER_CUTS";
/// Path of the test that runs there.
const TEST: &str = "power_cuts::a_power_cut_of_assay_loses_no_acknowledged_run";

/// A sandbox whose archive is on a simulated disk.
struct Machine {
    sandbox: Sandbox,
    disk: Disk,
    mounted: Option<Mounted>,
}

impl Machine {
    fn new() -> Self {
        let benchmark = "steps = [\"filluniquerandom\", \"readrandom\"]\nrows = \"1k\"\n\
                         duration = \"50ms\"\n[factors]\nrepetitions = 3";
        let sandbox = Sandbox::of(benchmark, &[("memory", "memory", ""), ("null", "null", "")]);
        fs::create_dir(sandbox.path("results")).expect("the sandbox");
        let mut machine = Self { sandbox, disk: Disk::new(Names::Own, LIMIT_BYTES), mounted: None };
        machine.mount();
        machine
    }

    /// Mounts the disk again: what the kernel had cached is gone.
    fn mount(&mut self) {
        self.mounted = None;
        self.disk.thaw();
        let at = self.sandbox.path("results");
        self.mounted = Some(self.disk.mount(&at).expect("a mount"));
    }

    /// Begins or resumes the experiment, and cuts the power at a moment after so many runs have
    /// begun; returns the runs that Assay had reported as complete.
    fn cut(&mut self, begun: usize, moment: Duration, survival: Survival) -> BTreeSet<String> {
        let is_begun = self.sandbox.experiment().is_some();
        let mut run = if is_begun { self.sandbox.resume() } else { self.sandbox.run(&[]) };
        let printed = self.sandbox.path("printed");
        let output = File::create(&printed).expect("the sandbox");
        let errors = output.try_clone().expect("a descriptor");
        let mut child = run.stdout(output).stderr(errors).spawn().expect("it runs");
        let mut has_exited = || matches!(child.try_wait(), Ok(Some(_)));
        let is_due = || begun_runs(&printed).len() >= begun || has_exited();
        assert!(wait_until(LONG, is_due), "no run begins");
        let has_ended = wait_until(moment, has_exited);
        send(child.id(), Signal::STOP);
        let mut reported = begun_runs(&printed);
        if !has_ended {
            reported.pop();
        }
        drop(self.disk.cut(survival));
        send(child.id(), Signal::KILL);
        self.sandbox.workers().into_iter().for_each(|worker| send(worker, Signal::KILL));
        child.wait().expect("own child");
        assert!(wait_until(LONG, || self.sandbox.workers().is_empty()), "a worker is left");
        self.mount();
        reported.into_iter().collect()
    }
}

/// Returns the runs whose begin was printed: each but the last is complete then.
fn begun_runs(printed: &Path) -> Vec<String> {
    let text = fs::read_to_string(printed).expect("it was printed");
    text.lines().filter_map(|line| Some(line.split_once("  run ")?.0.to_owned())).collect()
}

/// Goal: a power cut at any moment loses no run that was reported as complete, and damages no
/// record.
/// Method: cut, mount the disk again, read everything, resume and cut again; finally let the
/// experiment complete.
#[test]
fn a_power_cut_of_assay_loses_no_acknowledged_run() {
    if !is_inside() {
        return;
    }
    let mut moments = Moments::new(6);
    let (mut cuts, mut reported, mut before_begin) = (0, 0, 0);
    let wanted = cases(CUTS.0, CUTS.1);
    while cuts < wanted {
        let (mut machine, mut history) = (Machine::new(), AttemptHistory::default());
        let mut complete = BTreeSet::new();
        for _ in 0..CUTS_PER_ROUND.min(wanted - cuts) {
            let subset = Survival::Subset { seed: cuts };
            let survival = if cuts % 2 == 1 { subset } else { Survival::Nothing };
            let begun = if cuts % 4 >= 2 { 2 } else { 0 };
            complete.append(&mut machine.cut(begun, moments.within(CUT_WITHIN), survival));
            cuts += 1;
            before_begin += u64::from(machine.sandbox.experiment().is_none());
            history.check(&machine.sandbox);
            let records = machine.sandbox.records();
            for run in &complete {
                let is_there = records.get(run).is_some_and(|record| record.end.is_complete());
                assert!(is_there, "cut {cuts} lost {run}: {:?}", records.keys());
            }
        }
        reported += complete.len();
        machine.cut(0, LONG, Survival::Nothing);
        history.check_complete(&machine.sandbox, RUNS);
    }
    note(&format!(
        "{cuts} power cuts, {before_begin} before the first run; {reported} runs were reported"
    ));
    assert!(reported > 0, "no cut followed a complete run");
}

/// Returns whether this process is in namespaces of its own; else runs the test there.
fn is_inside() -> bool {
    if variable(INSIDE).is_some() {
        let checked = Disk::check();
        checked.as_ref().err().into_iter().for_each(|error| note(&format!("skipped: {error}")));
        return checked.is_ok();
    }
    // A kill of this process ends the namespaces, too.
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "unshare"]);
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command.arg(std::env::current_exe().expect("a program"));
    let output = command.args(["--exact", TEST, "--nocapture"]).env(INSIDE, "1").output();
    let Ok(output) = output else {
        note("skipped: util-linux is not installed");
        return false;
    };
    let text = crate::sandbox::output_text(&output);
    if text.contains("unshare: ") {
        note(&format!("skipped: this account may not make namespaces: {text}"));
        return false;
    }
    note(&text);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}
