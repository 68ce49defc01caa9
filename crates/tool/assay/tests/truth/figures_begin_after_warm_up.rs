//! Figures begin after the warm-up; stalls are detected and count.

use assert_cmd::assert::OutputAssertExt;
use model::time_profile::TrendClass;
use model::{IntervalRecord, Nanos, OpKind};

use crate::host::share_turn;
use crate::measured::{Run, STEP};
use crate::sandbox::{NAME, Sandbox, note};

/// A server that takes 2 ms for an operation, and twice that until it has paid 7 MiB of debt, 7 s
/// after it was opened; some 14 s later, in its steady part, it stalls.
const SERVER: &str = "\"server.work\" = \"2ms\", \"server.initial_debt\" = \"7MiB\", \
                      \"server.pays\" = \"1MiB/s\", \"server.debt_limit\" = \"1KiB\", \
                      \"server.slowdown\" = 2, \"fault\" = \"stall 3s at 5k\"";
const BENCHMARK: &str = "steps = [\"filluniquerandom\", \"readrandom\"]\nrows = \"100\"\n\
                         duration = \"24s\"\nwarmup = \"0s\"";

/// Goal: a slow start is reported as warm-up, its end is found, and figures begin there.
/// Method: one run of 24 s; the server's script defines when it is slow and when it stalls.
#[test]
fn warm_up_is_trimmed_and_a_stall_is_reported() {
    let _turn = share_turn();
    let sandbox = Sandbox::with_options(BENCHMARK, &[("server", "faulty", SERVER.to_owned())]);
    sandbox.run(&[]).assert().success();
    let run = Run::of(&sandbox, "server.c1.r1");
    let (step, diagnosis) = (run.step(), run.diagnosis());
    let time_profile = step.time_profile.as_ref().expect("24 s of operations");
    if let Some(reason) = run.disturbance().filter(|_| time_profile.class != TrendClass::WarmUp) {
        return note(&format!("skipped: {reason}"));
    }
    let from_s = time_profile.steady_from_ns.as_secs_f64();
    assert_eq!(time_profile.class, TrendClass::WarmUp, "{time_profile:?}{diagnosis}");
    assert!((5.0..=9.0).contains(&from_s), "{time_profile:?}{diagnosis}");
    // Three seconds cover at least two whole intervals, joined with parts of others.
    // An invalid second of it is left out, or divides it: one with less than half of 500 reads.
    let stalls = time_profile.stalls;
    let is_left_out = |interval: &&IntervalRecord| {
        let reads = interval.clients.get(&OpKind::Get).map_or(0, |reads| reads.counts.done);
        let is_steady = interval.start_ns >= time_profile.steady_from_ns;
        is_steady && interval.invalid.is_some() && reads < 250
    };
    let left_out = run.measured().filter(is_left_out).count() as u64;
    let longest = stalls.longest_ns.0 + Nanos::from_secs(left_out).0;
    assert!(u64::from(stalls.count.abs_diff(1)) <= left_out, "{time_profile:?}{diagnosis}");
    assert!(Nanos(longest) >= Nanos::from_secs(2), "{time_profile:?}{diagnosis}");

    let shown = |more: &[&str]| sandbox.result_of(&[&["show", NAME], more].concat());
    let message = format!("measured from {:.0} s on: warm-up before", from_s.ceil());
    assert!(shown(&[]).contains(&message), "{}", shown(&[]));
    assert!(!shown(&["--whole"]).contains("measured from"));
    let rate = |more: &[&str]| -> f64 {
        let csv = sandbox.result_of(&[&["compare", NAME, "--format", "csv"], more].concat());
        let line =
            csv.lines().find(|line| line.contains(STEP) && line.contains("throughput_ops_per_s"));
        let fields: Vec<&str> = line.unwrap_or_else(|| panic!("{csv}")).split(',').collect();
        let heads: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
        let at = heads.iter().position(|head| *head == "mean").expect("a mean");
        fields[at].parse().expect("a number")
    };
    // 250/s for 7 s, then 14 s of 500/s and the stall: 8 % more without the first 5 s, 13 % without
    // 7 s. Half of the 8 % is left to the host.
    assert!(rate(&[]) > 1.04 * rate(&["--whole"]), "{} {}", rate(&[]), rate(&["--whole"]));
}
