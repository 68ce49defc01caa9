//! Versions the sources offer, and the error when none does.

use model::BuildRef;

use crate::compile::compilable;
use crate::error::SupplyError;
use crate::release::{nearest, parse};
use crate::source::{add_own, no_source};
use crate::store::Store;

impl Store {
    /// Returns an example version of the build's engine per source.
    pub fn examples(&self, build: &BuildRef) -> Vec<&'static str> {
        let version = build.version.as_deref().unwrap_or_default();
        let known = self.sources.iter().map(|source| source.known(&build.engine));
        known.filter(|known| !known.is_empty()).map(|known| nearest(version, known)).collect()
    }

    /// Returns the error for a build no source has, with alternatives.
    pub(crate) fn no_source(&self, build: &BuildRef) -> SupplyError {
        let engine = &build.engine;
        let tries: Vec<_> =
            self.examples(build).iter().map(|it| format!("{engine}@{it}")).collect();
        let mut ways = Vec::new();
        if !tries.is_empty() {
            ways.push(format!("try {}", tries.join(" or ")));
        }
        if compilable().any(|(known, _)| known == engine) {
            ways.push(format!("compile one with `assay engine build {engine}@VERSION`"));
        }
        ways.push(add_own(engine));
        no_source(build, &ways.join(", or "))
    }

    /// Returns the releases of an engine known to work, oldest first.
    pub fn known(&self, engine: &str) -> Vec<&'static str> {
        let known = self.sources.iter().flat_map(|source| source.known(engine)).copied();
        let mut known: Vec<_> = known.filter(|version| parse(version).is_some()).collect();
        known.sort_by_key(|version| parse(version));
        known
    }

    /// Returns the command that restores a damaged build.
    pub(crate) fn remedy(&self, build: &BuildRef) -> String {
        match self.source_of(build) {
            Some(_) => format!("`assay engine get {build}`"),
            None => add_own(&build.engine),
        }
    }
}
