//! Steps of the catalog, each in the loop that is compiled for it.

use std::collections::BTreeSet;

use engine::memory::MemoryDriver;
use engine::{Driver, Engine, OpenSpec};
use load::{Faults, GroupRun, HolderRun, ManualClock, StepRun, StopFlag, run_step};
use model::record::OpCounts;
use model::{DataShape, Nanos, OpKind, Settings, Step, StopRule};
use workload::{Group, Presence, Request, generators};

const DATA: DataShape =
    DataShape { rows: 1000, key_bytes: 20, value_bytes: 100, compressible_to: 0.5 };

/// Runs a step and returns its counts, of one kind of operation.
fn run(engine: &dyn Engine, name: &str, kind: OpKind, presence: Presence) -> OpCounts {
    let step = Step { range_rows: 10, ..Step::new(name, StopRule::Operations(1000)) };
    let group = Group::Clients;
    let request = Request { step: &step, data: &DATA, seed: 1, presence, group };
    let mut run = StepRun {
        engine,
        clients: GroupRun {
            generators: generators(&request).expect("a step of the catalog"),
            load: step.load.clone(),
            kinds: BTreeSet::from([kind]),
        },
        writers: GroupRun::empty(),
        holders: HolderRun::default(),
        stop: step.stop,
        warmup: step.warmup,
        interval: Nanos::SECOND,
        is_checking: true,
        arrival_seed: 1,
        share: None,
        agree_start: None,
        faults: Faults::default(),
        stop_flag: StopFlag::default(),
    };
    let clock = ManualClock::ticking(Nanos(1), Nanos(10));
    let totals = run_step(&clock, &mut run, &mut |_| {}).expect("a step that can be run");
    assert_eq!(totals.clients.keys().collect::<Vec<_>>(), [&kind], "{name}");
    totals.clients[&kind].counts
}

#[test]
fn every_loop_counts_rows_bytes_and_checks() {
    // Goal: loops that are compiled for a type of generator count as the one for any does.
    // Method: rows of known size, all present; the last step has no loop of its own.
    let dir = tempfile::tempdir().expect("a directory");
    let spec = OpenSpec::embedded(dir.path().to_owned(), Settings::default(), DATA);
    let engine = MemoryDriver.open(&spec).expect("memory opens everywhere");
    let steps = [
        ("fillseq", OpKind::Put, 1, false),
        ("readrandom", OpKind::Get, 1, true),
        ("fwdrange", OpKind::Scan, 10, true),
        ("deleterandom", OpKind::Delete, 1, false),
    ];
    for (name, kind, rows, is_checked) in steps {
        let counts = run(&*engine, name, kind, Presence::All);
        assert_eq!((counts.done, counts.failed, counts.not_found), (1000, 0, 0), "{name}");
        // A range that begins in the last rows is shorter.
        assert!((990 * rows..=1000 * rows).contains(&counts.rows), "{name}: {counts:?}");
        let bytes = if kind == OpKind::Delete { 20 } else { 120 };
        assert_eq!(counts.bytes, bytes * counts.rows, "{name}");
        assert_eq!(counts.verified > 0, is_checked, "{name}: {counts:?}");
    }
}
