//! Translates settings and options into LevelDB options.

use std::ops::RangeInclusive;

use engine::settings_check::{check_names, flag, refused, size};
use engine::{EngineError, Setting};
use model::{Options, Settings};

/// The engine's name for the kind of compression.
const COMPRESSION: &str = "compression";
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

/// Everything LevelDB is opened with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    numbers: [u64; NUMBERS.len()],
    switches: [bool; SWITCHES.len()],
    pub(crate) compression: Compression,
}

/// Compression of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Snappy,
}

impl Config {
    /// Returns the configuration of `settings` and `options`; options win.
    ///
    /// # Errors
    /// [`EngineError::Refused`] for a compression that LevelDB lacks, an unknown option or a value
    /// out of LevelDB's bounds.
    pub(crate) fn new(
        settings: &Settings,
        options: &Options,
        has_snappy: bool,
    ) -> Result<Self, EngineError> {
        let mut known: Vec<_> = NUMBERS.iter().map(|(name, ..)| *name).collect();
        known.extend(SWITCHES.iter().chain([&COMPRESSION]));
        check_names("leveldb", &known, options)?;
        let mut config = Self {
            numbers: NUMBERS.map(|(_, default, _)| default),
            switches: Default::default(),
            compression: if has_snappy { Compression::Snappy } else { Compression::None },
        };
        if let Some(bytes) = settings.cache_bytes {
            config.numbers[0] = bytes.0;
        }
        if let Some(name) = settings.compression.as_deref() {
            config.compression = compression(name, has_snappy).map_err(|reason| {
                EngineError::setting(
                    Setting::Compression,
                    format!("compression `{name}`: {reason}"),
                )
            })?;
        }
        for (name, value) in options.iter() {
            config.set(name, value, has_snappy)?;
        }
        Ok(config)
    }

    fn set(&mut self, name: &str, value: &str, has_snappy: bool) -> Result<(), EngineError> {
        if let Some(at) = NUMBERS.iter().position(|(known, ..)| *known == name) {
            let (requested, range) = (size(name, value)?, &NUMBERS[at].2);
            if !range.contains(&requested) {
                let (least, most) = (range.start(), range.end());
                let reason = format!("{requested} is out of LevelDB's bounds, {least} to {most}");
                return Err(refused(name, reason));
            }
            self.numbers[at] = requested;
        } else if let Some(at) = SWITCHES.iter().position(|known| *known == name) {
            self.switches[at] = flag(name, value)?;
        } else {
            self.compression =
                compression(value, has_snappy).map_err(|reason| refused(name, reason))?;
        }
        Ok(())
    }

    /// Returns a numeric option in a type of the C API.
    ///
    /// # Errors
    /// When the type cannot hold it.
    pub(crate) fn number<T: TryFrom<u64>>(&self, name: &str) -> Result<T, EngineError> {
        let found = NUMBERS.iter().zip(self.numbers).find(|((known, ..), _)| *known == name);
        let number = found.map_or(0, |(_, number)| number);
        T::try_from(number).map_err(|_too_large| refused(name, "larger than LevelDB's C API takes"))
    }

    /// Returns a boolean option as the C API takes it.
    pub(crate) fn switch(&self, name: &str) -> u8 {
        let found = SWITCHES.iter().zip(self.switches).find(|(known, _)| **known == name);
        found.map_or(0, |(_, is_on)| u8::from(is_on))
    }

    /// Returns every option with its value; LevelDB itself returns none.
    pub(crate) fn effective(&self) -> Options {
        let mut options = Options::new();
        for ((name, ..), value) in NUMBERS.iter().zip(self.numbers) {
            options.set(*name, value.to_string());
        }
        for (name, is_on) in SWITCHES.iter().zip(self.switches) {
            options.set(*name, is_on.to_string());
        }
        let compression = match self.compression {
            Compression::None => "none",
            Compression::Snappy => "snappy",
        };
        options.set(COMPRESSION, compression);
        options
    }
}

/// Parses a compression; the error is the reason of a refusal.
fn compression(name: &str, has_snappy: bool) -> Result<Compression, String> {
    match name {
        "none" => Ok(Compression::None),
        "snappy" if has_snappy => Ok(Compression::Snappy),
        "snappy" => Err("this library was built without snappy".to_owned()),
        _ => Err("LevelDB supports snappy and none".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use model::Bytes;

    use super::*;

    fn config(settings: &Settings, options: &[(&str, &str)]) -> Result<Config, EngineError> {
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
        assert_eq!((cache(&resolved), resolved.compression), (1 << 30, Compression::None));
        let options = [
            ("block_cache", "16MiB"),
            ("compression", "snappy"),
            ("assay.bloom_bits", "10"),
            ("verify_checksums", "true"),
        ];
        let resolved = config(&settings, &options).unwrap();
        assert_eq!((cache(&resolved), resolved.compression), (16 << 20, Compression::Snappy));
        assert_eq!((resolved.number(BLOOM_BITS), resolved.switch(VERIFY_CHECKSUMS)), (Ok(10u8), 1));
        for (name, value) in [("block_cache", "16777216"), ("compression", "snappy")] {
            assert_eq!(resolved.effective().get(name), Some(value));
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
        assert_eq!(plain.effective().get(COMPRESSION), Some("none"));
    }
}
