//! A release from its crate to a library in the cache.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use model::BuildRef;

use super::engine::{Compilable, Release, find};
use super::name::version;
use super::objects::{Objects, clear};
use super::recipe::Language;
use super::toolchain::Toolchain;
use crate::artifact::Artifact;
use crate::error::SupplyError;
use crate::source::{Fetched, obtain};
use crate::store::Store;

/// Name of the fact that tells the compiler.
const COMPILER: &str = "compiler";

/// Name of the fact that tells its flags.
const FLAGS: &str = "compiler_flags";

/// Name of the fact that tells the crate.
const SOURCE: &str = "source_crate";

/// Name of the fact that tells what else is inside.
const BUNDLED: &str = "bundled";

/// A library that is to be compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileOrder {
    /// The release: `rocksdb@10.4.2`.
    pub build: BuildRef,
    /// The compiler: `gcc`, `clang`, or one with its version as `gcc-13`.
    pub compiler: String,
    /// Its flags, separated by spaces.
    pub flags: String,
    /// Whether files are optimised together when they are linked.
    pub is_lto: bool,
    /// What follows the version in the build's name; compiler and flags when absent.
    pub name: Option<String>,
    /// How many files are compiled at once.
    pub jobs: NonZeroUsize,
}

/// What happens while a library is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompileEvent<'a> {
    /// Something that takes a while begins, or something worth knowing was found.
    Stage(&'a str),
    /// A file was compiled, or, with no file, the count begins.
    Compiled {
        /// Files compiled.
        done: usize,
        /// Files in all.
        total: usize,
        /// The file.
        file: Option<&'a Path>,
    },
}

/// Hears what happens.
type Told<'a> = &'a mut dyn FnMut(CompileEvent<'_>);

impl Store {
    /// Returns a release compiled as ordered; from the cache, with `false`, when it was before.
    ///
    /// # Errors
    /// When no crate carries the release, cargo cannot obtain it, there is no such compiler, it
    /// refuses a flag or a file, or the build's name is taken by another.
    pub fn compile(
        &self,
        order: &CompileOrder,
        told: Told<'_>,
    ) -> Result<(Artifact, bool), SupplyError> {
        let (engine, release) = find(&order.build)?;
        let toolchain = Toolchain::find(&order.compiler, &order.flags, order.is_lto)?;
        let build = name_of(order, release, &toolchain)?;
        let facts = facts_of(release, &toolchain);
        if let Some(cached) = self.find(&build)? {
            if facts.iter().all(|(name, value)| cached.facts.get(name) == Some(value)) {
                return Ok((cached, false));
            }
            return Err(SupplyError::Exists { build: build.to_string(), origin: cached.origin });
        }
        toolchain.check(Language::C)?;
        let told = RefCell::new(told);
        let mut objects = None;
        let artifact = self.make(
            &build,
            &mut |line| told.borrow_mut()(CompileEvent::Stage(line)),
            |library, _| {
                let mut told = told.borrow_mut();
                let toolchain = &toolchain;
                let work = Work { store: self, build: &build, engine, release, toolchain, order };
                let (bundled, dir) = work.compile(library, &mut **told)?;
                objects = Some(dir);
                let mut facts = facts;
                if !bundled.is_empty() {
                    facts.insert(BUNDLED.to_owned(), bundled);
                }
                Ok(Fetched { facts, ..Fetched::of(origin(release, toolchain)) })
            },
        )?;
        // Only now: a library that is refused when it is tried is soon linked again.
        objects.map_or(Ok(()), |dir| clear(&dir))?;
        Ok((artifact, true))
    }
}

/// One library while it is compiled.
struct Work<'a> {
    store: &'a Store,
    build: &'a BuildRef,
    engine: &'a Compilable,
    release: &'a Release,
    toolchain: &'a Toolchain,
    order: &'a CompileOrder,
}

impl Work<'_> {
    /// Puts the library in place; returns which other crates are inside, and where the objects are.
    fn compile(&self, library: &Path, told: Told<'_>) -> Result<(String, PathBuf), SupplyError> {
        let Self { store, build, engine, release, toolchain, order } = self;
        let source = &release.source;
        told(CompileEvent::Stage(&format!("asking cargo for {} {}", source.name, source.version)));
        let packages = obtain(&order.build.to_string(), source, store.cache_dir())?;
        let recipe = (engine.recipe)(release, &packages)?;
        // The lock on the build's name is one on its objects too.
        let name = build.to_string().replace('@', "-");
        let parent = store.cache_dir().join("build").join(name);
        let objects = Objects::prepare(&parent, toolchain, &recipe)?;
        if objects.has_cxx() {
            toolchain.check(Language::Cxx)?;
        }
        let (total, mut done) = objects.done();
        if done > 0 {
            told(CompileEvent::Stage(&format!("{done} of {total} files were compiled before")));
        }
        told(CompileEvent::Compiled { done, total, file: None });
        let jobs = order.jobs.get();
        objects.compile(jobs, &mut |file| {
            done += 1;
            told(CompileEvent::Compiled { done, total, file: Some(file) });
        })?;
        told(CompileEvent::Stage("linking"));
        objects.link(library, jobs)?;
        Ok((recipe.bundled.join(", "), objects.into_dir()))
    }
}

/// Returns the name under which the build is kept.
fn name_of(
    order: &CompileOrder,
    release: &Release,
    toolchain: &Toolchain,
) -> Result<BuildRef, SupplyError> {
    let version = match &order.name {
        Some(name) => format!("{}-{name}", release.version),
        None => version(release.version, &toolchain.label(), &toolchain.flags, toolchain.is_lto)?,
    };
    Ok(BuildRef { engine: order.build.engine.clone(), version: Some(version) })
}

/// Returns what is known of the build before it is made.
fn facts_of(release: &Release, toolchain: &Toolchain) -> BTreeMap<String, String> {
    let source = release.source;
    [
        (COMPILER, toolchain.version_line.clone()),
        (FLAGS, toolchain.flags_text()),
        (SOURCE, format!("{} {}", source.name, source.version)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// Returns where the library came from, in words.
fn origin(release: &Release, toolchain: &Toolchain) -> String {
    let source = release.source;
    format!(
        "compiled from {} {} by {} with {}",
        source.name,
        source.version,
        toolchain.label(),
        toolchain.flags_text()
    )
}
