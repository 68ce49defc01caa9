//! Versions the sources offer, and the error when none does.

use model::BuildRef;

use crate::compile::compilable;
use crate::error::SupplyError;
use crate::release;
use crate::store::Store;

impl Store {
    /// Returns an example version of the build's engine per source.
    #[must_use]
    pub fn examples(&self, build: &BuildRef) -> Vec<&'static str> {
        self.sources.iter().filter_map(|source| source.example(build)).collect()
    }

    /// Returns the error for a build no source has, with alternatives.
    pub(crate) fn no_source(&self, build: &BuildRef) -> SupplyError {
        let engine = &build.engine;
        let mut ways: Vec<_> =
            self.examples(build).iter().map(|it| format!("{engine}@{it}")).collect();
        if self.server(engine).is_some() {
            return self.no_server(build);
        }
        if !ways.is_empty() {
            ways = vec![format!("try {}", ways.join(" or "))];
        }
        if compilable().any(|(known, _)| known == engine) {
            ways.push(format!("compile one with `assay engine build {engine}@VERSION`"));
        }
        ways.push(format!("add your own with `assay engine add {engine} PATH`"));
        SupplyError::NoSource { build: build.to_string(), hint: ways.join(", or ") }
    }

    /// Returns the error for a build of a server that no source has.
    fn no_server(&self, build: &BuildRef) -> SupplyError {
        let engine = &build.engine;
        let known = self.known(engine);
        let known: Vec<_> = known.iter().map(|it| format!("{engine}@{it}")).collect();
        SupplyError::NoSource {
            build: build.to_string(),
            hint: format!(
                "known are {}; or add your own installation with `assay engine add {engine}@NAME \
                 DIR`",
                known.join(", ")
            ),
        }
    }

    /// Returns the versions of an engine known to work, oldest first.
    #[must_use]
    pub fn known(&self, engine: &str) -> Vec<&'static str> {
        let mut known: Vec<_> =
            self.sources.iter().flat_map(|source| source.known(engine)).copied().collect();
        known.sort_by_key(|version| release::parse(version));
        known
    }

    /// Returns the command that restores a damaged build.
    pub(crate) fn remedy(&self, build: &BuildRef) -> String {
        match self.source_of(build) {
            Some(_) => format!("`assay engine get {build}`"),
            None if self.server(&build.engine).is_some() => {
                format!("`assay engine add {build} DIR` with your own installation")
            }
            None => format!("`assay engine add {} PATH` with your own library", build.engine),
        }
    }
}
