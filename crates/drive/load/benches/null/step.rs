//! A step on the null engine.

use std::collections::BTreeSet;

use engine::null::NullDriver;
use engine::{Driver, Engine, OpenSpec};
use load::{
    Event, Faults, GroupRun, HolderRun, SteadyClock, StepRun, StepTotals, StopFlag, run_step,
};
use model::{DataShape, Nanos, OpKind, Options, Settings, Step, StopRule};
use workload::{Generator, Group, Presence, Request, generators};

/// Returns a `readrandom` step, closed loop, one client.
pub(crate) fn step(stop: StopRule) -> Step {
    Step::new("readrandom", stop)
}

/// Returns the generators of a step's clients.
pub(crate) fn streams(step: &Step, clients: u32) -> Vec<Box<dyn Generator>> {
    let data = DataShape { rows: 1_000_000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 };
    let step = Step { clients, ..step.clone() };
    let (presence, group) = (Presence::All, Group::Clients);
    generators(&Request { step: &step, data: &data, seed: 42, presence, group })
        .expect("a step of the catalog")
}

/// Returns the null engine.
pub(crate) fn null() -> Box<dyn Engine> {
    let data = DataShape { rows: 0, key_bytes: 20, value_bytes: 0, compressible_to: 1.0 };
    let (settings, options) = (Settings::default(), Options::new());
    let spec = OpenSpec { options, ..OpenSpec::embedded(std::env::temp_dir(), settings, data) };
    NullDriver.open(&spec).expect("the null engine opens everywhere")
}

/// Runs a step as the worker does; answers of the null engine cannot be checked.
pub(crate) fn run(
    (clock, engine, arrival_seed): (&SteadyClock, &dyn Engine, u64),
    clients: u32,
    step: &Step,
    on_event: &mut dyn FnMut(Event<'_>),
) -> StepTotals {
    let mut run = StepRun {
        engine,
        clients: GroupRun {
            generators: streams(step, clients),
            load: step.load.clone(),
            kinds: BTreeSet::from([OpKind::Get]),
        },
        writers: GroupRun::empty(),
        holders: HolderRun::default(),
        stop: step.stop,
        warmup: step.warmup,
        interval: Nanos::SECOND,
        is_checking: false,
        arrival_seed,
        share: None,
        agree_start: None,
        faults: Faults::default(),
        stop_flag: StopFlag::default(),
    };
    run_step(clock, &mut run, on_event).expect("a step that can be run")
}
