//! The battery passes the oracle, and has teeth: every check fails on some liar.

use std::panic::{AssertUnwindSafe, catch_unwind};

use model::capability::Feature;
use model::{Capabilities, Durability, Identity, Options, Settings};

use super::battery::{CHECKS, battery, run};
use super::subject::Subject;
use crate::error::EngineError;
use crate::faulty::FaultyDriver;
use crate::memory::MemoryDriver;
use crate::null::NullDriver;
use crate::traits::{Driver, Engine, OpenSpec, REVERSE_SCANS};

/// Checks and faults, each of which makes the check fail.
const TEETH: &[(&str, &str)] = &[
    ("identity_is_told", "refuse open"),
    ("boundary_keys_and_values", "lie value at 20"),
    ("boundary_keys_and_values", "lie truncate at 20"),
    ("boundary_keys_and_values", "lie drop at 33"),
    ("boundary_keys_and_values", "lie reverse"),
    ("missing_keys", "lie ignore at 4"),
    ("missing_keys", "lie reverse"),
    ("missing_keys", "lie drop at 7"),
    ("missing_keys", "fail at 1"),
    ("start_keys", "lie reverse at 9"),
    ("start_keys", "lie drop at 4"),
    ("overwrites_are_seen_at_once", "lie ignore at 4"),
    ("overwrites_are_seen_at_once", "lie truncate at 3"),
    ("sent_ahead_is_answered_in_order", "lie truncate at 100"),
    ("sent_ahead_is_answered_in_order", "lie ignore at 20"),
    ("sent_ahead_is_answered_in_order", "fail at 150"),
    ("random_operations", "lie value at 2000"),
    ("random_operations", "lie truncate at 2000"),
    ("random_operations", "lie drop at 2000"),
    ("random_operations", "lie reverse at 2000"),
    ("random_operations", "lie ignore every 500"),
    ("random_operations", "fail at 5000"),
    ("reopen_keeps_everything", "lie forget at 590"),
    ("reopen_keeps_everything", "lie ignore at 590"),
    ("maintenance_keeps_everything", "lie ignore at 250"),
    ("maintenance_keeps_everything", "lie drop at 301"),
    ("readers_beside_a_writer", "lie value every 300"),
    ("readers_beside_a_writer", "lie truncate every 300"),
    ("readers_beside_a_writer", "lie reverse every 300"),
    ("readers_beside_a_writer", "lie drop every 300"),
    ("readers_beside_a_writer", "lie ignore every 20"),
    ("several_writers", "lie ignore every 7"),
    ("several_writers", "lie value at 900"),
];

fn with(fault: &str) -> Options {
    [("fault", fault)].into_iter().collect()
}

#[test]
fn memory_passes_the_battery() {
    battery(&MemoryDriver, &Settings::default(), &Options::new());
}

#[test]
fn every_lie_is_found_by_the_check_that_looks_for_it() {
    let driver = FaultyDriver::default();
    for (check, fault) in TEETH {
        let options = with(fault);
        let subject = Subject::new(&driver, &Settings::default(), &options);
        let failure = run(check, &subject).expect_err(&format!("`{check}` misses `{fault}`"));
        let start = format!("faulty fails the conformance check `{check}` (seed 0x");
        assert!(failure.starts_with(&start), "{failure}");
    }
}

#[test]
fn every_check_has_teeth() {
    for (check, _) in CHECKS {
        let is_proven = TEETH.iter().any(|(proven, _)| proven == check)
            || *check == "wrong_requests_are_refused";
        assert!(is_proven, "no fault in TEETH makes `{check}` fail");
    }
}

#[test]
fn the_battery_panics_with_check_seed_and_operation() {
    let attempt = || {
        battery(&FaultyDriver::default(), &Settings::default(), &with("lie reverse at 2000"));
    };
    let panic = catch_unwind(AssertUnwindSafe(attempt)).unwrap_err();
    let text = panic.downcast_ref::<String>().expect("the panic carries text");
    for part in ["`random_operations`", "(seed 0x", "operation 2", "expected", "value \""] {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

#[test]
fn an_engine_that_is_only_slow_passes() {
    let options = with("slow 10us every 100");
    battery(&FaultyDriver::default(), &Settings::default(), &options);
}

#[test]
fn an_engine_that_returns_nothing_fails() {
    let subject_options = Options::new();
    let subject = Subject::new(&NullDriver, &Settings::default(), &subject_options);
    assert!(run("identity_is_told", &subject).is_ok());
    assert!(run("missing_keys", &subject).unwrap_err().contains("returned 0 rows and Done"));
}

/// Goal: a limit that a driver states is kept to, and one direction is enough.
/// Method: `memory`, which says it reads upwards only and takes 100 bytes; all but the check that
/// asks it to refuse the rest must pass.
#[test]
fn what_a_driver_denies_is_not_asked_of_it() {
    let options = Options::new();
    let driver = LaxDriver(Unseen::Direction);
    let subject = Subject::new(&driver, &Settings::default(), &options);
    for (name, _) in CHECKS.iter().filter(|(name, _)| *name != "wrong_requests_are_refused") {
        assert_eq!(run(name, &subject), Ok(()));
    }
}

/// What a lax driver does not look at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unseen {
    Option,
    Directory,
    Durability,
    Setting,
    Direction,
}

/// `memory` as a driver might wrap it who does not look at what it is asked.
struct LaxDriver(Unseen);

impl Driver for LaxDriver {
    fn identity(&self) -> Identity {
        MemoryDriver.identity()
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = MemoryDriver.capabilities();
        if self.0 == Unseen::Durability {
            capabilities.durability.remove(&Durability::Sync);
        }
        if self.0 == Unseen::Direction {
            let upwards = Feature::No("reads upwards only".to_owned());
            capabilities.features.insert(REVERSE_SCANS.to_owned(), upwards);
            capabilities.value_bytes_max = Some(100);
        }
        capabilities
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        let mut spec = spec.clone();
        match self.0 {
            Unseen::Option => spec.options = Options::new(),
            Unseen::Directory => std::fs::create_dir_all(&spec.dir).expect("a directory"),
            Unseen::Durability | Unseen::Direction => {}
            Unseen::Setting => spec.settings = Settings::default(),
        }
        MemoryDriver.open(&spec)
    }
}

#[test]
fn a_driver_that_does_not_look_is_found_out() {
    let cases = [
        (Unseen::Option, "accepted the unknown option"),
        (Unseen::Directory, "a directory that does not exist"),
        (Unseen::Durability, "durability `sync`"),
        (Unseen::Setting, "direct_io"),
        (Unseen::Direction, "scan from \"k\" (1 B) Reverse limit 1 is not offered"),
    ];
    for (unseen, expected) in cases {
        let driver = LaxDriver(unseen);
        let options = Options::new();
        let subject = Subject::new(&driver, &Settings::default(), &options);
        let failure = run("wrong_requests_are_refused", &subject).unwrap_err();
        assert!(failure.contains(expected), "{failure}");
    }
}
