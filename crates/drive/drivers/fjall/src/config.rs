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

/// Turns key-value separation on.
pub(crate) const SEPARATION: &str = "kv_separation";
/// Minimum `max_journaling_size`, below which fjall panics.
const JOURNALING_BYTES_MIN: u64 = 64 << 20;
/// Bounds of block sizes, outside which fjall panics.
const BLOCK_BYTES: (u64, u64) = (1 << 10, 1 << 20);
/// Any size.
const ANY: (u64, u64) = (0, u64::MAX);

/// Parses an option's value and sets it.
type Set = fn(&mut Config, &str, &str) -> Result<(), EngineError>;

/// Options of the database, named after the setters of `fjall::DatabaseBuilder`.
const DATABASE_OPTIONS: [(&str, Set); 5] = [
    ("cache_size", |config, name, value| {
        config.cache_bytes = Some(size(name, value, ANY)?);
        Ok(())
    }),
    ("worker_threads", |config, name, value| {
        config.worker_threads = Some(threads(name, value)?);
        Ok(())
    }),
    ("max_cached_files", |config, name, value| {
        config.cached_files = Some(number(name, value)?);
        Ok(())
    }),
    ("max_journaling_size", |config, name, value| {
        config.journaling_bytes = Some(size(name, value, (JOURNALING_BYTES_MIN, u64::MAX))?);
        Ok(())
    }),
    ("journal_compression", |config, name, value| {
        config.journal_compression = compression(name, value)?;
        Ok(())
    }),
];

/// Declares an option by a setter of a field of [`Config`], and the parser of its value.
macro_rules! setter {
    ($field:ident.$setter:ident($parse:expr)) => {
        (stringify!($setter), |config, name, value| {
            let parsed = $parse(name, value)?;
            config.$field = config.$field.clone().$setter(parsed);
            Ok(())
        })
    };
}

/// Declares a policy of the keyspace, by its type and the parser of one entry.
macro_rules! policy {
    ($setter:ident: $policy:ident($parse:expr)) => {
        setter!(keyspace.$setter(|name, value| list(name, value, $parse).map($policy::new)))
    };
}

/// Declares an option of key-value separation, by its setter and the parser of its value.
macro_rules! separation {
    ($option:literal: $setter:ident($parse:expr)) => {
        ($option, |config, name, value| {
            let Some(separation) = config.separation.take() else {
                return Err(refused(name, format!("has no effect without {SEPARATION} = true")));
            };
            config.separation = Some(separation.$setter($parse(name, value)?));
            Ok(())
        })
    };
}

/// Options of the keyspace and of key-value separation.
///
/// They are named after the setters of `KeyspaceCreateOptions`, `Leveled` and
/// `KvSeparationOptions`.
const KEYSPACE_OPTIONS: [(&str, Set); 21] = [
    setter!(keyspace.max_memtable_size(any_size)),
    policy!(data_block_size_policy: BlockSizePolicy(|name, value| size(name, value, BLOCK_BYTES))),
    policy!(data_block_compression_policy: CompressionPolicy(compression)),
    policy!(index_block_compression_policy: CompressionPolicy(compression)),
    policy!(data_block_hash_ratio_policy: HashRatioPolicy(number)),
    policy!(data_block_restart_interval_policy: RestartIntervalPolicy(number)),
    setter!(keyspace.expect_point_read_hits(flag)),
    policy!(filter_policy: FilterPolicy(filter)),
    policy!(index_block_pinning_policy: PinningPolicy(flag)),
    policy!(filter_block_pinning_policy: PinningPolicy(flag)),
    policy!(index_block_partitioning_policy: PartitioningPolicy(flag)),
    policy!(filter_block_partitioning_policy: PartitioningPolicy(flag)),
    ("l0_threshold", |config, name, value| {
        config.leveled = config.leveled.clone().with_l0_threshold(number(name, value)?);
        Ok(())
    }),
    ("table_target_size", |config, name, value| {
        config.leveled = config.leveled.clone().with_table_target_size(any_size(name, value)?);
        Ok(())
    }),
    ("level_ratio_policy", |config, name, value| {
        let ratios = list(name, value, number)?;
        config.leveled = config.leveled.clone().with_level_ratio_policy(ratios);
        Ok(())
    }),
    // Parsed before all others.
    (SEPARATION, |_, _, _| Ok(())),
    separation!("separation_threshold": separation_threshold(any_size)),
    separation!("file_target_size": file_target_size(any_size)),
    separation!("staleness_threshold": staleness_threshold(number)),
    separation!("age_cutoff": age_cutoff(number)),
    separation!("blob_compression": compression(compression)),
];

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
        let all = DATABASE_OPTIONS.iter().chain(&KEYSPACE_OPTIONS);
        let known: Vec<_> = all.map(|(name, _)| *name).collect();
        check_names("fjall", &known, &spec.options)?;
        for (name, value) in spec.options.iter() {
            config.set(name, value)?;
        }
        Ok(config)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), EngineError> {
        let is_it = |(known, _): &&(&str, Set)| *known == name;
        if let Some((_, set)) = DATABASE_OPTIONS.iter().find(is_it) {
            return set(self, name, value);
        }
        self.named.push(name.to_owned());
        KEYSPACE_OPTIONS.iter().find(is_it).map_or(Ok(()), |(_, set)| set(self, name, value))
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

/// Parses a size without bounds.
fn any_size<T: TryFrom<u64>>(name: &str, value: &str) -> Result<T, EngineError> {
    size(name, value, ANY)
}

fn threads(name: &str, value: &str) -> Result<usize, EngineError> {
    match number(name, value)? {
        0 => Err(refused(name, "fjall needs a background thread: write 1 or more")),
        threads => Ok(threads),
    }
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
