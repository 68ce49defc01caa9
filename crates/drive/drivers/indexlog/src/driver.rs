//! The driver of this repository's index+log engine.

use engine::{Driver, Engine, OpenSpec, Result, linked};
use model::capability::{
    CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, FIELD_READS, Feature, SEQUENCE_SCANS,
};
use model::{Capabilities, Identity, Need};

use crate::config;
use crate::instance::IndexlogEngine;

/// Returns the driver.
pub fn driver() -> Box<dyn Driver> {
    Box::new(IndexlogDriver)
}

/// The linked engine.
struct IndexlogDriver;

impl Driver for IndexlogDriver {
    fn identity(&self) -> Identity {
        linked("indexlog", env!("CARGO_PKG_VERSION"))
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::whole([
            (CONCURRENT_WRITERS, Feature::Yes),
            (CACHE_SIZE, Feature::Yes),
            (COMPRESSION, Feature::Yes),
            (DIRECT_IO, Feature::no("it reads and writes through the page cache")),
            (SEQUENCE_SCANS, Feature::Yes),
            (FIELD_READS, Feature::Yes),
        ])
    }

    fn memory(&self, spec: &OpenSpec) -> Need {
        let own = config::resolve(spec, &self.capabilities()).unwrap_or_default();
        let caches = own.document_cache_bytes + own.block_cache_bytes;
        Need {
            amount: own.write_cache_bytes as u64 + caches.min(spec.data.live_bytes().0),
            instead: "set the option `write_cache_bytes = 8388608`",
        }
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>> {
        let options = config::resolve(spec, &self.capabilities())?;
        Ok(Box::new(IndexlogEngine::open(&spec.dir, options, self.identity())?))
    }
}
