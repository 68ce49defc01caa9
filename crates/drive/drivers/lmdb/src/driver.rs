//! The driver of one LMDB, linked or loaded.

use std::collections::BTreeMap;
use std::path::Path;

use dynlib::Loaded;
use engine::{Driver, Engine, OpenSpec, Result};
use model::capability::{
    CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, FIELD_READS, Feature,
};
use model::{Capabilities, Identity};

use crate::config::Config;
use crate::ffi::Api;
use crate::ffi_env::{Env, key_bytes_max};
use crate::instance::LmdbEngine;

/// Returns the driver of the linked LMDB.
pub fn driver() -> Box<dyn Driver> {
    Box::new(LmdbDriver { api: Api::linked(), loaded: None })
}

/// Loads an LMDB library, any release of 0.9, and returns its driver.
///
/// # Errors
/// As [`dynlib::load_once`], and when it is not LMDB or not of 0.9.
pub fn open_library(path: &Path) -> Result<Box<dyn Driver>> {
    let (api, loaded) = Api::load(path)?;
    Ok(Box::new(LmdbDriver { api, loaded: Some(loaded) }))
}

/// One LMDB.
struct LmdbDriver {
    api: Api,
    /// The library; `None` when it is linked into this program.
    loaded: Option<&'static Loaded>,
}

impl Driver for LmdbDriver {
    fn identity(&self) -> Identity {
        let (version, text) = self.api.version();
        let mut facts = BTreeMap::from([
            ("version_string".to_owned(), text),
            ("key_bytes_max".to_owned(), key_bytes_max(self.api).to_string()),
        ]);
        if self.loaded.is_none() {
            let branch = "mdb.master, as packed by lmdb-master-sys";
            facts.insert("branch".to_owned(), branch.to_owned());
        }
        let version = version.map(|number| number.to_string()).join(".");
        Identity { facts, ..dynlib::identity("lmdb", version, self.loaded) }
    }

    /// It works in the threads of its callers.
    fn own_threads(&self, _spec: &OpenSpec) -> u64 {
        0
    }

    fn mapped_bytes(&self, spec: &OpenSpec) -> u64 {
        let config = Config::resolve(spec, &self.capabilities());
        // What is refused is refused when it is opened.
        config.map_or(0, |config| config.map_bytes as u64)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            key_bytes_max: Some(key_bytes_max(self.api)),
            // LMDB stores the length of a value as 32 bits.
            value_bytes_max: Some(u32::MAX),
            ..Capabilities::whole([
                (CONCURRENT_WRITERS, Feature::Yes),
                (FIELD_READS, Feature::Yes),
                (CACHE_SIZE, Feature::no("the page cache is the engine's only cache")),
                (COMPRESSION, Feature::no("rows are stored as given")),
                (DIRECT_IO, Feature::no("reads go through a memory map of the page cache")),
            ])
        }
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>> {
        let config = Config::resolve(spec, &self.capabilities())?;
        let env = Env::open(self.api, &spec.dir, &config)?;
        Ok(Box::new(LmdbEngine { env, identity: self.identity() }))
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
