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

/// Everything LevelDB is opened with; the defaults are the engine's.
///
/// Source: [LevelDB source] 1.23, `include/leveldb/options.h`; for the cache `db/db_impl.cc`,
/// `SanitizeOptions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) block_cache: u64,
    pub(crate) write_buffer_size: u64,
    pub(crate) max_file_size: u64,
    pub(crate) block_size: u64,
    pub(crate) max_open_files: u64,
    pub(crate) block_restart_interval: u64,
    pub(crate) bloom_bits: u64,
    pub(crate) paranoid_checks: bool,
    pub(crate) verify_checksums: bool,
    pub(crate) compression: Compression,
}

/// Compression of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Snappy,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            block_cache: 8 << 20,
            write_buffer_size: 4 << 20,
            max_file_size: 2 << 20,
            block_size: 4 << 10,
            max_open_files: 1000,
            block_restart_interval: 16,
            bloom_bits: 0,
            paranoid_checks: false,
            verify_checksums: false,
            compression: Compression::Snappy,
        }
    }
}

/// A numeric option with the bounds in which LevelDB accepts it unchanged.
struct Number {
    name: &'static str,
    range: RangeInclusive<u64>,
    field: fn(&mut Config) -> &mut u64,
}

/// A boolean option.
struct Switch {
    name: &'static str,
    field: fn(&mut Config) -> &mut bool,
}

/// Numeric options.
///
/// Source of the bounds: [LevelDB source] 1.23, `db/db_impl.cc`, `SanitizeOptions`; at least 64
/// open files plus the 10 reserved ones.
const NUMBERS: &[Number] = &[
    Number { name: "block_cache", range: 0..=1 << 50, field: |of| &mut of.block_cache },
    Number {
        name: "write_buffer_size",
        range: 64 << 10..=1 << 30,
        field: |of| &mut of.write_buffer_size,
    },
    Number { name: "max_file_size", range: 1 << 20..=1 << 30, field: |of| &mut of.max_file_size },
    Number { name: "block_size", range: 1 << 10..=4 << 20, field: |of| &mut of.block_size },
    Number { name: "max_open_files", range: 74..=50_000, field: |of| &mut of.max_open_files },
    Number {
        name: "block_restart_interval",
        range: 1..=1 << 20,
        field: |of| &mut of.block_restart_interval,
    },
    Number { name: BLOOM_BITS, range: 0..=100, field: |of| &mut of.bloom_bits },
];

/// Boolean options.
const SWITCHES: &[Switch] = &[
    Switch { name: "paranoid_checks", field: |of| &mut of.paranoid_checks },
    Switch { name: "verify_checksums", field: |of| &mut of.verify_checksums },
];

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
        let mut known: Vec<_> = NUMBERS.iter().map(|known| known.name).collect();
        known.extend(SWITCHES.iter().map(|known| known.name));
        known.push(COMPRESSION);
        check_names("leveldb", &known, options)?;
        let mut config = Self::default();
        if !has_snappy {
            config.compression = Compression::None;
        }
        if let Some(bytes) = settings.cache_bytes {
            config.block_cache = bytes.0;
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
        if let Some(number) = NUMBERS.iter().find(|known| known.name == name) {
            let requested = size(name, value)?;
            if !number.range.contains(&requested) {
                let (least, most) = (number.range.start(), number.range.end());
                let reason = format!("{requested} is out of LevelDB's bounds, {least} to {most}");
                return Err(refused(name, reason));
            }
            *(number.field)(self) = requested;
        } else if let Some(switch) = SWITCHES.iter().find(|known| known.name == name) {
            *(switch.field)(self) = flag(name, value)?;
        } else {
            self.compression =
                compression(value, has_snappy).map_err(|reason| refused(name, reason))?;
        }
        Ok(())
    }

    /// Returns every option with its value; LevelDB itself returns none.
    pub(crate) fn effective(&self) -> Options {
        let (mut copy, mut options) = (self.clone(), Options::new());
        for number in NUMBERS {
            options.set(number.name, (number.field)(&mut copy).to_string());
        }
        for switch in SWITCHES {
            options.set(switch.name, (switch.field)(&mut copy).to_string());
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
        assert_eq!((resolved.block_cache, resolved.compression), (1 << 30, Compression::None));
        let options = [
            ("block_cache", "16MiB"),
            ("compression", "snappy"),
            ("assay.bloom_bits", "10"),
            ("verify_checksums", "true"),
        ];
        let resolved = config(&settings, &options).unwrap();
        assert_eq!((resolved.block_cache, resolved.compression), (16 << 20, Compression::Snappy));
        assert_eq!((resolved.bloom_bits, resolved.verify_checksums), (10, true));
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
