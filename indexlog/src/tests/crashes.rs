//! After a crash at any call, reads return the state after some batch, and no guaranteed one is
//! lost.
//!
//! `ASSAY_CAMPAIGN=long` tries every call of many histories; a test alone tries some of each.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use super::history::steps;
use super::recording::{Recording, choices};
use super::simulated_files::SimulatedFiles;
use crate::Durability;

/// Histories, and crashes of each: of a test, and of a campaign.
const SAMPLE: (usize, usize) = (6, 120);
const LONG: (usize, usize) = (60, usize::MAX);

/// Classes of durability, in turn.
pub(super) const CLASSES: [Durability; 3] = [Durability::Sync, Durability::Os, Durability::None];

/// Returns the size of the test: a sample, or that of a campaign.
pub(super) fn size<T>(sample: T, long: T) -> T {
    let is_long = std::env::var_os("ASSAY_CAMPAIGN").is_some_and(|length| length == "long");
    if is_long { long } else { sample }
}

#[test]
fn a_crash_at_any_call_leaves_the_guaranteed_state() {
    let (histories, crashes) = size(SAMPLE, LONG);
    let mut runner = TestRunner::deterministic();
    let mut choose = choices(1);
    let mut tried = 0;
    for history in 0..histories {
        let steps = steps(90).new_tree(&mut runner).unwrap().current();
        let class = CLASSES[history % 3];
        let (recording, database) = Recording::new(&steps, class, &SimulatedFiles::default());
        assert!(recording.error.is_none() && database.is_some());
        let calls = recording.calls.len();
        for end in (1..=calls).step_by((calls / crashes).max(1)) {
            recording.check_crashes(end, class, &mut choose);
            tried += 2;
        }
    }
    println!("{tried} crashes of {histories} histories");
}
