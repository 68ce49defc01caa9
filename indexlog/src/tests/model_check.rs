//! Model checks of the threads: many orders of their steps, by shuttle.
//!
//! Run by `cargo test -p indexlog --features model-check --lib model_check`. Files are simulated,
//! and each call on one is a step. A failure prints the order as a seed to replay; threads that all
//! wait are a failure.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use shuttle::rand::Rng as _;
use shuttle::scheduler::RandomScheduler;
use shuttle::thread::{self, JoinHandle};

use super::history::{Model, content};
use super::simulated_files::{Fault, Image, SimulatedFiles};
use super::{invariants, small};
use crate::{Database, Durability, Error, Options};

/// Orders tried per test: about two seconds in a debug build.
const ORDERS: usize = 150;

/// A few documents fill the write cache, a flush fills a segment, and nothing is cached.
fn tiny(durability: Durability) -> Options {
    Options {
        write_cache_bytes: 400,
        segment_bytes: 1,
        document_cache_bytes: 0,
        block_cache_bytes: 0,
        table_bytes: 100,
        level0_tables: 1,
        level1_bytes: 300,
        ..small(durability)
    }
}

fn open(files: &SimulatedFiles, durability: Durability) -> Arc<Database> {
    Arc::new(Database::open_files(Box::new(files.clone()), tiny(durability), true).unwrap())
}

/// Returns what an image of the files holds.
fn recovered(image: Image) -> Model {
    let files = Box::new(SimulatedFiles::of(image));
    let database = Database::open_files(files, tiny(Durability::Os), false).unwrap();
    invariants::check(&database.shared);
    content(&database)
}

fn check(orders: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut config = shuttle::Config::default();
    // Frames of a debug build.
    config.stack_size = 1 << 19;
    shuttle::Runner::new(RandomScheduler::new(orders), config).run(body);
}

/// Starts a client with the database.
fn client<T: Send + 'static>(
    database: &Arc<Database>,
    body: impl FnOnce(&Database) -> T + Send + 'static,
) -> JoinHandle<T> {
    let database = Arc::clone(database);
    thread::spawn(move || body(&database))
}

/// A key of a writer and its version of a round.
fn document(writer: u8, round: u8) -> ([u8; 2], [u8; 40]) {
    ([writer, round % 2], [round; 40])
}

/// Goal: what a writer has written it reads, while caches are switched and flushed; nothing waits
/// for ever; everything is there after the end.
#[test]
fn writers_read_their_writes_while_caches_are_switched() {
    check(ORDERS, || {
        let files = SimulatedFiles::default();
        let database = open(&files, Durability::Os);
        let write = |writer: u8| {
            client(&database, move |database| {
                for round in 0..5 {
                    let (key, value) = document(writer, round);
                    database.put(&key, &value).unwrap();
                    assert_eq!(&*database.get(&key).unwrap().unwrap(), value);
                }
            })
        };
        let writers = [write(1), write(2)];
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        // The threads are still at work when the database is closed or dropped.
        if shuttle::rand::thread_rng().gen_bool(0.5) {
            Arc::into_inner(database).expect("the clients are over").close().unwrap();
        } else {
            drop(database);
        }
        let found = recovered(Image::after(&files.calls()));
        let values: Vec<_> = found.values().map(|(_, value)| value[0]).collect();
        assert_eq!(values, [4, 3, 4, 3]);
    });
}

/// Goal: an entry that a compaction appends to the delete list while its segment is collected is
/// neither lost nor counted twice.
/// Method: one thread each for the two, on a segment with garbage that is known and garbage that
/// the compaction finds.
#[test]
fn a_collection_leaves_what_a_compaction_drops_meanwhile() {
    check(3 * ORDERS, || {
        let options =
            Options { write_cache_bytes: 1 << 20, level0_tables: 9, ..tiny(Durability::None) };
        let files = Box::new(SimulatedFiles::default());
        let database = Arc::new(Database::open_files(files, options, false).unwrap());
        for keys in [0..6, 0..3] {
            for key in keys {
                database.put(&[key], &[7; 40]).unwrap();
            }
            database.flush().unwrap();
        }
        database.compact_level0().unwrap();
        for key in 2..5 {
            database.put(&[key], &[8; 40]).unwrap();
        }
        database.flush().unwrap();
        let collector = client(&database, |database| database.shared.collect().unwrap());
        let compactor = client(&database, |database| database.compact_level0().unwrap());
        assert!(collector.join().unwrap(), "half of the first segment is garbage");
        compactor.join().unwrap();
        invariants::check(&database.shared);
        while database.shared.collect().unwrap() {}
        invariants::check(&database.shared);
        assert_eq!(content(&database).len(), 6);
    });
}

