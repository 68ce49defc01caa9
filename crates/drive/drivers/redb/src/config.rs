//! Translates settings and options into redb's configuration.

use engine::settings_check::{check_names, check_settings, flag, refused, size};
use engine::{OpenSpec, Result};
use model::{Capabilities, Durability};

/// Options, named after setters of `redb::Builder` and `redb::WriteTransaction`.
pub(crate) const TWO_PHASE: &str = "two_phase_commit";
pub(crate) const QUICK_REPAIR: &str = "quick_repair";
/// redb's own default cache, repeated here to report it.
///
/// Source: [redb docs], `Builder::new`.
pub(crate) const CACHE_BYTES_DEFAULT: u64 = 1 << 30;

/// Everything redb is opened with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Config {
    /// The durability class.
    pub(crate) class: Durability,
    /// Size of redb's cache, unwritten pages included.
    pub(crate) cache_bytes: usize,
    /// Commits sync before and after the switch to the new state.
    pub(crate) is_two_phase: bool,
    /// Commits save the allocator state.
    pub(crate) is_quick_repair: bool,
}

impl Config {
    /// Returns the configuration of `spec`.
    pub(crate) fn resolve(spec: &OpenSpec, can: &Capabilities) -> Result<Self> {
        check_settings("redb", can, &spec.settings)?;
        check_names("redb", &["cache_size", TWO_PHASE, QUICK_REPAIR], &spec.options)?;
        let is_on = |name| spec.options.get(name).map_or(Ok(false), |value| flag(name, value));
        let cache_bytes = match spec.options.get("cache_size") {
            Some(value) => size("cache_size", value)?,
            None => spec.settings.cache_bytes.map_or(CACHE_BYTES_DEFAULT, |size| size.0),
        };
        Ok(Self {
            class: spec.settings.durability,
            cache_bytes: usize::try_from(cache_bytes)
                .map_err(|_too_large| refused("cache_size", "larger than the address space"))?,
            is_two_phase: is_on(TWO_PHASE)?,
            is_quick_repair: is_on(QUICK_REPAIR)?,
        })
    }

    /// Returns redb's own durability.
    pub(crate) fn durability(&self) -> redb::Durability {
        match self.class {
            Durability::None => redb::Durability::None,
            Durability::Os | Durability::Sync => redb::Durability::Immediate,
        }
    }

    /// Returns whether redb's syncs must not reach the device.
    pub(crate) fn drops_syncs(&self) -> bool {
        self.class == Durability::Os
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use model::{Bytes, DataShape, Settings};

    use super::*;

    fn resolve(spec: &OpenSpec) -> Result<Config> {
        Config::resolve(spec, &crate::driver().capabilities())
    }

    fn spec(durability: Durability, options: &[(&str, &str)]) -> OpenSpec {
        OpenSpec {
            options: options.iter().copied().collect(),
            ..OpenSpec::embedded(
                PathBuf::new(),
                Settings { durability, cache_bytes: Some(Bytes(64 << 20)), ..Settings::default() },
                DataShape { rows: 1000, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 },
            )
        }
    }

    #[test]
    fn only_class_os_drops_syncs() {
        for class in Durability::ALL {
            let config = resolve(&spec(class, &[])).unwrap();
            assert_eq!(config.drops_syncs(), class == Durability::Os);
        }
    }

    #[test]
    fn options_win_over_settings() {
        let requested = spec(Durability::Sync, &[("cache_size", "2MiB"), ("quick_repair", "true")]);
        let config = resolve(&requested).unwrap();
        assert_eq!(config.cache_bytes, 2 << 20);
        assert!(config.is_quick_repair && !config.is_two_phase);
    }

    #[test]
    fn wrong_option_is_refused_by_name() {
        for (name, value) in [("cache", "1GiB"), ("cache_size", "big"), ("quick_repair", "2")] {
            let error = resolve(&spec(Durability::Os, &[(name, value)])).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
        }
    }
}
