//! How what was put in place becomes an entry: its shim is compiled, the library tried.

use std::path::{Path, PathBuf};

use model::{BuildRef, SmokeTestFailure};
use shim::Recipe;

use crate::artifact::{Artifact, Note, library_name};
use crate::entry::Entry;
use crate::error::SupplyError;
use crate::fit::{self, Fit};
use crate::library::digest;
use crate::source::{Fetched, Progress, headers_package};
use crate::store::Store;

/// The fact that tells which headers a shim was compiled against.
const SHIM_HEADERS: &str = "shim_headers";

/// On which terms a library is kept.
pub(crate) struct Terms<'a> {
    /// Where its headers are; without it they are looked for near the library.
    pub(crate) headers: Option<&'a Path>,
    /// Whether it is kept only when it works.
    pub(crate) is_tried: bool,
}

impl Store {
    /// Makes what lies in the entry's work directory the entry.
    pub(crate) fn keep(
        &self,
        entry: &Entry,
        made: Fetched,
        terms: &Terms<'_>,
        progress: Progress<'_>,
    ) -> Result<Artifact, SupplyError> {
        if let Some(server) = self.server(&entry.build.engine) {
            return self.keep_server(entry, made, &server);
        }
        let ready = entry.prepare()?;
        let library = ready.join(library_name(&entry.build.engine));
        let (sha256, bytes) = digest(&library)?;
        let Fetched { origin, mut facts, copied } = made;
        let shown = copied.unwrap_or_else(|| library.clone());
        let mut shim = None;
        if let Some(recipe) = self.recipe(&entry.build) {
            fit::check_exports(&shown, &entry.build.engine)?;
            let include = fit::find(recipe.header, terms.headers, &shown)
                .map_err(|searched| no_header(&entry.build, recipe.header, &searched))?;
            progress(&format!("compiling its shim against the headers in {}", include.display()));
            let work = entry.work("shim")?;
            let shimmed = self.fit(&entry.build, &recipe, &ready, &work).first(&include)?;
            facts.extend(shimmed.facts);
            shim = Some(shimmed.note);
        }
        if terms.is_tried {
            progress("trying it in a process of its own");
            self.smoke_test(entry, &library, &shown, facts.get(SHIM_HEADERS))?;
        }
        let build = entry.build.clone();
        entry.keep(&ready, Note { build, sha256, origin, bytes, facts, shim, tree: None })
    }

    /// Compiles the shim of a cached build anew, and tries it.
    pub(crate) fn refit(
        &self,
        entry: &Entry,
        mut note: Note,
        recipe: &Recipe,
    ) -> Result<Artifact, SupplyError> {
        let work = entry.work("shim")?;
        let shimmed = self.fit(&entry.build, recipe, &entry.dir, &work).again()?;
        let library = entry.dir.join(library_name(&entry.build.engine));
        self.smoke_test(entry, &library, &library, note.facts.get(SHIM_HEADERS))?;
        note.facts.extend(shimmed.facts);
        note.shim = Some(shimmed.note);
        entry.note_again(note)
    }

    fn fit<'a>(
        &'a self,
        build: &'a BuildRef,
        recipe: &'a Recipe,
        dir: &'a Path,
        work: &'a Path,
    ) -> Fit<'a> {
        Fit { engine: &build.engine, recipe, compiler: &self.engines.compiler, dir, work }
    }

    /// Tries a library; errors name it as `shown`, and the headers its shim was compiled against.
    fn smoke_test(
        &self,
        entry: &Entry,
        library: &Path,
        shown: &Path,
        headers: Option<&String>,
    ) -> Result<(), SupplyError> {
        let (build, work) = (&entry.build, entry.work("proof")?);
        let tried = (self.engines.smoke_test)(&build.engine, library, &work);
        let Err(smoke_test_failure) = tried else { return Ok(()) };
        let from = |text: String| {
            text.replace(&library.display().to_string(), &shown.display().to_string())
        };
        Err(match (smoke_test_failure, headers) {
            (SmokeTestFailure::Died(reason) | SmokeTestFailure::Wrong(reason), Some(headers)) => {
                SupplyError::Misfit { headers: headers.into(), reason: from(reason) }
            }
            (
                SmokeTestFailure::NotLoaded(reason)
                | SmokeTestFailure::Died(reason)
                | SmokeTestFailure::Wrong(reason),
                _,
            ) => SupplyError::NotWorking { build: build.to_string(), reason: from(reason) },
        })
    }
}

/// Returns whether the shim of a build must be compiled anew.
pub(crate) fn is_stale(note: &Note, recipe: &Recipe, dir: &Path) -> bool {
    let Some(shim) = &note.shim else { return true };
    let compiled = digest(&dir.join(shim::file_name(&note.build.engine)));
    shim.recipe_sha256 != fit::fingerprint(recipe)
        || compiled.map_or(true, |(sha256, _)| sha256 != shim.sha256)
}

/// Returns the error for a build whose headers are not found.
fn no_header(build: &BuildRef, header: &str, searched: &[PathBuf]) -> SupplyError {
    let searched: Vec<_> = searched.iter().map(|dir| dir.display().to_string()).collect();
    SupplyError::NoHeader {
        build: build.to_string(),
        header: header.to_owned(),
        searched: searched.join(", "),
        remedy: match headers_package(&build.engine) {
            Some(package) => format!(
                "install the distribution's (Debian: apt install {package}) for {}@system, or say \
                 where they are with `assay engine add {} PATH --headers DIR`",
                build.engine, build.engine
            ),
            None => "say where they are with --headers DIR".to_owned(),
        },
    }
}
