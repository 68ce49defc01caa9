//! Requested builds and their cache: whether an engine is known, and where a library is.

use miette::{Result, miette};
use model::BuildRef;
use plan::{Builds, EngineInfo, PlanError};
use runner::Library;
use supply::{Artifact, Store};

use super::smoke_test::engines;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::phase;
use crate::registry;
use crate::ui::Ui;

/// Opens the cache of builds.
pub(super) fn store(environment: &Environment) -> Result<Store> {
    let cache = environment.cache_dir.clone().ok_or_else(|| {
        miette!(
            "there is no directory for the cache of builds, because HOME and XDG_CACHE_HOME are \
             not set: name a directory with --cache-dir DIR"
        )
    })?;
    if cache.to_str().is_none() {
        return Err(miette!(
            help = "name another directory with --cache-dir DIR",
            "the cache of builds is {}, which is not UTF-8",
            cache.display()
        ));
    }
    Ok(Store::open(cache).into_report()?.with_engines(engines(environment)))
}

/// Returns a build in one line.
pub(super) fn line(artifact: &Artifact) -> String {
    artifact.row().join("  ")
}

/// Returns a build from the cache or its source, with progress messages.
pub(super) fn fetch(store: &Store, build: &BuildRef, ui: &Ui) -> Result<Artifact> {
    phase::enter(format!("for the files of {build} to be obtained, or compared with their hashes"));
    store.get(build, &mut |what| ui.status(format_args!("{build}: {what}"))).into_report()
}

/// Returns the library or server of a build; `None` for linked engines.
pub(super) fn library(
    build: &BuildRef,
    environment: &Environment,
    ui: &Ui,
) -> Result<Option<Library>> {
    let artifact = artifact(build, environment, ui)?;
    phase::enter(format!(
        "for the files of {build} to be copied to a place that its account can read"
    ));
    let artifact = artifact.map(Artifact::open_to_all).transpose().into_report()?;
    Ok(artifact.as_ref().map(to_library))
}

/// Returns the cached artifact of a build; `None` for linked engines.
pub(super) fn artifact(
    build: &BuildRef,
    environment: &Environment,
    ui: &Ui,
) -> Result<Option<Artifact>> {
    if !is_cached_kind(build, environment) {
        return Ok(None);
    }
    fetch(&store(environment)?, build, ui).map(Some)
}

/// Checks that a build can be had here, as far as that shows without network.
pub(super) fn check(build: &BuildRef, environment: &Environment) -> Result<()> {
    if !is_cached_kind(build, environment) {
        return Ok(());
    }
    store(environment)?.check(build).into_report()
}

/// Returns whether a build is one of the cache, not linked.
fn is_cached_kind(build: &BuildRef, environment: &Environment) -> bool {
    let infos = registry::infos(&registry::own_engines(environment));
    let builds = infos.iter().find(|info| info.name == build.engine).map(|info| info.builds);
    build.version.is_some() && builds.is_some_and(|builds| builds != Builds::Linked)
}

/// Returns the runner's description of a build.
pub(super) fn to_library(artifact: &Artifact) -> Library {
    let places = artifact.places();
    let Artifact { library, sha256, origin, facts, .. } = artifact.clone();
    Library { path: library, sha256, origin, facts, places }
}

/// Checks that an engine has loadable builds.
pub(super) fn check_can_load(engine: &str, environment: &Environment) -> Result<()> {
    if known(engine, environment)?.builds == Builds::Linked {
        return Err(miette!("{engine} is linked into Assay: it has no other builds"));
    }
    Ok(())
}

/// Checks that a build is a loadable one.
pub(super) fn check_loaded(build: &BuildRef, environment: &Environment) -> Result<()> {
    check_can_load(&build.engine, environment)?;
    let engine = &build.engine;
    if build.version.is_none() && known(engine, environment)?.builds == Builds::Either {
        return Err(miette!(
            help = format!("name another build, as in {engine}@system"),
            "{engine} without a version is the build linked into Assay"
        ));
    }
    Ok(())
}

/// Returns the description of an engine.
pub(super) fn known(engine: &str, environment: &Environment) -> Result<EngineInfo> {
    let infos = registry::infos(&registry::own_engines(environment));
    let names: Vec<_> = infos.iter().map(|info| info.name.clone()).collect();
    let found = infos.into_iter().find(|info| info.name == engine);
    found.ok_or_else(|| {
        let error = PlanError::new(format!("no engine is named `{engine}`"));
        let otherwise = format!("engines: {}", names.join(", "));
        error.meant(engine, names.iter().map(String::as_str), otherwise).into()
    })
}
