//! From settings and options to what LevelDB is opened with.

use std::ops::RangeInclusive;

use engine::EngineError;
use engine::settings_check::{check_names, flag, refused, size};
use model::{Options, Settings};

/// The engine's name for the kind of compression.
const COMPRESSION: &str = "compression";
/// What the C API makes of `filter_policy`: bits of a Bloom filter per key; 0 is no filter.
pub(crate) const BLOOM_BITS: &str = "assay.bloom_bits";

/// Everything LevelDB is opened with; the defaults are the engine's.
///
/// Source: LevelDB 1.23 `options.h`, and `db_impl.cc`, `SanitizeOptions`, for the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
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

/// What is done to blocks before they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Snappy,
}

impl Default for Request {
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

/// A number that can be set, and between what bounds LevelDB takes it as it is.
struct Number {
    name: &'static str,
    range: RangeInclusive<u64>,
    field: fn(&mut Request) -> &mut u64,
}

/// A switch that can be set.
struct Switch {
    name: &'static str,
    field: fn(&mut Request) -> &mut bool,
}

/// Source: LevelDB 1.23 `db_impl.cc`, `SanitizeOptions`, for the bounds that it has; files are at
/// least 64 beside the 10 that are set aside.
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

const SWITCHES: &[Switch] = &[
    Switch { name: "paranoid_checks", field: |of| &mut of.paranoid_checks },
    Switch { name: "verify_checksums", field: |of| &mut of.verify_checksums },
];

impl Request {
    /// Returns what `settings` and `options` ask for; options win. `has_snappy` says what the
    /// library can do, which the settings were checked against.
    ///
    /// # Errors
    /// [`EngineError::Unsupported`] for a compression that LevelDB lacks, [`EngineError::Option`]
    /// for an option that is unknown or has a value that LevelDB would not take.
    pub(crate) fn new(
        settings: &Settings,
        options: &Options,
        has_snappy: bool,
    ) -> Result<Self, EngineError> {
        let mut known: Vec<_> = NUMBERS.iter().map(|known| known.name).collect();
        known.extend(SWITCHES.iter().map(|known| known.name));
        known.push(COMPRESSION);
        check_names("leveldb", &known, options)?;
        let mut request = Self::default();
        if !has_snappy {
            request.compression = Compression::None;
        }
        if let Some(bytes) = settings.cache_bytes {
            request.block_cache = bytes.0;
        }
        if let Some(name) = settings.compression.as_deref() {
            request.compression = compression(name, has_snappy).map_err(|reason| {
                EngineError::Unsupported(format!("compression `{name}`: {reason}"))
            })?;
        }
        for (name, value) in options.iter() {
            request.take(name, value, has_snappy)?;
        }
        Ok(request)
    }

    fn take(&mut self, name: &str, value: &str, has_snappy: bool) -> Result<(), EngineError> {
        if let Some(number) = NUMBERS.iter().find(|known| known.name == name) {
            let asked = size(name, value)?;
            if !number.range.contains(&asked) {
                let (least, most) = (number.range.start(), number.range.end());
                let reason = format!("{asked} is out of LevelDB's bounds, {least} to {most}");
                return Err(refused(name, reason));
            }
            *(number.field)(self) = asked;
        } else if let Some(switch) = SWITCHES.iter().find(|known| known.name == name) {
            *(switch.field)(self) = flag(name, value)?;
        } else {
            self.compression =
                compression(value, has_snappy).map_err(|reason| refused(name, reason))?;
        }
        Ok(())
    }

    /// Returns every option with its value; LevelDB keeps none that could be read back.
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

/// Returns the compression of that name; the error says why it cannot be had.
fn compression(name: &str, has_snappy: bool) -> Result<Compression, String> {
    match name {
        "none" => Ok(Compression::None),
        "snappy" if has_snappy => Ok(Compression::Snappy),
        "snappy" => Err("this library was built without snappy".to_owned()),
        _ => Err("LevelDB knows snappy and none".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use model::Bytes;

    use super::*;

    fn request(settings: &Settings, options: &[(&str, &str)]) -> Result<Request, EngineError> {
        Request::new(settings, &options.iter().copied().collect(), true)
    }

    #[test]
    fn options_win_over_settings() {
        let settings = Settings {
            cache_bytes: Some(Bytes(1 << 30)),
            compression: Some("none".to_owned()),
            ..Settings::default()
        };
        let asked = request(&settings, &[]).unwrap();
        assert_eq!((asked.block_cache, asked.compression), (1 << 30, Compression::None));
        let options = [
            ("block_cache", "16MiB"),
            ("compression", "snappy"),
            ("assay.bloom_bits", "10"),
            ("verify_checksums", "true"),
        ];
        let asked = request(&settings, &options).unwrap();
        assert_eq!((asked.block_cache, asked.compression), (16 << 20, Compression::Snappy));
        assert_eq!((asked.bloom_bits, asked.verify_checksums), (10, true));
        for (name, value) in [("block_cache", "16777216"), ("compression", "snappy")] {
            assert_eq!(asked.effective().get(name), Some(value));
        }
    }

    #[test]
    fn what_leveldb_would_change_in_silence_is_refused() {
        for (name, value, words) in [
            ("write_buffer_size", "1KiB", "out of LevelDB's bounds, 65536 to 1073741824"),
            ("max_open_files", "50", "74 to 50000"),
            ("block_sise", "4096", "known: block_cache, write_buffer_size"),
            ("compression", "zstd", "snappy and none"),
            ("paranoid_checks", "maybe", "neither true nor false"),
        ] {
            let error = request(&Settings::default(), &[(name, value)]).unwrap_err();
            let EngineError::Option { option, reason } = error else { panic!("{error:?}") };
            assert_eq!(option, name);
            assert!(reason.contains(words), "{reason}");
        }
    }

    #[test]
    fn a_library_without_snappy_says_so() {
        let compressed = Settings { compression: Some("snappy".to_owned()), ..Settings::default() };
        assert!(request(&compressed, &[]).is_ok());
        let error = Request::new(&compressed, &Options::new(), false).unwrap_err();
        assert!(error.to_string().contains("without snappy"), "{error}");
        let plain = Request::new(&Settings::default(), &Options::new(), false).unwrap();
        assert_eq!(plain.effective().get(COMPRESSION), Some("none"));
    }
}
