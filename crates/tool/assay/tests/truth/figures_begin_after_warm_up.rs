//! Figures begin after the warm-up; stalls are detected and count.

use model::Nanos;
use model::time_profile::TrendClass;

use crate::disturbance::{HostWatch, on_quiet_host_once};
use crate::host::share_turn;
use crate::measured::{Run, STEP, measure};
use crate::sandbox::{NAME, Sandbox};

/// A server that takes 2 ms for an operation, and twice that until it has paid 6 MiB of debt, 6 s
/// after it was opened; some 9 s later, in its steady part, it stalls.
const SERVER: &str = "\"server.work\" = \"2ms\", \"server.initial_debt\" = \"6MiB\", \
                      \"server.pays\" = \"1MiB/s\", \"server.debt_limit\" = \"1KiB\", \
                      \"server.slowdown\" = 2, \"fault\" = \"stall 2s at 5k\"";
/// The shortest step that is classified has 20 whole seconds.
const BENCHMARK: &str = "steps = [\"filluniquerandom\", \"readrandom\"]\nrows = \"100\"\n\
                         duration = \"21s\"\nwarmup = \"0s\"";

/// Goal: a slow start is reported as warm-up, its end is found, and figures begin there.
/// Method: one run of 21 s; the server's script defines when it is slow and when it stalls. The
/// classes and the trim are tested in `stats` and `runner` on made-up seconds.
#[test]
fn warm_up_is_trimmed_and_a_stall_is_reported() {
    let _turn = share_turn();
    on_quiet_host_once(check);
}

fn check(host: &HostWatch) {
    let sandbox = Sandbox::with_options(BENCHMARK, &[("server", "faulty", SERVER.to_owned())]);
    measure(&mut sandbox.run(&[]));
    let run = Run::on(host, &sandbox, "server.c1.r1");
    let (step, diagnosis) = (run.step(), run.diagnosis());
    let time_profile = step.time_profile.as_ref().expect("21 s of operations");
    let from_s = time_profile.steady_from_ns.as_secs_f64();
    assert_eq!(time_profile.class, TrendClass::WarmUp, "{time_profile:?}{diagnosis}");
    assert!((4.0..=8.0).contains(&from_s), "{time_profile:?}{diagnosis}");
    // Two seconds cover at least one whole interval, joined with parts of others.
    let stalls = time_profile.stalls;
    assert_eq!(stalls.count, 1, "{time_profile:?}{diagnosis}");
    assert!(stalls.longest_ns >= Nanos::SECOND, "{time_profile:?}{diagnosis}");

    let shown = |more: &[&str]| sandbox.result_of(&[&["show", NAME], more].concat());
    let message = format!("measured after {:.0} s: warm-up before", from_s.ceil());
    assert!(shown(&[]).contains(&message), "{}", shown(&[]));
    assert!(!shown(&["--whole"]).contains("measured after"));
    let rate = |more: &[&str]| -> f64 {
        let csv = sandbox.result_of(&[&["compare", NAME, "--format", "csv"], more].concat());
        let line =
            csv.lines().find(|line| line.contains(STEP) && line.contains("throughput_ops_per_s"));
        let fields: Vec<&str> = line.unwrap_or_else(|| panic!("{csv}")).split(',').collect();
        let heads: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
        let at = heads.iter().position(|head| *head == "mean").expect("a mean");
        fields[at].parse().expect("a number")
    };
    // 250/s for 6 s, then 13 s of 500/s and the stall: 8 % more without the first 4 s, 12 % without
    // 6 s. Half of the 8 % is left to the host.
    assert!(rate(&[]) > 1.04 * rate(&["--whole"]), "{} {}", rate(&[]), rate(&["--whole"]));
}
