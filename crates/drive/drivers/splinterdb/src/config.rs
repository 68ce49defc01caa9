//! Translates settings and options into SplinterDB's configuration.

use engine::settings_check::{check_names, flag, refused, size};
use engine::{EngineError, OpenSpec, Result, Setting};
use model::{Identity, Options};

/// Default cache (our choice): the engine itself has none.
const CACHE_BYTES: u64 = 256 << 20;
/// A cache is rounded down to a multiple of this: other sizes abort.
///
/// Source: [SplinterDB source] `src/clockcache.c`, the assertions of `clockcache_init`: 64 pages.
const CACHE_UNIT: u64 = 64 * 4096;
/// Memory of one memtable; the engine's default in every build.
const MEMTABLE_BYTES: u64 = 24 << 20;
/// Memtables a cache must hold: with less, inserts abort (2022) or hang (2026).
///
/// Source: [SplinterDB source] `src/trunk.c`, `TRUNK_NUM_MEMTABLES`; `src/core.c`,
/// `CORE_NUM_MEMTABLES`; measured.
const MEMTABLES: u64 = 4;
/// Disk bytes per byte of rows.
///
/// Our choice: measured 439 MiB for 247 MiB of rows, plus overwrites, since a full disk ends the
/// process. A GiB costs 1 MiB of memory.
const DISK_PER_LIVE_BYTE: u64 = 6;
/// Additional disk bytes (our choice); the file is sparse.
const DISK_SPARE: u64 = 4 << 30;
/// The disk is rounded up to this, a multiple of the engine's extents of 128 KiB.
const DISK_UNIT: u64 = 1 << 20;

const MEMTABLE_THREADS: &str = "num_memtable_bg_threads";
const NORMAL_THREADS: &str = "num_normal_bg_threads";
/// Boolean options: most have one or four bytes, in which a larger number loses its upper digits.
const FLAGS: [&str; 3] = ["use_log", "use_stats", "cache_use_stats"];
/// Length of the longest key, in builds before June 2026: what keys leave of a node's page is for
/// branches.
///
/// With 100 in place of 21 a node has room for 23 branches, fewer than the 24 it may gather, and
/// builds of 2022 hang as they load: at 1.1 to 1.5 GB of rows. Measured.
///
/// Source: [SplinterDB source] `src/trunk.c`, `hard_max_branches_per_node`, `trunk_room_to_flush`.
const KEY_SIZE: &str = "key_size";

/// Returns the engine's configuration for `spec`, as integers.
pub(crate) fn translate(spec: &OpenSpec, build: &Identity) -> Result<Options> {
    let known = build.facts.get("options").map_or("", String::as_str);
    let known: Vec<&str> = known.split(' ').collect();
    check_names("SplinterDB", &known, &spec.options)?;
    let mut config = Options::new();
    let mut set = |name: &str, value: u64| config.set(name, value.to_string());
    set("cache_size", spec.settings.cache_bytes.map_or(CACHE_BYTES, |bytes| bytes.0));
    let live_bytes = spec.data.live_bytes().0;
    set("disk_size", live_bytes.saturating_mul(DISK_PER_LIVE_BYTE).saturating_add(DISK_SPARE));
    set("memtable_capacity", MEMTABLE_BYTES);
    // The engine's default in every build.
    set("fanout", 8);
    if known.contains(&KEY_SIZE) {
        // A longest key of all 0xff ends every scan: one byte more than any key.
        set(KEY_SIZE, u64::from(spec.data.key_bytes) + 1);
    }
    if known.contains(&"queue_scale_percent") {
        // The engine's header documents this default, but does not set it.
        set("queue_scale_percent", 100);
    }
    if let Some(jobs) = spec.settings.background_jobs {
        if !known.contains(&NORMAL_THREADS) {
            let reason = "background_jobs: this build of SplinterDB has no background threads: \
                          inserts do the compactions";
            return Err(EngineError::setting(Setting::BackgroundJobs, reason));
        }
        // A quarter for memtables, as RocksDB shares its jobs between flushes and compactions.
        let memtables = u64::from(jobs) / 4;
        set(MEMTABLE_THREADS, memtables);
        set(NORMAL_THREADS, u64::from(jobs) - memtables);
    }
    for (name, value) in spec.options.iter() {
        set(name, integer(name, value)?);
    }
    round(&mut config)?;
    if spec.settings.direct_io {
        config.set("io_flags", "O_RDWR|O_CREAT|O_DIRECT");
    }
    Ok(config)
}

