//! The cache of engine builds.
//!
//! ```text
//! <cache>/engines/rocksdb/9.10.0/librocksdb.so
//!                               /artifact.json     its name, sha256, origin and size
//!                        .9.10.0.lock              held while the entry is made or removed
//!                        .9.10.0.partial/          what a fetch is working on
//!                 wiredtiger/mine/libassay-wiredtiger.so   the shim, for an engine that needs one
//!                                /headers/         what the shim was compiled against
//!                 postgres/15.10/tree/bin/postgres  a server amid its files
//! ```
//!
//! Names that start with a dot are no builds, so an entry is there completely or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use model::BuildRef;
use shim::Recipe;

use crate::artifact::{Artifact, HEADERS_DIR, NOTE_FILE, Note, library_name};
use crate::engines::Engines;
use crate::entry::Entry;
use crate::error::SupplyError;
use crate::keep::{Terms, is_stale};
use crate::library::{check_loadable, digest};
use crate::release;
use crate::source::{Fetched, Progress, Source, registry};

/// Hex digits of the hash in the name of a library that was given none.
pub(crate) const NAME_DIGITS: usize = 12;

/// The cache of engine builds, and the sources it is filled from.
pub struct Store {
    root: PathBuf,
    pub(crate) sources: Vec<Box<dyn Source>>,
    /// What it is told of engines.
    pub(crate) engines: Engines,
}

/// A library of the user's own.
#[derive(Debug, Clone, Copy)]
pub struct Own<'a> {
    /// The engine it is of.
    pub engine: &'a str,
    /// The file; of a server, the directory it is installed in.
    pub library: &'a Path,
    /// Name to give the build; without one it is named after its hash.
    pub version: Option<&'a str>,
    /// Where its headers are; without it they are looked for near the library.
    pub headers: Option<&'a Path>,
}

/// Returns the cache directory by the desktop convention: `~/.cache/assay`.
///
/// Source: freedesktop.org, 2021, XDG Base Directory Specification 0.8 (relative paths are void).
#[must_use]
pub fn default_cache_dir(home: Option<&str>, xdg_cache_home: Option<&str>) -> Option<PathBuf> {
    let absolute = |text: &str| Some(PathBuf::from(text)).filter(|path| path.is_absolute());
    let cache = xdg_cache_home.and_then(absolute);
    cache.or_else(|| Some(home.and_then(absolute)?.join(".cache"))).map(|dir| dir.join("assay"))
}

