//! The driver of one LMDB, linked or loaded.

use std::path::Path;

use engine::{Driver, Engine, EngineError, OpenSpec};
use model::capability::{CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, Feature};
use model::{Capabilities, Identity};

use crate::config::Config;
use crate::ffi::Api;
use crate::ffi_env::key_bytes_max;
use crate::identity::identity;
use crate::instance::LmdbEngine;

/// Longest value: LMDB stores its length as 32 bits.
const VALUE_BYTES_MAX: u32 = u32::MAX;

/// Returns the driver of the linked LMDB.
#[must_use]
pub fn driver() -> Box<dyn Driver> {
    Box::new(LmdbDriver { api: Api::linked() })
}

/// Loads an LMDB library, any release of 0.9, and returns its driver.
///
/// A process takes one library: the first one stays loaded until the process ends.
///
/// # Errors
/// When the file is no shared library, was built for another machine, is not LMDB or not of 0.9, or
/// when the process holds another library already.
pub fn open_library(path: &Path) -> Result<Box<dyn Driver>, EngineError> {
    Ok(Box::new(LmdbDriver { api: Api::load(path)? }))
}

/// One LMDB.
struct LmdbDriver {
    api: &'static Api,
}

impl Driver for LmdbDriver {
    fn identity(&self) -> Identity {
        identity(self.api)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            key_bytes_max: Some(key_bytes_max(self.api)),
            value_bytes_max: Some(VALUE_BYTES_MAX),
            ..Capabilities::whole([
                (CONCURRENT_WRITERS, Feature::Yes),
                (CACHE_SIZE, Feature::no("the page cache is its only cache")),
                (COMPRESSION, Feature::no("rows are stored as given")),
                (DIRECT_IO, Feature::no("reads go through a memory map, that is the page cache")),
            ])
        }
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        let config = Config::resolve(spec, &self.capabilities())?;
        Ok(Box::new(LmdbEngine::open(self.api, &spec.dir, &config)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_reported_by_the_library() {
        let identity = driver().identity();
        assert!(identity.version.starts_with("0.9."), "{identity:?}");
        assert!(identity.facts["version_string"].contains(&identity.version), "{identity:?}");
        assert_eq!(identity.facts["key_bytes_max"], "511");
    }
}
