//! The driver of one LevelDB library.

use std::path::Path;

use dynlib::{Loaded, level};
use engine::settings_check::{check_dir, check_settings};
use engine::{Driver, Engine, OpenSpec, Result};
use model::capability::{CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, Feature};
use model::{Capabilities, Identity};

use crate::config::Config;
use crate::ffi::Api;
use crate::ffi_db::Db;
use crate::instance::LevelEngine;

/// The engine's name.
const ENGINE: &str = "leveldb";

/// Loads a LevelDB library, release 1.21 or newer, and returns its driver.
///
/// # Errors
/// As [`dynlib::load_once`], and when it is not LevelDB or too old a release.
pub fn open_library(path: &Path) -> Result<Box<dyn Driver>> {
    let loaded = dynlib::load_once(path)?;
    // The oldest release has every function that is called.
    let unusable = |symbol: String| loaded.lacks(&symbol, "leveldb_open", "LevelDB", "1.21");
    let level = level::Functions::bind(&loaded.library, "leveldb_").map_err(unusable)?;
    let api = Api::bind(&loaded.library, "leveldb_").map_err(unusable)?;
    Ok(Box::new(LevelDriver { api, level, loaded }))
}

/// One library.
struct LevelDriver {
    api: Api,
    level: level::Functions,
    loaded: &'static Loaded,
}

impl LevelDriver {
    /// Returns whether the library has snappy; without it LevelDB does not compress.
    fn has_snappy(&self) -> bool {
        self.loaded.has("snappy_compress")
    }
}

impl Driver for LevelDriver {
    fn identity(&self) -> Identity {
        let has_snappy = if self.has_snappy() { "yes" } else { "no" };
        Identity {
            facts: [("snappy".to_owned(), has_snappy.to_owned())].into(),
            ..dynlib::identity(ENGINE, self.api.version(), Some(self.loaded))
        }
    }

    fn immutable_files(&self) -> &'static [&'static str] {
        &[".ldb", ".sst"]
    }

    /// Tables have 2 MiB unless `max_file_size` is set, and at most `max_open_files` stay open.
    /// Source: LevelDB, include/leveldb/options.h.
    fn open_files(&self, spec: &OpenSpec, _sessions: u64) -> u64 {
        let number = |name| spec.options.get(name).and_then(|text| text.parse::<u64>().ok());
        let bytes = number("max_file_size").unwrap_or(2 << 20).max(1);
        let tables = 2 * spec.data.live_bytes().0 / bytes;
        32 + number("max_open_files").unwrap_or(1000).min(tables)
    }

    fn capabilities(&self) -> Capabilities {
        let compression = match self.has_snappy() {
            true => Feature::Yes,
            false => Feature::no("this library was built without snappy"),
        };
        Capabilities {
            // Lengths are written as 32 bits, and a longer one is silently truncated.
            value_bytes_max: Some(u32::MAX),
            ..Capabilities::whole([
                (CONCURRENT_WRITERS, Feature::Yes),
                (CACHE_SIZE, Feature::Yes),
                (COMPRESSION, compression),
                (DIRECT_IO, Feature::no("it reads through memory maps and the page cache")),
            ])
        }
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>> {
        // The engine would make the directory and fill it with a database of its own.
        check_dir(&spec.dir)?;
        check_settings(ENGINE, &self.capabilities(), &spec.settings)?;
        let config = Config::new(&spec.settings, &spec.options, self.has_snappy())?;
        let db = Db::open(self.api, self.level, &spec.dir, &config)?;
        Ok(Box::new(LevelEngine::new(db, spec, config, self.identity())?))
    }
}