impl Store {
    /// Opens the cache in `cache_dir`, creating it if it is not there.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub fn open(cache_dir: PathBuf) -> Result<Self, SupplyError> {
        Self::with_sources(cache_dir, registry())
    }

    /// Opens the cache with other sources than the usual ones.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub fn with_sources(
        cache_dir: PathBuf,
        sources: Vec<Box<dyn Source>>,
    ) -> Result<Self, SupplyError> {
        let cache_dir =
            std::path::absolute(&cache_dir).map_err(SupplyError::io("find", &cache_dir))?;
        let root = cache_dir.join("engines");
        fs::create_dir_all(&root).map_err(SupplyError::io("create", &root))?;
        Ok(Self { root, sources, engines: Engines::default() })
    }

    /// Tells the store of engines: which need a shim, and how a library is tried.
    #[must_use]
    pub fn knowing(mut self, engines: Engines) -> Self {
        self.engines = engines;
        self
    }

    /// Returns the build from the cache, or fetches it first.
    ///
    /// # Errors
    /// When no source has the build or can be reached, or the cached one is damaged.
    pub fn get(&self, build: &BuildRef, progress: Progress<'_>) -> Result<Artifact, SupplyError> {
        if build.version.is_none() {
            return Err(self.no_source(build));
        }
        if let Some(artifact) = self.find_current(build, None)? {
            return Ok(artifact);
        }
        let source = self.source_of(build).ok_or_else(|| self.no_source(build))?;
        let is_tried = self.recipe(build).is_some();
        let fetch = |place: &Path, progress: Progress<'_>| source.fetch(build, place, progress);
        self.fill(build, progress, is_tried, fetch)
    }

    /// Returns the build from the cache, or has `make` put its library in place first.
    ///
    /// # Errors
    /// Those of `make`; when a source has builds of that name, or the cached one is damaged.
    pub(crate) fn make(
        &self,
        build: &BuildRef,
        progress: Progress<'_>,
        make: impl FnOnce(&Path, Progress<'_>) -> Result<Fetched, SupplyError>,
    ) -> Result<Artifact, SupplyError> {
        self.check_own_name(build)?;
        self.fill(build, progress, true, make)
    }

    /// Has `make` put a library in place, unless another process did while this one waited.
    fn fill(
        &self,
        build: &BuildRef,
        progress: Progress<'_>,
        is_tried: bool,
        make: impl FnOnce(&Path, Progress<'_>) -> Result<Fetched, SupplyError>,
    ) -> Result<Artifact, SupplyError> {
        let entry = self.lock(build, progress)?;
        if let Some(artifact) = self.find_current(build, Some(&entry))? {
            return Ok(artifact);
        }
        let place = entry.place(self.server(&build.engine).is_some());
        let made = make(&place, progress)?;
        let artifact = self.keep(&entry, made, &Terms { headers: None, is_tried }, progress)?;
        progress(&format!("cached in {}", entry.dir.display()));
        Ok(artifact)
    }

    /// Returns the directory of the whole cache.
    pub(crate) fn cache_dir(&self) -> &Path {
        self.root.parent().unwrap_or(&self.root)
    }

    /// Checks that no source has builds of that name.
    pub(crate) fn check_own_name(&self, build: &BuildRef) -> Result<(), SupplyError> {
        if self.source_of(checked(build)?).is_some() {
            return Err(SupplyError::BadName(format!(
                "{build} is the name of an official build: choose another, as in {build}-mine"
            )));
        }
        Ok(())
    }

    /// Returns the build if it is cached and intact; never uses the network.
    ///
    /// Reads the whole library to compare its hash: some 20 ms. A shim whose source has changed
    /// since is compiled anew.
    ///
    /// # Errors
    /// When the cached build is damaged, or its shim cannot be compiled anew.
    pub fn find(&self, build: &BuildRef) -> Result<Option<Artifact>, SupplyError> {
        self.find_with(build, None)
    }

    /// Returns the build if it is cached; `held` is its entry when this caller has locked it.
    pub(crate) fn find_with(
        &self,
        build: &BuildRef,
        held: Option<&Entry>,
    ) -> Result<Option<Artifact>, SupplyError> {
        let Some(note) = self.intact(build)? else { return Ok(None) };
        let dir = self.dir_of(build)?;
        match self.recipe(build).filter(|recipe| is_stale(&note, recipe, &dir)) {
            None => Ok(Some(note.into_artifact(&dir))),
            Some(recipe) => match held {
                Some(entry) => self.refit(entry, note, &recipe).map(Some),
                // Another process may be at it: what it leaves is looked at again.
                None => self.find_with(build, Some(&self.lock(build, &mut |_| ())?)),
            },
        }
    }

    /// Returns the note of a cached build whose library is what it was.
    fn intact(&self, build: &BuildRef) -> Result<Option<Note>, SupplyError> {
        let dir = self.dir_of(build)?;
        if !dir.try_exists().map_err(SupplyError::io("read", &dir))? {
            return Ok(None);
        }
        let damaged = |reason: String| SupplyError::Damaged {
            build: build.to_string(),
            dir: dir.clone(),
            reason,
            remedy: self.remedy(build),
        };
        let note = read_note(&dir, build).map_err(damaged)?;
        if let Some(tree) = &note.tree {
            return match tree.check(&dir, &note.sha256) {
                Ok(()) => Ok(Some(note)),
                // What a distribution has replaced is found anew.
                Err(_changed) if tree.at.is_some() && self.source_of(build).is_some() => Ok(None),
                Err(reason) => Err(damaged(reason)),
            };
        }
        let library = dir.join(library_name(&build.engine));
        let (sha256, bytes) = digest(&library).map_err(|error| damaged(error.to_string()))?;
        if (&sha256, bytes) != (&note.sha256, note.bytes) {
            let (is, was) = (&sha256[..NAME_DIGITS], &note.sha256);
            let was = was.get(..NAME_DIGITS).unwrap_or(was);
            return Err(damaged(format!("its sha256 starts {is}, recorded was {was}")));
        }
        if self.recipe(build).is_some() && !dir.join(HEADERS_DIR).is_dir() {
            return Err(damaged("the headers its shim needs are not there".to_owned()));
        }
        Ok(Some(note))
    }

    /// Returns how the shim of the build's engine is compiled; `None` when it needs none.
    pub(crate) fn recipe(&self, build: &BuildRef) -> Option<Recipe> {
        (self.engines.recipe)(&build.engine)
    }

    /// Waits until nobody else works on a build's entry.
    pub(crate) fn lock(
        &self,
        build: &BuildRef,
        progress: Progress<'_>,
    ) -> Result<Entry, SupplyError> {
        Entry::lock(&self.root, checked(build)?, progress)
    }

    /// Copies the user's own library into the cache, once it has turned out to work.
    ///
    /// A server's installation is not copied, for it may be large and may not bear being moved:
    /// it is used where it lies, and a program that changed since is noticed.
    ///
    /// Without a version it is named after its hash, `user-` and 12 digits. Adding the same
    /// library under the same name again changes nothing. A library that finds others through a
    /// path relative to itself (`$ORIGIN`) will not find them from the cache.
    ///
    /// # Errors
    /// When the file is no library for this machine or not of that engine, its shim cannot be
    /// compiled, it does not work, the directory has no server of that engine, or the name is
    /// taken.
    pub fn add(&self, own: &Own<'_>, progress: Progress<'_>) -> Result<Artifact, SupplyError> {
        if let Some(server) = self.server(own.engine) {
            return self.add_server(own, &server, progress);
        }
        check_loadable(own.library)?;
        let (sha256, _) = digest(own.library)?;
        let version = match own.version {
            Some(version) => version.to_owned(),
            None => format!("user-{}", &sha256[..NAME_DIGITS]),
        };
        let build = BuildRef { engine: own.engine.to_owned(), version: Some(version) };
        self.check_own_name(&build)?;
        let entry = self.lock(&build, progress)?;
        if let Some(cached) = self.find_with(&build, Some(&entry))? {
            if cached.sha256 == sha256 {
                return Ok(cached);
            }
            return Err(SupplyError::Exists { build: build.to_string(), origin: cached.origin });
        }
        fs::copy(own.library, entry.place(false)).map_err(SupplyError::io("copy", own.library))?;
        let path = own.library.canonicalize().unwrap_or_else(|_unreadable| own.library.to_owned());
        let origin = format!("added from {}", path.display());
        let terms = Terms { headers: own.headers, is_tried: true };
        self.keep(&entry, Fetched::copy_of(path, origin), &terms, progress)
    }

    /// Removes the build from the cache, intact or not.
    ///
    /// # Errors
    /// When it is not there or cannot be removed.
    pub fn remove(&self, build: &BuildRef) -> Result<(), SupplyError> {
        let dir = self.dir_of(build)?;
        if !dir.try_exists().map_err(SupplyError::io("read", &dir))? {
            return Err(SupplyError::NotCached { build: build.to_string() });
        }
        self.lock(build, &mut |_| ())?.clear()
    }

    /// Returns what is cached, by engine and version, oldest version first.
    ///
    /// Hashes are not compared; entries without a readable note are told by [`Store::damaged`].
    #[must_use]
    pub fn list(&self) -> Vec<Artifact> {
        let builds = self.builds();
        let read = |build: &BuildRef| {
            let dir = self.dir_of(build).ok()?;
            Some(read_note(&dir, build).ok()?.into_artifact(&dir))
        };
        builds.iter().filter_map(read).collect()
    }

    /// Returns an error for each damaged entry; reads every library.
    #[must_use]
    pub fn damaged(&self) -> Vec<SupplyError> {
        self.builds().iter().filter_map(|build| self.intact(build).err()).collect()
    }

    /// Returns the names of all entries, by engine and version.
    fn builds(&self) -> Vec<BuildRef> {
        let mut builds = Vec::new();
        for engine in names_in(&self.root) {
            for version in names_in(&self.root.join(&engine)) {
                builds.extend(format!("{engine}@{version}").parse::<BuildRef>());
            }
        }
        builds.sort_by_cached_key(|build| {
            let numbers = build.version.as_deref().and_then(release::parse);
            // Releases first, then what has a name of its own.
            (build.engine.clone(), numbers.is_none(), numbers, build.version.clone())
        });
        builds
    }

    /// Returns the cached build unless its source has a newer one.
    fn find_current(
        &self,
        build: &BuildRef,
        held: Option<&Entry>,
    ) -> Result<Option<Artifact>, SupplyError> {
        let Some(artifact) = self.find_with(build, held)? else { return Ok(None) };
        let is_current = match self.source_of(build) {
            Some(source) => source.is_current(&artifact)?,
            None => true,
        };
        Ok(is_current.then_some(artifact))
    }

    /// Returns the source that has builds of this kind.
    pub(crate) fn source_of(&self, build: &BuildRef) -> Option<&dyn Source> {
        self.sources.iter().find(|source| source.offers(build)).map(|source| &**source)
    }

    /// Returns the directory of a build's entry.
    fn dir_of(&self, build: &BuildRef) -> Result<PathBuf, SupplyError> {
        let version = checked(build)?.version.as_deref().unwrap_or_default();
        Ok(self.root.join(&build.engine).join(version))
    }
}

/// Returns the build if its names can be directory names and it has a version.
fn checked(build: &BuildRef) -> Result<&BuildRef, SupplyError> {
    let text = build.to_string();
    match text.parse::<BuildRef>() {
        Ok(parsed) if parsed == *build && build.version.is_some() => Ok(build),
        Ok(_) => Err(SupplyError::BadName(format!("{build} names no version"))),
        Err(reason) => Err(SupplyError::BadName(reason)),
    }
}

/// Returns the note in `dir`, or what is wrong with it.
fn read_note(dir: &Path, build: &BuildRef) -> Result<Note, String> {
    let path = dir.join(NOTE_FILE);
    let text = fs::read_to_string(&path).map_err(|error| format!("{NOTE_FILE}: {error}"))?;
    let note: Note =
        serde_json::from_str(&text).map_err(|error| format!("{NOTE_FILE}: {error}"))?;
    if note.build != *build {
        return Err(format!("{NOTE_FILE} is of {}", note.build));
    }
    Ok(note)
}

/// Returns the names of the directories in `dir` that can be names of ours.
fn names_in(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok().filter(|entry| entry.path().is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect()
}
