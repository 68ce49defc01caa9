//! The linked LMDB before it is opened.

use std::collections::BTreeMap;

use engine::{Driver, Engine, EngineError, OpenSpec};
use model::capability::{CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, Feature};
use model::{Capabilities, Durability, Identity, OpKind};

use crate::config::Config;
use crate::instance::LmdbEngine;

/// Longest key; LMDB's compile-time `MDB_MAXKEYSIZE`.
const KEY_BYTES_MAX: u32 = 511;

/// The linked LMDB.
pub(crate) struct LmdbDriver;

impl Driver for LmdbDriver {
    fn identity(&self) -> Identity {
        identity()
    }

    fn capabilities(&self) -> Capabilities {
        let no = |reason: &str| Feature::No(reason.to_owned());
        Capabilities {
            operations: OpKind::ALL.into(),
            durability: Durability::ALL.into(),
            key_bytes_max: Some(KEY_BYTES_MAX),
            value_bytes_max: None,
            features: BTreeMap::from([
                (CONCURRENT_WRITERS.to_owned(), Feature::Yes),
                (CACHE_SIZE.to_owned(), no("the page cache is its only cache")),
                (COMPRESSION.to_owned(), no("rows are stored as given")),
                (DIRECT_IO.to_owned(), no("reads go through a memory map, that is the page cache")),
            ]),
        }
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        let config = Config::resolve(spec)?;
        Ok(Box::new(LmdbEngine::open(&spec.dir, &config)?))
    }
}

/// Returns what LMDB says of itself.
pub(crate) fn identity() -> Identity {
    let version = heed::lmdb_version();
    Identity {
        engine: "lmdb".to_owned(),
        version: format!("{}.{}.{}", version.major, version.minor, version.patch),
        origin: "linked".to_owned(),
        sha256: None,
        facts: BTreeMap::from([
            ("version_string".to_owned(), version.string.to_owned()),
            ("branch".to_owned(), "mdb.master, as packed by lmdb-master-sys".to_owned()),
            ("key_bytes_max".to_owned(), KEY_BYTES_MAX.to_string()),
        ]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_told_by_the_library() {
        let identity = identity();
        assert!(identity.version.starts_with("0.9."), "{identity:?}");
        assert!(identity.facts["version_string"].contains(&identity.version), "{identity:?}");
    }
}
