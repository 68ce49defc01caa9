//! Translates settings and options into RocksDB options.

use engine::settings_check::{flag, refused};
use engine::{EngineError, Result, VALUE_CHANGES};
use model::{Durability, Options, Settings};

use crate::cache::{BLOB_CACHE, CacheOptions, NAMES, ObjectCache, TABLE, engine_bytes};

// Options of the driver, as `docs/engines/rocksdb.md` describes them; those of the caches are in
// `cache`.
pub(crate) const DEFAULT_COMPRESSION: &str = "assay.default_compression";
pub(crate) const MULTI_GET: &str = "assay.multi_get";
pub(crate) const STATISTICS: &str = "assay.statistics";
pub(crate) const PERF_CONTEXT: &str = "assay.perf_context";

/// Values of [`VALUE_CHANGES`]: a get and a put, or the merge operator, which reads nothing.
const READ_MODIFY_WRITE: &str = "read-modify-write";
const MERGE: &str = "merge";

/// Option that leaves the log in the process until it is flushed by a call, or synced.
const MANUAL_FLUSH: &str = "manual_wal_flush";

/// Prefix of the driver's options.
const DRIVER_PREFIX: &str = "assay.";

/// Everything RocksDB is opened with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Config {
    /// The engine's options, dotted as the user writes them.
    pub(crate) options: Options,
    /// The driver's options with their values in force, to be read back.
    pub(crate) driver_options: Options,
    /// A block cache that an option string cannot create.
    pub(crate) cache: Option<ObjectCache>,
}

impl Config {
    /// Returns the configuration of `settings` and `options`; options win.
    ///
    /// `has` returns whether the library has a function.
    pub(crate) fn new(
        settings: &Settings,
        options: &Options,
        has: &dyn Fn(&str) -> bool,
    ) -> Result<Self> {
        let is_own = |(name, _): &(&str, &str)| name.starts_with(DRIVER_PREFIX);
        let mut wanted: Options = options.iter().filter(|option| !is_own(option)).collect();
        let usual = [
            (MULTI_GET, "single"),
            (STATISTICS, "off"),
            (PERF_CONTEXT, "off"),
            (VALUE_CHANGES, READ_MODIFY_WRITE),
        ];
        let mut driver_options: Options = usual.into_iter().collect();
        let (mut cache, mut default_compression) = (CacheOptions::default(), None);
        for (name, value) in options.iter().filter(is_own) {
            match name {
                DEFAULT_COMPRESSION => default_compression = Some(value),
                MULTI_GET if ["single", "batched"].contains(&value) => {
                    driver_options.set(name, value);
                }
                MULTI_GET => return Err(refused(name, "write single or batched")),
                VALUE_CHANGES if [READ_MODIFY_WRITE, MERGE].contains(&value) => {
                    driver_options.set(name, value);
                }
                VALUE_CHANGES => {
                    return Err(refused(name, format!("write {READ_MODIFY_WRITE} or {MERGE}")));
                }
                STATISTICS | PERF_CONTEXT => {
                    driver_options.set(name, if flag(name, value)? { "on" } else { "off" });
                }
                _ if NAMES.contains(&name) => cache.set(name, value)?,
                _ => {
                    let others =
                        [DEFAULT_COMPRESSION, MULTI_GET, STATISTICS, PERF_CONTEXT, VALUE_CHANGES];
                    let known = [NAMES.as_slice(), &others].concat();
                    let reason = "the driver has no such option";
                    return Err(EngineError::unknown(name, reason, &known));
                }
            }
        }
        if wanted.get(TABLE).is_some() {
            let reason = format!("write each table option separately: {TABLE}.NAME = VALUE");
            return Err(refused(TABLE, reason));
        }
        check_memtable(&wanted)?;
        check_log(settings.durability, &wanted)?;
        fill_settings(settings, default_compression, &mut wanted);
        let made = cache.fill(settings, has, &mut wanted)?;
        if let Some(blob) = cache.blob {
            driver_options.set(BLOB_CACHE, blob);
        }
        Ok(Self { options: wanted, driver_options, cache: made })
    }

    /// Returns whether an option of the driver has a value other than its default.
    pub(crate) fn has(&self, name: &str) -> bool {
        matches!(self.driver_options.get(name), Some("on" | "batched" | MERGE))
    }

    /// Returns all options as one option string.
    pub(crate) fn text(&self) -> String {
        render(&self.options.iter().collect::<Vec<_>>())
    }
}

/// Refuses a log that is weaker than the durability class.
fn check_log(class: Durability, wanted: &Options) -> Result<()> {
    let value = wanted.get(MANUAL_FLUSH).map(|value| flag(MANUAL_FLUSH, value)).transpose()?;
    if value == Some(true) && class == Durability::Os {
        let reason = "the write-ahead log would stay in the process's memory: use durability class \
                      `none` or `sync`";
        return Err(refused(MANUAL_FLUSH, reason));
    }
    Ok(())
}

/// Adds the common settings that no option overrides.
fn fill_settings(settings: &Settings, default_compression: Option<&str>, wanted: &mut Options) {
    let mut fill = |name: &str, value: &str| {
        let is_free = wanted.get(name).is_none();
        if is_free {
            wanted.set(name, value);
        }
        is_free
    };
    if settings.direct_io {
        fill("use_direct_reads", "true");
        fill("use_direct_io_for_flush_and_compaction", "true");
    }
    if let Some(jobs) = settings.background_jobs {
        fill("max_background_jobs", &jobs.to_string());
    }
    if let Some(name) = settings.compression.as_deref().or(default_compression) {
        let name = compression(name);
        if fill("compression", name) {
            fill("bottommost_compression", name);
        }
    }
}

