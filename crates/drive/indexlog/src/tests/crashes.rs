//! After a crash at any call, reads return the state after some batch, and no guaranteed one is
//! lost.
//!
//! `ASSAY_CAMPAIGN=long` tries every call of many histories; a test alone tries some of each.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use super::history::{Model, Step, apply, content, steps, write};
use super::simulated_files::{Call, Image, SimulatedFiles};
use super::{invariants, small};
use crate::jobs::Levels;
use crate::{Database, Durability};

/// Histories, and crashes of each: of a test, and of a campaign.
const SAMPLE: (usize, usize) = (6, 120);
const LONG: (usize, usize) = (60, usize::MAX);

/// A history that was recorded.
struct Recording {
    calls: Vec<Call>,
    /// The state after each batch, with the calls at which it was acknowledged.
    states: Vec<(usize, Model)>,
    /// Calls after which a state was made durable by a flush, with the number of the state.
    flushed: Vec<(usize, usize)>,
}

fn record(steps: &[Step], durability: Durability) -> Recording {
    let files = SimulatedFiles::default();
    let open =
        || Database::open_without_threads(Box::new(files.clone()), small(durability)).unwrap();
    let mut database = open();
    let mut model = Model::new();
    let mut states = vec![(0, model.clone())];
    let mut flushed = vec![(0, 0)];
    for step in steps {
        match step {
            Step::Write(batch) => {
                let last = write(&database, batch).unwrap();
                apply(&mut model, last + 1 - batch.len() as u64, batch);
                states.push((files.count(), model.clone()));
            }
            Step::Flush => database.flush().unwrap(),
            Step::CompactIndex => drop(database.shared.compact_index(Levels::Due).unwrap()),
            Step::CompactAll => database.compact_all().unwrap(),
            Step::Collect => drop(database.shared.collect().unwrap()),
            Step::Reopen => {
                database.close().unwrap();
                database = open();
            }
        }
        if matches!(step, Step::Flush | Step::CompactAll | Step::Reopen) {
            flushed.push((files.count(), states.len() - 1));
        }
    }
    drop(database);
    Recording { calls: files.calls(), states, flushed }
}

/// Opens an image; returns the number of the state that it holds.
fn recovered(image: Image, recording: &Recording, durability: Durability) -> usize {
    let files = Box::new(SimulatedFiles::of(image));
    let database = Database::open_without_threads(files, small(durability)).unwrap();
    invariants::check(&database.shared);
    let found = content(&database);
    let state = recording.states.iter().rposition(|(_, state)| *state == found);
    let state = state.unwrap_or_else(|| panic!("no batch left this: {found:?}"));
    // What was recovered can be written to.
    database.put(b"after", b"the crash").unwrap();
    database.compact_all().unwrap();
    assert_eq!(content(&database).len(), found.len() + 1);
    state
}

/// Tries crashes of one history; returns how many.
fn try_crashes(steps: &[Step], durability: Durability, most: usize, seed: &mut u64) -> usize {
    let recording = record(steps, durability);
    let calls = recording.calls.len();
    let step = (calls / most).max(1);
    let mut tried = 0;
    for end in (1..=calls).step_by(step) {
        let acknowledged = recording.states.iter().rposition(|(at, _)| *at <= end).unwrap_or(0);
        let flushed =
            recording.flushed.iter().filter(|(at, _)| *at <= end).map(|(_, state)| *state).max();
        let flushed = flushed.unwrap_or(0);
        let image = Image::after(&recording.calls[..end]);
        let state = recovered(image, &recording, durability);
        let guaranteed = if durability == Durability::None { flushed } else { acknowledged };
        assert!(state >= guaranteed, "a kill after call {end} lost: {state} of {guaranteed}");
        let mut choose = |most: usize| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // All or nothing are as likely as anything between.
            match *seed >> 61 {
                0 | 1 => 0,
                2 | 3 => most,
                _ => (*seed >> 33) as usize % (most + 1),
            }
        };
        let image = Image::after_power_loss(&recording.calls[..end], &mut choose);
        let state = recovered(image, &recording, durability);
        let guaranteed = if durability == Durability::Sync { acknowledged } else { flushed };
        assert!(state >= guaranteed, "a power loss after call {end} lost: {state} of {guaranteed}");
        tried += 2;
    }
    tried
}

#[test]
fn a_crash_at_any_call_leaves_the_guaranteed_state() {
    let is_long = std::env::var_os("ASSAY_CAMPAIGN").is_some_and(|length| length == "long");
    let (histories, crashes) = if is_long { LONG } else { SAMPLE };
    let mut runner = TestRunner::deterministic();
    let (mut seed, mut tried) = (1, 0);
    for history in 0..histories {
        let steps = steps(90).new_tree(&mut runner).unwrap().current();
        let class = [Durability::Sync, Durability::Os, Durability::None][history % 3];
        tried += try_crashes(&steps, class, crashes, &mut seed);
    }
    println!("{tried} crashes of {histories} histories");
}
