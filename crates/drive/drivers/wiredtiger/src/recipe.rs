//! Compile recipe of the shim.

use shim::Recipe;

/// Compile recipe of WiredTiger's shim.
///
/// Its header has macros for the differences between builds, so there are no probes.
pub const RECIPE: Recipe =
    Recipe { source: include_str!("../shim/wiredtiger.c"), header: "wiredtiger.h", probes: &[] };
