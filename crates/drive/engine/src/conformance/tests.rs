//! Tests of the battery: each check detects an injected fault.

use std::panic::{AssertUnwindSafe, catch_unwind};

use model::capability::Feature;
use model::{Capabilities, Durability, Identity, Options, Settings};

use super::battery::{self, CHECKS, battery};
use super::subject::Subject;
use crate::error::Result;
use crate::faulty::FaultyDriver;
use crate::memory::MemoryDriver;
use crate::null::NullDriver;
use crate::traits::{Driver, Engine, OpenSpec, REVERSE_SCANS};

/// Checks, each with a fault it must detect.
const DETECTED: &[(&str, &str)] = &[
    ("identity_is_reported", "refuse open"),
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
    ("overwrites_are_visible_at_once", "lie ignore at 4"),
    ("overwrites_are_visible_at_once", "lie truncate at 3"),
    ("parts_of_values", "lie truncate at 2"),
    ("parts_of_values", "lie ignore at 13"),
    ("random_parts", "lie ignore at 900"),
    ("random_parts", "lie truncate at 900"),
    ("random_parts", "lie reverse at 4003"),
    ("random_parts", "lie drop at 4004"),
    ("pipelined_operations_complete_in_order", "lie truncate at 100"),
    ("pipelined_operations_complete_in_order", "lie ignore at 20"),
    ("pipelined_operations_complete_in_order", "fail at 150"),
    ("random_operations", "lie value at 2000"),
    ("random_operations", "lie truncate at 2000"),
    ("random_operations", "lie drop at 2000"),
    ("random_operations", "lie reverse at 2000"),
    ("random_operations", "lie ignore every 500"),
    ("random_operations", "fail at 5000"),
    ("reopen_preserves_rows", "lie forget at 590"),
    ("reopen_preserves_rows", "lie ignore at 590"),
    ("maintenance_preserves_rows", "lie ignore at 250"),
    ("maintenance_preserves_rows", "lie drop at 301"),
    ("readers_with_a_writer", "lie value every 300"),
    ("readers_with_a_writer", "lie truncate every 300"),
    ("readers_with_a_writer", "lie reverse every 300"),
    ("readers_with_a_writer", "lie drop every 300"),
    ("readers_with_a_writer", "lie ignore every 20"),
    ("several_writers", "lie ignore every 7"),
    ("several_writers", "lie value at 900"),
];

/// Runs the check of that name.
fn run(name: &str, subject: &Subject<'_>) -> Result<(), String> {
    let found = CHECKS.iter().find(|(known, _)| *known == name);
    battery::run(found.expect("the name is one of CHECKS"), subject)
}

fn with(fault: &str) -> Options {
    [("fault", fault)].into_iter().collect()
}

#[test]
fn memory_passes_the_battery() {
    battery(&MemoryDriver, &Settings::default(), &Options::new());
}

#[test]
fn every_fault_is_detected_by_its_check() {
    let driver = FaultyDriver::default();
    for (check, fault) in DETECTED {
        let options = with(fault);
        let subject = Subject::new(&driver, &Settings::default(), &options);
        let failure = run(check, &subject).expect_err(&format!("`{check}` misses `{fault}`"));
        let start = format!("faulty fails the conformance check `{check}` (seed 0x");
        assert!(failure.starts_with(&start), "{failure}");
        let has_both = failure.contains("expected ") && failure.contains("got ");
        assert!(has_both || failure.contains(" failed: "), "{failure}");
    }
}

/// An engine whose scans without rows return DONE, or which forgets rows at a clean close.
#[test]
fn a_failed_check_states_the_expected_and_the_actual_answer() {
    let failure = |check: &str, fault: &str| {
        let options = with(fault);
        let driver = FaultyDriver::default();
        run(check, &Subject::new(&driver, &Settings::default(), &options)).unwrap_err()
    };
    let forgotten = failure("reopen_preserves_rows", "lie forget at 590");
    let sentence = "must store every row, in every class: scan from ";
    assert!(forgotten.contains(sentence) && forgotten.contains("expected "), "{forgotten}");
    let options = Options::new();
    let subject = Subject::new(&NullDriver, &Settings::default(), &options);
    let scan = run("missing_keys", &subject).unwrap_err();
    let expected = "get \"absent\" (6 B): expected NotFound (ASSAY_NOT_FOUND), because no row was \
                    found, got Done (ASSAY_DONE) and 0 rows";
    assert!(scan.ends_with(expected), "{scan}");
}

