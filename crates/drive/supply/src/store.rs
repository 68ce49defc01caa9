//! The cache of engine builds.
//!
//! ```text
//! <cache>/engines/rocksdb/9.10.0/librocksdb.so
//!                               /artifact.json     its name, sha256, origin and size
//!                        .9.10.0.lock              held while the entry is made or removed
//!                        .9.10.0.partial/          what a fetch is working on
//! ```
//!
//! Names that start with a dot are no builds, so an entry is there completely or not at all.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use model::BuildRef;

use crate::artifact::{Artifact, NOTE_FILE, Note, library_name};
use crate::error::SupplyError;
use crate::library::{check_loadable, digest};
use crate::release::{self, nearest_release, newest_release};
use crate::source::{Fetched, Progress, Source, registry};

/// Hex digits of the hash in the name of a library that was given none.
const NAME_DIGITS: usize = 12;

/// The cache of engine builds, and the sources it is filled from.
pub struct Store {
    engines: PathBuf,
    sources: Vec<Box<dyn Source>>,
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
        let engines = cache_dir.join("engines");
        fs::create_dir_all(&engines).map_err(SupplyError::io("create", &engines))?;
        Ok(Self { engines, sources })
    }

    /// Returns the build from the cache, or fetches it first.
    ///
    /// # Errors
    /// When no source has the build or can be reached, or the cached one is damaged.
    pub fn get(&self, build: &BuildRef, progress: Progress<'_>) -> Result<Artifact, SupplyError> {
        if let Some(artifact) = self.find_current(build)? {
            return Ok(artifact);
        }
        let source = self.source_of(build).ok_or_else(|| no_source(build))?;
        self.fill(build, progress, |library, progress| source.fetch(build, library, progress))
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
        self.fill(build, progress, make)
    }

    /// Has `make` put a library in place, unless another process did while this one waited.
    fn fill(
        &self,
        build: &BuildRef,
        progress: Progress<'_>,
        make: impl FnOnce(&Path, Progress<'_>) -> Result<Fetched, SupplyError>,
    ) -> Result<Artifact, SupplyError> {
        let entry = Entry::lock(&self.engines, build, progress)?;
        if let Some(artifact) = self.find_current(build)? {
            return Ok(artifact);
        }
        let made = make(&entry.partial.join(library_name(&build.engine)), progress)?;
        let artifact = entry.keep(made)?;
        progress(&format!("cached in {}", entry.dir.display()));
        Ok(artifact)
    }

    /// Returns the directory of the whole cache.
    pub(crate) fn cache_dir(&self) -> &Path {
        self.engines.parent().unwrap_or(&self.engines)
    }

    /// Checks that no source has builds of that name.
    fn check_own_name(&self, build: &BuildRef) -> Result<(), SupplyError> {
        if self.source_of(checked(build)?).is_some() {
            return Err(SupplyError::BadName(format!(
                "{build} is the name of an official build: choose another, as in {build}-mine"
            )));
        }
        Ok(())
    }

    /// Returns the build if it is cached and intact; never uses the network.
    ///
    /// Reads the whole library to compare its hash: some 20 ms.
    ///
    /// # Errors
    /// When the cached build is damaged.
    pub fn find(&self, build: &BuildRef) -> Result<Option<Artifact>, SupplyError> {
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
        let artifact = read_note(&dir, build).map_err(damaged)?;
        let (sha256, bytes) =
            digest(&artifact.library).map_err(|error| damaged(error.to_string()))?;
        if (&sha256, bytes) != (&artifact.sha256, artifact.bytes) {
            let (is, was) = (&sha256[..NAME_DIGITS], &artifact.sha256);
            let was = was.get(..NAME_DIGITS).unwrap_or(was);
            return Err(damaged(format!("its sha256 starts {is}, recorded was {was}")));
        }
        Ok(Some(artifact))
    }

    /// Copies the user's own library into the cache.
    ///
    /// Without a version it is named after its hash, `user-` and 12 digits. Adding the same
    /// library under the same name again changes nothing. A library that finds others through a
    /// path relative to itself (`$ORIGIN`) will not find them from the cache.
    ///
    /// # Errors
    /// When the file is no library for this machine, or the name is taken.
    pub fn add(
        &self,
        engine: &str,
        path: &Path,
        version: Option<&str>,
    ) -> Result<Artifact, SupplyError> {
        check_loadable(path)?;
        let (sha256, _) = digest(path)?;
        let version = match version {
            Some(version) => version.to_owned(),
            None => format!("user-{}", &sha256[..NAME_DIGITS]),
        };
        let build = BuildRef { engine: engine.to_owned(), version: Some(version) };
        self.check_own_name(&build)?;
        let entry = Entry::lock(&self.engines, &build, &mut |_| ())?;
        if let Some(cached) = self.find(&build)? {
            if cached.sha256 == sha256 {
                return Ok(cached);
            }
            return Err(SupplyError::Exists { build: build.to_string(), origin: cached.origin });
        }
        let library = entry.partial.join(library_name(engine));
        fs::copy(path, &library).map_err(SupplyError::io("copy", path))?;
        let shown = path.canonicalize().unwrap_or_else(|_unreadable| path.to_owned());
        entry.keep(Fetched::of(format!("added from {}", shown.display())))
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
        Entry::lock(&self.engines, build, &mut |_| ())?.clear()
    }

    /// Returns what is cached, by engine and version, oldest version first.
    ///
    /// Hashes are not compared; entries without a readable note are told by [`Store::damaged`].
    #[must_use]
    pub fn list(&self) -> Vec<Artifact> {
        let builds = self.builds();
        builds.iter().filter_map(|build| read_note(&self.dir_of(build).ok()?, build).ok()).collect()
    }

    /// Returns an error for each damaged entry; reads every library.
    #[must_use]
    pub fn damaged(&self) -> Vec<SupplyError> {
        self.builds().iter().filter_map(|build| self.find(build).err()).collect()
    }

    /// Returns the names of all entries, by engine and version.
    fn builds(&self) -> Vec<BuildRef> {
        let mut builds = Vec::new();
        for engine in names_in(&self.engines) {
            for version in names_in(&self.engines.join(&engine)) {
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
    fn find_current(&self, build: &BuildRef) -> Result<Option<Artifact>, SupplyError> {
        let Some(artifact) = self.find(build)? else { return Ok(None) };
        let is_current = match self.source_of(build) {
            Some(source) => source.is_current(&artifact)?,
            None => true,
        };
        Ok(is_current.then_some(artifact))
    }

    /// Returns the source that has builds of this kind.
    fn source_of(&self, build: &BuildRef) -> Option<&dyn Source> {
        self.sources.iter().find(|source| source.offers(build)).map(|source| &**source)
    }

    /// Returns how a damaged build is got back.
    fn remedy(&self, build: &BuildRef) -> String {
        match self.source_of(build) {
            Some(_) => format!("`assay engine get {build}`"),
            None => format!("`assay engine add {} PATH` with your own library", build.engine),
        }
    }

    /// Returns the directory of a build's entry.
    fn dir_of(&self, build: &BuildRef) -> Result<PathBuf, SupplyError> {
        let version = checked(build)?.version.as_deref().unwrap_or_default();
        Ok(self.engines.join(&build.engine).join(version))
    }
}

/// One entry of the cache while this process alone works on it.
struct Entry {
    build: BuildRef,
    dir: PathBuf,
    partial: PathBuf,
    /// Released when the entry is dropped, or by the kernel when the process dies.
    _lock: File,
}

impl Entry {
    /// Waits until no other process works on the entry, and gives it an empty work directory.
    fn lock(engines: &Path, build: &BuildRef, progress: Progress<'_>) -> Result<Self, SupplyError> {
        let version = checked(build)?.version.as_deref().unwrap_or_default();
        let parent = engines.join(&build.engine);
        fs::create_dir_all(&parent).map_err(SupplyError::io("create", &parent))?;
        let path = parent.join(format!(".{version}.lock"));
        let lock = File::create(&path).map_err(SupplyError::io("create", &path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                progress(&format!("waiting for another process that works on {build}"));
                lock.lock().map_err(SupplyError::io("lock", &path))?;
            }
            Err(TryLockError::Error(error)) => return Err(SupplyError::io("lock", &path)(error)),
        }
        let partial = parent.join(format!(".{version}.partial"));
        let entry = Self { build: build.clone(), dir: parent.join(version), partial, _lock: lock };
        // What lies there was left by a process that was killed: the lock is ours.
        remove_dir(&entry.partial)?;
        fs::create_dir(&entry.partial).map_err(SupplyError::io("create", &entry.partial))?;
        Ok(entry)
    }

    /// Checks the library in the work directory and makes it the entry.
    fn keep(&self, made: Fetched) -> Result<Artifact, SupplyError> {
        let name = library_name(&self.build.engine);
        let fetched = self.partial.join(&name);
        check_loadable(&fetched)?;
        let ready = self.partial.join("ready");
        fs::create_dir(&ready).map_err(SupplyError::io("create", &ready))?;
        let library = ready.join(&name);
        fs::rename(&fetched, &library).map_err(SupplyError::io("move", &fetched))?;
        let (sha256, bytes) = digest(&library)?;
        let Fetched { origin, facts } = made;
        let note = Note { build: self.build.clone(), sha256, origin, bytes, facts };
        let mut text = serde_json::to_string_pretty(&note).expect("a note is plain text");
        text.push('\n');
        let note_path = ready.join(NOTE_FILE);
        fs::write(&note_path, text).map_err(SupplyError::io("write", &note_path))?;
        // The rename below must not reach the disk before what it makes visible.
        for path in [&library, &note_path] {
            let synced = File::open(path).and_then(|file| file.sync_all());
            synced.map_err(SupplyError::io("sync", path))?;
        }
        remove_dir(&self.dir)?;
        fs::rename(&ready, &self.dir).map_err(SupplyError::io("create", &self.dir))?;
        Ok(note.into_artifact(&self.dir))
    }

    /// Removes the entry; a half removed one is never seen, for it is renamed away first.
    fn clear(&self) -> Result<(), SupplyError> {
        let away = self.partial.join("removed");
        fs::rename(&self.dir, &away).map_err(SupplyError::io("remove", &self.dir))
    }
}

impl Drop for Entry {
    /// Leaves no work directory behind; the next to take the lock would remove it too.
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.partial));
    }
}

