//! With many more clients than CPUs, each second holds what was done in it.

use model::record::total_counts;
use model::{IntervalRecord, Nanos, float, metric};

use crate::disturbance::on_quiet_host;
use crate::host::take_turn;
use crate::measured::{Run, STEP, measure};
use crate::sandbox::Sandbox;

/// A hundred for each CPU of a small machine.
const CLIENTS: u32 = 256;
const CELL: &str = "memory.c256.r1";
/// Most operations of a second, as a multiple of the median one: seconds of a crowd vary, and a
/// second that has the operations of another holds twice as many.
const MOST: f64 = 1.8;

/// Goal: clients that wait for a CPU move no operation to another second, are no paused worker, and
/// take little memory; seconds are in the histogram logs without a gap.
/// Method: the in-memory engine keeps every client busy, so that the harness rarely gets a CPU.
#[test]
fn seconds_of_a_crowd_hold_what_was_done_in_them() {
    let _turn = take_turn();
    on_quiet_host(|host| {
        let sandbox = Sandbox::reading("8s", &[("memory", "memory", "")]);
        measure(&mut sandbox.run(&["--clients", "256", "--warmup", "0s"]));
        let run = Run::on(host, &sandbox, CELL);
        let is_whole = |interval: &&IntervalRecord| interval.length_ns == Nanos::SECOND;
        let seconds = run.measured().filter(is_whole);
        let done: Vec<u64> = seconds.map(|one| total_counts(&one.clients).done).collect();
        let mut sorted = done.clone();
        sorted.sort_unstable();
        let (least, median) = (sorted[0], sorted[sorted.len() / 2]);
        let most = float(*sorted.last().expect("eight seconds"));
        assert!(done.len() >= 7 && least > 0 && most <= MOST * float(median), "{done:?}");
        let findings = &run.step().findings;
        assert!(findings.iter().all(|finding| finding.code != "A059"), "{findings:?}");
        let memory = run.step().gauges_max.value(metric::CLIENT_MEMORY_BYTES);
        let memory = memory.expect("it is recorded");
        assert!(memory > 0.0 && memory <= f64::from(CLIENTS) * 100e3, "{memory}");

        let dir = sandbox.experiment().expect("it was run").run_dir(CELL);
        let log = std::fs::read_to_string(dir.join("response.hlog")).expect("a log");
        let tag = format!("Tag=1.{STEP}.get,");
        let lengths = log.lines().filter_map(|line| line.strip_prefix(&tag)?.split(',').nth(1));
        let logged: f64 = lengths.map(|length| length.parse::<f64>().expect("seconds")).sum();
        let duration = run.step().duration_ns.as_secs_f64();
        assert!((logged - duration).abs() < 0.01, "{logged} of {duration} s");
    });
}
