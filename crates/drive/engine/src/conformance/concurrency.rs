//! Checks of concurrent clients: no torn, stale or lost value.

use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};

use model::capability::CONCURRENT_WRITERS;
use model::{Direction, Op};

use super::client::{Client, Row, start, text};
use super::stream::SplitMix;
use super::subject::{Subject, close, fresh_dir};
use crate::traits::Engine;

/// Keys that the writers overwrite.
const KEYS: usize = 32;
/// Threads that read.
const READERS: usize = 4;
/// Maximum operations of one reader, against a writer that hangs.
const READS_MAX: u64 = 1_000_000;
/// Reads of all readers together during the writes, unless that takes too long.
const READS_WANTED: u64 = 400;
/// Maximum factor on the writer's writes, to wait for those reads.
const EXTRA_WRITES: u64 = 10;

/// Versions written so far, per key; they only grow.
struct Versions {
    directions: &'static [Direction],
    value_bytes_max: usize,
    started: [AtomicU64; KEYS],
    done: [AtomicU64; KEYS],
    reads: AtomicU64,
    is_over: AtomicBool,
}

impl Versions {
    fn new(subject: &Subject<'_>) -> Self {
        Self {
            directions: subject.directions(),
            value_bytes_max: subject.value_bytes_max(),
            started: [const { AtomicU64::new(0) }; KEYS],
            done: [const { AtomicU64::new(0) }; KEYS],
            reads: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    fn value(&self, index: usize, version: u64) -> Vec<u8> {
        value(index, version, self.value_bytes_max)
    }

    /// Returns whether a writer that wrote `done` of `wanted` times may stop.
    fn is_enough(&self, done: u64, wanted: u64) -> bool {
        let has_been_read = self.reads.load(Ordering::Relaxed) >= READS_WANTED;
        done >= wanted.saturating_mul(if has_been_read { 1 } else { EXTRA_WRITES })
    }
}

/// Stops the readers when the writer ends or panics.
struct OverOnDrop<'b>(&'b Versions);

impl Drop for OverOnDrop<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
    }
}

/// Checks four readers with one writer: no torn, future or stale value.
pub(super) fn readers_with_a_writer(subject: &Subject<'_>) -> Result<(), String> {
    let dir = fresh_dir()?;
    let engine = subject.open(dir.path())?;
    let versions = Versions::new(subject);
    let writes = subject.scaled(2_000) as u64;
    overwrite(&*engine, &versions, |done| done >= KEYS as u64)?;
    let begin = RwLock::new(());
    thread::scope(|scope| {
        let (engine, versions, begin) = (&*engine, &versions, &begin);
        let held = begin.write();
        let read = |reader| {
            start(scope, move || {
                drop(begin.read());
                read_until_over(engine, versions, reader)
            })
        };
        let write = move || {
            let _over = OverOnDrop(versions);
            drop(begin.read());
            overwrite(engine, versions, |done| versions.is_enough(done, writes))
        };
        let readers = (0..READERS).map(read).collect::<Result<Vec<_>, _>>();
        let started = readers.and_then(|readers| Ok((readers, start(scope, write)?)));
        if started.is_err() {
            // Without a writer nothing else ends the readers.
            versions.is_over.store(true, Ordering::Release);
        }
        drop(held);
        let (readers, writer) = started?;
        let states = read_state_until_over(engine, versions);
        readers.into_iter().chain([writer]).try_for_each(join)?;
        states
    })?;
    let mut client = Client::new(&*engine)?;
    for index in 0..KEYS {
        let last = versions.value(index, versions.done[index].load(Ordering::Acquire));
        client.expect(&Op::Get { key: &key(index) }, &[(&key(index), &last)])?;
    }
    drop(client);
    close(engine)
}

fn join(handle: ScopedJoinHandle<'_, Result<(), String>>) -> Result<(), String> {
    handle.join().unwrap_or_else(|_panic| Err("a client panicked".to_owned()))
}

/// Reads the engine's state while the clients work.
fn read_state_until_over(engine: &dyn Engine, versions: &Versions) -> Result<(), String> {
    for _ in 0..20 {
        engine.state().map_err(|error| format!("state failed during writes: {error}"))?;
        if versions.is_over.load(Ordering::Acquire) {
            break;
        }
        thread::yield_now();
    }
    Ok(())
}

/// Writes the next version of each key in turn, until enough is written.
fn overwrite(
    engine: &dyn Engine,
    versions: &Versions,
    is_enough: impl Fn(u64) -> bool,
) -> Result<(), String> {
    let mut client = Client::new(engine)?;
    for (write, index) in (0..KEYS).cycle().enumerate() {
        if is_enough(write as u64) {
            break;
        }
        let version = 1 + versions.done[index].load(Ordering::Acquire);
        versions.started[index].store(version, Ordering::Release);
        client.put(&key(index), &versions.value(index, version))?;
        versions.done[index].store(version, Ordering::Release);
    }
    Ok(())
}

