//! Compiles shims against the headers of one engine build.
//!
//! A shim is one C file that a driver brings ([`shim::Recipe`]). The compiled shim is stored with
//! the engine's library, and recompiled against the same headers when its source changes.

mod build;
mod headers;

pub(crate) use build::{SHIM_HEADERS, ShimBuild, header_mismatch, is_stale};
pub(crate) use headers::find;
