//! Engine builds: how one is requested and identified.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Reference to an engine build: `rocksdb@9.10.0`, or `sqlite` for the linked one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BuildRef {
    /// The engine's name.
    pub engine: String,
    /// The version as released; `None` means the linked one.
    pub version: Option<String>,
}

impl FromStr for BuildRef {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (engine, version) = match text.split_once('@') {
            Some((engine, version)) => (engine, Some(version)),
            None => (text, None),
        };
        let is_name = |s: &str| {
            !s.is_empty()
                && s.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
                && !s.starts_with(['.', '-'])
        };
        if !is_name(engine) || !version.is_none_or(is_name) {
            // Half an address: what it has may be a password.
            let shown =
                if text.contains(':') { "this text".to_owned() } else { format!("`{text}`") };
            return Err(format!("{shown} is not an engine build: write NAME or NAME@VERSION"));
        }
        Ok(Self { engine: engine.to_owned(), version: version.map(str::to_owned) })
    }
}

impl TryFrom<String> for BuildRef {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<BuildRef> for String {
    fn from(build: BuildRef) -> Self {
        build.to_string()
    }
}

impl fmt::Display for BuildRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.version {
            Some(version) => write!(f, "{}@{version}", self.engine),
            None => f.write_str(&self.engine),
        }
    }
}

/// Fact of a run that a page showed while it was measured.
pub const WATCHED: &str = "watched";

/// Identity of an opened build, stored with every run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The engine's name.
    pub engine: String,
    /// The version the engine itself reports.
    pub version: String,
    /// Where the build came from: `linked`, or the path of the library.
    pub origin: String,
    /// SHA-256 of the library, in hex; `None` for engines linked into Assay.
    pub sha256: Option<String>,
    /// Build facts reported by the engine: compile date, compression list, CRC32 line.
    pub facts: BTreeMap<String, String>,
}

impl Identity {
    /// Returns whether the engine is linked into Assay; without a hash another build is unknown.
    pub fn is_linked(&self) -> bool {
        self.sha256.is_none() && self.origin == "linked"
    }
}
