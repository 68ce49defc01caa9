//! From settings and options to what the engine is asked for.

use engine::EngineError;
use model::{Options, Settings};

use crate::ffi_db::HyperClock;

/// Options of ours, which no engine option string can express.
///
/// | name | values | meaning |
/// |---|---|---|
/// | `assay.cache` | `lru`, `hyper_clock` | kind of block cache; unset leaves the engine's |
/// | `assay.cache_shard_bits` | number | binary logarithm of the cache's shards |
/// | `assay.default_compression` | as in settings | compression where the settings name none |
/// | `assay.multi_get` | `single`, `batched` | which C function serves `multi_get` |
/// | `assay.statistics` | `off`, `on` | the engine's tickers; they cost speed |
pub(crate) const CACHE: &str = "assay.cache";
/// See [`CACHE`].
pub(crate) const SHARD_BITS: &str = "assay.cache_shard_bits";
/// See [`CACHE`].
pub(crate) const DEFAULT_COMPRESSION: &str = "assay.default_compression";
/// See [`CACHE`].
pub(crate) const MULTI_GET: &str = "assay.multi_get";
/// See [`CACHE`].
pub(crate) const STATISTICS: &str = "assay.statistics";

/// Prefix of our own options.
const OURS: &str = "assay.";
/// The engine's name for the block-based table's options.
pub(crate) const TABLE: &str = "block_based_table_factory";
/// The table option that makes an LRU cache.
const BLOCK_CACHE: &str = "block_based_table_factory.block_cache";

/// Cache size where a kind is asked for and no size: the engine's own default since 8.2.
const CACHE_BYTES: u64 = 32 << 20;
/// Block size where none is asked for. Source: RocksDB `table.h`, `block_size`.
const BLOCK_BYTES: usize = 4096;

/// What to open a database with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    /// The engine's options, dotted as the user writes them.
    pub(crate) options: Options,
    /// The block cache, when it is one that an option string cannot make.
    pub(crate) hyper_clock: Option<HyperClock>,
    /// Whether the engine keeps its tickers.
    pub(crate) has_statistics: bool,
    /// Whether `multi_get` uses the batched function.
    pub(crate) is_batched: bool,
}

/// What a library can do that changes how it is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dialect {
    /// Whether a HyperClock cache sizes its own table (8.9 and newer).
    pub(crate) has_auto_hyper_clock: bool,
}

impl Request {
    /// Returns what `settings` and `options` ask for; options win.
    ///
    /// # Errors
    /// [`EngineError::Option`] for one of our own options that is unknown or has a wrong value.
    pub(crate) fn new(
        settings: &Settings,
        options: &Options,
        dialect: Dialect,
    ) -> Result<Self, EngineError> {
        let ours = Ours::read(options)?;
        let mut wanted: Options =
            options.iter().filter(|(name, _)| !name.starts_with(OURS)).collect();
        if wanted.get(TABLE).is_some() {
            let reason = format!("write each table option by itself: {TABLE}.NAME = VALUE");
            return Err(refused(TABLE, reason));
        }
        check_memtable(&wanted)?;
        fill_settings(settings, ours.default_compression, &mut wanted);
        let hyper_clock = fill_cache(settings, &ours, dialect, &mut wanted)?;
        Ok(Self {
            options: wanted,
            hyper_clock,
            has_statistics: ours.has_statistics,
            is_batched: ours.is_batched,
        })
    }

    /// Returns all options as one option string.
    pub(crate) fn text(&self) -> String {
        render(&self.options.iter().collect::<Vec<_>>())
    }
}

/// Returns one option as an option string.
pub(crate) fn single(name: &str, value: &str) -> String {
    render(&[(name, value)])
}

/// Kind of block cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CacheKind {
    Lru,
    HyperClock,
}

/// Our own options, read.
struct Ours<'a> {
    cache: Option<CacheKind>,
    shard_bits: Option<i32>,
    default_compression: Option<&'a str>,
    is_batched: bool,
    has_statistics: bool,
}

impl<'a> Ours<'a> {
    fn read(options: &'a Options) -> Result<Self, EngineError> {
        let mut ours = Self {
            cache: None,
            shard_bits: None,
            default_compression: None,
            is_batched: false,
            has_statistics: false,
        };
        for (name, value) in options.iter().filter(|(name, _)| name.starts_with(OURS)) {
            match (name, value) {
                (CACHE, "lru") => ours.cache = Some(CacheKind::Lru),
                (CACHE, "hyper_clock") => ours.cache = Some(CacheKind::HyperClock),
                (CACHE, _) => return Err(refused(name, "write lru or hyper_clock".to_owned())),
                (SHARD_BITS, bits) => match bits.parse() {
                    Ok(bits @ 0..=19) => ours.shard_bits = Some(bits),
                    _ => return Err(refused(name, "write a number from 0 to 19".to_owned())),
                },
                (DEFAULT_COMPRESSION, compression) => ours.default_compression = Some(compression),
                (MULTI_GET, "single") => ours.is_batched = false,
                (MULTI_GET, "batched") => ours.is_batched = true,
                (MULTI_GET, _) => return Err(refused(name, "write single or batched".to_owned())),
                (STATISTICS, "on" | "true") => ours.has_statistics = true,
                (STATISTICS, "off" | "false") => ours.has_statistics = false,
                (STATISTICS, _) => return Err(refused(name, "write on or off".to_owned())),
                _ => {
                    let known = [CACHE, SHARD_BITS, DEFAULT_COMPRESSION, MULTI_GET, STATISTICS];
                    let reason = format!("the driver has no such option; {}", known.join(", "));
                    return Err(refused(name, reason));
                }
            }
        }
        Ok(ours)
    }
}

