//! A failed call of the file system is reported, ends all writing, and loses nothing guaranteed.
//!
//! `ASSAY_CAMPAIGN=long` fails every call of many histories; a test alone fails some of each.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use super::crashes::{CLASSES, size};
use super::history::{Step, steps, try_content};
use super::recording::{Recording, choices, open};
use super::simulated_files::{Fault, SimulatedFiles};
use crate::jobs::Levels;
use crate::{Durability, Error};

/// Histories, and faults of each: of a test, and of a campaign.
const SAMPLE: (usize, usize) = (6, 60);
const LONG: (usize, usize) = (30, usize::MAX);

/// Records a history of which one call fails; checks what is left. Returns whether a step failed.
fn check_fault(steps: &[Step], class: Durability, fault: Fault) -> bool {
    let files = SimulatedFiles::default();
    files.fail(fault);
    let (mut recording, database) = Recording::new(steps, class, &files);
    let has_failed = recording.error.is_some();
    if let Some(database) = &database
        && has_failed
    {
        // A device that has room again heals nothing.
        files.mend();
        let error = database.put(b"later", b"write").unwrap_err();
        assert!(matches!(error, Error::Failed(_)), "{error}");
        assert!(matches!(database.flush(), Err(Error::Failed(_))));
        recording.number(&try_content(database).unwrap());
    }
    let is_open = database.is_some();
    drop(database);
    files.mend();
    recording.calls = files.calls();
    recording.check_crashes(recording.calls.len(), class, &mut choices(fault.after as u64));
    recording.check_crashes(recording.calls.len(), class, &mut |_| 0);
    has_failed && is_open
}

#[test]
fn a_failed_call_ends_all_writing_and_loses_nothing() {
    let (histories, faults) = size(SAMPLE, LONG);
    let mut runner = TestRunner::deterministic();
    let (mut tried, mut ended) = (0, 0);
    for history in 0..histories {
        let steps = steps(60).new_tree(&mut runner).unwrap().current();
        let class = CLASSES[history % 3];
        let files = SimulatedFiles::default();
        drop(Recording::new(&steps, class, &files));
        let calls = files.fallible();
        for after in (0..calls).step_by((calls / faults).max(1)) {
            for is_lasting in [false, true] {
                let has_ended = check_fault(&steps, class, Fault { after, is_lasting });
                (tried, ended) = (tried + 1, ended + usize::from(has_ended));
            }
        }
    }
    println!("{tried} faults of {histories} histories, {ended} of which ended the writing");
    assert!(tried >= 2 * histories && ended > tried / 4, "{tried}, {ended}");
}

/// Goal: no write is acknowledged after a sync that failed, although the next one succeeds.
#[test]
fn a_failed_sync_of_the_log_is_never_followed_by_an_acknowledged_write() {
    let files = SimulatedFiles::default();
    let database = open(&files, Durability::Sync).unwrap();
    database.put(b"a", b"1").unwrap();
    // The write of the log succeeds.
    files.fail(Fault { after: 1, is_lasting: false });
    let error = database.put(b"b", b"2").unwrap_err();
    assert!(error.to_string().contains(".wal"), "{error}");
    assert!(matches!(database.put(b"c", b"3"), Err(Error::Failed(_))));
    assert!(matches!(database.write(&[]), Ok(2)), "nothing to write is no write");
    assert!(matches!(database.close(), Err(Error::Failed(_))));
}

/// Goal: no edit follows one of which it is unknown whether the disk has it.
/// Method: fail each call of a compaction, then compact as another thread would.
#[test]
fn no_edit_follows_one_that_failed() {
    let mut failed_commits = 0;
    for after in 0..40 {
        let files = SimulatedFiles::default();
        let database = open(&files, Durability::None).unwrap();
        for value in [b"1", b"2"] {
            database.put(b"a", value).unwrap();
            database.flush().unwrap();
        }
        files.fail(Fault { after, is_lasting: false });
        let first = database.shared.compact_index(Levels::All);
        files.mend();
        if first.is_err() && database.shared.check().is_err() {
            failed_commits += 1;
            let second = database.shared.compact_index(Levels::All);
            assert!(matches!(second, Err(Error::Failed(_))), "{after}: {second:?}");
        }
    }
    assert_eq!(failed_commits, 3, "names, edit and its sync");
}
