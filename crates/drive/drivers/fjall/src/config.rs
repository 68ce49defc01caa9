//! Translates settings and options into fjall's configuration.

use std::path::Path;
use std::sync::Arc;

use engine::settings_check::{check_names, flag, number, refused};
use engine::{EngineError, OpenSpec, Setting};
use fjall::compaction::Leveled;
use fjall::config::{
    BlockSizePolicy, CompressionPolicy, FilterPolicy, HashRatioPolicy, PartitioningPolicy,
    PinningPolicy, RestartIntervalPolicy,
};
use fjall::{
    CompressionType, Database, DatabaseBuilder, KeyspaceCreateOptions, KvSeparationOptions,
};
use model::{Durability, Options};

use crate::value::{compression, filter, list, size};

/// Options of the database, named after the setters of `fjall::DatabaseBuilder`.
const DATABASE_OPTIONS: [&str; 5] = [
    "cache_size",
    "worker_threads",
    "max_cached_files",
    "max_journaling_size",
    "journal_compression",
];
/// Options of the keyspace, named after the setters of `KeyspaceCreateOptions` and `Leveled`.
const KEYSPACE_OPTIONS: [&str; 15] = [
    "max_memtable_size",
    "data_block_size_policy",
    "data_block_compression_policy",
    "index_block_compression_policy",
    "data_block_hash_ratio_policy",
    "data_block_restart_interval_policy",
    "expect_point_read_hits",
    "filter_policy",
    "index_block_pinning_policy",
    "filter_block_pinning_policy",
    "index_block_partitioning_policy",
    "filter_block_partitioning_policy",
    "l0_threshold",
    "table_target_size",
    "level_ratio_policy",
];
/// Options of key-value separation, named after the setters of `KvSeparationOptions`.
const SEPARATION_OPTIONS: [&str; 5] = [
    "separation_threshold",
    "file_target_size",
    "staleness_threshold",
    "age_cutoff",
    "blob_compression",
];
/// Turns key-value separation on.
pub(crate) const SEPARATION: &str = "kv_separation";
/// Minimum `max_journaling_size`, below which fjall panics.
const JOURNALING_BYTES_MIN: u64 = 64 << 20;
/// Bounds of block sizes, outside which fjall panics.
const BLOCK_BYTES: (u64, u64) = (1 << 10, 1 << 20);
/// Any size.
const ANY: (u64, u64) = (0, u64::MAX);

/// Everything fjall is opened with.
pub(crate) struct Config {
    /// The durability class.
    pub(crate) durability: Durability,
    /// Background threads.
    pub(crate) worker_threads: Option<usize>,
    cache_bytes: Option<u64>,
    cached_files: Option<usize>,
    journaling_bytes: Option<u64>,
    journal_compression: CompressionType,
    keyspace: KeyspaceCreateOptions,
    leveled: Leveled,
    separation: Option<KvSeparationOptions>,
    /// Options that existing data must have been created with.
    pub(crate) named: Vec<String>,
}

impl Config {
    /// Returns the configuration of `spec`.
    pub(crate) fn resolve(spec: &OpenSpec) -> Result<Self, EngineError> {
        let compression = block_compression(spec)?;
        let separation = spec.options.get(SEPARATION);
        let is_separated = separation.map_or(Ok(false), |value| flag(SEPARATION, value))?;
        let mut config = Self {
            durability: spec.settings.durability,
            worker_threads: match spec.settings.background_jobs {
                None => None,
                Some(jobs) => Some(threads("background_jobs", &jobs.to_string())?),
            },
            cache_bytes: spec.settings.cache_bytes.map(|size| size.0),
            cached_files: None,
            journaling_bytes: None,
            journal_compression: compression,
            keyspace: KeyspaceCreateOptions::default()
                .data_block_compression_policy(CompressionPolicy::all(compression)),
            leveled: Leveled::default(),
            separation: is_separated
                .then(|| KvSeparationOptions::default().compression(compression)),
            named: vec![SEPARATION.to_owned()],
        };
        if spec.settings.compression.is_some() {
            config.named.push("data_block_compression_policy".to_owned());
        }
        let groups: [&[&str]; 4] =
            [&DATABASE_OPTIONS, &KEYSPACE_OPTIONS, &[SEPARATION], &SEPARATION_OPTIONS];
        check_names("fjall", &groups.concat(), &spec.options)?;
        for (name, value) in spec.options.iter() {
            config.set(name, value)?;
        }
        Ok(config)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), EngineError> {
        if name == SEPARATION {
            return Ok(());
        }
        if DATABASE_OPTIONS.contains(&name) {
            return self.set_database_option(name, value);
        }
        self.named.push(name.to_owned());
        if SEPARATION_OPTIONS.contains(&name) {
            let Some(separation) = self.separation.take() else {
                return Err(refused(name, format!("has no effect without {SEPARATION} = true")));
            };
            self.separation = Some(set_separation_option(separation, name, value)?);
            Ok(())
        } else {
            let (keyspace, leveled) = (self.keyspace.clone(), self.leveled.clone());
            match name {
                "l0_threshold" => self.leveled = leveled.with_l0_threshold(number(name, value)?),
                "table_target_size" => {
                    self.leveled = leveled.with_table_target_size(size(name, value, ANY)?);
                }
                "level_ratio_policy" => {
                    self.leveled = leveled.with_level_ratio_policy(list(name, value, number)?);
                }
                _ => self.keyspace = set_block_option(keyspace, name, value)?,
            }
            Ok(())
        }
    }

