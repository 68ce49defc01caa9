//! Clients next to background threads.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{invariants, small};
use crate::{Database, Durability, Options};

const KEYS: u32 = 200;

fn value(key: u32, round: u32) -> Vec<u8> {
    [key.to_be_bytes(), round.to_be_bytes()].concat().repeat(12)
}

/// Goal: numbers are consecutive over all clients, and each client's ascend.
#[test]
fn many_writers_get_every_number_once_in_their_order() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { write_cache_bytes: 16 << 10, ..small(Durability::Sync) };
    let database = Database::open(dir.path(), options).unwrap();
    let numbers: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let write = |client: u32| {
            let database = &database;
            let put = move |round: u32| {
                let key = [client.to_be_bytes(), round.to_be_bytes()].concat();
                database.put(&key, &value(client, round)).unwrap()
            };
            scope.spawn(move || (0..100).map(put).collect())
        };
        let clients: Vec<_> = (0..4).map(write).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    assert!(numbers.iter().all(|numbers| numbers.is_sorted()));
    let mut all = numbers.concat();
    all.sort_unstable();
    assert_eq!(all, (1..=400).collect::<Vec<_>>());
}

/// Goal: a second open of a directory is refused until the first is over.
#[test]
fn a_directory_is_open_once() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Database::open(dir.path(), small(Durability::Os));
    let first = open().unwrap();
    let error = open().err().expect("it is open");
    assert!(error.to_string().contains("open elsewhere"), "{error}");
    drop(first);
    open().unwrap().close().unwrap();
}

/// Goal: reads find a version that was written, whatever the background threads move meanwhile.
#[test]
fn readers_writers_and_background_threads_agree() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { write_cache_bytes: 16 << 10, ..small(Durability::Os) };
    let database = Database::open(dir.path(), options.clone()).unwrap();
    for key in 0..KEYS {
        database.put(&key.to_be_bytes(), &value(key, 0)).unwrap();
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let (mut seed, mut reads) = (1_u32, 0);
                while reads == 0 || !is_over.load(Ordering::Relaxed) {
                    reads += 1;
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let key = (seed >> 8) % KEYS;
                    let found = database.get(&key.to_be_bytes()).unwrap().expect("never deleted");
                    assert_eq!(found[..4], key.to_be_bytes());
                    let mut rows = 0;
                    let row = |_: &[u8], _: &[u8]| rows += 1;
                    database.scan(&0_u32.to_be_bytes(), true, usize::MAX, row).unwrap();
                    assert_eq!(rows, KEYS);
                }
            });
        }
        for round in 1..60 {
            for key in 0..KEYS {
                database.put(&key.to_be_bytes(), &value(key, round)).unwrap();
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    database.wait_idle().unwrap();
    invariants::check(&database.shared);
    assert!(database.state().segments_collected > 0, "{:?}", database.state());
    database.close().unwrap();
    let database = Database::open(dir.path(), options).unwrap();
    for key in 0..KEYS {
        assert_eq!(&*database.get(&key.to_be_bytes()).unwrap().unwrap(), value(key, 59));
    }
}
