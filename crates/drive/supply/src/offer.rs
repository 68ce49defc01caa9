//! What the sources offer, and the errors for builds that none has or nothing can run.

use std::env::consts::ARCH;

use model::BuildRef;

use crate::compile::compilable;
use crate::error::{Result, SupplyError, add_own};
use crate::release::{nearest, parse};
use crate::source::Offer;
use crate::store::Store;

impl Store {
    /// Returns what each source has of an engine for this architecture.
    pub fn offers(&self, engine: &str) -> Vec<Offer> {
        self.sources.iter().filter_map(|source| source.offer(engine, ARCH)).collect()
    }

    /// Checks by its name that a server's release can be run, before it is obtained.
    pub(crate) fn check_name(&self, build: &BuildRef) -> Result<()> {
        let kind = (self.engines.kind)(&build.engine);
        let checked = kind.zip(build.version.as_deref()).map(|(kind, name)| kind.check_name(name));
        checked.unwrap_or(Ok(())).map_err(|reason| {
            let ways = self.ways(build);
            SupplyError::Unavailable(format!("{build} is not obtained: {reason}: {ways}"))
        })
    }

    /// Returns the error for a build no source has, with alternatives.
    pub(crate) fn no_source(&self, build: &BuildRef) -> SupplyError {
        SupplyError::Unavailable(format!("no source offers {build}: {}", self.ways(build)))
    }

    /// Returns what can be obtained instead of a build.
    fn ways(&self, build: &BuildRef) -> String {
        let engine = &build.engine;
        let offers = self.offers(engine);
        let known = || offers.iter().flat_map(|offer| offer.releases).copied();
        let mut releases: Vec<_> = known().filter(|version| parse(version).is_some()).collect();
        releases.sort_by_key(|version| parse(version));
        releases.dedup();
        let near = Some(nearest(build, &releases)).filter(|near| !near.is_empty());
        let system = known().find(|version| parse(version).is_none());
        let tries: Vec<_> =
            near.into_iter().chain(system.map(|it| format!("{engine}@{it}"))).collect();
        let mut ways = Vec::new();
        if !tries.is_empty() {
            ways.push(format!("try {}", tries.join(" or ")));
        }
        if compilable().any(|(known, _)| known == engine) {
            ways.push(format!("compile one with `assay engine build {engine}@VERSION`"));
        }
        ways.push(add_own(engine));
        ways.join(", or ")
    }

    /// Returns the command that restores a damaged build.
    pub(crate) fn remedy(&self, build: &BuildRef) -> String {
        match self.source_of(build) {
            Some(_) => format!("`assay engine get {build}`"),
            None => add_own(&build.engine),
        }
    }
}