    fn set_database_option(&mut self, name: &str, value: &str) -> Result<(), EngineError> {
        match name {
            "cache_size" => self.cache_bytes = Some(size(name, value, ANY)?),
            "worker_threads" => self.worker_threads = Some(threads(name, value)?),
            "max_cached_files" => self.cached_files = Some(number(name, value)?),
            "max_journaling_size" => {
                let range = (JOURNALING_BYTES_MIN, u64::MAX);
                self.journaling_bytes = Some(size(name, value, range)?);
            }
            "journal_compression" => self.journal_compression = compression(name, value)?,
            _ => return Err(unknown(name)),
        }
        Ok(())
    }

    /// Returns the builder of the database in `dir`.
    pub(crate) fn database(&self, dir: &Path) -> DatabaseBuilder<Database> {
        let mut builder = Database::builder(dir).journal_compression(self.journal_compression);
        if let Some(bytes) = self.cache_bytes {
            builder = builder.cache_size(bytes);
        }
        if let Some(threads) = self.worker_threads {
            builder = builder.worker_threads(threads);
        }
        if let Some(files) = self.cached_files {
            builder = builder.max_cached_files(Some(files));
        }
        if let Some(bytes) = self.journaling_bytes {
            builder = builder.max_journaling_size(bytes);
        }
        builder
    }

    /// Returns the options of a new keyspace.
    pub(crate) fn keyspace(&self) -> KeyspaceCreateOptions {
        self.keyspace
            .clone()
            .compaction_strategy(Arc::new(self.leveled.clone()))
            .with_kv_separation(self.separation.clone())
    }

    /// Returns the given database options, which fjall does not return.
    pub(crate) fn database_options(&self) -> Options {
        let mut options = Options::new();
        options.set("journal_compression", self.journal_compression.to_string());
        let given = [
            ("worker_threads", self.worker_threads.map(|threads| threads.to_string())),
            ("max_cached_files", self.cached_files.map(|files| files.to_string())),
            ("max_journaling_size", self.journaling_bytes.map(|bytes| bytes.to_string())),
        ];
        for (name, value) in given {
            value.into_iter().for_each(|value| options.set(name, value));
        }
        options
    }
}

fn block_compression(spec: &OpenSpec) -> Result<CompressionType, EngineError> {
    if spec.settings.direct_io {
        let reason = "direct_io: fjall reads and writes through the page cache";
        return Err(EngineError::setting(Setting::DirectIo, reason));
    }
    match spec.settings.compression.as_deref() {
        None | Some("none") => Ok(CompressionType::None),
        Some("lz4") => Ok(CompressionType::Lz4),
        Some(name) => {
            let reason = format!("compression `{name}`: fjall has none and lz4");
            Err(EngineError::setting(Setting::Compression, reason))
        }
    }
}

/// Returns the error for an option that no group handles.
#[cold]
fn unknown(name: &str) -> EngineError {
    refused(name, "not an option of fjall here")
}

fn threads(name: &str, value: &str) -> Result<usize, EngineError> {
    match number(name, value)? {
        0 => Err(refused(name, "fjall needs a background thread: write 1 or more")),
        threads => Ok(threads),
    }
}

fn set_separation_option(
    options: KvSeparationOptions,
    name: &str,
    value: &str,
) -> Result<KvSeparationOptions, EngineError> {
    Ok(match name {
        "separation_threshold" => options.separation_threshold(size(name, value, ANY)?),
        "file_target_size" => options.file_target_size(size(name, value, ANY)?),
        "staleness_threshold" => options.staleness_threshold(number(name, value)?),
        "age_cutoff" => options.age_cutoff(number(name, value)?),
        "blob_compression" => options.compression(compression(name, value)?),
        _ => return Err(unknown(name)),
    })
}

