//! Extreme keys, values, batches and options.

use super::recording::open;
use super::simulated_files::SimulatedFiles;
use super::{invariants, small};
use crate::{Compression, Database, Durability, Error, LENGTH_MAX, Options, Write};

/// Returns all keys up or down, with the length of each value.
fn rows(database: &Database, start: &[u8], is_forward: bool) -> Vec<(Vec<u8>, usize)> {
    let mut rows = Vec::new();
    let row = |key: &[u8], value: &[u8]| rows.push((key.to_vec(), value.len()));
    database.scan(start, is_forward, usize::MAX, row).unwrap();
    rows
}

fn check_rows(database: &Database, expected: &[(Vec<u8>, usize)]) {
    assert_eq!(rows(database, &[], true), expected);
    let mut down = rows(database, &[0xff; 70_000], false);
    down.reverse();
    assert_eq!(down, expected);
    for (key, bytes) in expected {
        assert_eq!(database.get(key).unwrap().map(|value| value.len()), Some(*bytes));
    }
}

/// Goal: keys of 0, 1 and 64 Ki bytes and empty values are found in cache, log and index.
#[test]
fn empty_and_long_keys_are_found_everywhere() {
    let files = SimulatedFiles::default();
    let database = open(&files, Durability::Os).unwrap();
    let mut expected = vec![(Vec::new(), 0), (vec![0], 5), (vec![7], 0)];
    // Long keys that differ at their ends only, so that each fills blocks of the index alone.
    expected.extend((0..9_u8).map(|end| ([vec![9; 65_535], vec![end]].concat(), 3)));
    for (key, bytes) in expected.iter().rev() {
        database.put(key, &vec![1; *bytes]).unwrap();
    }
    check_rows(&database, &expected);
    database.flush().unwrap();
    check_rows(&database, &expected);
    database.put(&expected[3].0, b"333").unwrap();
    database.delete(&expected[0].0).unwrap();
    expected.remove(0);
    database.compact_all().unwrap();
    check_rows(&database, &expected);
    invariants::check(&database.shared);
    drop(database);
    check_rows(&open(&files, Durability::Os).unwrap(), &expected);
}

#[test]
fn values_of_64_mib_are_read_back() {
    let numbers = (0..16_u32 << 20).map(|at| at.wrapping_mul(2_654_435_769));
    let value: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
    for compression in [Compression::None, Compression::Lz4] {
        let options = Options { compression, ..small(Durability::Os) };
        let dir = tempfile::tempdir().unwrap();
        let database = Database::open(dir.path(), options.clone()).unwrap();
        database.put(b"a", &value).unwrap();
        database.put(b"b", b"small").unwrap();
        database.flush().unwrap();
        assert!(*database.get(b"a").unwrap().unwrap() == value[..]);
        database.put(b"a", &value[1..]).unwrap();
        drop(database);
        let database = Database::open(dir.path(), options).unwrap();
        assert!(*database.get(b"a").unwrap().unwrap() == value[1..]);
        database.close().unwrap();
    }
}

#[test]
fn a_batch_larger_than_the_write_cache_is_written_whole() {
    let files = SimulatedFiles::default();
    let database = open(&files, Durability::Os).unwrap();
    let keys: Vec<[u8; 2]> = (0..500_u16).map(u16::to_be_bytes).collect();
    let batch: Vec<_> = keys.iter().map(|key| Write { key, value: Some(&[3; 90]) }).collect();
    assert_eq!(database.write(&batch).unwrap(), 500);
    assert_eq!(rows(&database, &[], true).len(), 500);
    drop(database);
    assert_eq!(rows(&open(&files, Durability::Os).unwrap(), &[], true).len(), 500);
}

#[test]
fn an_empty_batch_does_not_end_the_log() {
    let files = SimulatedFiles::default();
    let database = open(&files, Durability::Os).unwrap();
    assert_eq!(database.write(&[]).unwrap(), 0);
    database.put(b"a", b"1").unwrap();
    assert_eq!(database.write(&[]).unwrap(), 1);
    database.put(b"b", b"2").unwrap();
    drop(database);
    let database = open(&files, Durability::Os).unwrap();
    assert_eq!(database.last_sequence(), 2);
    assert_eq!(rows(&database, &[], true).len(), 2);
}

/// The memory of the zeros is never touched, so it costs none.
#[test]
fn a_batch_that_is_too_long_is_refused_and_harms_nothing() {
    let database = open(&SimulatedFiles::default(), Durability::Os).unwrap();
    let zeros = vec![0; LENGTH_MAX / 2];
    let write = Write { key: b"k", value: Some(&zeros) };
    let error = database.write(&[write; 3]).unwrap_err();
    assert!(matches!(error, Error::TooLong(bytes) if bytes == 3 * (LENGTH_MAX / 2 + 9)), "{error}");
    assert_eq!(database.put(b"k", b"v").unwrap(), 1);
}

