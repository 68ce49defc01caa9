//! A worker that a signal stopped reports the pause.

#![cfg(not(feature = "model-check"))]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use engine::null::NullDriver;
use engine::{Driver, OpenSpec, Rows};
use load::{Clock, Event, Faults, GroupRun, HolderRun, SteadyClock, StepRun, StopFlag, run_step};
use model::{DataShape, Load, Nanos, Op, OpKind, Options, Settings, StopRule};
use rustix::process::{Pid, Signal, kill_process};
use workload::{Generator, WrongAnswer};

/// How long the child is stopped.
const STOPPED: Nanos = Nanos::from_millis(300);

struct Same;

impl Generator for Same {
    fn next(&mut self) -> Option<Op<'_>> {
        Some(Op::Get { key: b"key" })
    }

    fn unchecked(&self) -> u64 {
        u64::MAX
    }

    fn check(&mut self, _rows: &Rows) -> Result<u64, WrongAnswer> {
        Ok(0)
    }
}

#[test]
#[ignore = "the child of the test below"]
fn a_step_of_two_seconds() {
    let data = DataShape { rows: 0, key_bytes: 20, value_bytes: 0, compressible_to: 1.0 };
    let (settings, options) = (Settings::default(), Options::new());
    let spec = OpenSpec { options, ..OpenSpec::embedded(std::env::temp_dir(), settings, data) };
    let engine = NullDriver.open(&spec).unwrap();
    let mut step = StepRun {
        engine: &*engine,
        clients: GroupRun {
            generators: vec![Box::new(Same)],
            load: Load::Closed,
            kinds: BTreeSet::from([OpKind::Get]),
        },
        writers: GroupRun::empty(),
        holders: HolderRun::default(),
        stop: StopRule::Duration(Nanos::from_secs(2)),
        warmup: Nanos(0),
        interval: Nanos::from_millis(500),
        is_checking: false,
        arrival_seed: 1,
        share: None,
        agree_start: None,
        faults: Faults::default(),
        stop_flag: StopFlag::default(),
    };
    let totals = run_step(&SteadyClock::kernel(), &mut step, &mut |event| {
        if let Event::Interval(_) = event {
            println!("\ninterval");
        }
    });
    let readings = totals.unwrap().readings;
    println!("\npause_us {} {}", readings["pause_us"], readings["client_run_queue_us"]);
}

#[test]
fn a_stopped_process_reports_its_pause() {
    // Goal: a stop of 300 ms is measured within a tenth.
    // Method: the test above in a process of its own, stopped after its first interval. A busy
    // host adds pauses of its own, in which the client waits for a CPU.
    let clock = SteadyClock::kernel();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "a_step_of_two_seconds", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "interval"), "the child ran no step");
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::STOP).unwrap();
    // It is stopped for this long at least, however late this process is.
    let before = clock.now();
    let stopped = clock.rest_until(before.after(STOPPED)).since(before);
    kill_process(pid, Signal::CONT).unwrap();
    // It may have been stopped until now.
    let stopped_max = clock.now().since(before).as_secs_f64();
    let found = lines.find_map(|line| {
        let (reported, queued) = line.strip_prefix("pause_us ")?.split_once(' ')?;
        Some((reported.parse::<f64>().ok()? / 1e6, queued.parse::<f64>().ok()? / 1e6))
    });
    assert!(child.wait().unwrap().success());
    let (reported, queued) = found.expect("the child prints both");
    let stopped = stopped.as_secs_f64();
    let message = format!("stopped {stopped} s, reported {reported} s, {queued} s without a CPU");
    assert!(reported >= 0.9 * stopped, "{message}");
    assert!(reported <= 1.1 * stopped_max + 0.3 + queued, "{message}");
}
