//! Translates settings and options into redb's configuration.

use engine::settings_check::{check_names, check_settings, flag, refused, size};
use engine::{EngineError, OpenSpec};
use model::{Capabilities, Durability};
use redb::WriteTransaction;

use crate::backend::Syncs;
use crate::error::failed;

/// Options, named after setters of `redb::Builder` and `redb::WriteTransaction`.
const KNOWN: [&str; 3] = ["cache_size", "two_phase_commit", "quick_repair"];
/// redb's own default cache, repeated here to report it.
///
/// Source: [redb docs], `Builder::new`.
const CACHE_BYTES_DEFAULT: u64 = 1 << 30;

/// Everything redb is opened with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Config {
    /// Size of redb's cache, unwritten pages included.
    pub(crate) cache_bytes: usize,
    /// Settings of every commit.
    pub(crate) commit: Commit,
    /// Whether redb's syncs reach the device.
    pub(crate) syncs: Syncs,
}

/// Settings of a commit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Commit {
    /// redb's own durability.
    pub(crate) durability: redb::Durability,
    /// Sync before and after the switch to the new state.
    pub(crate) is_two_phase: bool,
    /// Save the allocator state with each commit.
    pub(crate) is_quick_repair: bool,
}

impl Commit {
    /// Applies the settings to a transaction.
    pub(crate) fn set(&self, txn: &mut WriteTransaction) -> Result<(), EngineError> {
        txn.set_durability(self.durability).map_err(failed)?;
        txn.set_two_phase_commit(self.is_two_phase);
        txn.set_quick_repair(self.is_quick_repair);
        Ok(())
    }
}

impl Config {
    /// Returns the configuration of `spec`.
    pub(crate) fn resolve(spec: &OpenSpec, can: &Capabilities) -> Result<Self, EngineError> {
        check_settings("redb", can, &spec.settings)?;
        check_names("redb", &KNOWN, &spec.options)?;
        let (durability, syncs) = match spec.settings.durability {
            Durability::None => (redb::Durability::None, Syncs::Passed),
            Durability::Os => (redb::Durability::Immediate, Syncs::Dropped),
            Durability::Sync => (redb::Durability::Immediate, Syncs::Passed),
        };
        let mut cache_bytes = spec.settings.cache_bytes.map_or(CACHE_BYTES_DEFAULT, |size| size.0);
        let mut commit = Commit { durability, is_two_phase: false, is_quick_repair: false };
        for (name, value) in spec.options.iter() {
            match name {
                "cache_size" => cache_bytes = size(name, value)?,
                "two_phase_commit" => commit.is_two_phase = flag(name, value)?,
                "quick_repair" => commit.is_quick_repair = flag(name, value)?,
                _ => return Err(refused(name, "not an option of redb here")),
            }
        }
        let cache_bytes = usize::try_from(cache_bytes)
            .map_err(|_too_large| refused("cache_size", "larger than the address space"))?;
        Ok(Self { cache_bytes, commit, syncs })
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use model::{Bytes, DataShape, Settings};

    use super::*;

    fn resolve(spec: &OpenSpec) -> Result<Config, EngineError> {
        Config::resolve(spec, &crate::driver().capabilities())
    }

    fn spec(durability: Durability, options: &[(&str, &str)]) -> OpenSpec {
        OpenSpec {
            endpoint: None,
            application: None,
            dir: PathBuf::new(),
            settings: Settings {
                durability,
                cache_bytes: Some(Bytes(64 << 20)),
                ..Settings::default()
            },
            options: options.iter().copied().collect(),
            data: DataShape { rows: 1000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 },
        }
    }

    #[test]
    fn only_class_os_drops_syncs() {
        for (class, syncs) in [
            (Durability::None, Syncs::Passed),
            (Durability::Os, Syncs::Dropped),
            (Durability::Sync, Syncs::Passed),
        ] {
            assert_eq!(resolve(&spec(class, &[])).unwrap().syncs, syncs);
        }
    }

    #[test]
    fn options_win_over_settings() {
        let requested = spec(Durability::Sync, &[("cache_size", "2MiB"), ("quick_repair", "true")]);
        let config = resolve(&requested).unwrap();
        assert_eq!(config.cache_bytes, 2 << 20);
        assert!(config.commit.is_quick_repair && !config.commit.is_two_phase);
    }

    #[test]
    fn wrong_option_is_refused_by_name() {
        for (name, value) in [("cache", "1GiB"), ("cache_size", "big"), ("quick_repair", "2")] {
            let error = resolve(&spec(Durability::Os, &[(name, value)])).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
        }
    }
}
