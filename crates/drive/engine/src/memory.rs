//! The oracle: an ordered map in memory, right by being too simple to be wrong.
//!
//! It is not fast and not meant to be compared. Its rows live in one log file from close to
//! reopen; the stronger durability classes append every write to it, so they hold too.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use model::{
    Capabilities, Direction, Durability, EngineState, Identity, Op, OpKind, Options, Outcome,
    Settings,
};

use crate::error::EngineError;
use crate::log::Log;
use crate::rows::Rows;
use crate::traits::{Driver, Engine, Maintenance, OpenSpec, Session};

/// Rows in key order.
pub(crate) type Map = BTreeMap<Vec<u8>, Vec<u8>>;

/// The oracle's only build.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryDriver;

impl Driver for MemoryDriver {
    fn identity(&self) -> Identity {
        Identity {
            engine: "memory".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            origin: "linked".to_owned(),
            ..Identity::default()
        }
    }

    fn capabilities(&self) -> Capabilities {
        use model::capability::{CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, Feature};
        let no = |reason: &str| Feature::No(reason.to_owned());
        Capabilities {
            operations: OpKind::ALL.into(),
            durability: Durability::ALL.into(),
            key_bytes_max: None,
            features: BTreeMap::from([
                (CONCURRENT_WRITERS.to_owned(), Feature::Yes),
                (CACHE_SIZE.to_owned(), no("every row is in memory")),
                (COMPRESSION.to_owned(), no("rows are kept as they are")),
                (DIRECT_IO.to_owned(), no("reads no file and writes one through the page cache")),
            ]),
        }
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        refuse_options("memory", &spec.options)?;
        refuse_settings(&spec.settings)?;
        Ok(Box::new(MemoryEngine::open(&spec.dir, spec.settings.durability)?))
    }
}

/// Refuses every option, for an engine that has none.
pub(crate) fn refuse_options(engine: &str, options: &Options) -> Result<(), EngineError> {
    match options.iter().next() {
        None => Ok(()),
        Some((name, _)) => Err(EngineError::Option {
            option: name.to_owned(),
            reason: format!("{engine} has no options: remove it"),
        }),
    }
}

/// Refuses the settings that would change what is measured and are not there.
fn refuse_settings(settings: &Settings) -> Result<(), EngineError> {
    let is_compressed = settings.compression.as_deref().is_some_and(|name| name != "none");
    if is_compressed {
        return Err(EngineError::Unsupported("compression: memory keeps rows as they are".into()));
    }
    if settings.direct_io {
        return Err(EngineError::Unsupported("direct_io: memory reads no file".into()));
    }
    Ok(())
}

struct MemoryEngine {
    state: RwLock<State>,
    durability: Durability,
}

struct State {
    map: Map,
    log: Log,
}

impl MemoryEngine {
    fn open(dir: &Path, durability: Durability) -> Result<Self, EngineError> {
        let (log, map) = Log::open(dir)?;
        Ok(Self { state: RwLock::new(State { map, log }), durability })
    }

    fn read(&self) -> Result<RwLockReadGuard<'_, State>, EngineError> {
        self.state.read().map_err(|_poisoned| poisoned())
    }

    fn write(&self) -> Result<RwLockWriteGuard<'_, State>, EngineError> {
        self.state.write().map_err(|_poisoned| poisoned())
    }
}

fn poisoned() -> EngineError {
    EngineError::Fatal("memory: a client panicked while it wrote".to_owned())
}

impl Engine for MemoryEngine {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        Ok(Box::new(MemorySession { engine: self }))
    }

    fn identity(&self) -> Identity {
        MemoryDriver.identity()
    }

    fn effective_options(&self) -> Result<Options, EngineError> {
        Ok(Options::new())
    }

    fn maintain(&self, work: Maintenance) -> Result<bool, EngineError> {
        match work {
            Maintenance::Flush => {
                let State { map, log } = &mut *self.write()?;
                log.rewrite(map)?;
                Ok(true)
            }
            Maintenance::CompactLevel0 | Maintenance::CompactAll => Ok(false),
        }
    }

    fn state(&self) -> Result<EngineState, EngineError> {
        Ok(EngineState { is_idle: Some(true), ..EngineState::default() })
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        let State { map, mut log } = self.state.into_inner().map_err(|_poisoned| poisoned())?;
        log.rewrite(&map)
    }
}

struct MemorySession<'e> {
    engine: &'e MemoryEngine,
}

impl Session for MemorySession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome, EngineError> {
        match *op {
            Op::Get { key } => {
                let state = self.engine.read()?;
                push_found(&state.map, key, rows);
            }
            Op::MultiGet { keys } => {
                let state = self.engine.read()?;
                for key in keys {
                    push_found(&state.map, key, rows);
                }
            }
            Op::Scan { start, limit, direction } => {
                let state = self.engine.read()?;
                push_range(&state.map, start, (limit, direction), rows);
            }
            Op::Put { key, value } => {
                let State { map, log } = &mut *self.engine.write()?;
                log.append(key, Some(value), self.engine.durability)?;
                map.insert(key.to_vec(), value.to_vec());
                return Ok(Outcome::Done);
            }
            Op::Delete { key } => {
                let State { map, log } = &mut *self.engine.write()?;
                log.append(key, None, self.engine.durability)?;
                map.remove(key);
                return Ok(Outcome::Done);
            }
        }
        Ok(if rows.count() == 0 { Outcome::NotFound } else { Outcome::Done })
    }
}

fn push_found(map: &Map, key: &[u8], rows: &mut Rows) {
    if let Some(value) = map.get(key) {
        rows.push(key, value);
    }
}

fn push_range(map: &Map, start: &[u8], (limit, way): (u32, Direction), rows: &mut Rows) {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    match way {
        Direction::Forward => map
            .range::<[u8], _>((Bound::Included(start), Bound::Unbounded))
            .take(most)
            .for_each(|(key, value)| rows.push(key, value)),
        Direction::Reverse => map
            .range::<[u8], _>((Bound::Unbounded, Bound::Included(start)))
            .rev()
            .take(most)
            .for_each(|(key, value)| rows.push(key, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_passes_the_battery() {
        crate::conformance::battery(&MemoryDriver, &Settings::default(), &Options::new());
    }
}
