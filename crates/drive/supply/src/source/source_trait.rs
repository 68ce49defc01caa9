//! The role of a source, and the list of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::BuildRef;

use super::{Debian, Distribution, Installed, Maven, MavenServers, Npm};
use crate::artifact::Artifact;
use crate::error::SupplyError;

/// Told what is being done, one short line at a time.
pub type Progress<'a> = &'a mut dyn FnMut(&str);

/// What a source has put in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Where the library came from, in words.
    pub origin: String,
    /// How it was made, by name: compiler, flags; empty when nobody tells.
    pub facts: BTreeMap<String, String>,
    /// The file it is a copy of, near which its headers lie; `None` when it was made here. Of a
    /// server, the directory it is installed in and used from; `None` when it was put in place.
    pub copied: Option<PathBuf>,
}

impl Fetched {
    /// Returns what came from `origin`, of which nothing else is known.
    #[must_use]
    pub fn of(origin: String) -> Self {
        Self { origin, facts: BTreeMap::new(), copied: None }
    }

    /// Returns what is a copy of the library at `path`.
    #[must_use]
    pub fn copy_of(path: PathBuf, origin: String) -> Self {
        Self { copied: Some(path), ..Self::of(origin) }
    }
}

/// A place engine builds can be fetched from.
pub trait Source: Send + Sync {
    /// Returns whether `build` is of a kind this source has; it need not exist.
    fn offers(&self, build: &BuildRef) -> bool;

    /// Returns a version of the build's engine that there is, near to the one asked for.
    ///
    /// `None` when this source has no builds of that engine.
    fn example(&self, build: &BuildRef) -> Option<&'static str>;

    /// Returns the versions of an engine that are known to work here, oldest first.
    ///
    /// Empty when the engine is a library: then [`Source::example`] tells enough.
    fn known(&self, _engine: &str) -> &[&'static str] {
        &[]
    }

    /// Puts the library of `build` at the path `place`, whose directory is empty.
    ///
    /// Of a server, `place` becomes the directory of its files. The directory around it may be used
    /// for other files too; only what is at `place` is kept.
    ///
    /// # Errors
    /// When the build does not exist there, has no library for this machine, or is out of reach.
    fn fetch(
        &self,
        build: &BuildRef,
        place: &Path,
        progress: Progress<'_>,
    ) -> Result<Fetched, SupplyError>;

    /// Returns whether the cached artifact is still what the source would give.
    ///
    /// A release never changes; what a distribution installs does. Must work without network.
    ///
    /// # Errors
    /// When the source's own library cannot be read.
    fn is_current(&self, _cached: &Artifact) -> Result<bool, SupplyError> {
        Ok(true)
    }
}

/// Returns every source, in the order they are asked.
pub(crate) fn registry() -> Vec<Box<dyn Source>> {
    vec![
        Box::new(Distribution::default()),
        Box::new(Installed::default()),
        Box::new(Maven::default()),
        Box::new(MavenServers::default()),
        Box::new(Npm::default()),
        Box::new(Debian),
    ]
}

/// Returns the call by which a user adds their own installation of a server.
pub(crate) fn add_call(build: &BuildRef) -> String {
    format!("assay engine add {}@NAME DIR", build.engine)
}
