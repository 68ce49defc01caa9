//! Turns a fetched library into a cache entry.
//!
//! Its shim is compiled and the library tested first.

use std::path::{Path, PathBuf};

use model::{BuildRef, SmokeTestFailure};
use shim::Recipe;

use crate::artifact::{Artifact, library_name};
use crate::entry::Entry;
use crate::error::{Result, SupplyError};
use crate::library::{check_exports, digest};
use crate::program::listed;
use crate::shims::{self, SHIM_HEADERS, ShimBuild};
use crate::source::{Fetched, Progress, headers_package};
use crate::store::{CommitOptions, Store};

impl Store {
    /// Turns the files in the entry's work directory into the entry.
    pub(crate) fn commit(
        &self,
        entry: &Entry,
        fetched: Fetched,
        options: &CommitOptions<'_>,
        progress: Progress<'_>,
    ) -> Result<Artifact> {
        if let Some(server) = self.server(&entry.build.engine) {
            progress("reading the server's version and hashing its files");
            return self.commit_server(entry, fetched, &server);
        }
        let ready = entry.prepare()?;
        let library = ready.join(library_name(&entry.build.engine));
        let (sha256, bytes) = digest(&library)?;
        let Fetched { origin, mut facts, copied } = fetched;
        let source_path = copied.unwrap_or_else(|| library.clone());
        let mut shim = None;
        if let Some(recipe) = self.recipe(&entry.build) {
            check_exports(&source_path, &entry.build.engine)?;
            let include = shims::find(recipe.header, options.headers, &source_path)
                .map_err(|searched| missing_header(&entry.build, recipe.header, searched))?;
            progress(&format!("compiling its shim against the headers in {}", include.display()));
            let work = entry.work("shim")?;
            let compiled =
                self.shim_build(&entry.build, &recipe, &ready, &work).compile(&include)?;
            facts.extend(compiled.facts);
            shim = Some(compiled.metadata);
        }
        if options.smoke_test_needed {
            progress("testing it in a separate process");
            self.smoke_test(entry, &library, &source_path, facts.get(SHIM_HEADERS))?;
        }
        let build = entry.build.clone();
        let artifact = Artifact { build, library, sha256, origin, bytes, facts, shim, tree: None };
        entry.commit(&ready, artifact)
    }

    /// Recompiles the shim of a cached build against its headers, and tests it.
    pub(crate) fn recompile_shim(
        &self,
        entry: &Entry,
        mut artifact: Artifact,
        recipe: &Recipe,
    ) -> Result<Artifact> {
        let include = artifact.facts.get(SHIM_HEADERS).map(Path::new).unwrap_or(Path::new(""));
        if !include.join(recipe.header).is_file() {
            let reason = format!(
                "its shim is out of date, and the headers to compile a new shim are not in \
                 {include:?}"
            );
            return Err(self.damaged_build(&entry.build, &entry.dir, &reason));
        }
        let work = entry.work("shim")?;
        let shim = self.shim_build(&entry.build, recipe, &entry.dir, &work);
        let compiled = shim.compile(include)?;
        let library = &artifact.library;
        self.smoke_test(entry, library, library, artifact.facts.get(SHIM_HEADERS))?;
        artifact.facts.extend(compiled.facts);
        artifact.shim = Some(compiled.metadata);
        entry.rewrite_metadata(artifact)
    }

    fn shim_build<'a>(
        &'a self,
        build: &'a BuildRef,
        recipe: &'a Recipe,
        dir: &'a Path,
        work: &'a Path,
    ) -> ShimBuild<'a> {
        ShimBuild {
            engine: &build.engine,
            version: build.version.as_deref().unwrap_or_default(),
            recipe,
            compiler: &self.engines.compiler,
            dir,
            work,
        }
    }

    /// Tests a library; errors show it as `source_path`, with its shim's headers.
    fn smoke_test(
        &self,
        entry: &Entry,
        library: &Path,
        source_path: &Path,
        headers: Option<&String>,
    ) -> Result<()> {
        let (build, work) = (&entry.build, entry.work("smoke-test")?);
        let outcome = (self.engines.smoke_test)(&build.engine, library, &work);
        let Err(failure) = outcome else { return Ok(()) };
        let with_source_path = |text: String| {
            text.replace(&library.display().to_string(), &source_path.display().to_string())
        };
        Err(match (failure, headers) {
            (SmokeTestFailure::Died(reason) | SmokeTestFailure::Wrong(reason), Some(headers)) => {
                shims::header_mismatch(Path::new(headers), &with_source_path(reason))
            }
            (
                SmokeTestFailure::NotLoaded(reason)
                | SmokeTestFailure::Died(reason)
                | SmokeTestFailure::Wrong(reason),
                _,
            ) => {
                let reason = with_source_path(reason);
                SupplyError::Unavailable(format!("{build} is not cached: {reason}"))
            }
        })
    }
}

fn missing_header(build: &BuildRef, header: &str, searched: Vec<PathBuf>) -> SupplyError {
    let remedy = match headers_package(&build.engine) {
        Some(package) => format!(
            "install the distribution's headers (Debian: apt install {package}) for {0}@system, or \
             name a directory of headers with `assay engine add {0} PATH --headers DIR`",
            build.engine
        ),
        None => "name the directory of the headers with --headers DIR".to_owned(),
    };
    SupplyError::Unavailable(format!(
        "no header `{header}` for {build} (searched: {}): {remedy}",
        listed(searched)
    ))
}
