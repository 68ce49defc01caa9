//! Engines behind a shim: one C file per engine, compiled for each build of it.
//!
//! It knows no engine. A driver fills a [`Binding`]: what its engine can do and how settings become
//! options of the engine; [`open_library`] makes the driver of it. The C interface is
//! `include/assay_engine.h`, which is also how anybody's own engine is driven: `tests/sorted.c` is
//! a whole engine behind it, in one file.
//!
//! It stands between `engine`, whose traits it implements, `dynlib`, which loads the shim, and the
//! drivers. The shim lies beside the engine's library in the cache of builds, under the name that
//! [`file_name`] gives, and brings the library along.
//!
//! Invariants: `unsafe` is in the `ffi` files alone; an operation costs one call of the shim and
//! allocates nothing; rows go to [`engine::Rows`] from where the engine holds them; what a shim
//! tells of its failure is told in its words.
//!
//! To add an engine: its driver crate, with the shim's source in a [`Recipe`].

mod binding;
mod driver;
mod ffi;
mod ffi_session;
mod instance;

pub use binding::{Binding, open_library};

/// The C interface's header, for whoever compiles a shim.
pub const HEADER: &str = include_str!("../include/assay_engine.h");

/// What is needed to compile a shim for one build of an engine.
///
/// The shim is linked against the engine's library by name and finds it beside itself, before
/// `LD_LIBRARY_PATH` is asked: `-l:NAME -Wl,--disable-new-dtags,-rpath,$ORIGIN`.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    /// Source of the shim, in C.
    pub source: &'static str,
    /// The engine's own header that the source includes: `splinterdb/splinterdb.h`.
    pub header: &'static str,
    /// Macros, and for each a C file that compiles only where the build has what it stands for.
    pub probes: &'static [(&'static str, &'static str)],
}

/// File name of the compiled shim, beside the engine's library in the cache of builds.
#[must_use]
pub fn file_name(engine: &str) -> String {
    format!("libassay-{engine}.so")
}
