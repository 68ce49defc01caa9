//! Smoke test of an engine library, in less than a second.

use std::path::Path;
use std::{fs, thread};

use model::{Op, OpKind, Options, Settings};

use super::answers::same_rows;
use super::client::{Client, compare, start};
use super::maintenance::reports_itself;
use super::stream::{SEED, SplitMix, key};
use super::subject::{Subject, close, open_oracle};
use crate::traits::{Driver, Engine, Maintenance};

/// Keys written; some of them more than once.
const ROWS: usize = 2_000;
/// Range reads, in turn in each direction.
const SCANS: usize = 200;
/// Longest value written, below every engine's limit.
const VALUE_BYTES: usize = 200;

/// Smoke test: writes, reads, scans, closes and reopens in `dir`.
///
/// Every answer is compared with the oracle's; one reader is a second thread. It is a small part of
/// [`super::battery`], run whenever a library is obtained. A wrong library may end the process:
/// call it in a child.
///
/// # Errors
/// The first wrong answer or failure.
pub fn smoke_test(driver: &dyn Driver, dir: &Path) -> Result<(), String> {
    let options = Options::new();
    let subject = Subject::new(driver, &Settings::default(), &options);
    let make = |name: &str| {
        let dir = dir.join(name);
        fs::create_dir(&dir).map_err(|error| format!("`{}`: {error}", dir.display()))?;
        Ok::<_, String>(dir)
    };
    let (data, oracle_data) = (make("engine")?, make("oracle")?);
    let oracle_engine = open_oracle(&oracle_data)?;
    let mut oracle = Client::new(&*oracle_engine)?;
    let engine = subject.open(&data)?;
    reports_itself(&*engine)?;
    write(&subject, &*engine, &mut oracle)?;
    scan(&subject, &*engine, &mut oracle)?;
    thread::scope(|scope| {
        let reads = || Client::new(&*engine)?.get(&row_key(&subject, 0)).map(drop);
        start(scope, reads)?.join().map_err(|_panic| "a second client panicked".to_owned())?
    })?;
    engine.maintain(Maintenance::Flush).map_err(|error| format!("flush failed: {error}"))?;
    engine.state().map_err(|error| format!("state failed: {error}"))?;
    drop(engine.statistics_text());
    close(engine)?;
    let engine = subject.open(&data).map_err(|reason| format!("reopened: {reason}"))?;
    same_rows(&subject, &mut Client::new(&*engine)?, &mut oracle)
        .map_err(|reason| format!("reopened: {reason}"))?;
    close(engine)
}

fn row_key(subject: &Subject<'_>, index: usize) -> Vec<u8> {
    key(index, subject.key_bytes_max())
}

/// Writes, overwrites and deletes rows, and reads each back.
fn write(
    subject: &Subject<'_>,
    engine: &dyn Engine,
    oracle: &mut Client<'_>,
) -> Result<(), String> {
    let mut client = Client::new(engine)?;
    let mut random = SplitMix::new(SEED);
    for number in 0..ROWS {
        let key = row_key(subject, random.below(ROWS));
        let bytes = random.below(VALUE_BYTES);
        let value = random.bytes(bytes);
        let change = if number % 7 == 6 && subject.can(OpKind::Delete) {
            Op::Delete { key: &key }
        } else {
            Op::Put { key: &key, value: &value }
        };
        for op in [change, Op::Get { key: &key }] {
            compare(&op, &oracle.execute(&op)?, &client.execute(&op)?)?;
        }
    }
    same_rows(subject, &mut client, oracle)
}

/// Reads short ranges, in the directions offered.
fn scan(subject: &Subject<'_>, engine: &dyn Engine, oracle: &mut Client<'_>) -> Result<(), String> {
    let mut client = Client::new(engine)?;
    let mut random = SplitMix::new(!SEED);
    for &direction in subject.directions().iter().cycle().take(SCANS) {
        let start = row_key(subject, random.below(ROWS));
        let op = Op::Scan { start: &start, limit: 10, direction };
        compare(&op, &oracle.execute(&op)?, &client.execute(&op)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryDriver;
    use crate::null::NullDriver;

    #[test]
    fn working_engine_passes_and_null_engine_fails() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(smoke_test(&MemoryDriver, dir.path()), Ok(()));
        let dir = tempfile::tempdir().unwrap();
        assert!(smoke_test(&NullDriver, dir.path()).is_err());
    }
}
