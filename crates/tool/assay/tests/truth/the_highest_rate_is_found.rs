//! The highest rate that is found is the one that the engine can sustain: no more, and not less.
//!
//! The engine is a simulated server of known capacity and known debt; precision as such is proven
//! in `search`, on a simulated clock. What is proven here is the chain, from the words of the user
//! to the record.

use assert_cmd::assert::OutputAssertExt;
use model::honesty::{Outcome, Purpose};

use crate::host::alone;
use crate::measured::Run;
use crate::sandbox::{Sandbox, say};

/// Four servers of 2 ms: bursts of 2,000/s.
const SERVER: &str = "\"server.work\" = \"2ms\", \"server.parallel\" = 4";
const BURST_OPS_PER_S: f64 = 2_000.0;
/// Background work for 1,500/s: what can be sustained. Too much debt slows it down.
const DEBT: &str = "\"server.debt_per_op\" = \"1MiB\", \"server.pays\" = \"1500MiB/s\", \
                    \"server.debt_limit\" = \"4GiB\", \"server.slowdown\" = 8";
const SUSTAINED_OPS_PER_S: f64 = 1_500.0;
/// How far from the truth a result may be.
const ERROR: f64 = 0.03;

/// Searches and returns the run.
fn search(options: &str) -> Run {
    let benchmark = "steps = [\"filluniquerandom\", \"readrandom\"]\nrows = \"500\"\n\
                     duration = \"1s\"\nwarmup = \"200ms\"";
    let sandbox = Sandbox::with_options(benchmark, &[("server", "faulty", options.to_owned())]);
    // Twice as many clients as servers: somebody always waits in the queue of a busy server.
    let mut run = sandbox.run(&["--clients", "8", "--sla", "p90 < 30ms"]);
    run.args(["--arrivals", "constant"]).assert().success();
    Run::of(&sandbox, "server.c8.r1")
}

/// Checks that the truth was found, and that the record says how.
fn check(run: &Run, truth: f64) {
    if run.is_disturbed() {
        return;
    }
    let search = run.step().search.as_ref().expect("a search keeps its probes");
    let story = format!("{search:#?}\n{}", run.story());
    let found = search.found.as_ref().unwrap_or_else(|| panic!("nothing was found: {story}"));
    let error = found.ops_per_s / truth - 1.0;
    say(&format!("found {:.0}/s of {truth}/s: {:+.1} %", found.ops_per_s, error * 100.0));
    assert!(error.abs() <= ERROR, "{story}");
    assert!(found.failed_ops_per_s.is_some_and(|failed| failed > found.ops_per_s), "{story}");
    let is_confirmed = search.probes.iter().any(|probe| {
        probe.purpose == Purpose::Confirm
            && probe.outcome == Outcome::Passed
            && probe.offered_ops_per_s == Some(found.ops_per_s)
    });
    assert!(is_confirmed, "{story}");
    // Every probe is in the intervals too, but the last one, which is the step's own span.
    let probed = run.intervals.iter().filter_map(|interval| interval.probe);
    assert!(probed.max().is_some_and(|last| last > 2), "{story}");
}

#[test]
fn without_debt_it_is_the_capacity() {
    let _turn = alone();
    check(&search(SERVER), BURST_OPS_PER_S);
}

#[test]
fn from_no_debt_it_is_what_the_background_work_allows() {
    let _turn = alone();
    check(&search(&format!("{SERVER}, {DEBT}")), SUSTAINED_OPS_PER_S);
}

#[test]
fn from_a_large_debt_it_is_the_same() {
    let _turn = alone();
    let options = format!("{SERVER}, {DEBT}, \"server.initial_debt\" = \"12GiB\"");
    check(&search(&options), SUSTAINED_OPS_PER_S);
}
