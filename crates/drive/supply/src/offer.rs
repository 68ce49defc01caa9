//! What the sources offer, and the errors for builds that none has or nothing can run.

use std::env::consts::ARCH;

use model::BuildRef;

use crate::compile::compilable;
use crate::error::{Result, SupplyError, add_own};
use crate::release::{nearest, parse};
use crate::source::{Offer, Source, no_client};
use crate::store::Store;

impl Store {
    /// Returns what each source has of an engine for an architecture as Rust names it.
    pub fn offers(&self, engine: &str, arch: &str) -> Vec<Offer> {
        self.sources.iter().filter_map(|source| source.offer(engine, arch)).collect()
    }

    /// Returns the Debian packages, separated by spaces, whose installation makes a build
    /// obtainable; `None` when nothing is missing or no package helps.
    ///
    /// Of several sources, the first in order of precedence is meant.
    pub fn missing_packages(&self, build: &BuildRef) -> Option<String> {
        self.check_name(build).ok()?;
        self.check(build).err()?;
        let sources = self.sources_of(build).into_iter();
        let missing = sources.map(|source| source.missing_packages(build));
        missing.collect::<Option<Vec<_>>>()?.first().map(|packages| (*packages).to_owned())
    }

    /// Returns the sources of a build whose clients are installed, in order of precedence.
    pub(crate) fn usable_sources(&self, build: &BuildRef) -> Result<Vec<&dyn Source>> {
        let mut sources = self.sources_of(build);
        let clients: Vec<_> = sources.iter().filter_map(|source| source.client()).collect();
        sources.retain(|source| source.client().is_none_or(|client| client.is_installed()));
        match (sources.is_empty(), clients.is_empty()) {
            (false, _) => Ok(sources),
            (true, false) => Err(SupplyError::NoProgram(no_client(build, &clients))),
            (true, true) => Err(self.no_source(build)),
        }
    }

    /// Returns the sources that list a build; without such a source, those that try any release.
    pub(crate) fn sources_of(&self, build: &BuildRef) -> Vec<&dyn Source> {
        let version = build.version.as_deref().unwrap_or_default();
        let lists = |source: &&dyn Source| {
            source.offer(&build.engine, ARCH).is_some_and(|it| it.releases.contains(&version))
        };
        let offering = self.sources.iter().map(|source| &**source).filter(|it| it.offers(build));
        let (listing, others): (Vec<_>, Vec<_>) = offering.partition(lists);
        if listing.is_empty() { others } else { listing }
    }

    /// Returns whether a source may have a build.
    pub(crate) fn is_offered(&self, build: &BuildRef) -> bool {
        self.sources.iter().any(|source| source.offers(build))
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
        let offers = self.offers(engine, ARCH);
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
        match self.is_offered(build) {
            true => format!("`assay engine get {build}`"),
            false => add_own(&build.engine),
        }
    }
}
