//! Translates settings and options into LevelDB options.

use std::ops::RangeInclusive;
use std::str::FromStr;

use engine::settings_check::{check_names, flag, refused, size};
use engine::{Result, Setting};
use model::{Options, Settings};

/// The engine's name for the kind of compression.
pub(crate) const COMPRESSION: &str = "compression";
/// Bits per key of the Bloom filter; 0 is none.
///
/// The C API's form of `filter_policy`.
pub(crate) const BLOOM_BITS: &str = "assay.bloom_bits";

/// Numeric options: default, and the bounds in which LevelDB accepts one unchanged.
///
/// Source: [LevelDB source] 1.23, `include/leveldb/options.h`, and `db/db_impl.cc`,
/// `SanitizeOptions`, for cache and bounds: at least 64 open files plus the 10 reserved ones.
const NUMBERS: [(&str, u64, RangeInclusive<u64>); 7] = [
    (BLOCK_CACHE, 8 << 20, 0..=1 << 50),
    ("write_buffer_size", 4 << 20, 64 << 10..=1 << 30),
    ("max_file_size", 2 << 20, 1 << 20..=1 << 30),
    ("block_size", 4 << 10, 1 << 10..=4 << 20),
    ("max_open_files", 1000, 74..=50_000),
    ("block_restart_interval", 16, 1..=1 << 20),
    (BLOOM_BITS, 0, 0..=100),
];
/// Boolean options, off by default.
const SWITCHES: [&str; 2] = [PARANOID_CHECKS, VERIFY_CHECKSUMS];
/// Checks of the files at open.
pub(crate) const PARANOID_CHECKS: &str = "paranoid_checks";
/// Checks of the blocks that are read.
pub(crate) const VERIFY_CHECKSUMS: &str = "verify_checksums";
/// Capacity of the block cache.
pub(crate) const BLOCK_CACHE: &str = "block_cache";

/// Every option with its value in force; LevelDB itself returns none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config(pub(crate) Options);

impl Config {
    /// Returns the configuration of `settings` and `options`; options win.
    pub(crate) fn new(settings: &Settings, options: &Options, has_snappy: bool) -> Result<Self> {
        let numbers = NUMBERS.map(|(name, default, _)| (name, default.to_string()));
        let switches = SWITCHES.map(|name| (name, false.to_string()));
        let compression = if has_snappy { "snappy" } else { "none" };
        let mut config: Options = numbers.into_iter().chain(switches).collect();
        config.set(COMPRESSION, compression);
        let known: Vec<_> = config.iter().map(|(name, _)| name).collect();
        check_names("leveldb", &known, options)?;
        if let Some(bytes) = settings.cache_bytes {
            config.set(BLOCK_CACHE, bytes.0.to_string());
        }
        let requested = settings.compression.as_deref().map(|name| (COMPRESSION, name));
        for (name, value) in requested.into_iter().chain(options.iter()) {
            let parsed = parse(name, value, has_snappy);
            let setting = [(Setting::Compression, COMPRESSION)];
            config.set(name, parsed.map_err(|error| error.of_setting(options, &setting))?);
        }
        Ok(Self(config))
    }

    /// Returns a numeric option in a type of the C API.
    pub(crate) fn number<T: FromStr>(&self, name: &str) -> Result<T> {
        let number = self.0.get(name).and_then(|number| number.parse().ok());
        number.ok_or_else(|| refused(name, "larger than LevelDB's C API takes"))
    }

    /// Returns a boolean option as the C API takes it.
    pub(crate) fn switch(&self, name: &str) -> u8 {
        u8::from(self.0.get(name) == Some("true"))
    }
}

/// Returns an option's value as it is reported.
fn parse(name: &str, value: &str, has_snappy: bool) -> Result<String> {
    if let Some((_, _, range)) = NUMBERS.iter().find(|(known, ..)| *known == name) {
        let requested = size(name, value)?;
        if !range.contains(&requested) {
            let (least, most) = (range.start(), range.end());
            let reason = format!("{requested} is out of LevelDB's bounds, {least} to {most}");
            return Err(refused(name, reason));
        }
        return Ok(requested.to_string());
    }
    if SWITCHES.contains(&name) {
        return flag(name, value).map(|is_on| is_on.to_string());
    }
    match value {
        "snappy" if !has_snappy => Err(refused(name, "this library was built without snappy")),
        "none" | "snappy" => Ok(value.to_owned()),
        _ => Err(refused(name, format!("`{value}`: LevelDB supports snappy and none"))),
    }
}

#[cfg(test)]
mod tests {
    use model::Bytes;

    use super::*;

    fn config(settings: &Settings, options: &[(&str, &str)]) -> Result<Config> {
        Config::new(settings, &options.iter().copied().collect(), true)
    }

    #[test]
    fn options_win_over_settings() {
        let settings = Settings {
            cache_bytes: Some(Bytes(1 << 30)),
            compression: Some("none".to_owned()),
            ..Settings::default()
        };
        let resolved = config(&settings, &[]).unwrap();
        let cache = |config: &Config| config.number::<u64>(BLOCK_CACHE).unwrap();
        assert_eq!((cache(&resolved), resolved.0.get(COMPRESSION)), (1 << 30, Some("none")));
        let options = [
            ("block_cache", "16MiB"),
            ("compression", "snappy"),
            ("assay.bloom_bits", "10"),
            ("verify_checksums", "true"),
        ];
        let resolved = config(&settings, &options).unwrap();
        assert_eq!((cache(&resolved), resolved.0.get(COMPRESSION)), (16 << 20, Some("snappy")));
        assert_eq!((resolved.number(BLOOM_BITS), resolved.switch(VERIFY_CHECKSUMS)), (Ok(10u8), 1));
        for (name, value) in [("block_cache", "16777216"), ("compression", "snappy")] {
            assert_eq!(resolved.0.get(name), Some(value));
        }
    }

    #[test]
    fn value_that_leveldb_would_change_is_refused() {
        for (name, value, expected) in [
            ("write_buffer_size", "1KiB", "out of LevelDB's bounds, 65536 to 1073741824"),
            ("max_open_files", "50", "74 to 50000"),
            ("block_sise", "4096", "known: block_cache, write_buffer_size"),
            ("compression", "zstd", "snappy and none"),
            ("paranoid_checks", "maybe", "neither true nor false"),
        ] {
            let error = config(&Settings::default(), &[(name, value)]).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn library_without_snappy_refuses_it() {
        let compressed = Settings { compression: Some("snappy".to_owned()), ..Settings::default() };
        assert!(config(&compressed, &[]).is_ok());
        let error = Config::new(&compressed, &Options::new(), false).unwrap_err();
        assert!(error.to_string().contains("without snappy"), "{error}");
        let plain = Config::new(&Settings::default(), &Options::new(), false).unwrap();
        assert_eq!(plain.0.get(COMPRESSION), Some("none"));
    }
}
