//! Options of the block cache and the blob cache.
//!
//! An LRU block cache is created by the engine's option string, with the same shards and pools in
//! every release. A HyperClock cache, and a block cache shared with blob values (db_bench
//! `--use_shared_block_and_blob_cache`), are created as objects: no option string can.
//!
//! Source: [RocksDB source] `include/rocksdb/cache.h`, `LRUCacheOptions`;
//! `include/rocksdb/advanced_options.h`, `blob_cache`.

use engine::settings_check::refused;
use engine::{EngineError, Result};
use model::units::parse_size;
use model::{Options, Settings};

use crate::feature;

/// The engine's name for the block-based table's options.
pub(crate) const TABLE: &str = "block_based_table_factory";
/// Kind of block cache: `lru` or `hyper_clock`; unset leaves the engine's.
pub(crate) const CACHE: &str = "assay.cache";
/// Binary logarithm of the cache's shards.
pub(crate) const SHARD_BITS: &str = "assay.cache_shard_bits";
/// Share of an LRU reserved for high priority: index and filter blocks.
pub(crate) const HIGH_SHARE: &str = "assay.cache_high_priority_share";
/// Share of an LRU reserved for low priority; above 0, blob values have bottom priority.
pub(crate) const LOW_SHARE: &str = "assay.cache_low_priority_share";
/// Where blob values are cached: `none`, `shared` (in the block cache), or a cache of that size.
pub(crate) const BLOB_CACHE: &str = "assay.blob_cache";
/// All cache options.
pub(crate) const NAMES: [&str; 5] = [CACHE, SHARD_BITS, HIGH_SHARE, LOW_SHARE, BLOB_CACHE];

/// The engine's option that creates an LRU block cache.
pub(crate) const BLOCK_CACHE: &str = "block_based_table_factory.block_cache";
/// The engine's option that creates a separate blob cache.
const ENGINES_BLOB_CACHE: &str = "blob_cache";

/// Default size of a cache created here: the engine's own since 8.2.
const CACHE_BYTES: u64 = 32 << 20;
/// Default block size. Source: [RocksDB source] `include/rocksdb/table.h`, `block_size`.
const BLOCK_BYTES: usize = 4096;
/// Default pools: the engine's own since 6.4.
const POOLS: Pools = (0.5, 0.0);
/// Kind of block cache with shards of its own clocks instead of lists.
const HYPER_CLOCK: &str = "hyper_clock";

/// Shares of an LRU cache reserved for index and filter blocks, and, where above 0, for data
/// blocks; each from 0 to 1, and so is their sum.
pub(crate) type Pools = (f64, f64);

/// A requested block cache that an option string cannot create.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ObjectCache {
    /// Pools of an LRU; `None` for a HyperClock cache.
    pub(crate) pools: Option<Pools>,
    /// Usual size of an entry of a HyperClock cache; 0 lets it size itself.
    pub(crate) entry_bytes: usize,
    /// Capacity in bytes, > 0.
    pub(crate) bytes: usize,
    /// Binary logarithm of the shard count; -1 lets the engine choose.
    pub(crate) shard_bits: i32,
    /// Whether it holds blob values too.
    pub(crate) is_shared: bool,
}

/// Parsed cache options.
#[derive(Debug, Clone, Default)]
pub(crate) struct CacheOptions {
    /// `lru` or `hyper_clock`.
    kind: Option<String>,
    shard_bits: Option<i32>,
    high: Option<f64>,
    low: Option<f64>,
    /// `none`, `shared` or a number of bytes.
    pub(crate) blob: Option<String>,
}