fn set_block_option(
    options: KeyspaceCreateOptions,
    name: &str,
    value: &str,
) -> Result<KeyspaceCreateOptions, EngineError> {
    let flags = || list(name, value, flag);
    Ok(match name {
        "max_memtable_size" => options.max_memtable_size(size(name, value, ANY)?),
        "data_block_size_policy" => {
            let sizes = list(name, value, |name, value| size::<u32>(name, value, BLOCK_BYTES))?;
            options.data_block_size_policy(BlockSizePolicy::new(sizes))
        }
        "data_block_compression_policy" => {
            let kinds = list(name, value, compression)?;
            options.data_block_compression_policy(CompressionPolicy::new(kinds))
        }
        "index_block_compression_policy" => {
            let kinds = list(name, value, compression)?;
            options.index_block_compression_policy(CompressionPolicy::new(kinds))
        }
        "data_block_hash_ratio_policy" => {
            let ratios: Vec<f32> = list(name, value, number)?;
            options.data_block_hash_ratio_policy(HashRatioPolicy::new(ratios))
        }
        "data_block_restart_interval_policy" => {
            let intervals: Vec<u8> = list(name, value, number)?;
            options.data_block_restart_interval_policy(RestartIntervalPolicy::new(intervals))
        }
        "expect_point_read_hits" => options.expect_point_read_hits(flag(name, value)?),
        "filter_policy" => options.filter_policy(FilterPolicy::new(list(name, value, filter)?)),
        "index_block_pinning_policy" => {
            options.index_block_pinning_policy(PinningPolicy::new(flags()?))
        }
        "filter_block_pinning_policy" => {
            options.filter_block_pinning_policy(PinningPolicy::new(flags()?))
        }
        "index_block_partitioning_policy" => {
            options.index_block_partitioning_policy(PartitioningPolicy::new(flags()?))
        }
        "filter_block_partitioning_policy" => {
            options.filter_block_partitioning_policy(PartitioningPolicy::new(flags()?))
        }
        _ => return Err(unknown(name)),
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use model::{DataShape, Settings};

    use super::*;
    use crate::describe::describe;

    fn resolve(compression: Option<&str>, options: &[(&str, &str)]) -> Result<Config, EngineError> {
        Config::resolve(&OpenSpec {
            endpoint: None,
            application: None,
            dir: PathBuf::new(),
            settings: Settings {
                compression: compression.map(str::to_owned),
                ..Settings::default()
            },
            options: options.iter().copied().collect(),
            data: DataShape { rows: 1000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 },
        })
    }

    #[test]
    fn every_option_is_read_back_as_it_was_written() {
        let options = [
            ("data_block_size_policy", "4096,16384"),
            ("data_block_compression_policy", "none,lz4"),
            ("index_block_compression_policy", "lz4"),
            ("data_block_hash_ratio_policy", "0.5"),
            ("data_block_restart_interval_policy", "8,16"),
            ("expect_point_read_hits", "true"),
            ("filter_policy", "false_positive_rate:0.01,bits_per_key:8,none"),
            ("index_block_pinning_policy", "true,false"),
            ("filter_block_pinning_policy", "false"),
            ("index_block_partitioning_policy", "true"),
            ("filter_block_partitioning_policy", "false,true"),
            ("l0_threshold", "8"),
            ("table_target_size", "33554432"),
            ("level_ratio_policy", "4,10"),
            (SEPARATION, "true"),
            ("separation_threshold", "512"),
            ("file_target_size", "16777216"),
            ("staleness_threshold", "0.5"),
            ("age_cutoff", "0.125"),
            ("blob_compression", "lz4"),
        ];
        let config = resolve(None, &options).unwrap();
        let found = describe(&config.keyspace());
        let expected: Options = options.into_iter().collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn nothing_is_compressed_unless_requested() {
        for (requested, found) in [(None, "none"), (Some("none"), "none"), (Some("lz4"), "lz4")] {
            let config = resolve(requested, &[(SEPARATION, "true")]).unwrap();
            let options = describe(&config.keyspace());
            assert_eq!(options.get("data_block_compression_policy"), Some(found));
            assert_eq!(options.get("blob_compression"), Some(found));
            assert_eq!(config.database_options().get("journal_compression"), Some(found));
        }
        let error = resolve(Some("zstd"), &[]).err().unwrap().to_string();
        assert_eq!(error, "not supported: compression `zstd`: fjall has none and lz4");
    }

    #[test]
    fn wrong_option_is_refused_by_name_without_panic() {
        for (name, value) in [
            ("cache", "1GiB"),
            ("worker_threads", "0"),
            ("max_journaling_size", "1MiB"),
            ("data_block_size_policy", "512"),
            ("data_block_size_policy", ""),
            ("filter_policy", "bloom"),
            ("l0_threshold", "256"),
            ("separation_threshold", "1KiB"),
            (SEPARATION, "maybe"),
        ] {
            let error = resolve(None, &[(name, value)]).err();
            assert!(
                error.as_ref().and_then(EngineError::refused_option) == Some(name),
                "{name} = {value}: {error:?}"
            );
        }
    }
}
