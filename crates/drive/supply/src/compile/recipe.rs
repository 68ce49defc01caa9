//! Build recipe of an engine's library: files, arguments, linked libraries.

use std::path::{Path, PathBuf};

use crate::error::{Result, SupplyError};

/// One file to compile; C++ if its name ends with `.cc`, else C or assembly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) source: PathBuf,
    /// Compiler arguments, before the user's flags.
    pub(crate) arguments: Vec<String>,
}

impl Unit {
    /// Returns whether the file is C++.
    pub(crate) fn is_cxx(&self) -> bool {
        self.source.extension().is_some_and(|extension| extension == "cc")
    }
}

/// Build recipe of a library.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Recipe {
    /// The files, in the order they are compiled.
    pub(crate) units: Vec<Unit>,
    /// Headers the engine's own build would generate: name below `include`, content.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// Libraries of the system it needs.
    pub(crate) libraries: &'static [&'static str],
    /// Bundled crates compiled into the library, with versions.
    pub(crate) bundled: Vec<String>,
}

/// Directory of generated headers, relative to where the compiler runs.
pub(crate) const HEADERS_DIR: &str = "include";

impl Recipe {
    /// Adds files that include headers from `dirs` and are compiled with the same flags.
    pub(crate) fn add(
        &mut self,
        dirs: &[&Path],
        flags: &[&str],
        sources: impl IntoIterator<Item = PathBuf>,
    ) {
        let dirs = dirs.iter().map(|dir| format!("-I{}", dir.display()));
        let arguments: Vec<_> = dirs.chain(flags.iter().map(|flag| (*flag).to_owned())).collect();
        let units = sources.into_iter();
        self.units.extend(units.map(|source| Unit { source, arguments: arguments.clone() }));
    }
}

/// Returns the text of a crate's file.
pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(SupplyError::io("read", path))
}
