//! Finds the engine and the release that a build names.

use model::BuildRef;

use super::engine::{Compilable, ENGINES, Release};
use crate::error::{Result, SupplyError};
use crate::release::{nearest, parse};

/// Returns the compilable engines with their versions, oldest first.
pub fn compilable() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    ENGINES.iter().map(|engine| (engine.engine, engine.versions()))
}

/// Returns the engine and release that a build names.
pub(crate) fn find(build: &BuildRef) -> Result<(&'static Compilable, &'static Release)> {
    let none = |hint: String| {
        SupplyError::Unavailable(format!("no crate carries the source of {build}: {hint}"))
    };
    let engine = ENGINES.iter().find(|engine| engine.engine == build.engine).ok_or_else(|| {
        let names: Vec<_> = ENGINES.iter().map(|engine| engine.engine).collect();
        none(format!("engines that can be compiled: {}", names.join(", ")))
    })?;
    let version = build.version.as_deref().unwrap_or_default();
    let release = engine.releases.iter().find(|release| release.version == version);
    let release = release.ok_or_else(|| {
        let near = nearest(build, &engine.versions());
        none(match parse(version) {
            Some(_) => format!("the nearest that can be compiled is {near}"),
            None => format!("give a version, as in {near}"),
        })
    })?;
    Ok((engine, release))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_text(build: &str) -> String {
        find(&build.parse().unwrap()).map(drop).unwrap_err().to_string()
    }

    #[test]
    fn releases_are_sorted_versions() {
        for engine in ENGINES {
            let versions: Vec<_> =
                engine.releases.iter().map(|release| parse(release.version).unwrap()).collect();
            assert!(versions.is_sorted_by(|a, b| a < b), "{}", engine.engine);
        }
    }

    #[test]
    fn unknown_release_error_names_the_nearest() {
        assert_eq!(
            error_text("rocksdb@10.4.3"),
            "no crate carries the source of rocksdb@10.4.3: the nearest that can be compiled is \
             rocksdb@10.4.2 or rocksdb@11.8.1"
        );
        assert!(error_text("lmdb").ends_with(": give a version, as in lmdb@0.9.70"));
        assert!(error_text("redb@1.0").ends_with("compiled: rocksdb, leveldb, sqlite, lmdb"));
    }
}
