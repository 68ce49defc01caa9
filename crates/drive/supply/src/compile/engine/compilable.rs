//! An engine that can be compiled, and its releases.

use crate::compile::recipe::Recipe;
use crate::error::Result;
use crate::source::{Packages, WantedCrate};

/// One release of an engine, and the crate that carries its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) version: &'static str,
    pub(crate) source: WantedCrate<'static>,
}

impl Release {
    /// Returns the release that the crate `name` carries at `crate_version`.
    pub(super) const fn of(
        version: &'static str,
        name: &'static str,
        crate_version: &'static str,
    ) -> Self {
        Self { version, source: WantedCrate { name, version: crate_version, features: &[] } }
    }
}

/// An engine that can be compiled.
pub(crate) struct Compilable {
    pub(crate) engine: &'static str,
    pub(crate) releases: &'static [Release],
    /// Returns the build recipe of a release, from the folders of its crates.
    pub(crate) recipe: fn(&Release, &Packages) -> Result<Recipe>,
}

impl Compilable {
    pub(crate) fn versions(&self) -> Vec<&'static str> {
        self.releases.iter().map(|release| release.version).collect()
    }
}
