//! Files that a step of many clients keeps open.

use std::collections::BTreeSet;

use engine::null::NullDriver;
use engine::{Driver, OpenSpec};
use load::{Event, Faults, GroupRun, HolderRun, SteadyClock, StepRun, StopFlag, run_step};
use model::{DataShape, Nanos, OpKind, Settings, Step, StopRule};
use workload::{Group, Presence, Request, generators};

/// Most files of the step itself: those of the clients that are sampled, and of the test's process.
const FILES_MAX: usize = 64;

/// Goal: hundreds of clients run where a process may have 1,024 files open, most of them the
/// engine's or connections of its clients.
#[test]
fn a_client_keeps_no_file_open() {
    let data = DataShape { rows: 1000, key_bytes: 20, value_bytes: 0, compressible_to: 1.0 };
    let spec = OpenSpec::embedded(std::env::temp_dir(), Settings::default(), data);
    let engine = NullDriver.open(&spec).expect("the null engine opens everywhere");
    let stop = StopRule::Duration(Nanos::from_millis(300));
    let step = Step { clients: 200, ..Step::new("readrandom", stop) };
    let (presence, group) = (Presence::All, Group::Clients);
    let request = Request { step: &step, data: &data, seed: 1, presence, group };
    let mut run = StepRun {
        engine: &*engine,
        clients: GroupRun {
            generators: generators(&request).expect("a step of the catalog"),
            load: step.load.clone(),
            kinds: BTreeSet::from([OpKind::Get]),
        },
        writers: GroupRun::empty(),
        holders: HolderRun::default(),
        stop: step.stop,
        warmup: step.warmup,
        interval: Nanos::from_millis(100),
        is_checking: false,
        arrival_seed: 1,
        share: None,
        agree_start: None,
        faults: Faults::default(),
        stop_flag: StopFlag::default(),
    };
    let mut most = 0;
    let totals = run_step(&SteadyClock::kernel(), &mut run, &mut |event| {
        if let Event::IntervalEnds { .. } = event {
            most = most.max(std::fs::read_dir("/proc/self/fd").expect("Linux").count());
        }
    });
    assert!(totals.is_ok() && (1..=FILES_MAX).contains(&most), "{most} files");
}
