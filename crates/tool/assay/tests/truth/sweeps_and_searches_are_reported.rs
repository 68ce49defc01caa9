//! Sweeps and searches store curves that every command reports.

use model::validity::Purpose;

use crate::disturbance::on_quiet_host;
use crate::host::{share_turn, take_turn};
use crate::measured::{Run, STEP, measure};
use crate::sandbox::{NAME, Sandbox};

/// Fewest levels that a scaling law can be fitted to.
const LEVELS_MIN: usize = 6;

fn sandbox(variants: &[(&str, &str, &str)]) -> Sandbox {
    // Other processes may dirty pages faster than they are written: no search waits for them.
    let benchmark = "steps = [\"filluniquerandom\", \"readrandom\"]\nrows = \"2k\"\n\
                     duration = \"100ms\"\nsettle_cap = \"200ms\"";
    Sandbox::of(benchmark, variants)
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
    on_quiet_host(|_| {
        let sandbox = sandbox(&[("nothing", "null", "")]);
        measure(&mut sandbox.run(&["--clients", "sweep"]));
        let records = sandbox.records();
        let mut levels: Vec<u32> = records.values().map(|record| record.cell.clients).collect();
        levels.sort_unstable();
        assert!(levels.len() >= LEVELS_MIN && levels[0] == 1, "{levels:?}");
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        assert!(levels.last().is_some_and(|most| *most as usize > cpus), "{levels:?}");
        assert!(records.values().all(|record| record.end.is_complete()));
        let page = page(&sandbox).to_lowercase();
        assert!(page.contains("scalab"), "the page has no curve of clients");
    });
}

#[test]
fn adaptive_search_stores_every_probe() {
    let _turn = take_turn();
    on_quiet_host(|host| {
        let sandbox = sandbox(&[("map", "memory", "")]);
        measure(&mut sandbox.run(&["--clients", "adaptive"]));
        let (cell, _) = sandbox.records().pop_first().expect("one run");
        let run = Run::on(host, &sandbox, &cell);
        page(&sandbox);
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
    });
}

/// Goal: a rate and a limit together give the share of operations within it, and constant arrivals
/// have the number that follows from rate and time.
/// Method: a stall of 300 ms in a second.
#[test]
fn goodput_is_reported_when_a_limit_is_given() {
    let _turn = share_turn();
    on_quiet_host(|host| {
        let sandbox = sandbox(&[("stalls", "faulty", "stall 300ms at 4k")]);
        let load = ["--clients", "2", "--rate", "4k/s", "--arrivals", "constant"];
        let limit = ["--sla", "p90 < 10ms", "--duration", "1s", "--warmup", "0s"];
        measure(sandbox.run(&load).args(limit));
        let run = Run::on(host, &sandbox, "stalls.c2.r1");
        let (within, done) = (run.step().within_limit, run.reads().counts.done);
        let (within, diagnosis) = (within.expect("it has a limit"), run.diagnosis());
        let offered = run.arrivals().offered;
        assert!(offered.abs_diff(4_000) <= 4, "{offered} arrivals");
        // 300 ms of a second's arrivals were late, less those the stall's last 10 ms still served.
        assert!(within < done * 9 / 10 && within > done / 10, "{within} of {done}{diagnosis}");
        page(&sandbox);
        let message = sandbox.result_of(&["show", NAME]).to_lowercase();
        assert!(message.contains("goodput"), "{message}{diagnosis}");
    });
}
