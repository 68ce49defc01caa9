//! Compiles a release into a library in the cache.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use model::BuildRef;

use super::engine::{Compilable, Release};
use super::find::find;
use super::objects::{Objects, clear};
use super::toolchain::Toolchain;
use crate::artifact::Artifact;
use crate::error::{Result, SupplyError};
use crate::source::{Fetched, obtain};
use crate::store::Store;

/// Longest version name: it is used in directory names.
const NAME_CHARS: usize = 100;

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
    ) -> Result<(Artifact, bool)> {
        let (engine, release) = find(&order.build)?;
        let toolchain = Toolchain::find(&order.compiler, &order.flags, order.is_lto)?;
        let build = name_of(order, release, &toolchain)?;
        let facts = BTreeMap::from([
            ("compiler".to_owned(), toolchain.version_line.clone()),
            ("compiler_flags".to_owned(), toolchain.flags_text()),
            (
                "source_crate".to_owned(),
                format!("{} {}", release.source.name, release.source.version),
            ),
        ]);
        if let Some(cached) = self.find(&build)? {
            if facts.iter().all(|(name, value)| cached.facts.get(name) == Some(value)) {
                return Ok((cached, false));
            }
            return Err(SupplyError::exists(&cached.build, &cached.origin));
        }
        toolchain.check(false)?;
        self.check_own_name(&build)?;
        let on_event = RefCell::new(on_event);
        let mut objects = None;
        let artifact = self.fill(
            &build,
            &mut |line| on_event.borrow_mut()(CompileEvent::Stage(line)),
            true,
            |library, _| {
                let mut on_event = on_event.borrow_mut();
                let toolchain = &toolchain;
                let work = Work { store: self, build: &build, engine, release, toolchain, order };
                let (bundled, dir) = work.compile(library, &mut **on_event)?;
                objects = Some(dir);
                let mut facts = facts;
                if !bundled.is_empty() {
                    facts.insert("bundled".to_owned(), bundled);
                }
                let source = release.source;
                let origin = format!(
                    "compiled from {} {} by {} with {}",
                    source.name,
                    source.version,
                    toolchain.label(),
                    toolchain.flags_text()
                );
                Ok(Fetched { facts, ..Fetched::of(origin) })
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
    fn compile(&self, library: &Path, on_event: EventSink<'_>) -> Result<(String, PathBuf)> {
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
            toolchain.check(true)?;
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
        Ok((recipe.bundled.join(", "), objects.dir))
    }
}

/// Returns the name under which the build is cached.
fn name_of(order: &CompileOrder, release: &Release, toolchain: &Toolchain) -> Result<BuildRef> {
    let version = match &order.name {
        Some(name) => format!("{}-{name}", release.version),
        None => version(release.version, &toolchain.label(), &toolchain.flags, toolchain.is_lto)?,
    };
    Ok(BuildRef { engine: order.build.engine.clone(), version: Some(version) })
}

/// Returns the version name of a build: `10.4.2-gcc12-O3-march-native-lto`.
///
/// It begins with the release's version and a dash, so that version checks can parse it.
fn version(release: &str, compiler: &str, flags: &[String], is_lto: bool) -> Result<String> {
    let mut parts = vec![release.to_owned(), compiler.to_owned()];
    parts.extend(flags.iter().map(|flag| name_part(flag)).filter(|part| !part.is_empty()));
    if is_lto {
        parts.push("lto".to_owned());
    }
    let name = parts.join("-");
    if name.len() > NAME_CHARS {
        return Err(SupplyError::Unavailable(format!(
            "the flags make the name of the build too long ({} characters): name the build with \
             --name",
            name.len()
        )));
    }
    Ok(name)
}

/// Returns a flag as part of a name: `-march=native` is `march-native`.
fn name_part(flag: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    flag.split(|c| !is_allowed(c)).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn named(flags: &[&str], is_lto: bool) -> String {
        let flags: Vec<_> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        version("10.4.2", "gcc12", &flags, is_lto).unwrap()
    }

    #[test]
    fn name_contains_compiler_and_flags() {
        assert_eq!(named(&["-O3", "-march=native"], true), "10.4.2-gcc12-O3-march-native-lto");
        assert_eq!(named(&["-O2"], false), "10.4.2-gcc12-O2");
        assert_eq!(
            named(&["-mtune=x86-64-v3", "--param=a=b"], false),
            "10.4.2-gcc12-mtune-x86-64-v3-param-a-b"
        );
        assert_eq!(named(&["--", "-O1"], false), "10.4.2-gcc12-O1");
    }

    #[test]
    fn too_long_name_requests_an_explicit_one() {
        let flags = vec!["-fno-semantic-interposition".to_owned(); 5];
        let error = version("10.4.2", "gcc12", &flags, false).unwrap_err();
        assert!(error.to_string().ends_with("name the build with --name"), "{error}");
    }

    proptest! {
        #[test]
        fn every_name_parses_as_a_build(flags in prop::collection::vec("-[ -~]{0,20}", 0..4)) {
            let most = flags.iter().fold("1.2.3-clang14".len(), |sum, flag| sum + 1 + flag.len());
            let Ok(name) = version("1.2.3", "clang14", &flags, false) else {
                prop_assert!(most > NAME_CHARS);
                return Ok(());
            };
            prop_assert!(format!("rocksdb@{name}").parse::<BuildRef>().is_ok(), "{}", name);
        }
    }
}
