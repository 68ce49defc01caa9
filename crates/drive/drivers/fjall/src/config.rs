//! Translates settings and options into fjall's configuration.

use std::ops::RangeInclusive;
use std::sync::Arc;

use engine::settings_check::{check_names, flag, number, refused};
use engine::{EngineError, OpenSpec, Result, Setting};
use fjall::compaction::Leveled;
use fjall::config::{
    BlockSizePolicy, CompressionPolicy, FilterPolicy, HashRatioPolicy, PartitioningPolicy,
    PinningPolicy, RestartIntervalPolicy,
};
use fjall::{
    CompressionType, Database, DatabaseBuilder, KeyspaceCreateOptions, KvSeparationOptions,
};
use model::units::parse_size;
use model::{Durability, Options};

use crate::value::{compression, filter, list, size};

/// Turns key-value separation on.
pub(crate) const SEPARATION: &str = "kv_separation";
/// Bounds of `max_journaling_size`, below which fjall panics.
const JOURNALING_BYTES: RangeInclusive<u64> = 64 << 20..=u64::MAX;
/// Bounds of block sizes, outside which fjall panics.
const BLOCK_BYTES: RangeInclusive<u64> = 1 << 10..=1 << 20;

/// An option's name, and what parses its value and sets it.
type Setter = (&'static str, fn(Config, &str, &str) -> Result<Config>);

/// Declares an option by a setter of a field of [`Config`], and the parser of its value.
macro_rules! setter {
    ($field:ident.$setter:ident($parse:expr)) => {
        setter!(stringify!($setter) => $field.$setter($parse))
    };
    ($option:expr => $field:ident.$setter:ident($parse:expr)) => {
        ($option, |config, name, value| {
            let parsed = $parse(name, value)?;
            Ok(Config { $field: config.$field.$setter(parsed), ..config })
        })
    };
}

/// Declares a policy of the keyspace, by its type and the parser of one entry.
macro_rules! policy {
    ($setter:ident: $policy:ident($parse:expr)) => {
        setter!(keyspace.$setter(|name, value| list(name, value, $parse).map($policy::new)))
    };
}

/// Options of the database.
const DATABASE_OPTIONS: [Setter; 5] = [
    setter!(database.cache_size(any_size)),
    setter!(database.worker_threads(threads)),
    setter!(database.max_cached_files(|name, value| number(name, value).map(Some))),
    setter!(database.max_journaling_size(|name, value| size(name, value, JOURNALING_BYTES))),
    setter!(database.journal_compression(compression)),
];
/// Options of the keyspace.
const KEYSPACE_OPTIONS: [Setter; 15] = [
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
    setter!("l0_threshold" => leveled.with_l0_threshold(number)),
    setter!("table_target_size" => leveled.with_table_target_size(any_size)),
    setter!("level_ratio_policy" => leveled.with_level_ratio_policy(
        |name, value| list(name, value, number)
    )),
];
/// Options of key-value separation, which have no effect without it.
const SEPARATION_OPTIONS: [Setter; 5] = [
    setter!(separation.separation_threshold(any_size)),
    setter!(separation.file_target_size(any_size)),
    setter!(separation.staleness_threshold(number)),
    setter!(separation.age_cutoff(number)),
    setter!("blob_compression" => separation.compression(compression)),
];

/// Everything fjall is opened with.
///
/// The options are named after the setters of `DatabaseBuilder`, `KeyspaceCreateOptions`, `Leveled`
/// and `KvSeparationOptions`.
pub(crate) struct Config {
    /// The durability class.
    pub(crate) durability: Durability,
    /// The builder of the database.
    pub(crate) database: DatabaseBuilder<Database>,
    /// Options of the database, which fjall does not return.
    pub(crate) database_options: Options,
    keyspace: KeyspaceCreateOptions,
    leveled: Leveled,
    separation: KvSeparationOptions,
    is_separated: bool,
    /// Options that existing data must have been created with.
    pub(crate) named: Vec<String>,
}

impl Config {
    /// Returns the configuration of `spec`.
    pub(crate) fn resolve(spec: &OpenSpec) -> Result<Self> {
        let compression = block_compression(spec)?;
        let separation = spec.options.get(SEPARATION);
        let mut config = Self {
            durability: spec.settings.durability,
            database: Database::builder(&spec.dir).journal_compression(compression),
            database_options: [("journal_compression", compression.to_string())]
                .into_iter()
                .collect(),
            keyspace: KeyspaceCreateOptions::default()
                .data_block_compression_policy(CompressionPolicy::all(compression)),
            leveled: Leveled::default(),
            separation: KvSeparationOptions::default().compression(compression),
            is_separated: separation.map_or(Ok(false), |value| flag(SEPARATION, value))?,
            named: vec![SEPARATION.to_owned()],
        };
        if spec.settings.compression.is_some() {
            config.named.push("data_block_compression_policy".to_owned());
        }
        let all = DATABASE_OPTIONS.iter().chain(&KEYSPACE_OPTIONS).chain(&SEPARATION_OPTIONS);
        let known: Vec<_> = all.map(|(name, _)| *name).chain([SEPARATION]).collect();
        check_names("fjall", &known, &spec.options)?;
        if let Some(bytes) = spec.settings.cache_bytes {
            config = config.set("cache_size", &bytes.0.to_string())?;
        }
        if let Some(jobs) = spec.settings.background_jobs {
            let setting = [(Setting::BackgroundJobs, "worker_threads")];
            let set = config.set("worker_threads", &jobs.to_string());
            config = set.map_err(|error| error.of_setting(&spec.options, &setting))?;
        }
        for (name, value) in spec.options.iter().filter(|(name, _)| *name != SEPARATION) {
            config = config.set(name, value)?;
        }
        Ok(config)
    }

    fn set(mut self, name: &str, value: &str) -> Result<Self> {
        let setter = |options: &[Setter]| {
            options.iter().find(|(known, _)| *known == name).map(|(_, set)| *set)
        };
        if let Some(set) = setter(&DATABASE_OPTIONS) {
            let bytes = parse_size(value).ok().map(|bytes| bytes.0.to_string());
            self.database_options.set(name, bytes.unwrap_or_else(|| value.to_owned()));
            return set(self, name, value);
        }
        self.named.push(name.to_owned());
        if let Some(set) = setter(&KEYSPACE_OPTIONS) {
            return set(self, name, value);
        }
        match setter(&SEPARATION_OPTIONS) {
            Some(set) if self.is_separated => set(self, name, value),
            _ => Err(refused(name, format!("has no effect without {SEPARATION} = true"))),
        }
    }

    /// Returns the options of a new keyspace.
    pub(crate) fn keyspace(&self) -> KeyspaceCreateOptions {
        self.keyspace
            .clone()
            .compaction_strategy(Arc::new(self.leveled.clone()))
            .with_kv_separation(self.is_separated.then(|| self.separation.clone()))
    }
}

fn block_compression(spec: &OpenSpec) -> Result<CompressionType> {
    if spec.settings.direct_io {
        let reason = "direct_io: fjall reads and writes through the page cache";
        return Err(EngineError::setting(Setting::DirectIo, reason));
    }
    match spec.settings.compression.as_deref() {
        None | Some("none") => Ok(CompressionType::None),
        Some("lz4") => Ok(CompressionType::Lz4),
        Some(name) => {
            let reason = format!("compression `{name}`: fjall supports `none` and `lz4`");
            Err(EngineError::setting(Setting::Compression, reason))
        }
    }
}

/// Parses a size without bounds.
fn any_size<T: TryFrom<u64>>(name: &str, value: &str) -> Result<T> {
    size(name, value, 0..=u64::MAX)
}

fn threads(name: &str, value: &str) -> Result<usize> {
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

    fn resolve(compression: Option<&str>, options: &[(&str, &str)]) -> Result<Config> {
        Config::resolve(&OpenSpec {
            options: options.iter().copied().collect(),
            ..OpenSpec::embedded(
                PathBuf::from("/d"),
                Settings { compression: compression.map(str::to_owned), ..Settings::default() },
                DataShape { rows: 1000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 },
            )
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
            assert_eq!(config.database_options.get("journal_compression"), Some(found));
        }
        let error = resolve(Some("zstd"), &[]).err().unwrap().to_string();
        assert_eq!(error, "not supported: compression `zstd`: fjall supports `none` and `lz4`");
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
