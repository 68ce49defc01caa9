//! A changed byte in any file is reported or is a torn end: it is never a wrong answer.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use super::crashes::size;
use super::history::{steps, try_content};
use super::recording::{Recording, choices, open};
use super::simulated_files::{Image, SimulatedFiles};
use crate::{Durability, Error};

/// Goal: what is read after a flip is right, or an error that names a file.
/// Method: flip single bits of the files that histories leave; read everything, by key and by
/// sequence number. A log or manifest may have lost its end, so an earlier state is right for them.
#[test]
fn a_flipped_bit_is_never_a_wrong_answer() {
    let mut runner = TestRunner::deterministic();
    let mut choose = choices(7);
    let (mut reported, mut torn, mut unused) = (0, 0, 0);
    for _ in 0..size(8, 200) {
        let steps = steps(80).new_tree(&mut runner).unwrap().current();
        let files = SimulatedFiles::default();
        let (recording, _) = Recording::new(&steps, Durability::Os, &files);
        let image = Image::after(&recording.calls);
        for _ in 0..60 {
            let mut image = image.clone();
            let name = image.flip(&mut choose);
            let read = open(&SimulatedFiles::of(image), Durability::Os)
                .and_then(|database| try_content(&database));
            match read {
                Ok(found) => {
                    let state = recording.number(&found);
                    let is_last = state == recording.states.len() - 1;
                    let has_end = name == "manifest" || name.ends_with(".wal");
                    assert!(is_last || has_end, "{name}: {state} of {}", recording.states.len());
                    *if is_last { &mut unused } else { &mut torn } += 1;
                }
                Err(Error::Damaged { .. } | Error::Io { .. }) => reported += 1,
                Err(other) => panic!("{name}: {other}"),
            }
        }
    }
    println!("{reported} flips reported, {torn} torn ends, {unused} in bytes that are not in use");
    assert!(reported > 50 && torn > 0, "{reported} reported, {torn} torn");
}
