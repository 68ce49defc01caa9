//! Engines behind a shim: one C file per engine, compiled for each build of it.
//!
//! It knows no engine. A driver brings its shim's source, the probes that tell builds apart, and the
//! options of its engine; this crate binds the compiled shim to the traits of `engine`.
//!
//! The C interface is `include/assay_engine.h`, which is also how anybody's own engine is driven.

/// The C interface's header, for whoever compiles a shim.
pub const HEADER: &str = include_str!("../include/assay_engine.h");

/// What is needed to compile a shim for one build of an engine.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    /// Source of the shim, in C.
    pub source: &'static str,
    /// The engine's own header that the source includes: `splinterdb/splinterdb.h`.
    pub header: &'static str,
    /// Snippets that compile only where the build has something, and the macro that says so.
    pub probes: &'static [(&'static str, &'static str)],
}

/// File name of the compiled shim, beside the engine's library in the cache of builds.
#[must_use]
pub fn file_name(engine: &str) -> String {
    format!("libassay-{engine}.so")
}