impl CacheOptions {
    /// Sets an option of [`NAMES`].
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match (name, value) {
            (CACHE, "lru" | HYPER_CLOCK) => self.kind = Some(value.to_owned()),
            (CACHE, _) => return Err(refused(name, "write lru or hyper_clock")),
            (SHARD_BITS, bits) => match bits.parse() {
                Ok(bits @ 0..=19) => self.shard_bits = Some(bits),
                _ => return Err(refused(name, "write a number from 0 to 19")),
            },
            (HIGH_SHARE, text) => self.high = Some(share(name, text)?),
            (LOW_SHARE, text) => self.low = Some(share(name, text)?),
            (_, "none" | "shared") => self.blob = Some(value.to_owned()),
            (_, text) => match parse_size(text) {
                Ok(bytes) if bytes.0 > 0 => self.blob = Some(bytes.0.to_string()),
                _ => return Err(refused(name, "write none, shared, or a size such as 64MiB")),
            },
        }
        Ok(())
    }

    fn is_shared(&self) -> bool {
        self.blob.as_deref() == Some("shared")
    }

    /// Returns the pools, requested or default.
    fn pools(&self) -> Pools {
        (self.high.unwrap_or(POOLS.0), self.low.unwrap_or(POOLS.1))
    }

    /// Refuses contradictory options, in any release.
    fn check(&self, wanted: &Options) -> Result<()> {
        let needs_kind = [
            (SHARD_BITS, self.shard_bits.is_some()),
            (HIGH_SHARE, self.high.is_some()),
            (LOW_SHARE, self.low.is_some()),
            (BLOB_CACHE, self.is_shared()),
        ];
        let requested = needs_kind.iter().find(|(_, is_requested)| *is_requested);
        if wanted.get(BLOCK_CACHE).is_some() && (self.kind.is_some() || requested.is_some()) {
            let reason = format!("{CACHE} creates the block cache too; remove one option");
            return Err(refused(BLOCK_CACHE, reason));
        }
        if let (None, Some((name, _))) = (&self.kind, requested) {
            return Err(refused(name, format!("needs {CACHE} too")));
        }
        if self.blob.is_some() && wanted.get(ENGINES_BLOB_CACHE).is_some() {
            let reason = format!("{BLOB_CACHE} creates the blob cache too; remove one option");
            return Err(refused(ENGINES_BLOB_CACHE, reason));
        }
        let (name, (high, low)) = match (self.high, self.low) {
            (None, None) => return Ok(()),
            (_, Some(_)) => (LOW_SHARE, self.pools()),
            (Some(_), None) => (HIGH_SHARE, self.pools()),
        };
        if self.kind.as_deref() == Some(HYPER_CLOCK) {
            return Err(refused(name, "only an LRU cache has pools, a HyperClock cache has none"));
        }
        if high + low > 1.0 {
            let shares = format!("the shares of high and low priority are {high} and {low}");
            return Err(refused(name, format!("{shares}, together more than 1")));
        }
        Ok(())
    }

    /// Refuses caches that the library does not support.
    fn check_library(&self, has: &dyn Fn(&str) -> bool) -> Result<()> {
        let lacks = |option, reason: &str| Err(EngineError::capability(option, reason));
        if self.low.is_some_and(|low| low > 0.0) && !has(feature::LOW_PRIORITY_MARK) {
            return lacks(LOW_SHARE, "a pool of low priority needs RocksDB 7.6");
        }
        let has_blobs = self.blob.as_ref().is_some_and(|blob| blob != "none");
        if has_blobs && !has(feature::BLOB_CACHE) {
            return lacks(BLOB_CACHE, "a cache of blob values needs RocksDB 7.4");
        }
        if self.is_shared() && self.pools() != POOLS && !has(feature::JAVA_LRU) {
            let reason = "this library creates a shared cache only with a high-priority share of \
                          0.5 and a low-priority share of 0: RocksDB's C interface cannot set \
                          shares; the official libraries (Maven, from 7.6) can";
            return lacks(BLOB_CACHE, reason);
        }
        Ok(())
    }

    /// Adds caches of the option string to `wanted`; returns one created as an object.
    ///
    /// `has` returns whether the library has a function.
    pub(crate) fn fill(
        &self,
        settings: &Settings,
        has: &dyn Fn(&str) -> bool,
        wanted: &mut Options,
    ) -> Result<Option<ObjectCache>> {
        self.check(wanted)?;
        self.check_library(has)?;
        let bits = self.shard_bits.map_or(String::new(), |bits| format!("num_shard_bits={bits};"));
        if let Some(blob) = self.blob.as_ref().filter(|blob| *blob != "none" && *blob != "shared") {
            wanted.set(ENGINES_BLOB_CACHE, format!("{{capacity={blob};{bits}}}"));
        }
        let bytes = settings.cache_bytes.map_or(CACHE_BYTES, |bytes| bytes.0);
        let Some(kind) = &self.kind else {
            if let (None, Some(bytes)) = (wanted.get(BLOCK_CACHE), settings.cache_bytes) {
                wanted.set(BLOCK_CACHE, bytes.0.to_string());
            }
            return Ok(None);
        };
        let is_clock = kind == HYPER_CLOCK;
        if !is_clock && !self.is_shared() {
            let (high, low) = self.pools();
            let low = if low > 0.0 { format!("low_pri_pool_ratio={low};") } else { String::new() };
            let pools = format!("strict_capacity_limit=false;high_pri_pool_ratio={high};{low}");
            wanted.set(BLOCK_CACHE, format!("{{capacity={bytes};{bits}{pools}}}"));
            return Ok(None);
        }
        let sizes_itself = !is_clock || has(feature::AUTO_HYPER_CLOCK_MARK);
        Ok(Some(ObjectCache {
            pools: (!is_clock).then(|| self.pools()),
            entry_bytes: if sizes_itself { 0 } else { block_bytes(wanted) },
            bytes: usize::try_from(bytes)
                .map_err(|_too_large| refused(CACHE, format!("{bytes} bytes are too many")))?,
            shard_bits: self.shard_bits.unwrap_or(-1),
            is_shared: self.is_shared(),
        }))
    }
}

