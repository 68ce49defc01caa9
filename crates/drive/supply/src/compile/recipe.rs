//! Build recipe of an engine's library: files, arguments, linked libraries.

use std::path::{Path, PathBuf};

use crate::error::SupplyError;

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// C, and assembly that goes through its preprocessor.
    C,
    /// C++.
    Cxx,
}

/// One file to compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    /// The file.
    pub(crate) source: PathBuf,
    /// Its language.
    pub(crate) language: Language,
    /// Compiler arguments, before the user's flags.
    pub(crate) arguments: Vec<String>,
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
    /// Adds files of one language with the same arguments.
    pub(crate) fn add(
        &mut self,
        language: Language,
        arguments: &[String],
        sources: impl IntoIterator<Item = PathBuf>,
    ) {
        self.units.extend(sources.into_iter().map(|source| Unit {
            source,
            language,
            arguments: arguments.to_vec(),
        }));
    }
}

/// Returns `-I` for directories.
pub(crate) fn includes<'a>(dirs: impl IntoIterator<Item = &'a Path>) -> Vec<String> {
    dirs.into_iter().map(|dir| format!("-I{}", dir.display())).collect()
}

/// Returns owned arguments.
pub(crate) fn owned_args(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| (*arg).to_owned()).collect()
}

/// Returns the text of a crate's file.
pub(crate) fn read(path: &Path) -> Result<String, SupplyError> {
    std::fs::read_to_string(path).map_err(SupplyError::io("read", path))
}

/// Returns the files in `dir` that end with one of `extensions`, in the order of their names.
pub(crate) fn files_in(dir: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, SupplyError> {
    let entries = std::fs::read_dir(dir).map_err(SupplyError::io("list", dir))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| {
            let extension = path.extension().and_then(|extension| extension.to_str());
            extension.is_some_and(|extension| extensions.contains(&extension))
        })
        .collect();
    files.sort_unstable();
    Ok(files)
}
