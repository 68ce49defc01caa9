//! `kill -9` at any moment leaves readable, resumable results.
//!
//! No worker survives, and `--resume` completes the experiment without repeating complete runs.
//!
//! `ASSAY_KILLS` sets the number of kills, `ASSAY_SEED` their moments.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

use archive::{read_intervals, read_record};
use assert_cmd::assert::OutputAssertExt;
use model::{RunEnd, RunRecord};
use rustix::process::Signal;

use crate::sandbox::{NAME, Sandbox, note, send, wait_until};

/// Kills of each kind without `ASSAY_KILLS`.
const KILLS: u64 = 4;
/// Kills per experiment, which is then completed.
const KILLS_PER_ROUND: u64 = 6;
/// Longest time from the start of `assay run` to its kill, enough for some of its runs.
const KILL_WITHIN_MS: u64 = 1_200;
/// Longest time from the start of a worker to its kill.
const KILL_WORKER_WITHIN_MS: u64 = 350;
/// Runs of the experiment.
const RUNS: usize = 4;
/// Longest time for anything here, such as a worker's end after its parent's.
const LONG: Duration = Duration::from_secs(60);

const VARIANTS: &[(&str, &str, &str)] = &[("memory", "memory", ""), ("lmdb", "lmdb", "")];

fn sandbox() -> Sandbox {
    let benchmark = "steps = [\"filluniquerandom\", \"readrandom\"]\nrows = \"5k\"\n\
                     duration = \"150ms\"\n[factors]\nrepetitions = 2";
    Sandbox::of(benchmark, VARIANTS)
}

/// Moments from a seed (a linear congruential generator; its high bits are good enough here).
struct Moments(u64);

impl Moments {
    fn new(salt: u64) -> Self {
        let seed = number("ASSAY_SEED").unwrap_or(1);
        note(&format!("ASSAY_SEED={seed}"));
        Self(seed.wrapping_add(salt << 32))
    }

    fn within(&mut self, limit_ms: u64) -> Duration {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        Duration::from_micros((self.0 >> 33) % (limit_ms * 1_000))
    }
}

#[expect(clippy::disallowed_methods, reason = "the length of this test is configurable")]
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Stored attempts of an experiment, which must not be lost.
#[derive(Default)]
struct AttemptHistory {
    /// Every attempt's newest record, by cell and start.
    attempts: BTreeMap<(String, String), RunRecord>,
}

impl AttemptHistory {
    /// Reads every record, directly and through the program, and compares with the last check.
    fn check(&mut self, sandbox: &Sandbox) {
        sandbox.result_of(&["list"]);
        let Some(dir) = sandbox.experiment() else { return };
        let manifest = dir.manifest().expect("the manifest is readable");
        assert_eq!(manifest.plan.cells.len(), RUNS);
        let mut now = BTreeMap::new();
        for place in ["runs", "attempts"] {
            for entry in fs::read_dir(dir.path().join(place)).into_iter().flatten() {
                let path = entry.expect("the directory is readable").path();
                if path.join("intervals.jsonl").exists() {
                    read_intervals(&path).expect("intervals are readable");
                }
                if path.join("record.json").exists() {
                    let record = read_record(&path).expect("a record is readable");
                    now.insert((record.cell.id.clone(), record.started_at.clone()), record);
                }
            }
        }
        for (attempt, before) in &self.attempts {
            let record = now.get(attempt).unwrap_or_else(|| panic!("{attempt:?} is lost"));
            assert!(record.steps.starts_with(&before.steps), "{attempt:?} lost a step");
            assert!(before.end == RunEnd::Running || record == before, "{attempt:?} was changed");
        }
        sandbox.result_of(&["list", NAME]);
        sandbox.result_of(&["show", NAME]);
        if sandbox.records().values().any(|record| !record.steps.is_empty()) {
            let compared = sandbox.assay(&["compare", NAME]).assert();
            // 3: nothing that the experiment is about was measured yet.
            assert!([Some(0), Some(3)].contains(&compared.get_output().status.code()));
        }
        self.attempts = now;
    }

    /// Checks that the experiment is complete, each cell by exactly one complete attempt.
    fn check_complete(&mut self, sandbox: &Sandbox) {
        self.check(sandbox);
        let records = sandbox.records();
        assert_eq!(records.len(), RUNS);
        for cell in records.keys() {
            let attempts = self.attempts.iter().filter(|((of, _), _)| of == cell);
            let complete = attempts.filter(|(_, record)| record.end.is_complete()).count();
            assert_eq!(complete, 1, "{cell}");
        }
        assert_eq!(sandbox.data_left(), Vec::<String>::new());
    }
}

/// Starts or resumes the experiment, and kills Assay at a random moment.
///
/// Returns `false` when it ended before.
fn kill_parent(sandbox: &Sandbox, moments: &mut Moments) -> bool {
    let is_begun = sandbox.experiment().is_some();
    let mut command = if is_begun { sandbox.resume() } else { sandbox.run(&[]) };
    let mut parent = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    let moment = moments.within(KILL_WITHIN_MS);
    let has_ended = wait_until(moment, || matches!(parent.try_wait(), Ok(Some(_))));
    send(parent.id(), Signal::KILL);
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
    let wanted = number("ASSAY_KILLS").unwrap_or(KILLS);
    while kills < wanted {
        let (sandbox, mut history) = (sandbox(), AttemptHistory::default());
        for _ in 0..KILLS_PER_ROUND.min(wanted - kills) {
            if !kill_parent(&sandbox, &mut moments) {
                break;
            }
            kills += 1;
            before_begin += u64::from(sandbox.experiment().is_none());
            history.check(&sandbox);
        }
        let is_begun = sandbox.experiment().is_some();
        let mut command = if is_begun { sandbox.resume() } else { sandbox.run(&[]) };
        command.assert().success();
        history.check_complete(&sandbox);
        stored += history.attempts.values().filter(|record| !record.end.is_complete()).count();
    }
    note(&format!(
        "{kills} kills of assay, {before_begin} before its first run; {stored} attempts stored"
    ));
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
/// Method: kill each worker of an experiment at a random moment, then resume.
#[test]
fn killed_worker_is_a_recorded_crash() {
    let mut moments = Moments::new(2);
    let (mut kills, mut in_check, mut crashed) = (0, 0, 0);
    let wanted = number("ASSAY_KILLS").unwrap_or(KILLS);
    while kills < wanted {
        let (sandbox, mut history) = (sandbox(), AttemptHistory::default());
        let mut command = sandbox.run(&[]);
        let mut parent = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("runs");
        let mut last = None;
        let mut has_ended = || matches!(parent.try_wait(), Ok(Some(_)));
        assert!(wait_until(LONG, || {
            let worker = sandbox.workers().first().copied().filter(|pid| Some(*pid) != last);
            if let Some(worker) = worker.filter(|_| kills < wanted) {
                last = Some(worker);
                let moment = moments.within(KILL_WORKER_WITHIN_MS);
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
            sandbox.run(&[]).assert().success();
        }
        for record in sandbox.records().values().filter(|record| !record.end.is_complete()) {
            let phrase = record.end.phrase();
            assert!(phrase.starts_with("crashed in "), "{phrase}");
            assert!(phrase.ends_with("signal 9 (KILL)"), "{phrase}");
            crashed += 1;
        }
        sandbox.resume().assert().success();
        history.check_complete(&sandbox);
    }
    note(&format!("{kills} kills of workers, {in_check} during checks; {crashed} crashes stored"));
    assert_eq!(kills, in_check + crashed);
}
