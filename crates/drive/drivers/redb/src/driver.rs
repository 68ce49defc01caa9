//! The driver of the linked redb.

use engine::{Driver, Engine, EngineError, OpenSpec};
use model::capability::{CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, Feature};
use model::{Capabilities, Identity};

use crate::config::Config;
use crate::identity::identity;
use crate::instance::RedbEngine;

/// The linked redb.
pub(crate) struct RedbDriver;

impl Driver for RedbDriver {
    fn identity(&self) -> Identity {
        identity()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::whole([
            (CONCURRENT_WRITERS, Feature::Yes),
            (CACHE_SIZE, Feature::Yes),
            (COMPRESSION, Feature::no("rows are stored as given")),
            (DIRECT_IO, Feature::no("reads and writes through the page cache")),
        ])
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        let config = Config::resolve(spec, &self.capabilities())?;
        Ok(Box::new(RedbEngine::open(&spec.dir, config)?))
    }
}
