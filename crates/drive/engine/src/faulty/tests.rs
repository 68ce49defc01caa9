//! Tests of faults; the conformance battery's tests cover wrong answers.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use model::{DataShape, Op, Options, Outcome, Settings, metric};

use super::FaultyDriver;
use super::engine::OPERATIONS;
use crate::conformance::wait_until;
use crate::error::{EngineError, Result};
use crate::null::NullDriver;
use crate::rows::Rows;
use crate::traits::{Driver, Engine, OpenSpec};

/// An operation that has not ended after this long is blocked.
const BLOCKED_AFTER: Duration = Duration::from_secs(1);
/// An operation that is not blocked ends within this time, on a busy machine too.
const ENDS_WITHIN: Duration = Duration::from_secs(60);

/// Options by name.
type Script<'a> = &'a [(&'a str, &'a str)];

fn open(faults: Script<'_>) -> Result<Box<dyn Engine>> {
    let dir = tempfile::tempdir().unwrap();
    FaultyDriver::around(Box::new(NullDriver)).open(&OpenSpec {
        options: faults.iter().copied().collect(),
        ..OpenSpec::embedded(
            dir.path().to_owned(),
            Settings::default(),
            DataShape { rows: 1, key_bytes: 8, value_bytes: 8, compressible_to: 1.0 },
        )
    })
}

/// Executes `count` operations of one client; returns the numbers of those that failed.
fn failed(engine: &dyn Engine, count: usize) -> Vec<usize> {
    let mut session = engine.session().unwrap();
    let mut execute = |_number: &usize| {
        session.execute(&Op::Get { key: b"k" }, &mut Rows::new()) != Ok(Outcome::Done)
    };
    (1..=count).filter(&mut execute).collect()
}

#[test]
fn failures_come_at_the_operations_of_the_script() {
    let cases: [(Script<'_>, &[usize]); 4] = [
        (&[("fault", "fail at 3")], &[3]),
        (&[("fault", "fail every 4")], &[4, 8]),
        (&[("fault.a", "fail fatal from 9"), ("fault.b", "fail conflict at 2")], &[2, 9, 10]),
        (&[("fault", "eat 3MiB at 2")], &[]),
    ];
    for (faults, expected) in cases {
        let engine = open(faults).unwrap();
        assert_eq!(failed(&*engine, 10), expected, "{faults:?}");
        engine.close().unwrap();
    }
}

#[test]
fn operations_are_counted_over_all_clients() {
    let engine = open(&[("fault", "fail at 150")]).unwrap();
    let failures: usize = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..2).map(|_| scope.spawn(|| failed(&*engine, 100).len())).collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    assert_eq!(failures, 1);
}

#[test]
fn refused_open_and_refused_option_give_the_reason() {
    let error = open(&[("fault", "refuse open")]).err().unwrap();
    assert_eq!(error, EngineError::Fatal("faulty: fault `refuse open`".to_owned()));
    let error = open(&[("fault.1", "slow 5us"), ("page_size", "4096")]).err().unwrap();
    assert_eq!(error.refused_option(), Some("page_size"));
    assert!(error.to_string().contains("null has no options"), "{error}");
}

#[test]
fn the_script_is_read_back_as_options() {
    let faults = [("fault.b", "fail at 30"), ("fault.a", "slow 5us")];
    let engine = open(&faults).unwrap();
    assert_eq!(engine.effective_options().unwrap(), Options::from_iter(faults));
    assert_eq!(engine.identity().facts["around"], "null");
}

/// Goal: a stall blocks every client, a slow operation only its own.
/// Method: one client meets the fault; another one continues and reports each operation.
#[test]
fn stall_blocks_every_client_and_slow_operation_only_its_own() {
    for (fault, is_every_client_blocked) in [("stall 1h at 1", true), ("slow 1h at 1", false)] {
        let engine: &'static dyn Engine = Box::leak(open(&[("fault", fault)]).unwrap());
        std::thread::spawn(move || failed(engine, 1));
        assert!(wait_until(|| engine.state().unwrap().own_counters[OPERATIONS] >= 1.0));
        let (ended, has_ended) = sync_channel(0);
        std::thread::spawn(move || while ended.send(failed(engine, 1)).is_ok() {});
        if is_every_client_blocked {
            // The first few may still pass before the stalling client takes the lock.
            let is_blocked = wait_until(|| has_ended.recv_timeout(BLOCKED_AFTER).is_err());
            assert!(is_blocked, "{fault}");
        } else {
            let pass = |_| has_ended.recv_timeout(ENDS_WITHIN).is_ok();
            assert!((0..1_000).all(pass), "{fault}");
        }
    }
}

