//! The in-memory engine: a map behind a lock.

use std::ops::Bound;
use std::path::Path;
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use model::{
    Capabilities, Direction, Durability, EngineState, Identity, Op, Options, Outcome, Settings,
};

use super::log::Log;
use super::table::Table;
use crate::error::{EngineError, Result};
use crate::parts::{self, Part};
use crate::rows::Rows;
use crate::settings_check::{check_names, check_settings};
use crate::traits::{Driver, Engine, Maintenance, OpenSpec, Session, linked};

/// The only build of the `memory` engine.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryDriver;

impl Driver for MemoryDriver {
    fn identity(&self) -> Identity {
        linked("memory", env!("CARGO_PKG_VERSION"))
    }

    fn capabilities(&self) -> Capabilities {
        use model::capability::{
            APPENDS, CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, FIELD_READS, Feature,
            PARTIAL_UPDATES, SEQUENCE_SCANS,
        };
        Capabilities::whole([
            (CONCURRENT_WRITERS, Feature::Yes),
            (PARTIAL_UPDATES, Feature::Yes),
            (FIELD_READS, Feature::Yes),
            (APPENDS, Feature::Yes),
            (SEQUENCE_SCANS, Feature::Yes),
            (CACHE_SIZE, Feature::no("every row is in memory")),
            (COMPRESSION, Feature::no("rows are stored uncompressed")),
            (DIRECT_IO, Feature::no("it reads no file, and writes its log through the page cache")),
        ])
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>> {
        check_names("memory", &[], &spec.options)?;
        // It is all cache, so the size of one has no effect.
        let settings = Settings { cache_bytes: None, ..spec.settings.clone() };
        check_settings("memory", &self.capabilities(), &settings)?;
        Ok(Box::new(MemoryEngine::open(&spec.dir, spec.settings.durability)?))
    }
}

struct MemoryEngine {
    state: RwLock<State>,
    durability: Durability,
}

struct State {
    table: Table,
    log: Log,
}

impl MemoryEngine {
    fn open(dir: &Path, durability: Durability) -> Result<Self> {
        let (log, table) = Log::open(dir)?;
        Ok(Self { state: RwLock::new(State { table, log }), durability })
    }

    fn read(&self) -> Result<RwLockReadGuard<'_, State>> {
        self.state.read().map_err(|_poisoned| poisoned())
    }

    fn write(&self) -> Result<RwLockWriteGuard<'_, State>> {
        self.state.write().map_err(|_poisoned| poisoned())
    }
}

fn poisoned() -> EngineError {
    EngineError::Fatal("memory: a client panicked while it wrote".to_owned())
}

impl Engine for MemoryEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(MemorySession { engine: self }))
    }

    fn identity(&self) -> Identity {
        MemoryDriver.identity()
    }

    fn effective_options(&self) -> Result<Options> {
        Ok(Options::new())
    }

    fn maintain(&self, work: Maintenance) -> Result<bool> {
        match work {
            Maintenance::Flush => {
                let State { table, log } = &mut *self.write()?;
                log.rewrite(table)?;
                Ok(true)
            }
            Maintenance::CompactLevel0 | Maintenance::CompactAll | Maintenance::Clean => Ok(false),
        }
    }

    fn state(&self) -> Result<EngineState> {
        Ok(EngineState { is_idle: Some(true), ..EngineState::default() })
    }

    fn close(self: Box<Self>) -> Result<()> {
        let State { table, mut log } = self.state.into_inner().map_err(|_poisoned| poisoned())?;
        log.rewrite(&table)
    }
}

struct MemorySession<'e> {
    engine: &'e MemoryEngine,
}

impl MemorySession<'_> {
    /// Executes a write; a value of `None` is a delete.
    fn write(&self, key: &[u8], value: Option<&[u8]>) -> Result<Outcome> {
        self.engine.write()?.write(key, value, self.engine.durability)?;
        Ok(Outcome::Done)
    }

    /// Changes the value of `key`, if present, and writes it; `part` is counted in `rows`.
    fn change(
        &self,
        key: &[u8],
        part: &[u8],
        rows: &mut Rows,
        change: impl FnOnce(&mut Vec<u8>) -> Result<()>,
    ) -> Result<Outcome> {
        let mut state = self.engine.write()?;
        let Some(mut value) = state.table.get(key).map(<[u8]>::to_vec) else {
            return Ok(Outcome::NotFound);
        };
        change(&mut value)?;
        state.write(key, Some(&value), self.engine.durability)?;
        Ok(parts::changed(key, part, rows))
    }
}

impl State {
    fn write(&mut self, key: &[u8], value: Option<&[u8]>, durability: Durability) -> Result<()> {
        let sequence = self.table.last + 1;
        self.log.append((sequence, key, value), durability)?;
        self.table.write(sequence, key, value);
        Ok(())
    }
}

