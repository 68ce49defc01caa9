//! Settings common to all engines.

use serde::{Deserialize, Serialize};

use crate::allocator::Allocator;
use crate::capability::Durability;
use crate::units::{Bytes, parse_count, parse_size};

/// Parses a whole number, in the units of counts.
///
/// # Errors
/// When the text is none, or it is too large.
pub fn parse_whole(text: &str) -> Result<u32, String> {
    let too_large = |_beyond| format!("`{text}` is too large: write a whole number below 2^32");
    u32::try_from(parse_count(text)?).map_err(too_large)
}

/// Parses a size of less than 4 GiB, in bytes.
///
/// # Errors
/// When the text is none, or it is too large.
pub fn parse_short_size(text: &str) -> Result<u32, String> {
    let too_large = |_beyond| format!("`{text}` is too large: write a size below 4GiB");
    u32::try_from(parse_size(text)?.0).map_err(too_large)
}

/// Settings with the same meaning for every engine.
///
/// A driver translates those its engine has; the runner applies the allocator. Keys, flags and help
/// are those of the same settings in the table of `plan`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Durability class of every write.
    pub durability: Durability,
    /// Size of the engine's own cache.
    pub cache_bytes: Option<Bytes>,
    /// Whether reads and background writes bypass the page cache.
    pub direct_io: bool,
    /// Block compression: none, lz4 or zstd.
    pub compression: Option<String>,
    /// Background threads that the engine may use.
    pub background_jobs: Option<u32>,
    /// Allocator that serves malloc.
    #[serde(default, skip_serializing_if = "Allocator::is_system")]
    pub allocator: Allocator,
}

impl Settings {
    /// Returns each setting's key and text; `None` leaves the engine's default.
    pub fn labels(&self) -> Vec<(&'static str, Option<String>)> {
        vec![
            ("durability", Some(self.durability.to_string())),
            ("cache", self.cache_bytes.map(|bytes| bytes.to_string())),
            ("direct_io", Some(self.direct_io.to_string())),
            ("compression", self.compression.clone()),
            ("background_jobs", self.background_jobs.map(|jobs| jobs.to_string())),
            ("allocator", Some(self.allocator.to_string())),
        ]
    }

    /// Sets the setting of that key from its text.
    ///
    /// # Errors
    /// When the text is no value of the setting, or no setting has the key.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        match key {
            "durability" => self.durability = text.parse()?,
            "cache" => self.cache_bytes = Some(parse_size(text)?),
            "direct_io" => {
                let neither = |_invalid| format!("`{text}` is neither true nor false");
                self.direct_io = text.parse().map_err(neither)?;
            }
            "compression" => self.compression = Some(text.to_owned()),
            "background_jobs" => self.background_jobs = Some(parse_whole(text)?),
            "allocator" => self.allocator = text.parse()?,
            _ => return Err(format!("no setting is named `{key}`")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_set_by_key_and_labelled() {
        let mut settings = Settings::default();
        for (key, text) in [("cache", "1GiB"), ("direct_io", "true"), ("allocator", "jemalloc")] {
            settings.set(key, text).expect("a value");
        }
        assert_eq!((settings.cache_bytes, settings.direct_io), (Some(Bytes::GIB), true));
        assert!(settings.set("durability", "paper").is_err());
        assert!(settings.set("background_jobs", "-1").is_err());
        assert_eq!((parse_whole("2k"), parse_short_size("4KiB")), (Ok(2000), Ok(4096)));
        assert!(parse_whole("5B").is_err() && parse_short_size("4GiB").is_err());
        assert!(settings.set("colour", "red").is_err());
    }
}
