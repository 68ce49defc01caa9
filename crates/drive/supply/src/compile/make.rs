//! Compiles a release into a library in the cache.

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

/// Fact: the compiler.
const COMPILER: &str = "compiler";

/// Fact: the compiler's flags.
const FLAGS: &str = "compiler_flags";

/// Fact: the crate with the source.
const SOURCE: &str = "source_crate";

/// Fact: bundled crates.
const BUNDLED: &str = "bundled";

/// Options of compiling a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileOrder {
    /// The release: `rocksdb@10.4.2`.
    pub build: BuildRef,
    /// The compiler: `gcc`, `clang`, or one with its version as `gcc-13`.
    pub compiler: String,
    /// Its flags, separated by spaces.
    pub flags: String,
    /// Whether link-time optimisation is on.
    pub is_lto: bool,
    /// Suffix of the build's version; compiler and flags when absent.
    pub name: Option<String>,
    /// How many files are compiled at once.
    pub jobs: NonZeroUsize,
}

/// Progress of compiling a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompileEvent<'a> {
    /// A stage begins.
    Stage(&'a str),
    /// A file was compiled; without a file, counting begins.
    Compiled {
        /// Files compiled.
        done: usize,
        /// Files in all.
        total: usize,
        /// The file.
        file: Option<&'a Path>,
    },
}

/// Receives progress events.
type EventSink<'a> = &'a mut dyn FnMut(CompileEvent<'_>);

impl Store {
    /// Compiles a release; returns it and whether it was compiled now.
    ///
    /// # Errors
    /// When no crate carries the release, cargo cannot obtain it, there is no such compiler, it
    /// rejects a flag or a file, or the build's name is taken by another.
    pub fn compile(
        &self,
        order: &CompileOrder,
        on_event: EventSink<'_>,
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
        let on_event = RefCell::new(on_event);
        let mut objects = None;
        let artifact = self.make(
            &build,
            &mut |line| on_event.borrow_mut()(CompileEvent::Stage(line)),
            |library, _| {
                let mut on_event = on_event.borrow_mut();
                let toolchain = &toolchain;
                let work = Work { store: self, build: &build, engine, release, toolchain, order };
                let (bundled, dir) = work.compile(library, &mut **on_event)?;
                objects = Some(dir);
                let mut facts = facts;
                if !bundled.is_empty() {
                    facts.insert(BUNDLED.to_owned(), bundled);
                }
                Ok(Fetched { facts, ..Fetched::of(origin(release, toolchain)) })
            },
        )?;
        // Only now: if the smoke test fails, the objects are needed to link again.
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
    /// Compiles and links the library; returns bundled crates and the object directory.
    fn compile(
        &self,
        library: &Path,
        on_event: EventSink<'_>,
    ) -> Result<(String, PathBuf), SupplyError> {
        let Self { store, build, engine, release, toolchain, order } = self;
        let source = &release.source;
        on_event(CompileEvent::Stage(&format!(
            "requesting {} {} from cargo",
            source.name, source.version
        )));
        let packages = obtain(&order.build.to_string(), source, store.cache_dir())?;
        let recipe = (engine.recipe)(release, &packages)?;
        // The lock on the build's name covers its objects too.
        let name = build.to_string().replace('@', "-");
        let parent = store.cache_dir().join("build").join(name);
        let objects = Objects::prepare(&parent, toolchain, &recipe)?;
        if objects.has_cxx() {
            toolchain.check(Language::Cxx)?;
        }
        let (total, mut done) = objects.done();
        if done > 0 {
            on_event(CompileEvent::Stage(&format!("{done} of {total} files were compiled before")));
        }
        on_event(CompileEvent::Compiled { done, total, file: None });
        let jobs = order.jobs.get();
        objects.compile(jobs, &mut |file| {
            done += 1;
            on_event(CompileEvent::Compiled { done, total, file: Some(file) });
        })?;
        on_event(CompileEvent::Stage("linking"));
        objects.link(library, jobs)?;
        Ok((recipe.bundled.join(", "), objects.into_dir()))
    }
}

/// Returns the name under which the build is cached.
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

/// Returns the facts known before compiling.
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

/// Describes where the library came from.
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