/// Parses an option: a boolean, a number or a size.
fn integer(name: &str, value: &str) -> Result<u64> {
    if FLAGS.contains(&name) {
        return flag(name, value).map(u64::from);
    }
    // Numbers above 2^53 would lose digits as sizes.
    value.parse::<u64>().or_else(|_no_number| size(name, value))
}

/// Rounds sizes as the engine requires, and refuses a cache too small for its memtables.
fn round(config: &mut Options) -> Result<()> {
    let number = |config: &Options, name: &str| -> u64 {
        config.get(name).and_then(|value| value.parse().ok()).unwrap_or_default()
    };
    let memtable = number(config, "memtable_capacity");
    let cache = number(config, "cache_size") / CACHE_UNIT * CACHE_UNIT;
    let least = memtable.saturating_mul(MEMTABLES).max(CACHE_UNIT);
    if cache < least {
        let reason = format!(
            "{cache} bytes are less than {MEMTABLES} memtables of {memtable}, which stay in the \
             cache: write {least} or more, or a smaller memtable_capacity"
        );
        return Err(refused("cache_size", reason));
    }
    config.set("cache_size", cache.to_string());
    let disk = number(config, "disk_size").checked_next_multiple_of(DISK_UNIT);
    let disk = disk.ok_or_else(|| refused("disk_size", "larger than any disk"))?;
    config.set("disk_size", disk.to_string());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use model::{Bytes, DataShape, Settings};

    use super::*;

    const NAMES: &str = "cache_size disk_size memtable_capacity fanout use_log use_stats";
    const NEW_NAMES: &str = "num_memtable_bg_threads num_normal_bg_threads queue_scale_percent";

    fn translated(names: &str, jobs: Option<u32>, options: &[(&str, &str)]) -> Result<String> {
        let build = Identity {
            facts: [("options".to_owned(), names.to_owned())].into(),
            ..Identity::default()
        };
        let settings = Settings {
            cache_bytes: Some(Bytes((128 << 20) + 1)),
            background_jobs: jobs,
            ..Settings::default()
        };
        let spec = OpenSpec {
            options: options.iter().copied().collect(),
            ..OpenSpec::embedded(
                PathBuf::new(),
                settings,
                DataShape { rows: 1000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 },
            )
        };
        let config = translate(&spec, &build)?;
        let line = |(name, value): (&str, &str)| format!("{name}={value}");
        Ok(config.iter().map(line).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn settings_become_integers_under_the_engines_names_and_options_win() {
        let config = translated(NAMES, None, &[("fanout", "16"), ("use_stats", "on")]).unwrap();
        assert_eq!(
            config,
            "cache_size=134217728 disk_size=4298113024 memtable_capacity=25165824 fanout=16 \
             use_stats=1"
        );
        let old = translated(&format!("{NAMES} {KEY_SIZE}"), None, &[]).unwrap();
        assert!(old.ends_with("fanout=8 key_size=21"), "{old}");
        let new = format!("{NAMES} {NEW_NAMES}");
        let config = translated(&new, Some(6), &[("memtable_capacity", "8MiB")]).unwrap();
        assert!(config.contains("memtable_capacity=8388608 fanout=8 queue_scale_percent=100"));
        assert!(config.ends_with("num_memtable_bg_threads=1 num_normal_bg_threads=5"), "{config}");
        let never = u64::MAX.to_string();
        let config = translated(&new, None, &[("queue_scale_percent", &never)]).unwrap();
        assert!(config.ends_with(&never), "{config}");
    }

    #[test]
    fn unsupported_option_of_a_build_is_refused() {
        let error = translated(NAMES, Some(2), &[]).unwrap_err().to_string();
        assert!(error.contains("background_jobs: this build"), "{error}");
        let wrong = [("prefetch_budget", "1"), ("fanout", "wide"), ("cache_size", "95M")];
        // In one byte 256 is 0, and 2 is neither true nor false.
        let wrong = wrong.into_iter().chain(["256", "2", "yes"].map(|value| ("use_log", value)));
        for (name, value) in wrong {
            let error = translated(NAMES, None, &[(name, value)]).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
        }
    }
}