/// Returns a share of one.
fn share(name: &str, text: &str) -> Result<f64> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| refused(name, "write a share of the cache from 0 to 1"))
}

/// Returns the requested block size.
fn block_bytes(wanted: &Options) -> usize {
    let requested = wanted.get(&format!("{TABLE}.block_size")).and_then(engine_bytes);
    requested.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(BLOCK_BYTES)
}

/// Returns a size in the engine's notation (`8192`, `8K`).
pub(crate) fn engine_bytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.split_at_checked(text.len().checked_sub(1)?)? {
        (digits, "k" | "K") => (digits, 10),
        (digits, "m" | "M") => (digits, 20),
        (digits, "g" | "G") => (digits, 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_shl(shift)
}

#[cfg(test)]
mod tests {
    use model::Bytes;

    use super::*;

    /// Option of the block cache, option of the blob cache, and the cache object.
    type Filled = (Option<String>, Option<String>, Option<ObjectCache>);

    fn fill(has: &dyn Fn(&str) -> bool, requested: &[(&str, &str)]) -> Result<Filled> {
        let (mut cache, mut wanted) = (CacheOptions::default(), Options::new());
        for (name, value) in requested {
            if NAMES.contains(name) {
                cache.set(name, value)?;
            } else {
                wanted.set(*name, *value);
            }
        }
        let settings = Settings { cache_bytes: Some(Bytes(1 << 26)), ..Settings::default() };
        let made = cache.fill(&settings, has, &mut wanted)?;
        let option = |name| wanted.get(name).map(str::to_owned);
        Ok((option(BLOCK_CACHE), option(ENGINES_BLOB_CACHE), made))
    }

    fn refusal(has: &dyn Fn(&str) -> bool, requested: &[(&str, &str)]) -> (String, String) {
        match fill(has, requested) {
            Err(error) => (error.refused_option().unwrap().to_owned(), error.to_string()),
            Ok(filled) => panic!("{requested:?}: {filled:?}"),
        }
    }

    #[test]
    fn plain_lru_is_an_option_and_other_caches_are_objects() {
        let new = |_: &str| true;
        let lru = |rest: &str| format!("{{capacity=67108864;{rest}}}");
        let usual = "strict_capacity_limit=false;high_pri_pool_ratio=0.5;";
        let block = |requested: &[(&str, &str)]| fill(&new, requested).unwrap().0.unwrap();
        assert_eq!(fill(&new, &[]).unwrap(), (Some("67108864".to_owned()), None, None));
        assert_eq!(block(&[(BLOCK_CACHE, "1M")]), "1M");
        assert_eq!(block(&[(CACHE, "lru")]), lru(usual));
        let requested = [(CACHE, "lru"), (SHARD_BITS, "6")];
        assert_eq!(block(&requested), lru(&format!("num_shard_bits=6;{usual}")));
        let requested = [(CACHE, "lru"), (HIGH_SHARE, "0.25"), (LOW_SHARE, "0.75")];
        let pools = "strict_capacity_limit=false;high_pri_pool_ratio=0.25;low_pri_pool_ratio=0.75;";
        assert_eq!(block(&requested), lru(pools));
        let made = |requested: &[(&str, &str)]| fill(&new, requested).unwrap().2.unwrap();
        let clock = ObjectCache {
            pools: None,
            entry_bytes: 0,
            bytes: 1 << 26,
            shard_bits: -1,
            is_shared: false,
        };
        assert_eq!(made(&[(CACHE, "hyper_clock")]), clock);
        let shared = ObjectCache { is_shared: true, ..clock };
        assert_eq!(made(&[(CACHE, "hyper_clock"), (BLOB_CACHE, "shared")]), shared);
        let lru = ObjectCache { pools: Some((0.0, 0.5)), ..shared };
        let requested =
            [(CACHE, "lru"), (BLOB_CACHE, "shared"), (HIGH_SHARE, "0"), (LOW_SHARE, ".5")];
        assert_eq!(made(&requested), lru);
        let (_, blob, made) = fill(&new, &[(BLOB_CACHE, "4MiB"), (CACHE, "lru")]).unwrap();
        assert_eq!((blob.as_deref(), made), (Some("{capacity=4194304;}"), None));
    }

    #[test]
    fn old_hyper_clock_cache_gets_the_block_size() {
        let old = |symbol: &str| symbol != "rocksdb_write_buffer_manager_create";
        let requested = [(CACHE, "hyper_clock"), ("block_based_table_factory.block_size", "8K")];
        let made = fill(&old, &requested).unwrap().2.unwrap();
        assert_eq!((made.pools, made.entry_bytes), (None, 8192));
    }

    #[test]
    fn contradictory_options_are_refused_by_name() {
        let lru = (CACHE, "lru");
        for (requested, name) in [
            (vec![(CACHE, "arc")], CACHE),
            (vec![(SHARD_BITS, "many")], SHARD_BITS),
            (vec![(SHARD_BITS, "6")], SHARD_BITS),
            (vec![(HIGH_SHARE, "0.5")], HIGH_SHARE),
            (vec![(BLOB_CACHE, "shared")], BLOB_CACHE),
            (vec![(BLOB_CACHE, "big")], BLOB_CACHE),
            (vec![lru, (HIGH_SHARE, "1.5")], HIGH_SHARE),
            (vec![lru, (HIGH_SHARE, "NaN")], HIGH_SHARE),
            (vec![lru, (LOW_SHARE, "0.6")], LOW_SHARE),
            (vec![(CACHE, "hyper_clock"), (LOW_SHARE, "0.2")], LOW_SHARE),
            (vec![lru, (BLOCK_CACHE, "1M")], BLOCK_CACHE),
            (vec![lru, (BLOB_CACHE, "1MiB"), ("blob_cache", "1M")], "blob_cache"),
        ] {
            assert_eq!(refusal(&|_| true, &requested).0, name, "{requested:?}");
        }
    }

    #[test]
    fn unsupported_cache_is_refused_with_its_first_release() {
        let requested = [(CACHE, "lru"), (LOW_SHARE, "0.1")];
        assert!(refusal(&|_| false, &requested).1.contains("needs RocksDB 7.6"));
        let requested = [(CACHE, "lru"), (BLOB_CACHE, "shared")];
        assert!(refusal(&|_| false, &requested).1.contains("needs RocksDB 7.4"));
        // A distribution's library has no Java part.
        let distribution = |symbol: &str| symbol.starts_with("rocksdb_");
        assert!(fill(&distribution, &requested).is_ok());
        let requested = [(CACHE, "lru"), (BLOB_CACHE, "shared"), (HIGH_SHARE, "0")];
        assert!(refusal(&distribution, &requested).1.contains("official libraries"));
        assert!(fill(&|_| false, &[(CACHE, "lru"), (LOW_SHARE, "0")]).is_ok());
    }
}
