//! The driver of one RocksDB library.

use std::path::Path;

use engine::settings_check::{check_dir, refused};
use engine::{Driver, Engine, EngineError, OpenSpec, Result, Setting, VALUE_CHANGES};
use model::{Capabilities, Identity};

use crate::cache::BLOCK_CACHE;
use crate::config::{Config, MULTI_GET, STATISTICS, render};
use crate::feature;
use crate::ffi::Api;
use crate::ffi_db::{Db, RawOptions};
use crate::instance::RocksEngine;

/// Settings and the options that they become.
const SETTINGS: [(Setting, &str); 5] = [
    (Setting::Cache, BLOCK_CACHE),
    (Setting::Compression, "compression"),
    (Setting::DirectIo, "use_direct_reads"),
    (Setting::DirectIo, "use_direct_io_for_flush_and_compaction"),
    (Setting::BackgroundJobs, "max_background_jobs"),
];

/// Size of a table by default. Source: RocksDB, options.h, `target_file_size_base`.
const TABLE_BYTES: u64 = 64 << 20;
/// Files next to the tables of the data: logs, manifest, tables of level 0. Our choice.
const OTHER_FILES: u64 = 64;

/// Loads a RocksDB library, release 5.18 or newer, and returns its driver.
///
/// # Errors
/// As [`dynlib::load_once`], and when it is not RocksDB or too old a release.
pub fn open_library(path: &Path) -> Result<Box<dyn Driver>> {
    Ok(Box::new(RocksDriver(Api::load(path)?)))
}

/// One library.
struct RocksDriver(&'static Api);

impl Driver for RocksDriver {
    fn identity(&self) -> Identity {
        let version = feature::version_range(|symbol| self.0.has(symbol));
        dynlib::identity("rocksdb", version, Some(self.0.loaded))
    }

    fn immutable_files(&self) -> &'static [&'static str] {
        &[".sst", ".blob"]
    }

    fn capabilities(&self) -> Capabilities {
        feature::capabilities(self.0)
    }

    /// Every table stays open unless `max_open_files` limits them; a compaction has two copies.
    fn open_files(&self, spec: &OpenSpec, _sessions: u64) -> u64 {
        let number = |name| spec.options.get(name).and_then(|text| text.parse::<u64>().ok());
        let bytes = number("target_file_size_base").unwrap_or(TABLE_BYTES).max(1);
        let tables = OTHER_FILES + 2 * spec.data.live_bytes().0 / bytes;
        number("max_open_files").map_or(tables, |most| most.min(tables))
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>> {
        // The engine would make the directory and fill it with a database of its own.
        check_dir(&spec.dir)?;
        let has = |symbol: &str| self.0.has(symbol);
        let config = Config::new(&spec.settings, &spec.options, &has)?;
        let is_batched = config.has(MULTI_GET);
        if is_batched && let Some(reason) = self.capabilities().why_not("batched_multi_get") {
            return Err(EngineError::capability(MULTI_GET, format!("`batched` {reason}")));
        }
        let mut base = RawOptions::new(self.0);
        if config.has(STATISTICS) {
            base.enable_statistics();
        }
        if config.has(VALUE_CHANGES) {
            base.set_merge_operator();
        }
        if let Some(cache) = config.cache {
            base.set_cache(cache)?;
        }
        let opened = base
            .with_string(&config.text())
            .map_err(|error| find_refused(&base, &config, error))
            .and_then(|options| {
                let opened = Db::open(options, &spec.dir, is_batched);
                opened.map_err(|error| name_option(&config, error))
            });
        let db = opened.map_err(|error| error.of_setting(&spec.options, &SETTINGS))?;
        Ok(Box::new(RocksEngine::new(db, spec, &config, self.identity())?))
    }
}

/// Finds the option that the engine refuses, by trying each alone.
///
/// The message for all of them together does not always name it.
fn find_refused(base: &RawOptions, config: &Config, all: EngineError) -> EngineError {
    for (name, value) in config.options.iter() {
        if let Err(error) = base.with_string(&render(&[(name, value)])) {
            return refused(name, error.to_string());
        }
    }
    name_option(config, all)
}

/// Converts an open error to that of the option it names; the longest name wins.
fn name_option(config: &Config, error: EngineError) -> EngineError {
    let EngineError::Fatal(reason) = error else { return error };
    let text = reason.to_lowercase();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_named = |name: &&str| {
        let last = name.rsplit('.').next().unwrap_or(name);
        text.split(|c| !is_part(c)).any(|word| word == last)
    };
    let named = config.options.iter().map(|(name, _)| name).filter(is_named);
    match named.max_by_key(|name| name.len()) {
        Some(option) if reason.starts_with("Invalid argument") => refused(option, reason),
        _ => EngineError::Fatal(reason),
    }
}