/// Adds the common settings where no option speaks for itself.
fn fill_settings(settings: &Settings, default_compression: Option<&str>, wanted: &mut Options) {
    let mut fill = |name: &str, value: &str| {
        if wanted.get(name).is_none() {
            wanted.set(name, value);
            return true;
        }
        false
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

/// Returns the engine's name of a compression; one that is not known is left to the engine.
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

/// Adds the block cache: an LRU as an option, a HyperClock as the value returned.
///
/// The option string makes an LRU with the same shards and priorities in every release; the C
/// function has its own defaults in each.
fn fill_cache(
    settings: &Settings,
    ours: &Ours<'_>,
    dialect: Dialect,
    wanted: &mut Options,
) -> Result<Option<HyperClock>, EngineError> {
    let is_own = wanted.get(BLOCK_CACHE).is_some();
    if is_own && (ours.cache.is_some() || ours.shard_bits.is_some()) {
        let reason = format!("{CACHE} makes the block cache; leave one of the two out");
        return Err(refused(BLOCK_CACHE, reason));
    }
    let bytes = settings.cache_bytes.map_or(CACHE_BYTES, |bytes| bytes.0);
    match ours.cache {
        None if ours.shard_bits.is_some() => {
            Err(refused(SHARD_BITS, format!("it needs {CACHE} beside it")))
        }
        None => {
            if let (false, Some(bytes)) = (is_own, settings.cache_bytes) {
                wanted.set(BLOCK_CACHE, bytes.0.to_string());
            }
            Ok(None)
        }
        Some(CacheKind::Lru) => {
            let bits =
                ours.shard_bits.map_or(String::new(), |bits| format!("num_shard_bits={bits};"));
            let pinned = "strict_capacity_limit=false;high_pri_pool_ratio=0.5;";
            wanted.set(BLOCK_CACHE, format!("{{capacity={bytes};{bits}{pinned}}}"));
            Ok(None)
        }
        Some(CacheKind::HyperClock) => {
            let entry_bytes = if dialect.has_auto_hyper_clock { 0 } else { block_bytes(wanted) };
            let bytes = usize::try_from(bytes)
                .map_err(|_too_large| refused(CACHE, format!("{bytes} bytes are too many")))?;
            Ok(Some(HyperClock { bytes, shard_bits: ours.shard_bits.unwrap_or(-1), entry_bytes }))
        }
    }
}

/// Returns the block size asked for.
fn block_bytes(wanted: &Options) -> usize {
    let asked = wanted.get("block_based_table_factory.block_size").and_then(engine_bytes);
    asked.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(BLOCK_BYTES)
}

/// Returns a size in the engine's notation (`8192`, `8K`).
fn engine_bytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.split_at_checked(text.len().checked_sub(1)?)? {
        (digits, "k" | "K") => (digits, 10),
        (digits, "m" | "M") => (digits, 20),
        (digits, "g" | "G") => (digits, 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_shl(shift)
}

/// Refuses memtables that are full as soon as they are made.
///
/// The engine takes such sizes and then flushes a file per write: a profile that pins
/// `arena_block_size` makes that an easy mistake.
fn check_memtable(wanted: &Options) -> Result<(), EngineError> {
    let bytes = |name: &str| wanted.get(name).and_then(engine_bytes);
    match (bytes("arena_block_size"), bytes("write_buffer_size")) {
        (Some(arena), Some(buffer)) if arena >= buffer => {
            let reason = format!(
                "{arena} bytes fill a write buffer of {buffer} at once; an eighth of it is usual"
            );
            Err(refused("arena_block_size", reason))
        }
        _ => Ok(()),
    }
}

/// Returns options as an option string: `a.b = 1, a.c = 2` becomes `a={b=1;c=2;};`.
fn render(options: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut done: Vec<&str> = Vec::new();
    for &(name, value) in options {
        let Some((group, _)) = name.split_once('.') else {
            text.push_str(&format!("{name}={};", braced(value)));
            continue;
        };
        if done.contains(&group) {
            continue;
        }
        done.push(group);
        let inner: Vec<_> = options
            .iter()
            .filter_map(|&(name, value)| {
                let (other, rest) = name.split_once('.')?;
                (other == group).then_some((rest, value))
            })
            .collect();
        text.push_str(&format!("{group}={{{}}};", render(&inner)));
    }
    text
}

/// Returns a value in braces when its semicolons would else end it.
fn braced(value: &str) -> String {
    if value.contains(';') && !value.starts_with('{') {
        return format!("{{{value}}}");
    }
    value.to_owned()
}

/// Returns the error for an option of ours.
pub(crate) fn refused(option: &str, reason: String) -> EngineError {
    EngineError::Option { option: option.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use model::Bytes;

    use super::*;

    const NEW: Dialect = Dialect { has_auto_hyper_clock: true };

    fn request(settings: &Settings, options: &[(&str, &str)]) -> Result<Request, EngineError> {
        Request::new(settings, &options.iter().copied().collect(), NEW)
    }

    #[test]
    fn dotted_names_become_nested_strings_in_their_first_place() {
        let options = [
            ("block_based_table_factory.block_size", "8192"),
            ("write_buffer_size", "16777216"),
            ("block_based_table_factory.metadata_cache_options.partition_pinning", "kNone"),
            ("compaction_options_universal.size_ratio", "1"),
            ("memtable_factory", "id=VectorRepFactory;count=0"),
        ];
        assert_eq!(
            request(&Settings::default(), &options).unwrap().text(),
            "block_based_table_factory={block_size=8192;\
             metadata_cache_options={partition_pinning=kNone;};};write_buffer_size=16777216;\
             compaction_options_universal={size_ratio=1;};\
             memtable_factory={id=VectorRepFactory;count=0};"
        );
    }

    #[test]
    fn options_win_over_settings_and_settings_over_the_profiles_default() {
        let settings = Settings {
            compression: Some("lz4".to_owned()),
            background_jobs: Some(4),
            direct_io: true,
            ..Settings::default()
        };
        let asked = [("max_background_jobs", "7"), (DEFAULT_COMPRESSION, "zstd")];
        let options = request(&settings, &asked).unwrap().options;
        assert_eq!(options.get("max_background_jobs"), Some("7"));
        assert_eq!(options.get("compression"), Some("kLZ4Compression"));
        assert_eq!(options.get("bottommost_compression"), Some("kLZ4Compression"));
        assert_eq!(options.get("use_direct_reads"), Some("true"));
        let options = request(&Settings::default(), &asked).unwrap().options;
        assert_eq!(options.get("compression"), Some("kZSTD"));
        let asked = [("compression", "kSnappyCompression")];
        let options = request(&settings, &asked).unwrap().options;
        assert_eq!(options.get("compression"), Some("kSnappyCompression"));
        assert_eq!(options.get("bottommost_compression"), None);
    }

    #[test]
    fn the_block_cache_is_the_kind_and_size_asked_for() {
        let settings = Settings { cache_bytes: Some(Bytes(1 << 26)), ..Settings::default() };
        let cache = |options: &[(&str, &str)]| {
            let request = request(&settings, options).unwrap();
            (request.options.get(BLOCK_CACHE).map(str::to_owned), request.hyper_clock)
        };
        assert_eq!(cache(&[]), (Some("67108864".to_owned()), None));
        assert_eq!(cache(&[(BLOCK_CACHE, "1M")]), (Some("1M".to_owned()), None));
        let lru = cache(&[(CACHE, "lru"), (SHARD_BITS, "6")]).0.unwrap();
        let pinned = "strict_capacity_limit=false;high_pri_pool_ratio=0.5;";
        assert_eq!(lru, format!("{{capacity=67108864;num_shard_bits=6;{pinned}}}"));
        let clock = HyperClock { bytes: 1 << 26, shard_bits: -1, entry_bytes: 0 };
        assert_eq!(cache(&[(CACHE, "hyper_clock")]), (None, Some(clock)));
        let old = Dialect { has_auto_hyper_clock: false };
        let asked = [(CACHE, "hyper_clock"), ("block_based_table_factory.block_size", "8K")];
        let request = Request::new(&settings, &asked.into_iter().collect(), old).unwrap();
        assert_eq!(request.hyper_clock.unwrap().entry_bytes, 8192);
    }

    #[test]
    fn wrong_options_of_ours_are_refused_by_name() {
        for (name, value) in [
            (CACHE, "arc"),
            (SHARD_BITS, "many"),
            (SHARD_BITS, "6"),
            (MULTI_GET, "yes"),
            (STATISTICS, "some"),
            ("assay.chache", "lru"),
            (TABLE, "{block_size=4096}"),
        ] {
            match request(&Settings::default(), &[(name, value)]) {
                Err(EngineError::Option { option, .. }) => assert_eq!(option, name),
                other => panic!("{name} = {value}: {other:?}"),
            }
        }
        let full = [("write_buffer_size", "1M"), ("arena_block_size", "1048576")];
        assert!(request(&Settings::default(), &full).is_err());
        let usual = [("write_buffer_size", "8m"), ("arena_block_size", "1048576")];
        assert!(request(&Settings::default(), &usual).is_ok());
        let both = [(BLOCK_CACHE, "1M"), (CACHE, "lru")];
        assert!(request(&Settings::default(), &both).is_err());
    }
}
