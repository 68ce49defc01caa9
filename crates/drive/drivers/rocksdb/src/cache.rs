//! The block cache and the blob cache: our words for them, and who makes them.
//!
//! An LRU by itself comes out of the engine's option string, which makes it with the same shards
//! and pools in every release. What a string cannot make is an object: a HyperClock cache, and a
//! block cache that holds blob values too, as `db_bench --use_shared_block_and_blob_cache` has it.
//!
//! Source: RocksDB `cache.h`, `LRUCacheOptions`; `advanced_options.h`, `blob_cache`.

use engine::EngineError;
use model::units::parse_size;
use model::{Options, Settings};

use crate::feature;
use crate::request::{TABLE, refused};

/// Kind of block cache: `lru` or `hyper_clock`; unset leaves the engine's.
pub(crate) const CACHE: &str = "assay.cache";
/// Binary logarithm of the cache's shards.
pub(crate) const SHARD_BITS: &str = "assay.cache_shard_bits";
/// Share of an LRU kept for what has high priority: index and filter blocks in the cache.
pub(crate) const HIGH_SHARE: &str = "assay.cache_high_priority_share";
/// Share of an LRU kept for what has low priority; above 0, blob values have bottom priority.
pub(crate) const LOW_SHARE: &str = "assay.cache_low_priority_share";
/// Where blob values are cached: `none`, `shared` (in the block cache), or a cache of that size.
pub(crate) const BLOB_CACHE: &str = "assay.blob_cache";
/// All of these.
pub(crate) const NAMES: [&str; 5] = [CACHE, SHARD_BITS, HIGH_SHARE, LOW_SHARE, BLOB_CACHE];

/// The table option that makes an LRU cache.
pub(crate) const BLOCK_CACHE: &str = "block_based_table_factory.block_cache";
/// The engine's option that makes a blob cache of its own.
const ENGINES_BLOB_CACHE: &str = "blob_cache";

/// Cache size where a kind is asked for and no size: the engine's own default since 8.2.
const CACHE_BYTES: u64 = 32 << 20;
/// Block size where none is asked for. Source: RocksDB `table.h`, `block_size`.
const BLOCK_BYTES: usize = 4096;
/// Pools where none are asked for: the engine's own default since 6.4.
const POOLS: Pools = Pools { high: 0.5, low: 0.0 };

/// Shares of an LRU cache that are kept for entries of a priority.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pools {
    /// For index and filter blocks, 0 to 1.
    pub(crate) high: f64,
    /// For data blocks where it is above 0; `high + low <= 1`.
    pub(crate) low: f64,
}

/// Kind of a cache that is made as an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum MadeKind {
    /// An LRU.
    Lru(Pools),
    /// A HyperClock cache for entries of about so many bytes; 0 lets it size itself.
    HyperClock(usize),
}

/// A block cache that an option string cannot make, as asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MadeCache {
    /// Its kind.
    pub(crate) kind: MadeKind,
    /// Capacity in bytes, > 0.
    pub(crate) bytes: usize,
    /// Binary logarithm of the shard count; -1 lets the engine choose.
    pub(crate) shard_bits: i32,
    /// Whether it holds blob values too.
    pub(crate) is_shared: bool,
}

/// Kind of block cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lru,
    HyperClock,
}

/// Where blob values are cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlobCache {
    Nowhere,
    Shared,
    Own(u64),
}

/// Our options for the caches, read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CacheWords {
    kind: Option<Kind>,
    shard_bits: Option<i32>,
    high: Option<f64>,
    low: Option<f64>,
    blob: Option<BlobCache>,
}