impl Session for MemorySession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome> {
        match *op {
            Op::Get { key } => push_found(&self.engine.read()?.table, key, rows),
            Op::Call(_) => return crate::settings_check::no_procedures("memory"),
            Op::MultiGet { keys } => {
                let state = self.engine.read()?;
                keys.iter().for_each(|key| push_found(&state.table, key, rows));
            }
            Op::Scan { start, limit, direction } => {
                push_range(&self.engine.read()?.table, start, limit, direction, rows);
            }
            Op::Put { key, value } => return self.write(key, Some(value)),
            Op::Delete { key } => return self.write(key, None),
            Op::PartialUpdate { key, offset, bytes } => {
                return self.change(key, bytes, rows, |value| {
                    let part = parts::part(value.len(), offset, bytes.len())?;
                    value[part].copy_from_slice(bytes);
                    Ok(())
                });
            }
            Op::Append { key, bytes } => {
                return self.change(key, bytes, rows, |value| {
                    value.extend_from_slice(bytes);
                    Ok(())
                });
            }
            Op::FieldRead { key, offset, length } => {
                if let Some(value) = self.engine.read()?.table.get(key) {
                    parts::push_field(key, value, Part { offset, length }, rows)?;
                }
            }
            Op::ScanSequence { from, limit } => {
                let state = self.engine.read()?;
                let found = state.table.by_sequence.range(from..).take(limit as usize);
                found.for_each(|(_, key)| push_found(&state.table, key, rows));
            }
        }
        Ok(rows.outcome())
    }
}

fn push_found(table: &Table, key: &[u8], rows: &mut Rows) {
    if let Some(value) = table.get(key) {
        rows.push(key, value);
    }
}

fn push_range(table: &Table, start: &[u8], limit: u32, direction: Direction, rows: &mut Rows) {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let bounds = match direction {
        Direction::Forward => (Bound::Included(start), Bound::Unbounded),
        Direction::Reverse => (Bound::Unbounded, Bound::Included(start)),
    };
    let mut range = table.by_key.range::<[u8], _>(bounds);
    for _ in 0..most {
        let next = match direction {
            Direction::Forward => range.next(),
            Direction::Reverse => range.next_back(),
        };
        let Some((key, (_, value))) = next else { break };
        rows.push(key, value);
    }
}

#[cfg(test)]
mod tests {
    use model::DataShape;
    use tempfile::{TempDir, tempdir};

    use super::*;

    type Pair<'a> = (&'a [u8], &'a [u8]);
    type Row = (Vec<u8>, Vec<u8>);

    fn spec(dir: &TempDir, durability: Durability) -> OpenSpec {
        OpenSpec::embedded(
            dir.path().to_owned(),
            Settings { durability, ..Settings::default() },
            DataShape { rows: 3, key_bytes: 8, value_bytes: 8, compressible_to: 1.0 },
        )
    }

    fn execute(engine: &dyn Engine, op: &Op<'_>) -> (Outcome, Vec<Row>) {
        let mut rows = Rows::new();
        rows.clear(true);
        let outcome = engine.session().unwrap().execute(op, &mut rows).unwrap();
        let stored = rows.stored().map(|(key, value)| (key.to_vec(), value.to_vec()));
        (outcome, stored.collect())
    }

    fn put(engine: &dyn Engine, key: &[u8], value: &[u8]) {
        assert_eq!(execute(engine, &Op::Put { key, value }), (Outcome::Done, Vec::new()));
    }

