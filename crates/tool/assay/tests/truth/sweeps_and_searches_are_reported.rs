//! Sweeps and searches store curves that every command reports.

use model::validity::Purpose;

use crate::host::take_turn;
use crate::measured::{Run, STEP, measures};
use crate::sandbox::{NAME, Sandbox};

/// Fewest levels that a scaling law can be fitted to.
const LEVELS_MIN: usize = 6;

fn sandbox(variants: &[(&str, &str, &str)]) -> Sandbox {
    Sandbox::reading("200ms", variants)
}

/// Checks `show` and `compare`, and returns the page of `report`.
pub(crate) fn page(sandbox: &Sandbox) -> String {
    for command in ["show", "compare"] {
        let message = sandbox.result_of(&[command, NAME]);
        assert!(message.contains(STEP), "{command}: {message}");
    }
    sandbox.result_of(&["report", NAME]);
    let dir = sandbox.experiment().expect("it was run");
    std::fs::read_to_string(dir.path().join("report.html")).expect("the page was written")
}

#[test]
fn sweep_has_a_cell_per_level_beyond_the_cpus() {
    let _turn = take_turn();
    let sandbox = sandbox(&[("nothing", "null", "")]);
    if !measures(&mut sandbox.run(&["--clients", "sweep"])) {
        return;
    }
    let records = sandbox.records();
    let mut levels: Vec<u32> = records.values().map(|record| record.cell.clients).collect();
    levels.sort_unstable();
    assert!(levels.len() >= LEVELS_MIN && levels[0] == 1, "{levels:?}");
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    assert!(levels.last().is_some_and(|most| *most as usize > cpus), "{levels:?}");
    assert!(records.values().all(|record| record.end.is_complete()));
    let page = page(&sandbox).to_lowercase();
    let mut cells = records.keys().map(|cell| Run::of(&sandbox, cell));
    let has_curve = page.contains("scalab");
    assert!(has_curve || cells.any(|run| run.is_disturbed()), "the page has no curve of clients");
}

#[test]
fn adaptive_search_stores_every_probe() {
    let _turn = take_turn();
    let sandbox = sandbox(&[("map", "memory", "")]);
    if !measures(&mut sandbox.run(&["--clients", "adaptive"])) {
        return;
    }
    let (cell, _) = sandbox.records().pop_first().expect("one run");
    let run = Run::of(&sandbox, &cell);
    page(&sandbox);
    if run.is_disturbed() {
        return;
    }
    let search = run.step().search.as_ref().expect("a search stores its probes");
    let probed: Vec<u32> = search
        .probes
        .iter()
        .filter(|probe| probe.purpose == Purpose::Clients)
        .map(|probe| probe.clients)
        .collect();
    assert!(probed.len() >= 2 && probed[0] == 1, "{search:#?}");
    assert!(search.probes.iter().all(|probe| probe.throughput_ops_per_s > 0.0), "{search:#?}");
    assert!(!search.ended.is_empty(), "{search:#?}");
    let found = search.found.as_ref().expect("no limit, so some number is best");
    assert!(probed.contains(&found.clients), "{search:#?}");
}

/// Goal: a rate and a limit together give the share of operations within it.
#[test]
fn goodput_is_reported_when_a_limit_is_given() {
    let _turn = take_turn();
    let sandbox = sandbox(&[("stalls", "faulty", "stall 300ms at 4k")]);
    let load = ["--clients", "2", "--rate", "4k/s", "--sla", "p90 < 10ms", "--duration", "1s"];
    if !measures(&mut sandbox.run(&load)) {
        return;
    }
    let run = Run::of(&sandbox, "stalls.c2.r1");
    let (within, done) = (run.step().within_limit, run.reads().counts.done);
    // 300 ms of a second's arrivals were late, less those the stall's last 10 ms still served.
    assert!(
        within.is_some_and(|within| within < done * 9 / 10 && within > done / 10),
        "{within:?}"
    );
    page(&sandbox);
    if !run.is_disturbed() {
        let message = sandbox.result_of(&["show", NAME]).to_lowercase();
        assert!(message.contains("goodput"), "{message}{}", run.diagnosis());
    }
}