impl CacheWords {
    /// Takes an option of [`NAMES`].
    ///
    /// # Errors
    /// [`EngineError::Option`] when its value is wrong.
    pub(crate) fn take(&mut self, name: &str, value: &str) -> Result<(), EngineError> {
        match (name, value) {
            (CACHE, "lru") => self.kind = Some(Kind::Lru),
            (CACHE, "hyper_clock") => self.kind = Some(Kind::HyperClock),
            (CACHE, _) => return Err(refused(name, "write lru or hyper_clock")),
            (SHARD_BITS, bits) => match bits.parse() {
                Ok(bits @ 0..=19) => self.shard_bits = Some(bits),
                _ => return Err(refused(name, "write a number from 0 to 19")),
            },
            (HIGH_SHARE, text) => self.high = Some(share(name, text)?),
            (LOW_SHARE, text) => self.low = Some(share(name, text)?),
            (_, "none") => self.blob = Some(BlobCache::Nowhere),
            (_, "shared") => self.blob = Some(BlobCache::Shared),
            (_, text) => match parse_size(text) {
                Ok(bytes) if bytes.0 > 0 => self.blob = Some(BlobCache::Own(bytes.0)),
                _ => return Err(refused(name, "write none, shared, or a size such as 64MiB")),
            },
        }
        Ok(())
    }

    /// Returns the pools asked for.
    pub(crate) fn pools(&self) -> Option<Pools> {
        let is_asked = self.high.is_some() || self.low.is_some();
        is_asked.then(|| Pools {
            high: self.high.unwrap_or(POOLS.high),
            low: self.low.unwrap_or(POOLS.low),
        })
    }

    /// Refuses what contradicts itself, whatever the release.
    fn check(&self, wanted: &Options) -> Result<(), EngineError> {
        let is_shared = self.blob == Some(BlobCache::Shared);
        let needs_kind = [
            (SHARD_BITS, self.shard_bits.is_some()),
            (HIGH_SHARE, self.high.is_some()),
            (LOW_SHARE, self.low.is_some()),
            (BLOB_CACHE, is_shared),
        ];
        let asked = needs_kind.iter().find(|(_, is_asked)| *is_asked);
        if wanted.get(BLOCK_CACHE).is_some() && (self.kind.is_some() || asked.is_some()) {
            let reason = format!("{CACHE} makes the block cache; leave one of the two out");
            return Err(refused(BLOCK_CACHE, reason));
        }
        if let (None, Some((name, _))) = (self.kind, asked) {
            return Err(refused(name, format!("it needs {CACHE} beside it")));
        }
        if self.blob.is_some() && wanted.get(ENGINES_BLOB_CACHE).is_some() {
            let reason = format!("{BLOB_CACHE} makes the blob cache; leave one of the two out");
            return Err(refused(ENGINES_BLOB_CACHE, reason));
        }
        let Some(pools) = self.pools() else { return Ok(()) };
        let name = if self.low.is_some() { LOW_SHARE } else { HIGH_SHARE };
        if self.kind == Some(Kind::HyperClock) {
            return Err(refused(name, "a HyperClock cache has no pools; they are the LRU's"));
        }
        if pools.high + pools.low > 1.0 {
            let reason = format!(
                "the shares of high and low priority are {} and {}, more than 1 in all",
                pools.high, pools.low
            );
            return Err(refused(name, reason));
        }
        Ok(())
    }

    /// Refuses what the library lacks.
    fn check_library(&self, has: &dyn Fn(&str) -> bool) -> Result<(), EngineError> {
        if self.low.is_some_and(|low| low > 0.0) && !feature::has_low_priority(has) {
            return Err(refused(LOW_SHARE, "a pool of low priority needs RocksDB 7.6"));
        }
        let Some(blob) = self.blob.filter(|blob| *blob != BlobCache::Nowhere) else {
            return Ok(());
        };
        if !feature::has_blob_cache(has) {
            return Err(refused(BLOB_CACHE, "a cache of blob values needs RocksDB 7.4"));
        }
        let is_usual = self.pools().is_none_or(|pools| pools == POOLS);
        if blob == BlobCache::Shared && !is_usual && !feature::makes_pools(has) {
            let reason = format!(
                "this library makes a shared cache with the pools {} and {} alone: RocksDB's C \
                 interface cannot set them, and only the official libraries (Maven, from 7.6) \
                 have the function that can",
                POOLS.high, POOLS.low
            );
            return Err(refused(BLOB_CACHE, reason));
        }
        Ok(())
    }

