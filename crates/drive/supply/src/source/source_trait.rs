//! The `Source` trait and the result of a fetch.

use std::collections::BTreeMap;
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
    #[must_use]
    pub fn of(origin: String) -> Self {
        Self { origin, facts: BTreeMap::new(), copied: None }
    }

    /// Returns a copy of the library at `path`.
    #[must_use]
    pub fn copy_of(path: PathBuf, origin: String) -> Self {
        Self { copied: Some(path), ..Self::of(origin) }
    }
}

/// A source of engine builds.
pub trait Source: Send + Sync {
    /// Returns whether this source may have `build`, by its name.
    fn offers(&self, build: &BuildRef) -> bool;

    /// Returns an existing version near the requested one.
    ///
    /// `None` when this source has no builds of that engine.
    fn example(&self, build: &BuildRef) -> Option<&'static str>;

    /// Returns the versions of an engine known to work, oldest first.
    ///
    /// Empty when the engine is a library: then [`Source::example`] suffices.
    fn known(&self, _engine: &str) -> &[&'static str] {
        &[]
    }

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

/// Returns the command that adds a user's own server installation.
pub(crate) fn add_call(build: &BuildRef) -> String {
    format!("assay engine add {}@NAME DIR", build.engine)
}
