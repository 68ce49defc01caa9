//! What LMDB is opened with: settings translated, then the options under LMDB's own names.

use engine::{EngineError, OpenSpec};
use heed::EnvFlags;
use model::units::parse_size;
use model::{Durability, Options};

/// Flags that may be set by name, as `lmdb.h` spells them.
pub(crate) const FLAGS: [(&str, EnvFlags); 6] = [
    ("MDB_NOSYNC", EnvFlags::NO_SYNC),
    ("MDB_NOMETASYNC", EnvFlags::NO_META_SYNC),
    ("MDB_WRITEMAP", EnvFlags::WRITE_MAP),
    ("MDB_MAPASYNC", EnvFlags::MAP_ASYNC),
    ("MDB_NORDAHEAD", EnvFlags::NO_READ_AHEAD),
    ("MDB_NOMEMINIT", EnvFlags::NO_MEM_INIT),
];
/// Options that are not flags.
const SIZES: [&str; 2] = ["map_size", "max_readers"];
/// Flags without which every commit is on the device.
const UNSYNCED: EnvFlags =
    EnvFlags::NO_SYNC.union(EnvFlags::NO_META_SYNC).union(EnvFlags::MAP_ASYNC);
/// Room in the map per byte of live rows: half-full pages after random inserts, node headers, and
/// the pages a write leaves behind until no reader needs them.
const MAP_BYTES_PER_LIVE_BYTE: u64 = 4;
/// Room in the map on top of that; the map is address space and a sparse file, not memory.
const MAP_BYTES_SPARE: u64 = 1 << 30;
/// The map is rounded up to this, a multiple of every page size in use.
const MAP_BYTES_UNIT: u64 = 1 << 21;

/// Everything LMDB is opened with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// Environment flags.
    pub(crate) flags: EnvFlags,
    /// Size of the map.
    pub(crate) map_bytes: usize,
    /// Reader slots; `None` leaves LMDB's 126.
    pub(crate) max_readers: Option<u32>,
}

impl Config {
    /// Returns the configuration that `spec` asks for.
    pub(crate) fn resolve(spec: &OpenSpec) -> Result<Self, EngineError> {
        refuse_settings(spec)?;
        let flags = match spec.settings.durability {
            Durability::None | Durability::Os => EnvFlags::NO_SYNC | EnvFlags::NO_META_SYNC,
            Durability::Sync => EnvFlags::empty(),
        };
        let live_bytes = spec.data.live_bytes().0;
        let map_bytes = live_bytes.saturating_mul(MAP_BYTES_PER_LIVE_BYTE) + MAP_BYTES_SPARE;
        let mut config = Self { flags, map_bytes: map_bytes_of(map_bytes)?, max_readers: None };
        config.take_options(&spec.options)?;
        let unsynced = config.flags & UNSYNCED;
        match FLAGS.iter().find(|(_, flag)| unsynced.contains(*flag)) {
            Some((name, _)) if spec.settings.durability == Durability::Sync => Err(refused(
                name,
                "durability class `sync` needs every commit synced: ask for `os` or `none`",
            )),
            _ => Ok(config),
        }
    }

    fn take_options(&mut self, options: &Options) -> Result<(), EngineError> {
        for (name, value) in options.iter() {
            if let Some((_, flag)) = FLAGS.iter().find(|(known, _)| *known == name) {
                self.flags.set(*flag, parse_flag(name, value)?);
            } else if name == "map_size" {
                let bytes = parse_size(value).map_err(|reason| refused(name, &reason))?;
                self.map_bytes = map_bytes_of(bytes.0)?;
            } else if name == "max_readers" {
                let readers = value.parse().map_err(|error| refused(name, &format!("{error}")))?;
                self.max_readers = Some(readers);
            } else {
                let known: Vec<_> = SIZES.into_iter().chain(FLAGS.map(|(name, _)| name)).collect();
                let reason = format!("not an option of LMDB here; known: {}", known.join(", "));
                return Err(refused(name, &reason));
            }
        }
        Ok(())
    }
}

fn refuse_settings(spec: &OpenSpec) -> Result<(), EngineError> {
    if spec.settings.direct_io {
        let text = "direct_io: LMDB reads through a memory map, that is the page cache";
        return Err(EngineError::Unsupported(text.to_owned()));
    }
    match spec.settings.compression.as_deref() {
        None | Some("none") => Ok(()),
        Some(name) => Err(EngineError::Unsupported(format!(
            "compression `{name}`: LMDB stores rows as given"
        ))),
    }
}

fn map_bytes_of(bytes: u64) -> Result<usize, EngineError> {
    bytes
        .checked_next_multiple_of(MAP_BYTES_UNIT)
        .and_then(|bytes| usize::try_from(bytes).ok())
        .ok_or_else(|| refused("map_size", "larger than the address space"))
}

fn parse_flag(name: &str, value: &str) -> Result<bool, EngineError> {
    match value {
        "true" | "on" | "1" => Ok(true),
        "false" | "off" | "0" => Ok(false),
        _ => Err(refused(name, &format!("`{value}` is neither true nor false"))),
    }
}

fn refused(option: &str, reason: &str) -> EngineError {
    EngineError::Option { option: option.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use model::{DataShape, Settings};

    use super::*;

    fn spec(durability: Durability, options: &[(&str, &str)]) -> OpenSpec {
        OpenSpec {
            dir: PathBuf::new(),
            settings: Settings { durability, ..Settings::default() },
            options: options.iter().copied().collect(),
            data: DataShape { rows: 1000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 },
        }
    }

    #[test]
    fn options_win_over_settings() {
        let asked = spec(Durability::Os, &[("MDB_NOSYNC", "false"), ("map_size", "64MiB")]);
        let config = Config::resolve(&asked).unwrap();
        assert_eq!(config.flags, EnvFlags::NO_META_SYNC);
        assert_eq!(config.map_bytes, 64 << 20);
    }

    #[test]
    fn the_map_has_room_for_four_times_the_rows() {
        let config = Config::resolve(&spec(Durability::Sync, &[])).unwrap();
        assert!(config.map_bytes as u64 >= 4 * 420_000 + (1 << 30));
        assert_eq!(config.map_bytes % (1 << 21), 0);
        assert_eq!(config.flags, EnvFlags::empty());
    }

    #[test]
    fn an_option_that_breaks_the_promise_of_the_class_is_refused() {
        for name in ["MDB_NOSYNC", "MDB_NOMETASYNC", "MDB_MAPASYNC"] {
            let error = Config::resolve(&spec(Durability::Sync, &[(name, "true")])).unwrap_err();
            assert!(matches!(&error, EngineError::Option { option, .. } if option == name));
        }
    }

    #[test]
    fn wrong_options_are_refused_by_name() {
        for (name, value) in
            [("map_sise", "1GiB"), ("MDB_WRITEMAP", "maybe"), ("max_readers", "-1")]
        {
            let error = Config::resolve(&spec(Durability::Os, &[(name, value)])).unwrap_err();
            assert!(matches!(&error, EngineError::Option { option, .. } if option == name));
        }
    }
}