    /// Adds what an option string can make to `wanted`, and returns what it cannot.
    ///
    /// # Errors
    /// [`EngineError::Option`] for words that contradict one another or ask too much of a library
    /// whose functions are those that `has` knows.
    pub(crate) fn fill(
        &self,
        settings: &Settings,
        has: &dyn Fn(&str) -> bool,
        wanted: &mut Options,
    ) -> Result<Option<MadeCache>, EngineError> {
        self.check(wanted)?;
        self.check_library(has)?;
        if let Some(BlobCache::Own(bytes)) = self.blob {
            let bits = bits_text(self.shard_bits);
            wanted.set(ENGINES_BLOB_CACHE, format!("{{capacity={bytes};{bits}}}"));
        }
        let bytes = settings.cache_bytes.map_or(CACHE_BYTES, |bytes| bytes.0);
        let is_shared = self.blob == Some(BlobCache::Shared);
        let kind = match self.kind {
            None => {
                if let (None, Some(bytes)) = (wanted.get(BLOCK_CACHE), settings.cache_bytes) {
                    wanted.set(BLOCK_CACHE, bytes.0.to_string());
                }
                return Ok(None);
            }
            Some(Kind::Lru) if !is_shared => {
                wanted.set(BLOCK_CACHE, self.lru_text(bytes));
                return Ok(None);
            }
            Some(Kind::Lru) => MadeKind::Lru(self.pools().unwrap_or(POOLS)),
            Some(Kind::HyperClock) if feature::has_auto_hyper_clock(has) => MadeKind::HyperClock(0),
            Some(Kind::HyperClock) => MadeKind::HyperClock(block_bytes(wanted)),
        };
        let bytes = usize::try_from(bytes)
            .map_err(|_too_large| refused(CACHE, format!("{bytes} bytes are too many")))?;
        Ok(Some(MadeCache { kind, bytes, shard_bits: self.shard_bits.unwrap_or(-1), is_shared }))
    }

    /// Returns the engine's words for an LRU.
    fn lru_text(&self, bytes: u64) -> String {
        let bits = bits_text(self.shard_bits);
        let high = self.high.unwrap_or(POOLS.high);
        let low = self.low.filter(|low| *low > 0.0);
        let low = low.map_or(String::new(), |low| format!("low_pri_pool_ratio={low};"));
        format!(
            "{{capacity={bytes};{bits}strict_capacity_limit=false;high_pri_pool_ratio={high};{low}}}"
        )
    }

    /// Returns whether an LRU of pools that were asked for is made as an object, and which.
    pub(crate) fn blob_text(&self) -> Option<String> {
        self.blob.map(|blob| match blob {
            BlobCache::Nowhere => "none".to_owned(),
            BlobCache::Shared => "shared".to_owned(),
            BlobCache::Own(bytes) => bytes.to_string(),
        })
    }
}

fn bits_text(bits: Option<i32>) -> String {
    bits.map_or(String::new(), |bits| format!("num_shard_bits={bits};"))
}

/// Returns a share of one.
fn share(name: &str, text: &str) -> Result<f64, EngineError> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| refused(name, "write a share of the cache from 0 to 1"))
}

