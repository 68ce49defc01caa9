//! Everything a loaded database depends on.

use model::{Application, DataShape, Options, Settings, Step};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Everything a loaded database depends on: equal keys load equal databases, as far as one can.
///
/// Two loads of a key may still differ in the shape that background work left: that is why a
/// snapshot has an identifier of its own besides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// The engine's name.
    pub engine: String,
    /// The version it reports.
    pub version: String,
    /// SHA-256 of its library or program, if it is not linked into Assay, and Assay's version.
    pub build: String,
    /// Engine options.
    pub options: Options,
    /// Settings common to all engines.
    pub settings: Settings,
    /// Number and shape of the rows.
    pub data: DataShape,
    /// Seed of the load.
    pub seed: u64,
    /// The loading steps with all their settings.
    pub steps: Vec<Step>,
    /// SHA-256 of the SQL application, if any.
    pub application: Option<String>,
    /// Most clients of any step: an application has tables for each.
    pub clients_max: Option<u32>,
    /// Memory cap of the run, bytes.
    pub memory_bytes: Option<u64>,
    /// Kind of the file system.
    pub file_system: String,
    /// Account that the server's files belong to.
    pub account: Option<String>,
}

impl Key {
    /// Returns its SHA-256, in hex.
    pub fn sha256(&self) -> String {
        sha256_of(self)
    }

    /// Returns the SHA-256 of an SQL application, in hex.
    pub fn sha256_of_application(application: &Application) -> String {
        sha256_of(application)
    }

    /// Returns the key of the same load by another build.
    #[must_use]
    pub fn with_build(self, version: String, build: String) -> Self {
        Self { version, build, ..self }
    }
}

/// Returns the SHA-256 of a value's JSON, in hex.
pub(crate) fn sha256_of(value: &impl Serialize) -> String {
    sha256(&serde_json::to_vec(value).expect("a key is always valid JSON"))
}

/// Returns the SHA-256 of bytes, in hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
