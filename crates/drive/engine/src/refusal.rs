//! Refusals: what an engine rejects before it opens, as typed values.

use model::Options;
use model::capability::{CACHE_SIZE, COMPRESSION, DIRECT_IO};
use serde::{Deserialize, Serialize};

use crate::error::EngineError;

/// Most known options that a message lists.
const LISTED_MAX: usize = 30;
/// Remedy for whatever another build may support.
const OTHER_BUILD: &str = "leave it out, or find a build that has it with `assay engine show`";

/// A setting of an experiment that an engine may refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// The durability class.
    Durability,
    /// The size of the cache.
    Cache,
    /// Direct I/O.
    DirectIo,
    /// The compression of rows.
    Compression,
    /// The number of background threads.
    BackgroundJobs,
    /// The memory allocator.
    Allocator,
    /// The length of keys.
    KeyBytes,
    /// The length of values.
    ValueBytes,
}

impl Setting {
    /// Returns the setting's name in experiment files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Durability => "durability",
            Self::Cache => "cache",
            Self::DirectIo => DIRECT_IO,
            Self::Compression => COMPRESSION,
            Self::BackgroundJobs => "background_jobs",
            Self::Allocator => "allocator",
            Self::KeyBytes => "key_bytes",
            Self::ValueBytes => "value_bytes",
        }
    }

    /// Returns the capability that the setting needs, if it needs one.
    pub(crate) const fn capability(self) -> Option<&'static str> {
        match self {
            Self::Cache => Some(CACHE_SIZE),
            Self::DirectIo => Some(DIRECT_IO),
            Self::Compression => Some(COMPRESSION),
            Self::Durability
            | Self::BackgroundJobs
            | Self::Allocator
            | Self::KeyBytes
            | Self::ValueBytes => None,
        }
    }
}

/// Why an engine does not open, by what is the cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Refusal {
    /// An unknown option, or a wrong value.
    #[error("option `{name}` refused: {reason}{}", listed(name, known))]
    Option {
        /// The option's name, as the user wrote it.
        name: String,
        /// The engine's reason.
        reason: String,
        /// The options the engine has; empty when it lists none.
        known: Vec<String>,
    },
    /// An option that needs another build of the engine.
    #[error("option `{option}` not supported: {reason}")]
    Capability {
        /// The option's name, as the user wrote it.
        option: String,
        /// What the build lacks.
        reason: String,
    },
    /// A setting that engine or build do not support.
    #[error("{reason}")]
    Setting {
        /// The setting.
        setting: Setting,
        /// The requested value and the engine's reason.
        reason: String,
        /// The remedy.
        remedy: String,
    },
    /// The build itself: it does not load, or does not open for any other reason.
    #[error("{reason}")]
    Build {
        /// The engine's or the loader's message.
        reason: String,
    },
}

impl Refusal {
    /// Returns the remedy for a refused capability or setting.
    #[must_use]
    pub fn remedy(&self) -> &str {
        match self {
            Self::Setting { remedy, .. } => remedy,
            Self::Option { .. } | Self::Capability { .. } | Self::Build { .. } => OTHER_BUILD,
        }
    }
}

impl EngineError {
    /// Returns the refusal of an unknown option.
    #[must_use]
    pub fn unknown(option: &str, reason: impl Into<String>, known: &[&str]) -> Self {
        let known = known.iter().map(|name| (*name).to_owned()).collect();
        Self::Refused(Refusal::Option { name: option.to_owned(), reason: reason.into(), known })
    }

    /// Returns the refusal of a setting; `reason` begins with its value.
    #[must_use]
    pub fn setting(setting: Setting, reason: impl Into<String>) -> Self {
        let reason = format!("not supported: {}", reason.into());
        Self::Refused(Refusal::Setting { setting, reason, remedy: OTHER_BUILD.to_owned() })
    }

    /// Returns the refusal of an option that needs another build.
    #[must_use]
    pub fn capability(option: &str, reason: impl Into<String>) -> Self {
        Self::Refused(Refusal::Capability { option: option.to_owned(), reason: reason.into() })
    }

    /// Returns the refusal of a build.
    #[must_use]
    pub fn build(reason: impl Into<String>) -> Self {
        Self::Refused(Refusal::Build { reason: reason.into() })
    }

    /// Attributes a refused option to the setting it translates.
    ///
    /// `translated` pairs settings with the engine's options; `options` are those of the user,
    /// which stay the cause.
    #[must_use]
    pub fn of_setting(self, options: &Options, translated: &[(Setting, &str)]) -> Self {
        let refused = self.refused_option().filter(|name| options.get(name).is_none());
        let found = refused.and_then(|name| translated.iter().find(|(_, option)| *option == name));
        match (found.copied(), self) {
            (
                Some((setting, _)),
                Self::Refused(Refusal::Option { reason, .. } | Refusal::Capability { reason, .. }),
            ) => Self::setting(setting, format!("{}: {reason}", setting.name())),
            (_, error) => error,
        }
    }

    /// Returns the refused option's name, if an option is the cause.
    #[must_use]
    pub fn refused_option(&self) -> Option<&str> {
        match self {
            Self::Refused(
                Refusal::Option { name, .. } | Refusal::Capability { option: name, .. },
            ) => Some(name),
            _ => None,
        }
    }
}

impl From<EngineError> for Refusal {
    /// Converts any error of an open; those without a typed cause are the build's.
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Refused(refusal) => refusal,
            other => Self::Build { reason: other.to_string() },
        }
    }
}

/// Returns the known options, for a message about an unknown one.
#[must_use]
pub fn listed(name: &str, known: &[String]) -> String {
    let is_listed = (1..=LISTED_MAX).contains(&known.len()) && !known.iter().any(|it| it == name);
    if is_listed { format!("; known: {}", known.join(", ")) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_options_are_listed_unless_the_option_is_one_or_they_are_many() {
        let text = |known: &[&str]| EngineError::unknown("a", "no", known).to_string();
        assert_eq!(text(&["b", "c"]), "option `a` refused: no; known: b, c");
        assert_eq!(text(&["b", "a"]), "option `a` refused: no");
        assert_eq!(text(&["b"; LISTED_MAX + 1]), "option `a` refused: no");
    }

    #[test]
    fn cause_is_the_option_the_setting_or_else_the_build() {
        let error = EngineError::capability("assay.cache", "needs 8.1");
        assert_eq!(error.refused_option(), Some("assay.cache"));
        assert_eq!(error.to_string(), "option `assay.cache` not supported: needs 8.1");
        let Refusal::Setting { setting, reason, .. } =
            EngineError::setting(Setting::DirectIo, "direct_io: no").into()
        else {
            panic!("another cause")
        };
        assert_eq!(
            (setting.name(), reason.as_str()),
            ("direct_io", "not supported: direct_io: no")
        );
        let settings = [(Setting::Cache, "cache_size")];
        let small = || crate::settings_check::refused("cache_size", "too small");
        assert_eq!(
            small().of_setting(&Options::new(), &settings),
            EngineError::setting(Setting::Cache, "cache: too small")
        );
        let own = [("cache_size", "1")].into_iter().collect();
        assert_eq!(small().of_setting(&own, &settings), small());
        let fatal = Refusal::from(EngineError::Fatal("disk full".to_owned()));
        assert_eq!(fatal, Refusal::Build { reason: "disk full".to_owned() });
    }
}
