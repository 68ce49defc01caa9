//! A sweep, an adaptive number of clients and a limit each leave a curve, and every verb tells it.

use assert_cmd::assert::OutputAssertExt;
use model::validity::Purpose;

use crate::host::alone;
use crate::measured::{Run, STEP};
use crate::sandbox::{NAME, Sandbox};

/// Fewest levels that a scaling law can be fitted to.
const LEVELS_MIN: usize = 6;

fn sandbox(variants: &[(&str, &str, &str)]) -> Sandbox {
    Sandbox::reading("500ms", variants)
}

/// Checks that `show`, `compare` and `report` have something to say, and returns the page.
fn page(sandbox: &Sandbox) -> String {
    for verb in ["show", "compare"] {
        let told = sandbox.answer(&[verb, NAME]);
        assert!(told.contains(STEP), "{verb}: {told}");
    }
    sandbox.answer(&["report", NAME]);
    let dir = sandbox.experiment().expect("it was run");
    std::fs::read_to_string(dir.path().join("report.html")).expect("the page was written")
}

#[test]
fn a_sweep_has_a_cell_for_each_level_and_goes_beyond_the_cpus() {
    let _turn = alone();
    let sandbox = sandbox(&[("nothing", "null", "")]);
    sandbox.run(&["--clients", "sweep"]).assert().success();
    let records = sandbox.records();
    let mut levels: Vec<u32> = records.values().map(|record| record.cell.clients).collect();
    levels.sort_unstable();
    assert!(levels.len() >= LEVELS_MIN && levels[0] == 1, "{levels:?}");
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    assert!(levels.last().is_some_and(|most| *most as usize > cpus), "{levels:?}");
    assert!(records.values().all(|record| record.end.is_complete()));
    let page = page(&sandbox).to_lowercase();
    let mut cells = records.keys().map(|cell| Run::of(&sandbox, cell));
    let is_told = page.contains("scalab");
    assert!(is_told || cells.any(|run| run.is_disturbed()), "the page has no curve of clients");
}

#[test]
fn adaptive_clients_keep_what_each_number_of_them_came_to() {
    let _turn = alone();
    let sandbox = sandbox(&[("map", "memory", "")]);
    sandbox.run(&["--clients", "adaptive"]).assert().success();
    let (cell, _) = sandbox.records().pop_first().expect("one run");
    let run = Run::of(&sandbox, &cell);
    page(&sandbox);
    if run.is_disturbed() {
        return;
    }
    let search = run.step().search.as_ref().expect("a search keeps its probes");
    let tried: Vec<u32> = search
        .probes
        .iter()
        .filter(|probe| probe.purpose == Purpose::Clients)
        .map(|probe| probe.clients)
        .collect();
    assert!(tried.len() >= 2 && tried[0] == 1, "{search:#?}");
    assert!(search.probes.iter().all(|probe| probe.throughput_ops_per_s > 0.0), "{search:#?}");
    assert!(!search.ended.is_empty(), "{search:#?}");
    let found = search.found.as_ref().expect("no limit, so some number is best");
    assert!(tried.contains(&found.clients), "{search:#?}");
}

#[test]
fn a_limit_leaves_a_curve_of_rates_and_response_times() {
    let _turn = alone();
    // The shortest probes there are; other processes may dirty pages faster than they are written.
    let benchmark = "steps = [\"filluniquerandom\", \"readrandom\"]\nrows = \"2k\"\n\
                     duration = \"200ms\"\nsettle_cap = \"1s\"";
    let sandbox = Sandbox::of(benchmark, &[("slow", "faulty", "slow 2ms from 2001")]);
    sandbox.run(&["--clients", "2", "--sla", "p75 < 20ms"]).assert().success();
    let page = page(&sandbox);
    assert!(page.contains("p75 &lt; 20"), "the page does not tell the limit");
    let run = Run::of(&sandbox, "slow.c2.r1");
    let search = run.step().search.as_ref().expect("a search keeps its probes");
    assert!(!search.ended.is_empty(), "{search:#?}");
    let goodput = search
        .probes
        .iter()
        .all(|probe| probe.goodput_ops_per_s <= probe.throughput_ops_per_s * 1.000_001);
    assert!(goodput, "{search:#?}");
    let offered = search.probes.iter().filter_map(|probe| probe.offered_ops_per_s);
    assert!(offered.count() >= 2 || run.is_disturbed(), "{search:#?}");
}

/// Goal: a rate and a limit together tell the share of operations that kept it.
#[test]
fn goodput_is_told_beside_throughput_where_a_limit_is_given() {
    let _turn = alone();
    let sandbox = sandbox(&[("stalls", "faulty", "stall 300ms at 4k")]);
    let load = ["--clients", "2", "--rate", "4k/s", "--sla", "p90 < 10ms", "--duration", "1s"];
    sandbox.run(&load).assert().success();
    let run = Run::of(&sandbox, "stalls.c2.r1");
    let (within, done) = (run.step().within_limit, run.reads().counts.done);
    // 300 ms of a second's arrivals were late, less those the stall's last 10 ms still served.
    assert!(
        within.is_some_and(|within| within < done * 9 / 10 && within > done / 10),
        "{within:?}"
    );
    page(&sandbox);
    if !run.is_disturbed() {
        let told = sandbox.answer(&["show", NAME]).to_lowercase();
        assert!(told.contains("goodput"), "{told}{}", run.story());
    }
}
