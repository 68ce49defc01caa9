//! Engine errors, classified by what the caller may do.

use model::record::FailureClass;
use model::{Options, Setting};

use crate::refusal::{OTHER_BUILD, Refusal};

/// Parts of the messages of engines whose disk is full.
///
/// Source: errno(3), `ENOSPC`; SQLite, `SQLITE_FULL`; MySQL's server error reference, 1021, 1114
/// and 3675.
const DISK_FULL: [&str; 4] = ["No space left on device", "Disk full", "disk is full", "' is full"];

/// A result whose error is that of an engine.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// A refusal or failure of an engine.
///
/// Texts are the engine's own messages where it has any.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// A conflict with another client: retry is legal.
    #[error("conflict: {0}")]
    Conflict(String),
    /// Two transactions waited for each other: retry is legal.
    #[error("deadlock: {0}")]
    Deadlock(String),
    /// A constraint rejected a row, a duplicate key: retry with other values is legal.
    #[error("constraint: {0}")]
    Constraint(String),
    /// The connection was lost and replaced; whether the operation was applied is unknown.
    #[error("{0}")]
    LostConnection(String),
    /// The server is away, as the step expects: the session connects again by itself.
    #[error("{reason}")]
    Unavailable {
        /// Class of the failure.
        class: FailureClass,
        /// What the client observed.
        reason: String,
    },
    /// The engine's own timeout expired.
    #[error("timed out: {0}")]
    Timeout(String),
    /// An operation that the engine does not support.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// The engine refuses to open.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The engine cannot continue.
    #[error("{0}")]
    Fatal(String),
}

impl EngineError {
    /// Returns the class that it is counted in as a failure.
    pub fn class(&self) -> FailureClass {
        match self {
            Self::LostConnection(_) => FailureClass::LostConnection,
            Self::Unavailable { class, .. } => *class,
            Self::Deadlock(_) => FailureClass::Deadlock,
            Self::Conflict(_) => FailureClass::Serialisation,
            Self::Timeout(_) => FailureClass::Timeout,
            Self::Constraint(_) => FailureClass::Constraint,
            Self::Fatal(text) if DISK_FULL.iter().any(|part| text.contains(part)) => {
                FailureClass::DiskFull
            }
            Self::Unsupported(_) | Self::Refused(_) | Self::Fatal(_) => FailureClass::Other,
        }
    }

    /// Returns the refusal of an unknown option.
    pub fn unknown(option: &str, reason: impl Into<String>, known: &[&str]) -> Self {
        let known = known.iter().map(|name| (*name).to_owned()).collect();
        Self::Refused(Refusal::Option { name: option.to_owned(), reason: reason.into(), known })
    }

    /// Returns the refusal of a setting; `reason` begins with its value.
    pub fn setting(setting: Setting, reason: impl Into<String>) -> Self {
        let reason = format!("not supported: {}", reason.into());
        Self::Refused(Refusal::Setting { setting, reason, remedy: OTHER_BUILD.to_owned() })
    }

    /// Returns the refusal of an option that needs another build.
    pub fn capability(option: &str, reason: impl Into<String>) -> Self {
        Self::Refused(Refusal::Capability { option: option.to_owned(), reason: reason.into() })
    }

    /// Returns the refusal of a build.
    pub fn build(reason: impl Into<String>) -> Self {
        Self::Refused(Refusal::Build { reason: reason.into() })
    }

    /// Attributes a refused option to the setting it translates.
    ///
    /// `translated` pairs settings with the engine's options; `options` are those of the user,
    /// which stay the cause.
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

    /// Adds a cause to a timeout, or to a failure of the engine.
    pub fn because(self, cause: &str) -> Self {
        match self {
            Self::Timeout(text) => Self::Timeout(format!("{text}: {cause}")),
            Self::Fatal(text) => Self::Fatal(format!("{text}: {cause}")),
            Self::Conflict(_)
            | Self::Deadlock(_)
            | Self::Constraint(_)
            | Self::LostConnection(_)
            | Self::Unavailable { .. }
            | Self::Unsupported(_)
            | Self::Refused(_) => self,
        }
    }

    /// Returns the refused option's name, if an option is the cause.
    pub fn refused_option(&self) -> Option<&str> {
        let Self::Refused(Refusal::Option { name, .. } | Refusal::Capability { option: name, .. }) =
            self
        else {
            return None;
        };
        Some(name)
    }
}

impl From<EngineError> for Refusal {
    /// Converts any error of an open; those without a typed cause are the build's.
    fn from(error: EngineError) -> Self {
        if let EngineError::Refused(refusal) = error {
            return refusal;
        }
        Self::Build { reason: error.to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let full = "The table 't1' is full (error 1114, HY000)".to_owned();
        assert_eq!(EngineError::Fatal(full).class(), FailureClass::DiskFull);
        let fatal = Refusal::from(EngineError::Fatal("disk full".to_owned()));
        assert_eq!(fatal, Refusal::Build { reason: "disk full".to_owned() });
    }
}
