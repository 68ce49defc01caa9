//! The cache of builds, and a cached build in text.

use miette::{Result, miette};
use supply::{Artifact, Store};

use super::smoke_test::engines;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;

/// Opens the cache of builds.
pub(crate) fn store(environment: &Environment) -> Result<Store> {
    let cache = environment.cache_dir.clone().ok_or_else(|| {
        miette!(
            "there is no directory for the cache of builds, because HOME and XDG_CACHE_HOME are \
             not set: name a directory with --cache-dir DIR"
        )
    })?;
    if cache.to_str().is_none() {
        return Err(miette!(
            help = "give another one with --cache-dir DIR",
            "the cache of builds is {}, which is not UTF-8",
            cache.display()
        ));
    }
    Ok(Store::open(cache).into_report()?.with_engines(engines(environment)))
}

/// Returns a build in one line.
pub(crate) fn line(artifact: &Artifact) -> String {
    artifact.row().join("  ")
}