/// Returns the build if its names can be directory names and it has a version.
fn checked(build: &BuildRef) -> Result<&BuildRef, SupplyError> {
    let text = build.to_string();
    match text.parse::<BuildRef>() {
        Ok(parsed) if parsed == *build && build.version.is_some() => Ok(build),
        Ok(_) => Err(no_source(build)),
        Err(reason) => Err(SupplyError::BadName(reason)),
    }
}

/// Returns the error for a build no source has, with what would be accepted.
fn no_source(build: &BuildRef) -> SupplyError {
    let hint = match (build.engine.as_str(), build.version.as_deref()) {
        ("rocksdb", None) => {
            format!("say which version, as in rocksdb@{}", newest_release())
        }
        ("rocksdb", Some(version)) => format!(
            "versions are numbers, as in rocksdb@{}, or `system` for the distribution's library; \
             your own is added with `assay engine add rocksdb PATH`",
            nearest_release(version)
        ),
        _ => "only builds of rocksdb are fetched, other engines are part of Assay".to_owned(),
    };
    SupplyError::NoSource { build: build.to_string(), hint }
}

/// Returns the artifact the note in `dir` describes, or what is wrong with the note.
fn read_note(dir: &Path, build: &BuildRef) -> Result<Artifact, String> {
    let path = dir.join(NOTE_FILE);
    let text = fs::read_to_string(&path).map_err(|error| format!("{NOTE_FILE}: {error}"))?;
    let note: Note =
        serde_json::from_str(&text).map_err(|error| format!("{NOTE_FILE}: {error}"))?;
    if note.build != *build {
        return Err(format!("{NOTE_FILE} is of {}", note.build));
    }
    Ok(note.into_artifact(dir))
}

/// Removes a directory that may not be there.
fn remove_dir(dir: &Path) -> Result<(), SupplyError> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(SupplyError::io("remove", dir)(error))
        }
        _ => Ok(()),
    }
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
