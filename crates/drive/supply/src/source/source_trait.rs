//! The `Source` trait, the result of a fetch, and the errors of sources.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use model::BuildRef;

use crate::artifact::Artifact;
use crate::error::SupplyError;

/// Receives progress messages, one short line each.
pub type Progress<'a> = &'a mut dyn FnMut(&str);

/// The result of a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Where the library came from.
    pub origin: String,
    /// Compiler, flags and other facts by name; empty when unknown.
    pub facts: BTreeMap<String, String>,
    /// Origin of a copied library, or a server's installation used in place.
    ///
    /// `None` when the files were created in the cache. Headers are searched near the library.
    pub copied: Option<PathBuf>,
}

impl Fetched {
    /// Returns a result that came from `origin`, without facts.
    pub fn of(origin: String) -> Self {
        Self { origin, facts: BTreeMap::new(), copied: None }
    }

    /// Returns a copy of the library at `path`.
    pub fn copy_of(path: PathBuf, origin: String) -> Self {
        Self { copied: Some(path), ..Self::of(origin) }
    }
}

/// A source of engine builds.
pub trait Source: Send + Sync {
    /// Returns whether this source may have `build`, by its name.
    fn offers(&self, build: &BuildRef) -> bool;

    /// Returns the versions of an engine known to work, oldest first; empty without builds of it.
    fn known(&self, engine: &str) -> &'static [&'static str];

    /// Puts the library of `build` at the path `place`, whose directory is empty.
    ///
    /// Of a server, `place` becomes the directory of its files. Scratch files may be written next
    /// to `place`; they are removed.
    ///
    /// # Errors
    /// When the build does not exist there, has no library for this machine, or is unreachable.
    fn fetch(
        &self,
        build: &BuildRef,
        place: &Path,
        progress: Progress<'_>,
    ) -> Result<Fetched, SupplyError>;

    /// Returns whether the cached artifact is up to date.
    ///
    /// Releases never change; distribution packages do. Must work without network.
    ///
    /// # Errors
    /// When the source's own library cannot be read.
    fn is_current(&self, _cached: &Artifact) -> Result<bool, SupplyError> {
        Ok(true)
    }
}

/// Returns how users add a build of their own.
pub(crate) fn add_own(engine: &str) -> String {
    format!("add your own with `assay engine add {engine} PATH`")
}

pub(crate) fn no_source(build: &BuildRef, hint: &str) -> SupplyError {
    SupplyError::Unavailable(format!("no source offers {build}: {hint}"))
}

/// Returns the error for a server that is not published for this machine.
pub(crate) fn not_for_machine(build: &BuildRef) -> SupplyError {
    let (arch, own) = (std::env::consts::ARCH, add_own(&build.engine));
    SupplyError::Unavailable(format!("{build} is not published for {arch}: {own}"))
}

/// Returns the text of the error for a missing program that obtains builds.
pub(crate) fn no_client(build: &BuildRef, command: &str, package: &str) -> String {
    format!(
        "no `{command}` on this machine, which obtains {build}: install it (Debian: apt install \
         {package}), or {}",
        add_own(&build.engine)
    )
}

/// Returns the error for a failed program that obtains builds.
pub(crate) fn client_failed(build: impl Display, command: &str, summary: &str) -> SupplyError {
    SupplyError::ClientFailed(format!(
        "{build} could not be fetched, {command} reports: {summary}; check the network and the \
         proxy settings of {command} and repeat; builds already cached keep working"
    ))
}
