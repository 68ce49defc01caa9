//! How the shim is compiled for one build.

use shim::Recipe;

/// How WiredTiger's shim is compiled; what differs between builds, its header tells by macros.
pub const RECIPE: Recipe =
    Recipe { source: include_str!("../shim/wiredtiger.c"), header: "wiredtiger.h", probes: &[] };
