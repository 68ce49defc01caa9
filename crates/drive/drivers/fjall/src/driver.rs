//! The driver of the linked fjall.

use engine::{Driver, Engine, EngineError, OpenSpec};
use model::capability::{CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, Feature};
use model::{Capabilities, Identity};

use crate::config::Config;
use crate::identity::identity;
use crate::instance::FjallEngine;
use crate::session::KEY_BYTES_MAX;

/// Capability of this driver: key-value separation.
const KV_SEPARATION: &str = "kv_separation";
/// The linked fjall.
pub(crate) struct FjallDriver;

impl Driver for FjallDriver {
    fn identity(&self) -> Identity {
        identity()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            key_bytes_max: Some(KEY_BYTES_MAX),
            ..Capabilities::whole([
                (CONCURRENT_WRITERS, Feature::Yes),
                (CACHE_SIZE, Feature::Yes),
                (COMPRESSION, Feature::Yes),
                (KV_SEPARATION, Feature::Yes),
                (DIRECT_IO, Feature::no("reads and writes through the page cache")),
            ])
        }
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        let config = Config::resolve(spec)?;
        Ok(Box::new(FjallEngine::open(&spec.dir, config)?))
    }
}
