//! The list of conformance checks and its runner.

use std::path::Path;

use model::{Options, Settings};

use super::stream::SEED;
use super::subject::Subject;
use super::{answers, boundaries, concurrency, maintenance, parts, pipelining, reopen};
use crate::traits::Driver;

type Check = fn(&Subject<'_>) -> Result<(), String>;

/// Every check, cheapest first.
pub(super) const CHECKS: &[(&str, Check)] = &[
    ("identity_is_reported", maintenance::identity_is_reported),
    ("wrong_requests_are_refused", maintenance::wrong_requests_are_refused),
    ("boundary_keys_and_values", boundaries::boundary_keys_and_values),
    ("missing_keys", boundaries::missing_keys),
    ("start_keys", boundaries::start_keys),
    ("overwrites_are_visible_at_once", boundaries::overwrites_are_visible_at_once),
    ("parts_of_values", parts::parts_of_values),
    ("pipelined_operations_complete_in_order", pipelining::pipelined_operations_complete_in_order),
    ("random_operations", answers::random_operations),
    ("random_parts", parts::random_parts),
    ("reopen_preserves_rows", reopen::reopen_preserves_rows),
    ("immutable_files_stay", reopen::immutable_files_stay),
    ("maintenance_preserves_rows", maintenance::maintenance_preserves_rows),
    ("readers_with_a_writer", concurrency::readers_with_a_writer),
    ("several_writers", concurrency::several_writers),
];

/// Runs every check on `driver`, in fresh directories.
///
/// Checks run with `options` and the durability class of `settings`, or the weakest one offered
/// when that is `sync`; reopening is checked with every class offered.
///
/// ```
/// use engine::{conformance::battery, memory::MemoryDriver};
///
/// battery(&MemoryDriver, &model::Settings::default(), &model::Options::new());
/// ```
///
/// # Panics
/// At the first failure, with engine, check, seed and operation.
pub fn battery(driver: &dyn Driver, settings: &Settings, options: &Options) {
    let subject = Subject::new(driver, settings, options);
    for check in CHECKS {
        if let Err(failure) = run(check, &subject) {
            panic!("{failure}");
        }
    }
}

/// Returns the names of the battery's checks, cheapest first.
pub fn checks() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|(name, _)| *name)
}

/// Runs the check of that name on `driver`, with default settings, below `dir`.
///
/// A wrong library may end the process: call it in a child. The process's temporary files are below
/// `dir` from then on.
///
/// # Errors
/// The failure, or that no check has that name.
pub fn check(driver: &dyn Driver, name: &str, dir: &Path) -> Result<(), String> {
    let found = CHECKS.iter().find(|(known, _)| *known == name);
    let (_, check) = found.ok_or_else(|| format!("no conformance check is named `{name}`"))?;
    // A second call finds the directory of the first in place.
    drop(tempfile::env::override_temp_dir(dir));
    let options = Options::new();
    check(&Subject::new(driver, &Settings::default(), &options))
}

/// Runs one check; a failure names engine, check and seed.
pub(super) fn run((name, check): &(&str, Check), subject: &Subject<'_>) -> Result<(), String> {
    check(subject).map_err(|reason| {
        let engine = subject.driver.identity().engine;
        format!("{engine} fails the conformance check `{name}` (seed {SEED:#x}): {reason}")
    })
}