fn read_until_over(engine: &dyn Engine, versions: &Versions, reader: usize) -> Result<(), String> {
    let mut client = Client::new(engine)?;
    let mut random = SplitMix::new(reader as u64);
    for _ in 0..READS_MAX {
        // Loaded before the read: the read may not return anything older.
        let is_over = versions.is_over.load(Ordering::Acquire);
        let oldest: Vec<u64> =
            versions.done.iter().map(|version| version.load(Ordering::Acquire)).collect();
        let rows = if !versions.directions.is_empty() && random.below(4) == 0 {
            scan_all(&mut client, versions.directions[random.below(2) % versions.directions.len()])?
        } else {
            let key = key(random.below(KEYS));
            let value =
                client.get(&key)?.ok_or("a get during writes: expected its row, got none")?;
            vec![(key, value)]
        };
        for (key, found) in &rows {
            check(versions, &oldest, key, found)?;
        }
        versions.reads.fetch_add(1, Ordering::Relaxed);
        if is_over {
            return Ok(());
        }
    }
    Ok(())
}

/// Returns the rows of every key in key order, read in the direction given.
fn scan_all(client: &mut Client<'_>, direction: Direction) -> Result<Vec<Row>, String> {
    let start = key(if direction == Direction::Forward { 0 } else { KEYS - 1 });
    let mut rows = client.all(&start, direction)?;
    if direction == Direction::Reverse {
        rows.reverse();
    }
    let is_whole = rows.len() == KEYS && rows.iter().zip(0..).all(|(row, n)| row.0 == key(n));
    if is_whole {
        Ok(rows)
    } else {
        let found = rows.len();
        Err(format!("a scan during writes: expected each of {KEYS} keys once, got {found} rows"))
    }
}

/// Checks that `found` is a current version of `key`.
fn check(versions: &Versions, oldest: &[u64], key: &[u8], found: &[u8]) -> Result<(), String> {
    let index = usize::from(key[key.len() - 1]);
    let version = version_of(found)
        .ok_or_else(|| format!("key {index}: expected a value written, got {}", text(found)))?;
    let newest = versions.started[index].load(Ordering::Acquire);
    if version < oldest[index] || version > newest {
        return Err(format!(
            "key {index}: expected version {} to {newest}, got version {version}",
            oldest[index]
        ));
    }
    if found == versions.value(index, version) {
        Ok(())
    } else {
        Err(format!(
            "key {index}: expected version {version} as it was written, got a torn value: {}",
            text(found)
        ))
    }
}

fn key(index: usize) -> Vec<u8> {
    let mut key = b"row".to_vec();
    key.push(u8::try_from(index).expect("there are fewer than 256 keys"));
    key
}

/// Returns a value of at most `most` bytes that depends on key and version throughout.
fn value(index: usize, version: u64, most: usize) -> Vec<u8> {
    let mut random = SplitMix::new(version << 8 | index as u64);
    let mut value = version.to_be_bytes().to_vec();
    let bytes = if version.is_multiple_of(50) { 20_000 } else { 10 + random.below(1_500) };
    value.extend(random.bytes(bytes));
    value.truncate(most);
    value
}

fn version_of(value: &[u8]) -> Option<u64> {
    value.first_chunk().map(|version| u64::from_be_bytes(*version))
}

/// Checks several writers: no writer's last write to its own key is lost.
pub(super) fn several_writers(subject: &Subject<'_>) -> Result<(), String> {
    let writers = if subject.capabilities.has(CONCURRENT_WRITERS) { 4 } else { 2 };
    let (rounds, most) = (subject.scaled(400) as u64, subject.value_bytes_max());
    let dir = fresh_dir()?;
    let engine = subject.open(dir.path())?;
    thread::scope(|scope| {
        let handles: Vec<_> = (0..writers)
            .map(|writer| {
                let engine = &*engine;
                start(scope, move || write_own_and_shared(engine, writer, rounds, most))
            })
            .collect::<Result<_, _>>()?;
        handles.into_iter().try_for_each(join)
    })?;
    let mut client = Client::new(&*engine)?;
    let shared =
        client.get(b"shared")?.ok_or("the key that all writers wrote: expected a row, got none")?;
    if !(0..writers).any(|writer| shared == value(writer, rounds, most)) {
        return Err(format!(
            "the key that all writers wrote: expected the last write of one of them, got {}",
            text(&shared)
        ));
    }
    for writer in 0..writers {
        for slot in 0..rounds.min(OWN_KEYS) {
            let last = (rounds - 1 - slot) / OWN_KEYS * OWN_KEYS + slot;
            let found = client.get(&own_key(writer, slot))?;
            if found != Some(value(writer, last + 1, most)) {
                let found = found.map_or("no row".to_owned(), |value| text(&value));
                return Err(format!(
                    "writer {writer}, key {slot}: expected its last write {last}, got {found}"
                ));
            }
        }
    }
    drop(client);
    close(engine)
}

/// Keys of its own that each writer overwrites in turn.
const OWN_KEYS: u64 = 50;

fn own_key(writer: usize, slot: u64) -> Vec<u8> {
    format!("own{writer}.{slot}").into_bytes()
}

fn write_own_and_shared(
    engine: &dyn Engine,
    writer: usize,
    rounds: u64,
    most: usize,
) -> Result<(), String> {
    let mut client = Client::new(engine)?;
    for round in 0..rounds {
        let own = own_key(writer, round % OWN_KEYS);
        let value = value(writer, round + 1, most);
        client.put(&own, &value)?;
        client.put(b"shared", &value)?;
        let found = client.get(&own)?;
        if found.as_ref() != Some(&value) {
            let found = found.map_or("no row".to_owned(), |value| text(&value));
            return Err(format!("writer {writer}: expected its own write {round}, got {found}"));
        }
    }
    Ok(())
}
