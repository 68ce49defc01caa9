//! The linked SQLite before it is opened.

use std::collections::BTreeMap;

use engine::{Driver, Engine, EngineError, OpenSpec};
use model::capability::{CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, Feature};
use model::{Capabilities, Durability, Identity, OpKind};
use rusqlite::Connection;

use crate::config::Config;
use crate::instance::SqliteEngine;

/// The linked SQLite.
pub(crate) struct SqliteDriver;

impl Driver for SqliteDriver {
    fn identity(&self) -> Identity {
        identity()
    }

    fn capabilities(&self) -> Capabilities {
        let no = |reason: &str| Feature::No(reason.to_owned());
        Capabilities {
            operations: OpKind::ALL.into(),
            durability: Durability::ALL.into(),
            key_bytes_max: None,
            value_bytes_max: None,
            features: BTreeMap::from([
                (CONCURRENT_WRITERS.to_owned(), Feature::Yes),
                (CACHE_SIZE.to_owned(), Feature::Yes),
                (COMPRESSION.to_owned(), no("rows are stored as given")),
                (DIRECT_IO.to_owned(), no("reads and writes through the page cache")),
            ]),
        }
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        let config = Config::resolve(spec)?;
        Ok(Box::new(SqliteEngine::open(&spec.dir, config)?))
    }
}

/// Returns what SQLite says of itself.
pub(crate) fn identity() -> Identity {
    let mut facts = BTreeMap::new();
    if let Ok(options) = compile_options() {
        facts.insert("compile_options".to_owned(), options);
    }
    facts.insert("source_id".to_owned(), source_id().unwrap_or_default());
    facts.retain(|_, fact| !fact.is_empty());
    Identity {
        engine: "sqlite".to_owned(),
        version: rusqlite::version().to_owned(),
        origin: "linked".to_owned(),
        sha256: None,
        facts,
    }
}

fn compile_options() -> rusqlite::Result<String> {
    let connection = Connection::open_in_memory()?;
    let mut statement = connection.prepare("PRAGMA compile_options")?;
    let options: Result<Vec<String>, _> = statement.query_map([], |row| row.get(0))?.collect();
    Ok(options?.join(" "))
}

fn source_id() -> rusqlite::Result<String> {
    Connection::open_in_memory()?.query_row("SELECT sqlite_source_id()", [], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_compile_options_are_told_by_the_library() {
        let identity = identity();
        assert!(identity.version.starts_with("3."), "{identity:?}");
        assert!(identity.facts["compile_options"].contains("THREADSAFE=1"), "{identity:?}");
        assert!(identity.facts["source_id"].starts_with("20"), "{identity:?}");
    }
}
