//! The driver of the linked fjall.

use engine::{Driver, Engine, OpenSpec, Result, linked};
use model::capability::{
    CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, FIELD_READS, Feature,
};
use model::{Capabilities, Identity, Need};

use crate::config::{Config, SEPARATION};
use crate::instance::FjallEngine;
use crate::session::KEY_BYTES_MAX;

/// Version of the linked crate; a test compares it with the lock file.
const VERSION: &str = "3.1.13";
/// Version of the linked `lsm-tree`, on which fjall is built.
const TREE_VERSION: &str = "3.1.10";

/// Returns the driver of the linked fjall.
pub fn driver() -> Box<dyn Driver> {
    Box::new(FjallDriver)
}

/// The linked fjall.
struct FjallDriver;

impl Driver for FjallDriver {
    fn identity(&self) -> Identity {
        let facts = [
            ("lsm_tree_version", TREE_VERSION),
            ("compression", "none lz4"),
            ("cargo_features", "lz4"),
        ];
        Identity {
            facts: facts.map(|(name, fact)| (name.to_owned(), fact.to_owned())).into(),
            ..linked("fjall", VERSION)
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            key_bytes_max: Some(KEY_BYTES_MAX),
            ..Capabilities::whole([
                (CONCURRENT_WRITERS, Feature::Yes),
                (FIELD_READS, Feature::Yes),
                (CACHE_SIZE, Feature::Yes),
                (COMPRESSION, Feature::Yes),
                (SEPARATION, Feature::Yes),
                (DIRECT_IO, Feature::no("it reads and writes through the page cache")),
            ])
        }
    }

    /// Two memtables, because one is flushed while the other is written, and the cache.
    /// Source: fjall 3.1, keyspace/options.rs and db_config.rs.
    fn memory(&self, spec: &OpenSpec) -> Need {
        let memtables = 2 * spec.size("max_memtable_size", 64 << 20);
        Need {
            amount: memtables + spec.cached("cache_size", 32 << 20),
            instead: "set the option `max_memtable_size = \"8MiB\"`",
        }
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>> {
        let config = Config::resolve(spec)?;
        Ok(Box::new(FjallEngine::open(&spec.dir, config, self.identity())?))
    }
}

#[cfg(test)]
mod tests {
    use engine::conformance::locked_version;

    use super::*;

    #[test]
    fn versions_are_those_of_the_lock_file() {
        assert_eq!(locked_version("fjall"), VERSION);
        assert_eq!(locked_version("lsm-tree"), TREE_VERSION);
    }
}
