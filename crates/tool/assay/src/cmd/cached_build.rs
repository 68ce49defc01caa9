//! The cache of builds, and a cached build in text.

use miette::{Result, miette};
use model::Bytes;
use supply::{Artifact, Store};

use super::smoke_test::engines;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;

/// Opens the cache of builds.
pub(crate) fn store(environment: &Environment) -> Result<Store> {
    let cache = environment.cache_dir.clone().ok_or_else(|| {
        miette!(help = "give one with --cache-dir DIR", "no home directory for the cache of builds")
    })?;
    Ok(Store::open(cache).into_report()?.with_engines(engines(environment)))
}

/// Returns a build in one line.
pub(crate) fn line(artifact: &Artifact) -> String {
    cells(artifact).join("  ")
}

/// Returns a build's name, size, hash and origin.
pub(crate) fn cells(artifact: &Artifact) -> [String; 4] {
    let Artifact { build, sha256, origin, .. } = artifact;
    let sha256 = format!("sha256 {}", &sha256[..12.min(sha256.len())]);
    [build.to_string(), size(artifact), sha256, origin.clone()]
}

/// Formats the size of a build.
pub(crate) fn size(artifact: &Artifact) -> String {
    let bytes = Bytes(artifact.bytes);
    match artifact.tree.as_ref().map(|tree| tree.files.as_ref().map(|files| files.count)) {
        None => bytes.to_string(),
        Some(Some(files)) => format!("{bytes} in {files} files"),
        Some(None) => format!("{bytes}, used in place"),
    }
}
