//! The driver of one SQLite, linked or loaded.

use std::collections::BTreeMap;
use std::path::Path;

use dynlib::Loaded;
use engine::{Driver, Engine, OpenSpec, Result};
use model::capability::{
    APPENDS, CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, FIELD_READS, Feature,
    PARTIAL_UPDATES,
};
use model::{Capabilities, Identity};

use crate::config::Config;
use crate::ffi::Api;
use crate::ffi_connection::Connection;
use crate::instance::SqliteEngine;

/// Returns the driver of the linked SQLite.
pub fn driver() -> Box<dyn Driver> {
    Box::new(SqliteDriver { api: Api::linked(), loaded: None })
}

/// Loads a SQLite library, release 3.24 or newer, and returns its driver.
///
/// # Errors
/// As [`dynlib::load_once`], and when it is not SQLite, too old or was built without threads.
pub fn open_library(path: &Path) -> Result<Box<dyn Driver>> {
    let (api, loaded) = Api::load(path)?;
    Ok(Box::new(SqliteDriver { api, loaded: Some(loaded) }))
}

/// One SQLite.
struct SqliteDriver {
    api: Api,
    /// The library; `None` when it is linked into this program.
    loaded: Option<&'static Loaded>,
}

impl Driver for SqliteDriver {
    fn identity(&self) -> Identity {
        let mut facts = BTreeMap::from([
            ("compile_options".to_owned(), self.api.compile_options().join(" ")),
            ("source_id".to_owned(), self.api.source_id()),
        ]);
        facts.retain(|_, fact| !fact.is_empty());
        Identity { facts, ..dynlib::identity("sqlite", self.api.version(), self.loaded) }
    }

    /// It works in the threads of its callers.
    fn own_threads(&self, _spec: &OpenSpec) -> u64 {
        0
    }

    fn capabilities(&self) -> Capabilities {
        let memory = Connection::open(self.api, Path::new(":memory:"));
        Capabilities {
            value_bytes_max: memory.ok().and_then(|connection| connection.row_bytes_max()),
            ..Capabilities::whole([
                (CONCURRENT_WRITERS, Feature::Yes),
                (CACHE_SIZE, Feature::Yes),
                (PARTIAL_UPDATES, Feature::Yes),
                (FIELD_READS, Feature::Yes),
                (APPENDS, Feature::Yes),
                (COMPRESSION, Feature::no("rows are stored as given")),
                (DIRECT_IO, Feature::no("it reads and writes through the page cache")),
            ])
        }
    }

    /// Each session is a connection with a file of data and a log or journal. The index of the log
    /// and files that are open for a moment add a few.
    fn open_files(&self, _spec: &OpenSpec, sessions: u64) -> u64 {
        2 * sessions + 8
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>> {
        let config = Config::resolve(spec, &self.capabilities())?;
        Ok(Box::new(SqliteEngine::open(self.api, &spec.dir, config, self.identity())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_compile_options_are_reported_by_the_library() {
        let identity = driver().identity();
        assert!(identity.version.starts_with("3."), "{identity:?}");
        assert!(identity.facts["compile_options"].contains("THREADSAFE=1"), "{identity:?}");
        assert!(identity.facts["source_id"].starts_with("20"), "{identity:?}");
    }

    #[test]
    fn longest_value_is_reported_by_the_library() {
        assert_eq!(driver().capabilities().value_bytes_max, Some(1_000_000_000));
    }
}