#[test]
fn a_hang_never_ends() {
    let engine = open(&[("fault", "hang at 2")]).unwrap();
    let (ended, has_ended) = sync_channel(1);
    std::thread::spawn(move || ended.send(failed(&*engine, 2)).unwrap());
    assert_eq!(has_ended.recv_timeout(BLOCKED_AFTER), Err(RecvTimeoutError::Timeout));
}

#[test]
fn slow_takes_its_time() {
    let engine = open(&[("fault", "slow 2ms")]).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the test measures the fault's lower bound")]
    let started = std::time::Instant::now();
    assert_eq!(failed(&*engine, 10), []);
    assert!(started.elapsed() >= Duration::from_millis(20));
}

#[test]
fn server_takes_its_service_time_and_reports_its_debt() {
    let work = [("server.work", "3ms"), ("server.debt_per_op", "1GiB")];
    let engine = open(&work).unwrap();
    assert_eq!(engine.state().unwrap().is_idle, Some(true));
    #[expect(clippy::disallowed_methods, reason = "the test measures the server's lower bound")]
    let started = std::time::Instant::now();
    assert_eq!(failed(&*engine, 10), []);
    assert!(started.elapsed() >= Duration::from_millis(30));
    let state = engine.state().unwrap();
    let readings =
        [metric::ENGINE_DEBT_BYTES, metric::ENGINE_BACKGROUND_JOBS].map(|of| state.readings[of]);
    assert_eq!((readings, state.is_idle), ([10.0 * (1u64 << 30) as f64, 1.0], Some(false)));
    assert_eq!(engine.effective_options().unwrap(), Options::from_iter(work));
    let error = open(&[("server.parallel", "2")]).err().unwrap().to_string();
    assert!(error.starts_with("option `server.work` refused: is missing"), "{error}");
}

/// Runs one of this binary's ignored tests in a process of its own.
fn run_alone(test: &str) -> Output {
    let this = std::env::current_exe().unwrap();
    let name = format!("faulty::tests::{test}");
    Command::new(this).args(["--exact", &name, "--ignored"]).output().unwrap()
}

/// Goal: each `die` ends the process by its signal.
/// Method: this test binary runs itself with the ignored test that dies.
#[test]
fn die_ends_the_process_by_the_named_signal() {
    for (crash, signal) in [("abort", 6), ("segv", 11), ("kill", 9)] {
        let output = run_alone(&format!("dies_by_{crash}"));
        assert_eq!(output.status.signal(), Some(signal), "{crash}: {output:?}");
    }
}

#[test]
fn allocated_memory_is_resident_and_held() {
    let output = run_alone("eats");
    assert!(output.status.success(), "{output:?}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("1 passed"), "the ignored test did not run: {stdout}");
}

#[test]
#[ignore = "measures its whole process: run by allocated_memory_is_resident_and_held"]
fn eats() {
    let engine = open(&[("fault", "eat 64MiB every 2")]).unwrap();
    assert_eq!(failed(&*engine, 5), []);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let resident_kib: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    assert!((128 << 10..192 << 10).contains(&resident_kib), "{resident_kib} KiB");
    engine.close().unwrap();
}

#[test]
#[ignore = "ends the process: run by die_ends_the_process_by_the_named_signal"]
fn dies_by_abort() {
    failed(&*open(&[("fault", "die abort at 3")]).unwrap(), 3);
}

#[test]
#[ignore = "ends the process: run by die_ends_the_process_by_the_named_signal"]
fn dies_by_segv() {
    failed(&*open(&[("fault", "die segv at 3")]).unwrap(), 3);
}

#[test]
#[ignore = "ends the process: run by die_ends_the_process_by_the_named_signal"]
fn dies_by_kill() {
    failed(&*open(&[("fault", "die kill at 3")]).unwrap(), 3);
}