#[test]
fn every_check_detects_some_fault() {
    for (check, _) in CHECKS {
        let is_covered = DETECTED.iter().any(|(covered, _)| covered == check)
            || ["wrong_requests_are_refused", "immutable_files_stay"].contains(check);
        assert!(is_covered, "no fault in DETECTED makes `{check}` fail");
    }
}

#[test]
fn battery_panics_with_check_seed_and_operation() {
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
fn slow_engine_passes() {
    let options = with("slow 10us every 100");
    battery(&FaultyDriver::default(), &Settings::default(), &options);
}

#[test]
fn engine_that_returns_nothing_fails() {
    let subject_options = Options::new();
    let subject = Subject::new(&NullDriver, &Settings::default(), &subject_options);
    assert!(run("identity_is_reported", &subject).is_ok());
    assert!(
        run("missing_keys", &subject).unwrap_err().contains("because no row was found, got Done")
    );
}

/// Goal: the battery stays within a stated limit, and one scan direction is enough.
/// Method: `memory`, declared to scan upwards only and to take 100 bytes; every check but that of
/// refusals must pass.
#[test]
fn denied_capability_is_not_used() {
    let options = Options::new();
    let driver = LaxDriver(Ignored::Direction);
    let subject = Subject::new(&driver, &Settings::default(), &options);
    for (name, _) in CHECKS.iter().filter(|(name, _)| *name != "wrong_requests_are_refused") {
        assert_eq!(run(name, &subject), Ok(()));
    }
}

/// The request that a lax driver ignores.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ignored {
    Option,
    Directory,
    Durability,
    Setting,
    Direction,
    /// Its log, which is appended to, is called immutable.
    Immutability,
}

/// `memory` behind a driver that ignores one kind of request.
struct LaxDriver(Ignored);

impl Driver for LaxDriver {
    fn identity(&self) -> Identity {
        MemoryDriver.identity()
    }

    fn capabilities(&self) -> Capabilities {
        let mut capabilities = MemoryDriver.capabilities();
        if self.0 == Ignored::Durability {
            capabilities.durability.remove(&Durability::Sync);
        }
        if self.0 == Ignored::Direction {
            let upwards = Feature::No("reads upwards only".to_owned());
            capabilities.features.insert(REVERSE_SCANS.to_owned(), upwards);
            capabilities.value_bytes_max = Some(100);
        }
        capabilities
    }

    fn immutable_files(&self) -> &'static [&'static str] {
        if self.0 == Ignored::Immutability { &[".log"] } else { &[] }
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>> {
        let mut spec = spec.clone();
        match self.0 {
            Ignored::Option => spec.options = Options::new(),
            Ignored::Directory => std::fs::create_dir_all(&spec.dir).expect("a directory"),
            Ignored::Durability | Ignored::Direction | Ignored::Immutability => {}
            Ignored::Setting => spec.settings = Settings::default(),
        }
        MemoryDriver.open(&spec)
    }
}

#[test]
fn a_rewritten_file_is_detected() {
    let options = Options::new();
    let of = |ignored| {
        let driver = LaxDriver(ignored);
        let subject = Subject::new(&driver, &Settings::default(), &options);
        run("immutable_files_stay", &subject)
    };
    assert!(
        of(Ignored::Immutability).unwrap_err().contains("memory.log to stay as it was written")
    );
    assert_eq!(of(Ignored::Option), Ok(()));
}

#[test]
fn lax_driver_is_detected() {
    let cases = [
        (Ignored::Option, "expected the failure ASSAY_BAD_OPTION"),
        (Ignored::Directory, "a directory that does not exist"),
        (Ignored::Durability, "durability `sync`"),
        (Ignored::Setting, "direct_io"),
        (Ignored::Direction, "scan from \"k\" (1 B) Reverse limit 1, which is not offered"),
    ];
    for (ignored, expected) in cases {
        let driver = LaxDriver(ignored);
        let options = Options::new();
        let subject = Subject::new(&driver, &Settings::default(), &options);
        let failure = run("wrong_requests_are_refused", &subject).unwrap_err();
        assert!(failure.contains(expected), "{failure}");
    }
}