/// Goal: a scan finds its documents whatever happens to the files meanwhile.
/// Method: overwrite, flush, compact and collect within the rows of a scan.
#[test]
fn a_scan_outlives_flushes_compactions_and_collections() {
    let options =
        Options { document_cache_bytes: 0, block_cache_bytes: 0, ..small(Durability::Os) };
    let files = SimulatedFiles::default();
    let database = Database::open_files(Box::new(files), options, false).unwrap();
    for number in 0..200_u8 {
        database.put(&[number], &[number; 100]).unwrap();
    }
    let mut found = 0;
    let change = |number: u8| {
        if number.is_multiple_of(20) {
            for other in 0..200 {
                database.put(&[other], &[other ^ 0xff; 100]).unwrap();
            }
            database.compact_all().unwrap();
        }
    };
    let by_key = |key: &[u8], value: &[u8]| {
        assert_eq!(value, [key[0]; 100]);
        found += 1;
        change(key[0]);
    };
    database.scan(&[], true, usize::MAX, by_key).unwrap();
    assert_eq!(found, 200);
    let (mut found, mut before) = (0, 0);
    let by_number = |seqno: u64, key: &[u8], value: &[u8]| {
        assert!(seqno > before);
        before = seqno;
        assert_eq!(value, [key[0] ^ 0xff; 100]);
        found += 1;
        change(key[0]);
    };
    database.scan_sequence(0, usize::MAX, by_number).unwrap();
    assert_eq!(found, 200);
    assert!(database.state().segments_collected > 0);
    database.scan_sequence(u64::MAX, 1, |_, _, _| panic!("there is none")).unwrap();
}

#[test]
fn options_without_sense_are_refused_by_name() {
    let good = small(Durability::Os);
    let bad = [
        ("write_cache_bytes", Options { write_cache_bytes: 0, ..good.clone() }),
        ("segment_bytes", Options { segment_bytes: 0, ..good.clone() }),
        ("level1_bytes", Options { level1_bytes: 0, ..good.clone() }),
        ("table_bytes", Options { table_bytes: 0, ..good.clone() }),
        ("table_bytes", Options { table_bytes: 2 << 30, ..good.clone() }),
        ("level0_tables", Options { level0_tables: 0, ..good.clone() }),
        ("bloom_bits", Options { bloom_bits: 0, ..good.clone() }),
        ("garbage_ratio", Options { garbage_ratio: 0.0, ..good.clone() }),
        ("garbage_ratio", Options { garbage_ratio: 1.5, ..good.clone() }),
        ("garbage_ratio", Options { garbage_ratio: f64::NAN, ..good }),
    ];
    for (name, options) in bad {
        let opened = Database::open_files(Box::new(SimulatedFiles::default()), options, false);
        let error = opened.err().expect("no sense");
        assert!(error.to_string().starts_with(&format!("option {name}: write ")), "{error}");
    }
}

/// Goal: the least of everything works: no cache, a segment for each flush, a table for each tuple.
#[test]
fn least_options_work() {
    let options = Options {
        write_cache_bytes: 1,
        segment_bytes: 1,
        document_cache_bytes: 0,
        block_cache_bytes: 0,
        table_bytes: 1,
        level0_tables: 1,
        level1_bytes: 1,
        ..small(Durability::Os)
    };
    let database =
        Database::open_files(Box::new(SimulatedFiles::default()), options, false).unwrap();
    for number in 0..60_u8 {
        database.put(&[number % 20], &[number; 10]).unwrap();
    }
    database.wait_idle().unwrap();
    invariants::check(&database.shared);
    assert_eq!(rows(&database, &[], true).len(), 20);
}

/// Goal: a directory that has lost its manifest is not taken for an empty one, and not emptied.
#[test]
fn a_missing_manifest_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Database::open(dir.path(), small(Durability::Os));
    open().unwrap().put(b"a", b"1").unwrap();
    let manifest = dir.path().join("manifest");
    let aside = dir.path().join("aside");
    std::fs::rename(&manifest, &aside).unwrap();
    let error = open().err().expect("there is a log");
    assert!(error.to_string().starts_with("manifest is damaged: it is missing"), "{error}");
    std::fs::rename(&aside, &manifest).unwrap();
    assert_eq!(&*open().unwrap().get(b"a").unwrap().unwrap(), b"1");
}
