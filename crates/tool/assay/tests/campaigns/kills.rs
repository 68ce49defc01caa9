//! `kill -9` at random moments leaves readable, resumable results.
//!
//! No worker survives, and `--resume` completes the experiment without repeating complete runs.
//! `ASSAY_SEED` sets the moments.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::attempts::AttemptHistory;
use crate::moments::Moments;
use crate::sandbox::{Sandbox, note, ran, send, wait_until};
use crate::scale::cases;

/// Kills of Assay, every other one together with its worker.
const KILLS: (u64, u64) = (4, 500);
/// Kills of workers.
const WORKER_KILLS: (u64, u64) = (4, 440);
/// Kills per experiment, which is then completed.
const KILLS_PER_ROUND: u64 = 6;
/// Longest time from the start of `assay run` to its kill, enough for some of its runs.
const KILL_WITHIN: Duration = Duration::from_millis(1_200);
/// Longest time from a run's first record to a kill in it.
const KILL_RUN_WITHIN: Duration = Duration::from_millis(400);
/// Longest time from the start of a worker to its kill.
const KILL_WORKER_WITHIN: Duration = Duration::from_millis(350);
/// Runs of the experiment.
const RUNS: usize = 4;
/// Longest time for anything here, such as a worker's end after its parent's.
const LONG: Duration = Duration::from_secs(300);

const VARIANTS: &[(&str, &str, &str)] = &[("memory", "memory", ""), ("lmdb", "lmdb", "")];

fn sandbox() -> Sandbox {
    let benchmark = "steps = [\"filluniquerandom\", \"readrandom\"]\nrows = \"5k\"\n\
                     duration = \"150ms\"\n[factors]\nrepetitions = 2";
    Sandbox::of(benchmark, VARIANTS)
}

/// Starts the experiment, or resumes it when it was begun.
fn start(sandbox: &Sandbox) -> Child {
    let is_begun = sandbox.experiment().is_some();
    let mut command = if is_begun { sandbox.resume() } else { sandbox.run(&[]) };
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs")
}

/// When and what is killed.
#[derive(Clone, Copy)]
struct Kill {
    /// The moment counts from a new record, and not from the start of Assay.
    is_in_run: bool,
    is_with_worker: bool,
}

/// Returns when the runs that have records were started.
fn started(sandbox: &Sandbox) -> BTreeSet<String> {
    sandbox.records().into_values().map(|record| record.started_at).collect()
}

/// Kills Assay at a random moment; returns `false` when it ended before.
fn kill_parent(sandbox: &Sandbox, moments: &mut Moments, kill: Kill) -> bool {
    let before = started(sandbox);
    let mut parent = start(sandbox);
    let mut has_exited = || matches!(parent.try_wait(), Ok(Some(_)));
    let mut limit = KILL_WITHIN;
    if kill.is_in_run {
        limit = KILL_RUN_WITHIN;
        let has_begun = || has_exited() || !started(sandbox).is_subset(&before);
        assert!(wait_until(LONG, has_begun), "no run begins");
    }
    let has_ended = wait_until(moments.within(limit), has_exited);
    let workers = if kill.is_with_worker { sandbox.workers() } else { Vec::new() };
    send(parent.id(), Signal::KILL);
    workers.into_iter().for_each(|worker| send(worker, Signal::KILL));
    parent.wait().expect("own child");
    let orphans = || sandbox.workers();
    assert!(wait_until(LONG, || orphans().is_empty()), "workers outlive Assay: {:?}", orphans());
    !has_ended
}

/// Goal: whenever Assay is killed, no measurement is lost and no worker survives.
/// Method: kill, read everything, resume and kill again; finally let it complete.
#[test]
fn killing_assay_at_any_moment_loses_no_record() {
    let mut moments = Moments::new(1);
    let (mut kills, mut before_begin, mut stored) = (0, 0, 0);
    let wanted = cases(KILLS.0, KILLS.1);
    while kills < wanted {
        let (sandbox, mut history) = (sandbox(), AttemptHistory::default());
        for _ in 0..KILLS_PER_ROUND.min(wanted - kills) {
            let kill = Kill { is_in_run: kills % 4 >= 2, is_with_worker: kills % 2 == 1 };
            if !kill_parent(&sandbox, &mut moments, kill) {
                break;
            }
            kills += 1;
            before_begin += u64::from(sandbox.experiment().is_none());
            history.check(&sandbox);
        }
        let code = start(&sandbox).wait().expect("own child").code();
        assert!(matches!(code, Some(0 | 3)), "{code:?}");
        history.check_complete(&sandbox, RUNS);
        assert_eq!(sandbox.data_left(), Vec::<String>::new());
        stored += history.incomplete();
    }
    note(&format!(
        "{kills} kills of assay, {before_begin} before its first run; {stored} attempts stored"
    ));
    assert!(stored > 0, "no kill was in a run");
}

/// Kills a process; returns `false` when it had ended before.
///
/// It is stopped first: a kill may come after the last instruction.
fn kill_running(pid: u32) -> bool {
    send(pid, Signal::STOP);
    let mut last = None;
    assert!(wait_until(LONG, || {
        last = state(pid);
        !matches!(last, Some('R' | 'S' | 'D'))
    }));
    send(pid, Signal::KILL);
    last == Some('T')
}

/// Returns the state of a process, as in `/proc/<pid>/stat`; `None` without such a process.
fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Goal: whenever a worker is killed, that run is recorded as crashed and the plan continues.
/// Method: kill each worker of an experiment at a random moment, then resume. Workers that check
/// the engines before the first run are spared in every other experiment.
#[test]
fn killed_worker_is_a_recorded_crash() {
    let mut moments = Moments::new(2);
    let (mut kills, mut in_check, mut crashed) = (0, 0, 0);
    let wanted = cases(WORKER_KILLS.0, WORKER_KILLS.1);
    for round in 0.. {
        if kills >= wanted {
            break;
        }
        let (sandbox, mut history) = (sandbox(), AttemptHistory::default());
        let mut parent = start(&sandbox);
        let mut last = None;
        let mut has_ended = || matches!(parent.try_wait(), Ok(Some(_)));
        assert!(wait_until(LONG, || {
            let worker = sandbox.workers().first().copied().filter(|pid| Some(*pid) != last);
            let is_target = kills < wanted && (round % 2 == 0 || sandbox.experiment().is_some());
            if let Some(worker) = worker.filter(|_| is_target) {
                last = Some(worker);
                let moment = moments.within(KILL_WORKER_WITHIN);
                if !wait_until(moment, || !sandbox.workers().contains(&worker)) {
                    kills += u64::from(kill_running(worker));
                }
            }
            has_ended()
        }));
        history.check(&sandbox);
        if sandbox.experiment().is_none() {
            // Killed during the check before the run: rejected, and nothing was begun.
            in_check += 1;
            ran(&mut sandbox.run(&[]));
        }
        for record in sandbox.records().values().filter(|record| !record.end.is_complete()) {
            let phrase = record.end.phrase();
            assert!(phrase.starts_with("crashed in "), "{phrase}");
            assert!(phrase.ends_with("signal 9 (KILL)"), "{phrase}");
            crashed += 1;
        }
        ran(&mut sandbox.resume());
        history.check_complete(&sandbox, RUNS);
        assert_eq!(sandbox.data_left(), Vec::<String>::new());
    }
    note(&format!("{kills} kills of workers, {in_check} during checks; {crashed} crashes stored"));
    assert_eq!(kills, in_check + crashed);
    assert!(crashed > 0, "no kill was in a run");
}