/// Goal: a reader finds its documents in a segment that is collected and removed meanwhile.
#[test]
fn a_reader_has_its_segments_until_it_is_done() {
    check(ORDERS, || {
        let database = open(&SimulatedFiles::default(), Durability::None);
        for key in 0..4 {
            database.put(&[key], &[0; 40]).unwrap();
        }
        let reader = client(&database, |database| {
            for _ in 0..3 {
                assert_eq!(&*database.get(&[0]).unwrap().expect("never deleted"), [0; 40]);
                let mut rows = 0;
                database.scan(&[], true, usize::MAX, |_, _| rows += 1).unwrap();
                assert_eq!(rows, 4);
                let mut rows = 0;
                database.scan_sequence(0, usize::MAX, |_, _, _| rows += 1).unwrap();
                assert_eq!(rows, 4);
            }
        });
        let writer = client(&database, |database| {
            for round in 1..5 {
                for key in 1..4 {
                    database.put(&[key], &[round; 40]).unwrap();
                }
            }
        });
        writer.join().unwrap();
        reader.join().unwrap();
    });
}

/// Writes as several clients until a write fails; returns key and calls of what was acknowledged.
fn acknowledged(database: &Arc<Database>, files: &SimulatedFiles) -> Vec<([u8; 2], usize)> {
    let write = |writer: u8| {
        let files = files.clone();
        client(database, move |database| {
            let mut acknowledged = Vec::new();
            for round in 0..3 {
                match database.put(&[writer, round], &[round; 40]) {
                    Ok(_) => acknowledged.push(([writer, round], files.count())),
                    Err(_) => {
                        let again = database.put(&[writer, 9], b"");
                        assert!(matches!(again, Err(Error::Failed(_))), "{again:?}");
                        break;
                    }
                }
            }
            acknowledged
        })
    };
    let writers: Vec<_> = (1..4).map(write).collect();
    writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
}

/// Checks that a power loss right after each acknowledgement loses nothing that was acknowledged.
fn check_power_losses(files: &SimulatedFiles, acknowledged: &[([u8; 2], usize)]) {
    let calls = files.calls();
    for (_, end) in acknowledged {
        let found = recovered(Image::after_power_loss(&calls[..*end], &mut |_| 0));
        for (key, at) in acknowledged {
            assert!(at > end || found.contains_key(&key[..]), "{key:?} is lost");
        }
    }
}

/// Goal: a write is acknowledged only after a sync that has its part of the log.
#[test]
fn a_sync_for_many_clients_has_the_writes_of_all() {
    check(ORDERS / 3, || {
        let files = SimulatedFiles::default();
        let database = open(&files, Durability::Sync);
        let acknowledged = acknowledged(&database, &files);
        assert_eq!(acknowledged.len(), 9);
        check_power_losses(&files, &acknowledged);
    });
}

/// Goal: a call that fails ends every wait and every writing; what was acknowledged is there.
#[test]
fn a_failed_call_ends_every_wait_and_loses_nothing() {
    static ACKNOWLEDGED: AtomicUsize = AtomicUsize::new(0);
    check(ORDERS, || {
        let files = SimulatedFiles::default();
        let database = open(&files, Durability::Sync);
        let after = shuttle::rand::thread_rng().gen_range(0..80);
        files.fail(Fault { after, is_lasting: false });
        let acknowledged = acknowledged(&database, &files);
        drop(database);
        files.mend();
        let last = acknowledged.iter().max_by_key(|(_, at)| *at).copied();
        let found = recovered(Image::after_power_loss(&files.calls(), &mut |_| 0));
        for (key, _) in &acknowledged {
            assert!(found.contains_key(&key[..]), "{key:?} is lost");
        }
        check_power_losses(&files, last.as_slice());
        ACKNOWLEDGED.fetch_add(acknowledged.len(), Ordering::Relaxed);
    });
    assert!(ACKNOWLEDGED.load(Ordering::Relaxed) > 0);
}
