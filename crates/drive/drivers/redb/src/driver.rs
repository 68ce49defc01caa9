//! The driver of the linked redb.

use engine::{Driver, Engine, OpenSpec, Result, linked};
use model::capability::{
    CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, FIELD_READS, Feature,
};
use model::{Capabilities, Identity, Need};

use crate::config::{CACHE_BYTES_DEFAULT, Config};
use crate::instance::RedbEngine;

/// Version of the linked crate; a test compares it with the lock file.
const VERSION: &str = "4.4.0";

/// Returns the driver of the linked redb.
pub fn driver() -> Box<dyn Driver> {
    Box::new(RedbDriver)
}

/// The linked redb.
struct RedbDriver;

impl Driver for RedbDriver {
    fn identity(&self) -> Identity {
        Identity {
            facts: [("cargo_features".to_owned(), "std".to_owned())].into(),
            ..linked("redb", VERSION)
        }
    }

    /// It works in the threads of its callers.
    fn own_threads(&self, _spec: &OpenSpec) -> u64 {
        0
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::whole([
            (CONCURRENT_WRITERS, Feature::Yes),
            (FIELD_READS, Feature::Yes),
            (CACHE_SIZE, Feature::Yes),
            (COMPRESSION, Feature::no("rows are stored as given")),
            (DIRECT_IO, Feature::no("it reads and writes through the page cache")),
        ])
    }

    fn memory(&self, spec: &OpenSpec) -> Need {
        Need { amount: spec.cached("cache_size", CACHE_BYTES_DEFAULT), instead: "" }
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>> {
        let config = Config::resolve(spec, &self.capabilities())?;
        Ok(Box::new(RedbEngine::open(&spec.dir, config, self.identity())?))
    }
}

#[cfg(test)]
mod tests {
    use engine::conformance::locked_version;

    use super::*;

    #[test]
    fn version_is_that_of_the_lock_file() {
        assert_eq!(locked_version("redb"), VERSION);
    }
}
