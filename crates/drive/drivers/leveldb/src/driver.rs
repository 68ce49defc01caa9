//! The driver of one LevelDB library.

use std::collections::BTreeMap;
use std::path::Path;

use dynlib::Loaded;
use engine::settings_check::{check_dir, check_settings};
use engine::{Driver, Engine, EngineError, OpenSpec};
use model::capability::{CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, Feature};
use model::{Capabilities, Durability, Identity, OpKind};

use crate::config::Config;
use crate::ffi::Api;
use crate::ffi_db::Db;
use crate::instance::LevelEngine;

/// The engine's name.
const ENGINE: &str = "leveldb";
/// The snappy function; without it LevelDB does not compress.
const SNAPPY: &str = "snappy_compress";

/// The first release with every function that is called.
const OLDEST: &str = "1.21";

/// Loads a LevelDB library, release 1.21 or newer, and returns its driver.
///
/// A process takes one library: the first one stays loaded until the process ends.
///
/// # Errors
/// When the file is no shared library, was built for another machine, is not LevelDB or too old
/// a release, or when the process holds another engine's library already.
pub fn open_library(path: &Path) -> Result<Box<dyn Driver>, EngineError> {
    let loaded = dynlib::load_once(path)?;
    let api = Api::bind(&loaded.library)
        .map_err(|symbol| loaded.lacks(&symbol, "leveldb_open", "LevelDB", OLDEST))?;
    Ok(Box::new(LevelDriver { api, loaded }))
}

/// One library.
struct LevelDriver {
    api: Api,
    loaded: &'static Loaded,
}

impl Driver for LevelDriver {
    fn identity(&self) -> Identity {
        let has_snappy = if self.loaded.has(SNAPPY) { "yes" } else { "no" };
        Identity {
            engine: ENGINE.to_owned(),
            version: self.api.version(),
            origin: self.loaded.path.display().to_string(),
            sha256: Some(self.loaded.sha256.clone()),
            facts: BTreeMap::from([("snappy".to_owned(), has_snappy.to_owned())]),
        }
    }

    fn capabilities(&self) -> Capabilities {
        let no = |reason: &str| Feature::No(reason.to_owned());
        let compression = match self.loaded.has(SNAPPY) {
            true => Feature::Yes,
            false => no("this library was built without snappy"),
        };
        Capabilities {
            operations: OpKind::ALL.into(),
            durability: Durability::ALL.into(),
            key_bytes_max: None,
            // Lengths are written as 32 bits, and a longer one is silently truncated.
            value_bytes_max: Some(u32::MAX),
            features: BTreeMap::from([
                (CONCURRENT_WRITERS.to_owned(), Feature::Yes),
                (CACHE_SIZE.to_owned(), Feature::Yes),
                (COMPRESSION.to_owned(), compression),
                (DIRECT_IO.to_owned(), no("it reads through memory maps and the page cache")),
            ]),
        }
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        // The engine would make the directory and fill it with a database of its own.
        check_dir(&spec.dir)?;
        check_settings(ENGINE, &self.capabilities(), &spec.settings)?;
        let has_snappy = self.loaded.has(SNAPPY);
        let config = Config::new(&spec.settings, &spec.options, has_snappy)?;
        let db = Db::open(self.api, &spec.dir, &config)?;
        Ok(Box::new(LevelEngine::new(db, spec, config, self.identity())?))
    }
}
