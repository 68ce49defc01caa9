//! The promise that the hot loop allocates nothing, on a counting allocator.

#![cfg(not(feature = "model-check"))]

use std::alloc::System;
use std::collections::BTreeSet;

use engine::null::NullDriver;
use engine::{Driver, OpenSpec};
use load::{GroupRun, ManualClock, StepRun, StopFlag, run_step};
use model::{
    DataShape, Load, Nanos, OpKind, OpenLoad, Options, Pace, Rate, Settings, Step, StopRule,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use workload::{Group, Presence, Request, generators};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Returns the allocations of a whole step of `operations`, threads and hand-offs included.
fn allocations(load: Load, operations: u64) -> usize {
    let data = DataShape { rows: 1000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 };
    let step =
        Step { load: load.clone(), ..Step::new("readrandom", StopRule::Operations(operations)) };
    let (settings, options) = (Settings::default(), Options::new());
    let spec = OpenSpec {
        endpoint: None,
        application: None,
        dir: std::env::temp_dir(),
        settings,
        options,
        data,
    };
    let engine = NullDriver.open(&spec).expect("the null engine opens everywhere");
    let (presence, group) = (Presence::All, Group::Clients);
    let request = Request { step: &step, data: &data, seed: 1, presence, group, tables: None };
    let mut run = StepRun {
        engine: &*engine,
        clients: GroupRun {
            generators: generators(&request).expect("a step of the catalog"),
            load,
            kinds: BTreeSet::from([OpKind::Get]),
        },
        writers: GroupRun::empty(),
        stop: step.stop,
        warmup: step.warmup,
        // One cut for all: what the coordinator does depends on how busy the host is.
        interval: Nanos::from_secs(60),
        is_checking: false,
        arrival_seed: 1,
        stop_flag: StopFlag::default(),
    };
    let region = Region::new(ALLOCATOR);
    let clock = ManualClock::ticking(Nanos(1), Nanos(10));
    let totals = run_step(&clock, &mut run, &mut |_| {}).expect("a step that can be run");
    let change = region.change();
    assert_eq!(totals.clients[&OpKind::Get].counts.done, operations);
    change.allocations + change.reallocations
}

#[test]
fn nothing_is_allocated_per_operation() {
    // Goal: the step's allocations do not depend on how many operations it has.
    // Method: a hundred times the operations; both closed and open, where nobody ever waits and
    // where everybody does.
    let constant =
        |ops_per_s| Load::Open(OpenLoad { rate: Rate::constant(ops_per_s), pace: Pace::default() });
    for load in [Load::Closed, constant(1e8), constant(1e6)] {
        let few = allocations(load.clone(), 1_000);
        let many = allocations(load.clone(), 100_000);
        // A thread that parks for the first time makes room for it once.
        assert!(many <= few + 20, "{load:?}: {few} allocations, then {many}");
    }
}