/// Returns the engine's name of a compression; unknown names pass unchanged.
fn compression(name: &str) -> &str {
    match name {
        "none" => "kNoCompression",
        "snappy" => "kSnappyCompression",
        "zlib" => "kZlibCompression",
        "bzip2" => "kBZip2Compression",
        "lz4" => "kLZ4Compression",
        "lz4hc" => "kLZ4HCCompression",
        "zstd" => "kZSTD",
        other => other,
    }
}

/// Refuses memtables that are full on creation.
///
/// The engine accepts such sizes and then flushes a file per write: an easy mistake with a profile
/// that pins `arena_block_size`.
fn check_memtable(wanted: &Options) -> Result<()> {
    let bytes = |name: &str| wanted.get(name).and_then(engine_bytes);
    if let Some((arena, buffer)) = bytes("arena_block_size").zip(bytes("write_buffer_size"))
        && arena >= buffer
    {
        let reason = format!(
            "one arena block of {arena} bytes fills the write buffer of {buffer} bytes: write an \
             eighth of {buffer}"
        );
        return Err(refused("arena_block_size", reason));
    }
    Ok(())
}

/// Returns options as an option string: `a.b = 1, a.c = 2` becomes `a={b=1;c=2;};`.
pub(crate) fn render(options: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut done: Vec<&str> = Vec::new();
    for &(name, value) in options {
        let Some((group, _)) = name.split_once('.') else {
            // A semicolon outside of braces would end the value.
            let is_bare = value.contains(';') && !value.starts_with('{');
            let value = if is_bare { format!("{{{value}}}") } else { value.to_owned() };
            text.push_str(&format!("{name}={value};"));
            continue;
        };
        if !done.contains(&group) {
            done.push(group);
            let inner = options.iter().filter_map(|&(name, value)| {
                let (other, rest) = name.split_once('.')?;
                (other == group).then_some((rest, value))
            });
            text.push_str(&format!("{group}={{{}}};", render(&inner.collect::<Vec<_>>())));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(settings: &Settings, options: &[(&str, &str)]) -> Result<Config> {
        Config::new(settings, &options.iter().copied().collect(), &|_| true)
    }

    #[test]
    fn dotted_names_become_nested_strings_at_their_first_position() {
        let options = [
            ("block_based_table_factory.block_size", "8192"),
            ("write_buffer_size", "16777216"),
            ("block_based_table_factory.metadata_cache_options.partition_pinning", "kNone"),
            ("compaction_options_universal.size_ratio", "1"),
            ("memtable_factory", "id=VectorRepFactory;count=0"),
        ];
        assert_eq!(
            config(&Settings::default(), &options).unwrap().text(),
            "block_based_table_factory={block_size=8192;\
             metadata_cache_options={partition_pinning=kNone;};};write_buffer_size=16777216;\
             compaction_options_universal={size_ratio=1;};\
             memtable_factory={id=VectorRepFactory;count=0};"
        );
    }

    #[test]
    fn a_log_that_stays_in_the_process_does_not_survive_its_crash() {
        let of = |durability, value| {
            let settings = Settings { durability, ..Settings::default() };
            config(&settings, &[(MANUAL_FLUSH, value)]).is_ok()
        };
        let classes = [Durability::None, Durability::Os, Durability::Sync];
        assert_eq!(classes.map(|class| of(class, "true")), [true, false, true]);
        assert_eq!(classes.map(|class| of(class, "false")), [true; 3]);
    }

    #[test]
    fn options_win_over_settings_and_settings_over_the_profiles_default() {
        let settings = Settings {
            compression: Some("lz4".to_owned()),
            background_jobs: Some(4),
            direct_io: true,
            ..Settings::default()
        };
        let requested = [("max_background_jobs", "7"), (DEFAULT_COMPRESSION, "zstd")];
        let options = config(&settings, &requested).unwrap().options;
        assert_eq!(options.get("max_background_jobs"), Some("7"));
        assert_eq!(options.get("compression"), Some("kLZ4Compression"));
        assert_eq!(options.get("bottommost_compression"), Some("kLZ4Compression"));
        assert_eq!(options.get("use_direct_reads"), Some("true"));
        let options = config(&Settings::default(), &requested).unwrap().options;
        assert_eq!(options.get("compression"), Some("kZSTD"));
        let requested = [("compression", "kSnappyCompression")];
        let options = config(&settings, &requested).unwrap().options;
        assert_eq!(options.get("compression"), Some("kSnappyCompression"));
        assert_eq!(options.get("bottommost_compression"), None);
    }

    #[test]
    fn wrong_driver_option_is_refused_by_name() {
        for (name, value) in [
            ("assay.cache", "arc"),
            (MULTI_GET, "yes"),
            (STATISTICS, "some"),
            (PERF_CONTEXT, "2"),
            (VALUE_CHANGES, "modify"),
            ("assay.chache", "lru"),
            (TABLE, "{block_size=4096}"),
        ] {
            let error = config(&Settings::default(), &[(name, value)]).unwrap_err();
            assert_eq!(error.refused_option(), Some(name), "{value}");
        }
        let full = [("write_buffer_size", "1M"), ("arena_block_size", "1048576")];
        assert!(config(&Settings::default(), &full).is_err());
        let usual = [("write_buffer_size", "8m"), ("arena_block_size", "1048576")];
        assert!(config(&Settings::default(), &usual).is_ok());
    }
}
