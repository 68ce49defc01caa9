//! Translates settings and options into LMDB's configuration.

use engine::settings_check::{check_names, check_settings, flag, number, refused, size};
use engine::{OpenSpec, Result};
use lmdb_master_sys::{
    MDB_MAPASYNC, MDB_NOMEMINIT, MDB_NOMETASYNC, MDB_NORDAHEAD, MDB_NOSYNC, MDB_WRITEMAP,
};
use model::{Capabilities, Durability, Settings};

/// Flags that may be set by name, as `lmdb.h` spells them.
pub(crate) const FLAGS: [(&str, u32); 6] = [
    ("MDB_NOSYNC", MDB_NOSYNC),
    ("MDB_NOMETASYNC", MDB_NOMETASYNC),
    ("MDB_WRITEMAP", MDB_WRITEMAP),
    ("MDB_MAPASYNC", MDB_MAPASYNC),
    ("MDB_NORDAHEAD", MDB_NORDAHEAD),
    ("MDB_NOMEMINIT", MDB_NOMEMINIT),
];
/// Options other than flags.
const SIZES: [&str; 2] = ["map_size", "max_readers"];
/// Reader slots, of which each session takes one; LMDB's own are 126.
///
/// Our choice: twice the most clients of a step, so that writers and holders of transactions have
/// slots too. A slot is 64 bytes of a sparse file, and none is visited until it is used.
const READERS: u32 = 8192;
/// Flags that leave commits unsynced.
const UNSYNCED: u32 = MDB_NOSYNC | MDB_NOMETASYNC | MDB_MAPASYNC;
/// Map bytes per byte of live rows.
///
/// Our choice: half-full pages after random inserts, node headers, and replaced pages that readers
/// still need.
const MAP_BYTES_PER_LIVE_BYTE: u64 = 4;
/// Additional map bytes; the map is address space and a sparse file, not memory.
const MAP_BYTES_SPARE: u64 = 1 << 30;
/// The map is rounded up to this, a multiple of every page size in use.
const MAP_BYTES_UNIT: u64 = 1 << 21;

/// Everything LMDB is opened with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Config {
    /// Environment flags.
    pub(crate) flags: u32,
    /// Size of the map.
    pub(crate) map_bytes: usize,
    /// Reader slots.
    pub(crate) max_readers: u32,
}

impl Config {
    /// Returns the configuration of `spec`.
    pub(crate) fn resolve(spec: &OpenSpec, can: &Capabilities) -> Result<Self> {
        // LMDB has no cache of its own, so a shared `cache_bytes` has no effect.
        let settings = Settings { cache_bytes: None, ..spec.settings.clone() };
        check_settings("LMDB", can, &settings)?;
        let known: Vec<_> = SIZES.into_iter().chain(FLAGS.map(|(name, _)| name)).collect();
        check_names("LMDB", &known, &spec.options)?;
        let flags = match settings.durability {
            Durability::None | Durability::Os => MDB_NOSYNC | MDB_NOMETASYNC,
            Durability::Sync => 0,
        };
        let live_bytes = spec.data.live_bytes().0;
        let mut map_bytes =
            live_bytes.saturating_mul(MAP_BYTES_PER_LIVE_BYTE).saturating_add(MAP_BYTES_SPARE);
        let mut config = Self { flags, map_bytes: 0, max_readers: READERS };
        for (name, value) in spec.options.iter() {
            match name {
                "map_size" => map_bytes = size(name, value)?,
                "max_readers" => config.max_readers = number(name, value)?,
                _ => {
                    let is_set = flag(name, value)?;
                    let bits = FLAGS.iter().find(|(known, _)| *known == name);
                    let bits = bits.map_or(0, |(_, bits)| *bits);
                    config.flags &= !bits;
                    config.flags |= if is_set { bits } else { 0 };
                }
            }
        }
        config.map_bytes = map_bytes
            .checked_next_multiple_of(MAP_BYTES_UNIT)
            .and_then(|bytes| usize::try_from(bytes).ok())
            .ok_or_else(|| refused("map_size", "larger than the address space"))?;
        let unsynced = config.flags & UNSYNCED;
        match FLAGS.iter().find(|(_, flag)| unsynced & flag != 0) {
            Some((name, _)) if settings.durability == Durability::Sync => Err(refused(
                name,
                "durability class `sync` needs every commit synced: use class `os` or `none`",
            )),
            _ => Ok(config),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use model::DataShape;

    use super::*;

    fn resolve(spec: &OpenSpec) -> Result<Config> {
        Config::resolve(spec, &crate::driver().capabilities())
    }

    fn spec(durability: Durability, options: &[(&str, &str)]) -> OpenSpec {
        OpenSpec {
            options: options.iter().copied().collect(),
            ..OpenSpec::embedded(
                PathBuf::new(),
                Settings { durability, ..Settings::default() },
                DataShape { rows: 1000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 },
            )
        }
    }

    #[test]
    fn options_win_over_settings() {
        let requested = spec(Durability::Os, &[("MDB_NOSYNC", "false"), ("map_size", "64MiB")]);
        let config = resolve(&requested).unwrap();
        assert_eq!(config.flags, MDB_NOMETASYNC);
        assert_eq!(config.map_bytes, 64 << 20);
    }

    #[test]
    fn map_has_room_for_four_times_the_rows() {
        let config = resolve(&spec(Durability::Sync, &[])).unwrap();
        assert!(config.map_bytes as u64 >= 4 * 420_000 + (1 << 30));
        assert_eq!(config.map_bytes % (1 << 21), 0);
        assert_eq!(config.flags, 0);
        // More than there are addresses is refused, and not wrapped to a small map.
        let mut beyond = spec(Durability::Sync, &[]);
        beyond.data.rows = u64::MAX;
        assert_eq!(resolve(&beyond).unwrap_err().refused_option(), Some("map_size"));
    }

    #[test]
    fn option_that_breaks_the_guarantee_of_the_class_is_refused() {
        for name in ["MDB_NOSYNC", "MDB_NOMETASYNC", "MDB_MAPASYNC"] {
            let error = resolve(&spec(Durability::Sync, &[(name, "true")])).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
        }
    }

    #[test]
    fn wrong_option_is_refused_by_name() {
        for (name, value) in
            [("map_sise", "1GiB"), ("MDB_WRITEMAP", "maybe"), ("max_readers", "-1")]
        {
            let error = resolve(&spec(Durability::Os, &[(name, value)])).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
        }
    }
}