    /// The battery compares other engines with this one, so its answers are written out here.
    #[test]
    fn oracle_answers_follow_the_contract() {
        use Direction::{Forward, Reverse};
        let dir = tempdir().unwrap();
        let engine = MemoryDriver.open(&spec(&dir, Durability::None)).unwrap();
        for (key, value) in [(b"b", b"old"), (b"d", b"2nd"), (b"b", b"1st"), (b"c", b"del")] {
            put(&*engine, key, value);
        }
        assert_eq!(execute(&*engine, &Op::Delete { key: b"c" }).0, Outcome::Done);
        assert_eq!(execute(&*engine, &Op::Delete { key: b"c" }).0, Outcome::Done);
        let (b, d): (Pair<'_>, Pair<'_>) = ((b"b", b"1st"), (b"d", b"2nd"));
        let scan = |start, limit, direction| Op::Scan { start, limit, direction };
        let field = |key, offset, length| Op::FieldRead { key, offset, length };
        let newest = |from, limit| Op::ScanSequence { from, limit };
        let cases: [(Op<'_>, &[Pair<'_>]); 16] = [
            (Op::Get { key: b"b" }, &[b]),
            (Op::Get { key: b"c" }, &[]),
            (Op::MultiGet { keys: &[b"d", b"c", b"b", b"d"] }, &[d, b, d]),
            (Op::MultiGet { keys: &[b"c"] }, &[]),
            (scan(b"b", 9, Forward), &[b, d]),
            (scan(b"b", 1, Forward), &[b]),
            (scan(b"c", 9, Forward), &[d]),
            (scan(b"c", 9, Reverse), &[b]),
            (scan(b"z", 9, Reverse), &[d, b]),
            (scan(b"a", 9, Reverse), &[]),
            (field(b"b", 1, 2), &[(b"b", b"st")]),
            (field(b"b", 3, 0), &[(b"b", b"")]),
            (field(b"c", 0, 1), &[]),
            // Written in the order b, d, b, c; then c was deleted.
            (newest(0, 9), &[d, b]),
            (newest(3, 9), &[b]),
            (newest(4, 9), &[]),
        ];
        for (op, expected) in cases {
            let (outcome, rows) = execute(&*engine, &op);
            let due = if expected.is_empty() { Outcome::NotFound } else { Outcome::Done };
            assert_eq!(outcome, due, "{op:?}");
            let found: Vec<Pair<'_>> =
                rows.iter().map(|(key, value)| (key.as_slice(), value.as_slice())).collect();
            assert_eq!(found, expected, "{op:?}");
        }
    }

    #[test]
    fn each_class_keeps_its_guarantee_without_a_close() {
        for durability in Durability::ALL {
            let dir = tempdir().unwrap();
            let spec = spec(&dir, durability);
            let engine = MemoryDriver.open(&spec).unwrap();
            put(&*engine, b"k", b"v");
            put(&*engine, b"gone", b"v");
            execute(&*engine, &Op::Delete { key: b"gone" });
            drop(engine);
            let engine = MemoryDriver.open(&spec).unwrap();
            let expected =
                if durability == Durability::None { Outcome::NotFound } else { Outcome::Done };
            assert_eq!(execute(&*engine, &Op::Get { key: b"k" }).0, expected, "{durability}");
            assert_eq!(execute(&*engine, &Op::Get { key: b"gone" }).0, Outcome::NotFound);
        }
    }

    #[test]
    fn sequence_numbers_survive_a_close() {
        let dir = tempdir().unwrap();
        let engine = MemoryDriver.open(&spec(&dir, Durability::Os)).unwrap();
        for key in [b"c", b"a", b"b", b"c"] {
            put(&*engine, key, b"v");
        }
        engine.close().unwrap();
        let engine = MemoryDriver.open(&spec(&dir, Durability::Os)).unwrap();
        put(&*engine, b"a", b"v");
        let keys = |from| {
            let (_, rows) = execute(&*engine, &Op::ScanSequence { from, limit: 9 });
            rows.into_iter().map(|(key, _)| key[0]).collect::<Vec<_>>()
        };
        assert_eq!((keys(0), keys(4)), (b"bca".to_vec(), b"ca".to_vec()));
    }

    #[test]
    fn torn_last_record_is_dropped_and_overwritten() {
        let dir = tempdir().unwrap();
        let spec = spec(&dir, Durability::Os);
        let path = dir.path().join("memory.log");
        let engine = MemoryDriver.open(&spec).unwrap();
        put(&*engine, b"whole", b"1");
        put(&*engine, b"torn", b"0123456789");
        drop(engine);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 3]).unwrap();
        let engine = MemoryDriver.open(&spec).unwrap();
        assert_eq!(execute(&*engine, &Op::Get { key: b"torn" }).0, Outcome::NotFound);
        put(&*engine, b"new", b"2");
        drop(engine);
        let engine = MemoryDriver.open(&spec).unwrap();
        let keys: &[&[u8]] = &[b"whole", b"torn", b"new"];
        assert_eq!(execute(&*engine, &Op::MultiGet { keys }).1.len(), 2);
    }

    #[test]
    fn unsupported_setting_is_refused() {
        let dir = tempdir().unwrap();
        let mut wrong = spec(&dir, Durability::Os);
        wrong.settings.direct_io = true;
        use model::Setting;

        use crate::refusal::Refusal;
        let refused = |spec: &OpenSpec| match MemoryDriver.open(spec) {
            Err(EngineError::Refused(Refusal::Setting { setting, .. })) => setting,
            _ => panic!("no refused setting"),
        };
        assert_eq!(refused(&wrong), Setting::DirectIo);
        wrong.settings = Settings { compression: Some("zstd".to_owned()), ..Settings::default() };
        assert_eq!(refused(&wrong), Setting::Compression);
        std::fs::write(dir.path().join("memory.log"), "another format").unwrap();
        let error = MemoryDriver.open(&spec(&dir, Durability::Os)).err().unwrap().to_string();
        assert!(error.contains("is not a log of this engine"), "{error}");
    }
}
