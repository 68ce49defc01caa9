//! The `Source` trait, the result of a fetch, and the errors of sources.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::BuildRef;

use super::client::Client;
use crate::artifact::Artifact;
use crate::error::{Result, add_own};

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

/// What a source has of an engine for an architecture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The program that obtains the builds; `None` for those that are installed.
    pub client: Option<Client>,
    /// The releases known to exist, oldest first; empty when none is for this architecture.
    pub releases: &'static [&'static str],
    /// What else is offered, or why nothing is; may be empty.
    pub note: String,
}

/// The architecture of which each source has the most.
const USUAL: &str = "x86_64";

impl Offer {
    /// Returns what is published for an architecture; `None` when nothing is for any.
    pub(crate) fn published(
        client: Client,
        releases: impl Fn(&str) -> &'static [&'static str],
        engine: &str,
        arch: &str,
    ) -> Option<Self> {
        let (usual, releases) = (releases(USUAL), releases(arch));
        let note = match releases {
            [] => format!(
                "no known release for {arch}; the releases for {USUAL} are {}: use \
                 {engine}@system, or {}",
                usual.join(" "),
                add_own(engine)
            ),
            _ => String::new(),
        };
        (!usual.is_empty()).then_some(Self { client: Some(client), releases, note })
    }

    /// Adds a note.
    pub(crate) fn and(mut self, note: &str) -> Self {
        let separator = if self.note.is_empty() { "" } else { "; " };
        self.note = format!("{}{separator}{note}", self.note);
        self
    }
}

/// A source of engine builds.
pub trait Source: Send + Sync {
    /// Returns whether this source may have `build`, by its name.
    fn offers(&self, build: &BuildRef) -> bool;

    /// Returns what it has of an engine for an architecture as Rust names it; `None` for nothing.
    fn offer(&self, engine: &str, arch: &str) -> Option<Offer>;

    /// Returns the program that obtains the builds; `None` for those that are installed.
    fn client(&self) -> Option<Client> {
        None
    }

    /// Returns the Debian packages that this machine lacks to obtain an offered build, if any.
    fn missing_packages(&self, _build: &BuildRef) -> Option<&'static str> {
        self.client().filter(|client| !client.is_installed()).map(|client| client.package)
    }

    /// Puts the library of `build` at the path `place`, whose directory is empty.
    ///
    /// Of a server, `place` becomes the directory of its files. Scratch files may be written next
    /// to `place`; they are removed.
    ///
    /// # Errors
    /// When the build does not exist there, has no library for this machine, or is unreachable.
    fn fetch(&self, build: &BuildRef, place: &Path, progress: Progress<'_>) -> Result<Fetched>;

    /// Checks that the build can be fetched here, as far as that shows without network.
    ///
    /// # Errors
    /// As [`Source::fetch`].
    fn check(&self, _build: &BuildRef) -> Result<()> {
        Ok(())
    }

    /// Returns whether the cached artifact is up to date.
    ///
    /// Releases never change; distribution packages do. Must work without network.
    ///
    /// # Errors
    /// When the source's own library cannot be read.
    fn is_current(&self, _cached: &Artifact) -> Result<bool> {
        Ok(true)
    }
}
