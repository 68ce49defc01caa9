//! Drives engines through a C shim compiled for each build.
//!
//! It is independent of any engine. A driver fills a [`Binding`]: what its engine can do and how
//! settings become options of the engine; [`open_library`] makes the driver of it. The C interface
//! is `include/assay_engine.h`. A third-party engine implements it itself and needs no driver:
//! [`open_own`] takes any library that exports it. `tests/sorted.c` is one, in one file.
//!
//! It stands between `engine`, whose traits it implements, `dynlib`, which loads the shim, and the
//! drivers. The shim is next to the engine's library in the build cache, named by [`file_name`],
//! and links the library.
//!
//! Invariants: `unsafe` is in the `ffi` files alone; an operation costs one call of the shim and
//! allocates nothing; rows go to [`engine::Rows`] without a copy; a shim's error texts are passed
//! on unchanged.
//!
//! To add an engine: its driver crate, with the shim's source in a [`Recipe`].

mod driver;
mod ffi;
mod ffi_session;
mod instance;
mod own;

pub use driver::{Binding, open_library};
pub use own::open_own;

/// The C interface's header, to compile a shim with.
pub const HEADER: &str = include_str!("../include/assay_engine.h");

/// Returns the names of the interface's functions, in the header's order.
pub(crate) fn function_names() -> impl Iterator<Item = &'static str> {
    let declared = HEADER.lines().filter_map(|line| line.strip_prefix("ASSAY_EXPORT "));
    declared.filter_map(|line| line.split_once('(')?.0.rsplit(' ').next())
}

/// What a shim is compiled from.
///
/// The shim is linked against the engine's library by name and finds it in its own directory,
/// before `LD_LIBRARY_PATH`: `-l:NAME -Wl,--disable-new-dtags,-rpath,$ORIGIN`.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    /// Source of the shim, in C; the macro `ASSAY_BUILD` is the build's name.
    pub source: &'static str,
    /// The engine's own header that the source includes: `splinterdb/splinterdb.h`.
    pub header: &'static str,
    /// Feature macros, each with its probe.
    ///
    /// A probe is a C file that compiles only where the build has the feature.
    pub probes: &'static [(&'static str, &'static str)],
}

/// File name of the compiled shim, next to the engine's library.
pub fn file_name(engine: &str) -> String {
    format!("libassay-{engine}.so")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_the_interface_is_named() {
        let names: Vec<_> = function_names().collect();
        assert_eq!((names.len(), names[0], names[13]), (14, "assay_abi", "assay_close"));
        assert!(names.iter().all(|name| name.starts_with("assay_")), "{names:?}");
    }
}
