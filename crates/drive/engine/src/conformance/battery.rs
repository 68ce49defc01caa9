//! The list of checks, and the one place that panics.

use model::{Options, Settings};

use super::subject::Subject;
use super::{ahead, answers, edges, reopen, threads, upkeep};
use crate::traits::Driver;

/// Seed of everything random in the battery.
pub(super) const SEED: u64 = 0x00A5_5A41_C0DE;

type Check = fn(&Subject<'_>) -> Result<(), String>;

/// Every check, cheapest first: the first failure tells most.
pub(super) const CHECKS: &[(&str, Check)] = &[
    ("identity_is_told", upkeep::identity_is_told),
    ("wrong_requests_are_refused", upkeep::wrong_requests_are_refused),
    ("boundary_keys_and_values", edges::boundary_keys_and_values),
    ("missing_keys", edges::missing_keys),
    ("start_keys", edges::start_keys),
    ("overwrites_are_seen_at_once", edges::overwrites_are_seen_at_once),
    ("sent_ahead_is_answered_in_order", ahead::sent_ahead_is_answered_in_order),
    ("random_operations", answers::random_operations),
    ("reopen_keeps_everything", reopen::reopen_keeps_everything),
    ("maintenance_keeps_everything", upkeep::maintenance_keeps_everything),
    ("readers_beside_a_writer", threads::readers_beside_a_writer),
    ("several_writers", threads::several_writers),
];

/// Runs every check on `driver`, opened with `settings` and `options` in fresh directories.
///
/// Checks run with the durability class of `settings`, or with the weakest one offered when that
/// is `sync`; reopening is checked with every class offered.
///
/// ```
/// use engine::{conformance::battery, memory::MemoryDriver};
///
/// battery(&MemoryDriver, &model::Settings::default(), &model::Options::new());
/// ```
///
/// # Panics
/// At the first failure, with a text that names engine, check, seed and operation.
pub fn battery(driver: &dyn Driver, settings: &Settings, options: &Options) {
    if let Err(failure) = first_failure(driver, settings, options) {
        panic!("{failure}");
    }
}

/// Returns the first failure of the battery as text.
fn first_failure(
    driver: &dyn Driver,
    settings: &Settings,
    options: &Options,
) -> Result<(), String> {
    let subject = Subject::new(driver, settings, options);
    CHECKS.iter().try_for_each(|(name, _)| run(name, &subject))
}

/// Runs the check of that name.
///
/// # Panics
/// When there is no such check.
pub(super) fn run(name: &str, subject: &Subject<'_>) -> Result<(), String> {
    let found = CHECKS.iter().find(|(known, _)| *known == name);
    let (_, check) = found.expect("the name is one of CHECKS");
    check(subject).map_err(|reason| {
        let engine = subject.driver.identity().engine;
        format!("{engine} fails the conformance check `{name}` (seed {SEED:#x}): {reason}")
    })
}
