//! Random histories leave what an ordered map holds, and files that agree.

use proptest::prelude::*;

use super::history::{Model, Step, apply, content, steps, write};
use super::simulated_files::SimulatedFiles;
use super::{invariants, small};
use crate::jobs::Levels;
use crate::{Compression, Database, Durability, Options};

fn open(files: &SimulatedFiles, options: &Options) -> Database {
    Database::open_files(Box::new(files.clone()), options.clone(), false).unwrap()
}

fn run(steps: &[Step], options: &Options) {
    let files = SimulatedFiles::default();
    let mut database = open(&files, options);
    let mut model = Model::new();
    let mut syncs = 0;
    for step in steps {
        match step {
            Step::Write(batch) => {
                let last = write(&database, batch).unwrap();
                apply(&mut model, last + 1 - batch.len() as u64, batch);
            }
            Step::Flush => database.flush().unwrap(),
            Step::CompactIndex => drop(database.shared.compact_index(Levels::Due).unwrap()),
            Step::CompactAll => database.compact_all().unwrap(),
            Step::Collect => {
                let before = database.state().index_reads;
                database.shared.collect().unwrap();
                assert_eq!(database.state().index_reads, before, "a collection reads no index");
            }
            Step::Reopen => {
                let is_clean = options.durability == Durability::None;
                if is_clean {
                    database.close().unwrap()
                } else {
                    drop(database)
                }
                database = open(&files, options);
            }
        }
        // The files change with a sync only.
        let state = database.state();
        if state.fsyncs != syncs {
            syncs = state.fsyncs;
            invariants::check(&database.shared);
        }
    }
    check_reads(&database, &model);
    database.compact_all().unwrap();
    invariants::check(&database.shared);
    check_reads(&database, &model);
    let state = database.state();
    let most = options.garbage_ratio * state.document_bytes as f64;
    assert!(state.garbage_bytes == 0 || (state.garbage_bytes as f64) < most, "{state:?}");
}

fn check_reads(database: &Database, model: &Model) {
    assert_eq!(content(database), *model);
    for number in 0..41 {
        let key = [b'k', number];
        let value = database.get(&key).unwrap().map(|value| value.to_vec());
        assert_eq!(value, model.get(&key[..]).map(|(_, value)| value.clone()));
        let rows = |is_forward, limit| {
            let mut rows = Vec::new();
            let row = |key: &[u8], value: &[u8]| rows.push((key.to_vec(), value.to_vec()));
            database.scan(&key, is_forward, limit, row).unwrap();
            rows
        };
        let row = |(key, (_, value)): (&Vec<u8>, &(u64, Vec<u8>))| (key.clone(), value.clone());
        let after: Vec<_> = model.range(key.to_vec()..).take(3).map(row).collect();
        assert_eq!(rows(true, 3), after);
        let before: Vec<_> = model.range(..=key.to_vec()).rev().take(3).map(row).collect();
        assert_eq!(rows(false, 3), before);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn histories_leave_what_a_map_holds(steps in steps(120), is_compressed in any::<bool>()) {
        let compression = if is_compressed { Compression::Lz4 } else { Compression::None };
        for durability in [Durability::None, Durability::Os] {
            run(&steps, &Options { compression, ..small(durability) });
        }
    }
}

/// Goal: garbage is collected while most documents live on; a tree of more than one level works.
#[test]
fn thousands_of_overwrites_leave_little_garbage() {
    let options = Options {
        compression: Compression::None,
        write_cache_bytes: 64 << 10,
        segment_bytes: 100 << 10,
        ..small(Durability::Os)
    };
    let database = open(&SimulatedFiles::default(), &options);
    for round in 0..6_u32 {
        for number in 0..1_500_u32 {
            let value = [round.to_be_bytes(), number.to_be_bytes()].concat().repeat(40);
            database.put(&(number * 7919 % 1_500).to_be_bytes(), &value).unwrap();
        }
    }
    database.compact_all().unwrap();
    invariants::check(&database.shared);
    let state = database.state();
    assert!(
        state.segments_collected > 0 && state.garbage_bytes * 2 < state.document_bytes,
        "{state:?}"
    );
    assert_eq!(content(&database).len(), 1_500);
    assert!(state.segments > 1, "{state:?}");
}
