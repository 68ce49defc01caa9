//! A changed byte in any file is reported or is a torn end: it is never a wrong answer.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use super::crashes::size;
use super::history::{steps, try_content};
use super::recording::{Recording, choices, open};
use super::simulated_files::{Image, SimulatedFiles};
use crate::codec::frame;
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

/// Goal: an edit that is not the last cannot be torn, so its damage is not ignored.
#[test]
fn a_damaged_edit_before_the_last_is_reported_and_nothing_is_removed() {
    let files = SimulatedFiles::default();
    let database = open(&files, Durability::None).unwrap();
    for number in 0..3 {
        database.put(&[number], b"v").unwrap();
        database.flush().unwrap();
    }
    let image = Image::after(&files.calls());
    let content = image.clone().content_mut("manifest").clone();
    let mut last = 0;
    while let Some((_, after)) = frame(&content[last..]).filter(|(_, after)| !after.is_empty()) {
        last = content.len() - after.len();
    }
    assert!(last > 100);
    for at in 0..last {
        let mut image = image.clone();
        image.content_mut("manifest")[at] ^= 0x10;
        let files = SimulatedFiles::of(image);
        let error = open(&files, Durability::None).err().expect("it is damaged");
        assert!(error.to_string().starts_with("manifest is damaged"), "{at}: {error}");
        assert_eq!(files.count(), 0, "no file is changed");
    }
}
