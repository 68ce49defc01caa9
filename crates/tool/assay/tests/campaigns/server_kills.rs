//! `kill -9` of a server, of Assay, or of all processes at once leaves nothing behind.
//!
//! Moments are spread over the check before the run, set-up, load and reads. `ASSAY_SEED` sets
//! them.

use std::process::{Child, Stdio};
use std::time::Duration;

use assert_cmd::assert::OutputAssertExt;
use rustix::process::Signal;

use crate::accounts::Accounts;
use crate::attempts::AttemptHistory;
use crate::moments::Moments;
use crate::sandbox::{Sandbox, note, now, output_text, send, wait_until};
use crate::scale::{cases, is_long};
use crate::server_traces::{assert_clean, sandbox_of};

/// Kills with Postgres, which is set up for each run.
const POSTGRES: (&str, u64, u64) = ("postgres@15.10", 2, 42);
/// Kills with MySQL, whose set-up is stored and copied.
const MYSQL: (&str, u64, u64) = ("mysql@8.0.31", 0, 18);
/// Time in which a sample kills: about that of a run on a quiet machine.
const SAMPLE_WITHIN: Duration = Duration::from_secs(4);
/// Longest time for anything here.
const LONG: Duration = Duration::from_secs(300);

/// What is killed.
#[derive(Debug, Clone, Copy)]
enum Target {
    Assay,
    /// Any process of the server or of its set-up.
    Server,
    /// Assay, its worker and the server's processes.
    All,
}

#[test]
fn killing_a_postgres_run_at_any_moment_leaves_nothing() {
    kill_runs(POSTGRES, 3);
}

#[test]
fn killing_a_mysql_run_at_any_moment_leaves_nothing() {
    kill_runs(MYSQL, 4);
}

/// Goal: whatever is killed, results are readable and nothing of the server is left.
/// Method: kill at a moment of a run, then let the experiment complete.
fn kill_runs((build, sample, long): (&str, u64, u64), salt: u64) {
    let wanted = cases(sample, long);
    if wanted == 0 {
        return note(&format!("skipped: a sample has no kill with {build}; `make campaign` has"));
    }
    // Only accounts of their own show which processes are a server's.
    if !server::testing::maps_every_id() {
        return;
    }
    let Some(length) = length_of_run(build) else { return };
    let mut moments = Moments::new(salt);
    let (mut kills, mut servers, mut before_begin) = (0, 0, 0);
    let targets = [Target::Server, Target::All, Target::Assay];
    for target in targets.into_iter().cycle().take(usize::try_from(wanted).expect("a few")) {
        let Some(sandbox) = sandbox_of(build, "200ms", "") else { return };
        let (mut accounts, mut history) = (Accounts::default(), AttemptHistory::default());
        let moment = moments.within(length);
        kills += u64::from(kill_run(&sandbox, target, moment, &mut accounts));
        servers += u64::from(!accounts.is_empty());
        before_begin += u64::from(sandbox.experiment().is_none());
        history.check(&sandbox);
        let is_begun = sandbox.experiment().is_some();
        let mut command = if is_begun { sandbox.resume() } else { sandbox.run(&[]) };
        command.assert().code(&[0, 3][..]);
        history.check_complete(&sandbox, 1);
        assert_clean(&sandbox);
        assert_eq!(accounts.left(), Vec::<String>::new(), "{target:?} after {moment:?}");
    }
    note(&format!("{kills} kills with {build}, {before_begin} before the first run"));
    assert!(kills > 0 && servers > 0, "{servers} times there was a server");
}

/// Returns the time in which to kill: that of an undisturbed run; `None` without the build.
fn length_of_run(build: &str) -> Option<Duration> {
    if !is_long() {
        return Some(SAMPLE_WITHIN);
    }
    let undisturbed = sandbox_of(build, "200ms", "")?;
    let begun = now();
    undisturbed.run(&[]).assert().code(&[0, 3][..]);
    Some(begun.elapsed())
}

/// Starts the experiment and kills at a moment; returns `false` when it ended before.
fn kill_run(sandbox: &Sandbox, target: Target, moment: Duration, accounts: &mut Accounts) -> bool {
    let mut child = sandbox.run(&[]).stdout(Stdio::null()).spawn().expect("it runs");
    let begun = now();
    let is_due = || {
        accounts.note(sandbox);
        let has_target = !matches!(target, Target::Server) || !accounts.processes().is_empty();
        has_ended(&mut child) || (begun.elapsed() >= moment && has_target)
    };
    assert!(wait_until(LONG, is_due), "it neither ends nor starts a server");
    let is_killed = !has_ended(&mut child);
    let servers = accounts.processes();
    match target {
        Target::Assay => send(child.id(), Signal::KILL),
        Target::Server => servers.first().into_iter().for_each(|pid| send(*pid, Signal::KILL)),
        Target::All => {
            let all = [vec![child.id()], sandbox.workers(), servers].concat();
            all.into_iter().for_each(|pid| send(pid, Signal::KILL));
        }
    }
    let output = child.wait_with_output().expect("own child");
    accounts.note(sandbox);
    let text = output_text(&output);
    assert!(!text.contains("panicked") && output.status.code() != Some(101), "{text}");
    let has_gone = || accounts.processes().is_empty() && sandbox.workers().is_empty();
    assert!(wait_until(LONG, has_gone), "left after {target:?}: {:?}", accounts.left());
    is_killed
}

fn has_ended(child: &mut Child) -> bool {
    matches!(child.try_wait(), Ok(Some(_)))
}
