//! Capabilities of a WiredTiger build, and its driver.

use std::collections::BTreeMap;
use std::path::Path;

use engine::{Driver, EngineError, Setting};
use model::capability::{CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, Feature};
use model::{Capabilities, Durability, Identity, OpKind};
use shim::Binding;

use crate::config::{LSM, translate};

/// Longest key and value: 4 GiB less 1 KiB.
///
/// Source: [WiredTiger source] `src/include/btree.h`, `WT_BTREE_MAX_OBJECT_SIZE`.
const OBJECT_BYTES_MAX: u32 = u32::MAX - 1024;

/// WiredTiger behind its shim.
static BINDING: Binding = Binding {
    engine: "wiredtiger",
    capabilities,
    translate,
    settings: &[
        (Setting::Cache, "cache_size"),
        (Setting::Compression, "block_compressor"),
        (Setting::DirectIo, "direct_io"),
        (Setting::BackgroundJobs, "eviction.threads_max"),
    ],
    own_files: &[],
};

/// Loads a WiredTiger library with its shim and returns its driver.
///
/// # Errors
/// When the library or its shim is absent or cannot be loaded, or when the process holds another
/// engine's library already.
pub fn open_library(path: &Path) -> Result<Box<dyn Driver>, EngineError> {
    shim::open_library(path, &BINDING)
}

/// Returns the capabilities of a build.
fn capabilities(identity: &Identity) -> Capabilities {
    let has = |fact: &str, lack: &str| match identity.facts.get(fact).map(String::as_str) {
        Some("yes") => Feature::Yes,
        _ => Feature::No(lack.to_owned()),
    };
    Capabilities {
        operations: OpKind::ALL.into(),
        durability: Durability::ALL.into(),
        key_bytes_max: None,
        value_bytes_max: Some(OBJECT_BYTES_MAX),
        features: BTreeMap::from([
            (CONCURRENT_WRITERS.to_owned(), Feature::Yes),
            (CACHE_SIZE.to_owned(), Feature::Yes),
            (COMPRESSION.to_owned(), Feature::Yes),
            (DIRECT_IO.to_owned(), has("direct_io", "needs a version below 12")),
            (LSM.to_owned(), has("lsm", "this build has no LSM: version 12 removed it")),
        ]),
    }
}
