//! Capabilities of a WiredTiger build, and its driver.

use std::path::Path;

use engine::{Driver, Result, Setting};
use model::capability::{
    CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, FIELD_READS, Feature,
};
use model::{Capabilities, Identity};
use shim::{Binding, Recipe};

use crate::config::{LSM, translate};

/// WiredTiger behind its shim.
static BINDING: Binding = Binding {
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

/// Compile recipe of WiredTiger's shim.
///
/// Its header has macros for the differences between builds, so there are no probes.
pub const RECIPE: Recipe =
    Recipe { source: include_str!("../shim/wiredtiger.c"), header: "wiredtiger.h", probes: &[] };

/// Loads a WiredTiger library with its shim and returns its driver.
///
/// # Errors
/// See [`shim::open_library`].
pub fn open_library(path: &Path) -> Result<Box<dyn Driver>> {
    shim::open_library(path, "wiredtiger", &BINDING)
}

/// Returns the capabilities of a build.
fn capabilities(identity: &Identity) -> Result<Capabilities> {
    let has = |fact: &str, lack: &str| match identity.facts.get(fact).map(String::as_str) {
        Some("yes") => Feature::Yes,
        _ => Feature::no(lack),
    };
    Ok(Capabilities {
        // Source: [WiredTiger source] `src/include/btree.h`, `WT_BTREE_MAX_OBJECT_SIZE`.
        value_bytes_max: Some(u32::MAX - 1024),
        ..Capabilities::whole([
            (CONCURRENT_WRITERS, Feature::Yes),
            (CACHE_SIZE, Feature::Yes),
            (COMPRESSION, Feature::Yes),
            (DIRECT_IO, has("direct_io", "needs a version below 12")),
            (FIELD_READS, Feature::Yes),
            (LSM, has("lsm", "this build has no LSM tree: version 12 removed it")),
        ])
    })
}