/// Returns the block size asked for.
fn block_bytes(wanted: &Options) -> usize {
    let asked = wanted.get(&format!("{TABLE}.block_size")).and_then(engine_bytes);
    asked.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(BLOCK_BYTES)
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

    /// Returns the option of the block cache, that of the blob cache, and the object.
    type Filled = (Option<String>, Option<String>, Option<MadeCache>);

    fn fill(has: &dyn Fn(&str) -> bool, asked: &[(&str, &str)]) -> Result<Filled, EngineError> {
        let (mut words, mut wanted) = (CacheWords::default(), Options::new());
        for (name, value) in asked {
            if NAMES.contains(name) {
                words.take(name, value)?;
            } else {
                wanted.set(*name, *value);
            }
        }
        let settings = Settings { cache_bytes: Some(Bytes(1 << 26)), ..Settings::default() };
        let made = words.fill(&settings, has, &mut wanted)?;
        let option = |name| wanted.get(name).map(str::to_owned);
        Ok((option(BLOCK_CACHE), option(ENGINES_BLOB_CACHE), made))
    }

    fn refusal(has: &dyn Fn(&str) -> bool, asked: &[(&str, &str)]) -> (String, String) {
        match fill(has, asked) {
            Err(EngineError::Option { option, reason }) => (option, reason),
            other => panic!("{asked:?}: {other:?}"),
        }
    }

    #[test]
    fn an_lru_by_itself_is_an_option_and_everything_else_an_object() {
        let new = |_: &str| true;
        let lru = |rest: &str| format!("{{capacity=67108864;{rest}}}");
        let usual = "strict_capacity_limit=false;high_pri_pool_ratio=0.5;";
        let block = |asked: &[(&str, &str)]| fill(&new, asked).unwrap().0.unwrap();
        assert_eq!(fill(&new, &[]).unwrap(), (Some("67108864".to_owned()), None, None));
        assert_eq!(block(&[(BLOCK_CACHE, "1M")]), "1M");
        assert_eq!(block(&[(CACHE, "lru")]), lru(usual));
        let asked = [(CACHE, "lru"), (SHARD_BITS, "6")];
        assert_eq!(block(&asked), lru(&format!("num_shard_bits=6;{usual}")));
        let asked = [(CACHE, "lru"), (HIGH_SHARE, "0.25"), (LOW_SHARE, "0.75")];
        let pools = "strict_capacity_limit=false;high_pri_pool_ratio=0.25;low_pri_pool_ratio=0.75;";
        assert_eq!(block(&asked), lru(pools));
        let made = |asked: &[(&str, &str)]| fill(&new, asked).unwrap().2.unwrap();
        let clock = MadeCache {
            kind: MadeKind::HyperClock(0),
            bytes: 1 << 26,
            shard_bits: -1,
            is_shared: false,
        };
        assert_eq!(made(&[(CACHE, "hyper_clock")]), clock);
        let shared = MadeCache { is_shared: true, ..clock };
        assert_eq!(made(&[(CACHE, "hyper_clock"), (BLOB_CACHE, "shared")]), shared);
        let lru = MadeCache { kind: MadeKind::Lru(Pools { high: 0.0, low: 0.5 }), ..shared };
        let asked = [(CACHE, "lru"), (BLOB_CACHE, "shared"), (HIGH_SHARE, "0"), (LOW_SHARE, ".5")];
        assert_eq!(made(&asked), lru);
        let (_, blob, made) = fill(&new, &[(BLOB_CACHE, "4MiB"), (CACHE, "lru")]).unwrap();
        assert_eq!((blob.as_deref(), made), (Some("{capacity=4194304;}"), None));
    }

    #[test]
    fn a_clock_that_does_not_size_itself_is_told_the_block_size() {
        let old = |symbol: &str| symbol != "rocksdb_write_buffer_manager_create";
        let asked = [(CACHE, "hyper_clock"), ("block_based_table_factory.block_size", "8K")];
        let made = fill(&old, &asked).unwrap().2.unwrap();
        assert_eq!(made.kind, MadeKind::HyperClock(8192));
    }

    #[test]
    fn what_contradicts_itself_is_refused_by_name() {
        let lru = (CACHE, "lru");
        for (asked, name) in [
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
            assert_eq!(refusal(&|_| true, &asked).0, name, "{asked:?}");
        }
    }

    #[test]
    fn what_a_library_lacks_is_refused_with_the_first_release_that_has_it() {
        let asked = [(CACHE, "lru"), (LOW_SHARE, "0.1")];
        assert!(refusal(&|_| false, &asked).1.contains("needs RocksDB 7.6"));
        let asked = [(CACHE, "lru"), (BLOB_CACHE, "shared")];
        assert!(refusal(&|_| false, &asked).1.contains("needs RocksDB 7.4"));
        // A distribution's library has no Java part.
        let distribution = |symbol: &str| symbol.starts_with("rocksdb_");
        assert!(fill(&distribution, &asked).is_ok());
        let asked = [(CACHE, "lru"), (BLOB_CACHE, "shared"), (HIGH_SHARE, "0")];
        assert!(refusal(&distribution, &asked).1.contains("official libraries"));
        assert!(fill(&|_| false, &[(CACHE, "lru"), (LOW_SHARE, "0")]).is_ok());
    }
}
