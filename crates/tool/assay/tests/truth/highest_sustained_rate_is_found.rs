//! The highest sustained rate is found within 3 %.
//!
//! The engine is a simulated server of known capacity and debt. Precision is tested in `search`, on
//! a simulated clock; here the whole chain is tested, from the arguments to the record.

use model::validity::{Outcome, Purpose};

use crate::disturbance::on_quiet_host_once;
use crate::host::share_turn;
use crate::measured::{Run, measure};
use crate::sandbox::{Sandbox, note};
use crate::sweeps_and_searches_are_reported::page;

/// Four servers of 1 ms: bursts of 4,000/s. Each operation adds debt, and the pay rate sustains
/// 3,880/s: a rate that is a few percent too high shows in the growth of the debt alone. Too much
/// debt slows the server down, as it does engines; no short probe reaches it.
const SERVER: &str = "\"server.work\" = \"1ms\", \"server.parallel\" = 4, \
                      \"server.debt_per_op\" = \"1MiB\", \"server.pays\" = \"3880MiB/s\", \
                      \"server.debt_limit\" = \"1GiB\", \"server.slowdown\" = 8";
const CAPACITY_OPS_PER_S: f64 = 3_880.0;
/// Allowed relative error of the middle between the rate found and the lowest that failed.
const ERROR: f64 = 0.03;
/// Allowed excess of a rate over the capacity: no probe detects a smaller growth of debt.
const SLACK: f64 = 0.01;

/// Goal: the whole chain finds the capacity of a server that begins with a debt.
/// Method: the search waits before each probe until the debt is paid, at most `settle_cap`: other
/// processes may dirty pages faster than they are written. A probe takes a second, a confirmation
/// five, as growth is tested on values of whole seconds.
#[test]
fn rate_with_initial_debt_matches_capacity() {
    let _turn = share_turn();
    // The shortest probes: the confirmations, ten times as long, detect the growth of debt.
    let benchmark = "steps = [\"filluniquerandom\", \"readrandom\"]\nrows = \"50\"\n\
                     duration = \"500ms\"\nwarmup = \"100ms\"\nsettle_cap = \"2s\"";
    let options = format!("{SERVER}, \"server.initial_debt\" = \"3GiB\"");
    on_quiet_host_once(|host| {
        let sandbox = Sandbox::with_options(benchmark, &[("server", "faulty", options.clone())]);
        // Twice as many clients as servers: a busy server always has a queue.
        let mut run = sandbox.run(&["--clients", "8", "--sla", "p75 < 30ms"]);
        measure(run.args(["--arrivals", "constant"]));
        check(&Run::on(host, &sandbox, "server.c8.r1"));
        let page = page(&sandbox);
        assert!(page.contains("p75 &lt; 30"), "the page does not show the limit");
    });
}

/// Checks that the capacity was found, and that the record has the probes.
fn check(run: &Run) {
    let search = run.step().search.as_ref().expect("a search stores its probes");
    let diagnosis = format!("{search:#?}\n{}", run.diagnosis());
    let found = search.found.as_ref().unwrap_or_else(|| panic!("nothing was found: {diagnosis}"));
    let passed = found.ops_per_s;
    let failed = found.failed_ops_per_s.unwrap_or_else(|| panic!("nothing failed: {diagnosis}"));
    let error = (passed * failed).sqrt() / CAPACITY_OPS_PER_S - 1.0;
    note(&format!(
        "{passed:.0}/s sustained, {failed:.0}/s not; the capacity is {CAPACITY_OPS_PER_S}/s, \
         {:+.1} % off their middle; {} probes",
        error * 100.0,
        search.probes.len()
    ));
    let is_right = passed <= CAPACITY_OPS_PER_S * (1.0 + SLACK)
        && failed >= CAPACITY_OPS_PER_S * (1.0 - SLACK)
        && error.abs() <= ERROR;
    assert!(is_right, "{diagnosis}");
    let confirmed =
        search.confirmed().unwrap_or_else(|| panic!("nothing is confirmed: {diagnosis}"));
    assert_eq!(confirmed.purpose, Purpose::Confirm, "{diagnosis}");
    assert_eq!(confirmed.outcome, Outcome::Passed, "{diagnosis}");
    assert_eq!(confirmed.offered_ops_per_s, Some(passed), "{diagnosis}");
    // Every probe has its intervals; the confirmation's are those of the step.
    let probes = run.intervals.iter().filter_map(|interval| interval.probe);
    let last = search.probes.last().map(|probe| probe.number);
    assert_eq!(probes.max(), last, "{diagnosis}");
    assert!(run.reads().counts.done > 0, "{diagnosis}");
    let mut all = search.probes.iter();
    let is_good =
        all.all(|probe| probe.goodput_ops_per_s <= probe.throughput_ops_per_s * 1.000_001);
    assert!(is_good, "{diagnosis}");
}
