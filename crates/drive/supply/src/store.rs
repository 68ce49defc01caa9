//! The cache of engine builds.
//!
//! ```text
//! <cache>/engines/rocksdb/9.10.0/librocksdb.so
//!                               /artifact.json     its name, sha256, origin and size
//!                        .9.10.0.lock              held while the entry is made or removed
//!                        .9.10.0.partial/          work directory of a fetch
//!                 wiredtiger/mine/libassay-wiredtiger.so   the shim, for an engine that needs one
//!                 postgres/15.10/tree/bin/postgres  a server with its files
//! ```
//!
//! Names that start with a dot are not builds, so an entry is complete or absent.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use model::BuildRef;
use rustix::fs::{Access, access};
use shim::Recipe;
use trust::{Dir, Entries};

use crate::artifact::{Artifact, METADATA_FILE, library_name};
use crate::engines::Engines;
use crate::entry::Entry;
use crate::error::SupplyError::{ClientFailed, Unpublished};
use crate::error::{Result, SupplyError};
use crate::library::{check_executable, check_loadable, digest};
use crate::source::{Fetched, Progress, SOURCES, Source};
use crate::{release, shims};

/// Hex digits of the hash that names an unnamed library.
const NAME_DIGITS: usize = 12;

/// The cache of engine builds, and the sources it is filled from.
pub struct Store {
    root: PathBuf,
    pub(crate) sources: Vec<Box<dyn Source>>,
    pub(crate) engines: Engines,
}

/// How a fetched library is committed.
pub(crate) struct CommitOptions<'a> {
    /// Directory of its headers; found near the library when absent.
    pub(crate) headers: Option<&'a Path>,
    /// Whether its smoke test must pass.
    pub(crate) smoke_test_needed: bool,
}

/// A user's own library or server installation.
#[derive(Debug, Clone, Copy)]
pub struct UserBuild<'a> {
    /// Its engine.
    pub engine: &'a str,
    /// The library file, or a server's installation directory.
    pub library: &'a Path,
    /// Name of the build; derived from its hash when absent.
    pub version: Option<&'a str>,
    /// Directory of its headers; found near the library when absent.
    pub headers: Option<&'a Path>,
}

/// Returns the XDG cache directory: `~/.cache/assay`.
///
/// Source: freedesktop.org, 2021, XDG Base Directory Specification 0.8 (relative paths are
/// invalid).
pub fn default_cache_dir<T: AsRef<OsStr> + ?Sized>(
    home: Option<&T>,
    xdg_cache_home: Option<&T>,
) -> Option<PathBuf> {
    let absolute = |dir: &T| Some(PathBuf::from(dir)).filter(|path| path.is_absolute());
    let cache = xdg_cache_home.and_then(absolute);
    cache.or_else(|| Some(home.and_then(absolute)?.join(".cache"))).map(|dir| dir.join("assay"))
}

/// Returns the engines that have a build in the cache; creates nothing.
pub fn cached_engines(cache_dir: &Path) -> Vec<String> {
    let root = cache_dir.join("engines");
    let mut engines = names_in(&root);
    engines.retain(|engine| !names_in(&root.join(engine)).is_empty());
    engines.sort();
    engines
}

impl Store {
    /// Opens the cache in `cache_dir`, creating it if absent.
    ///
    /// # Errors
    /// When the directory cannot be created, or, for root, another account can replace it.
    pub fn open(cache_dir: PathBuf) -> Result<Self> {
        Self::with_sources(cache_dir, SOURCES.iter().map(|source| source()).collect())
    }

    /// Opens the cache with the given sources.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn with_sources(cache_dir: PathBuf, sources: Vec<Box<dyn Source>>) -> Result<Self> {
        let cache_dir =
            std::path::absolute(&cache_dir).map_err(SupplyError::io("find", &cache_dir))?;
        let root = cache_dir.join("engines");
        let made = Dir::create(&root, Entries::Closed).map_err(SupplyError::cache(&root))?;
        let root = made.path().to_owned();
        Ok(Self { root, sources, engines: Engines::default() })
    }

    /// Sets the engine descriptions: shims, servers, smoke test.
    pub fn with_engines(mut self, engines: Engines) -> Self {
        self.engines = engines;
        self
    }

    /// Returns the build from the cache, or fetches it first.
    ///
    /// # Errors
    /// When no source has the build or can be reached, or the cached one is damaged.
    pub fn get(&self, build: &BuildRef, progress: Progress<'_>) -> Result<Artifact> {
        if build.version.is_none() {
            return Err(self.no_source(build));
        }
        self.check_name(build)?;
        check_executable(&self.root)?;
        if let Some(artifact) = self.find_current(build, None)? {
            return Ok(artifact);
        }
        let sources = self.usable_sources(build)?;
        let smoke_test_needed = self.recipe(build).is_some();
        let [others @ .., last] = &*sources else { return Err(self.no_source(build)) };
        let fetch = |place: &Path, progress: Progress<'_>| {
            for source in others {
                match source.fetch(build, place, progress) {
                    Err(error @ (ClientFailed(_) | Unpublished(_))) => progress(&error.to_string()),
                    fetched => return fetched,
                }
            }
            last.fetch(build, place, progress)
        };
        self.fill(build, progress, smoke_test_needed, fetch)
    }

    /// Checks that a build is cached or can be obtained, as far as that shows without network.
    ///
    /// # Errors
    /// When no source has it, it is not installed, or the cache cannot be written.
    pub fn check(&self, build: &BuildRef) -> Result<()> {
        self.check_name(build)?;
        check_executable(&self.root)?;
        if self.dir_of(build)?.exists() {
            return Ok(());
        }
        self.usable_sources(build)?.iter().try_for_each(|source| source.check(build))?;
        let writable = access(&self.root, Access::WRITE_OK | Access::EXEC_OK);
        writable.map_err(|errno| SupplyError::cache(&self.root)(errno.into()))
    }

    /// Runs `make` unless another process filled the entry meanwhile.
    ///
    /// # Errors
    /// Those of `make`, or when the disk has no room or the cached build is damaged.
    pub(crate) fn fill(
        &self,
        build: &BuildRef,
        progress: Progress<'_>,
        smoke_test_needed: bool,
        make: impl FnOnce(&Path, Progress<'_>) -> Result<Fetched>,
    ) -> Result<Artifact> {
        let entry = self.lock(build, progress)?;
        if let Some(artifact) = self.find_current(build, Some(&entry))? {
            return Ok(artifact);
        }
        (self.engines.check_room)(self.cache_dir()).map_err(|why| {
            SupplyError::Unavailable(format!("{build} is not obtained: {why}: free space first"))
        })?;
        let place = entry.place(self.server(&build.engine).is_some());
        let fetched = make(&place, progress)?;
        let options = CommitOptions { headers: None, smoke_test_needed };
        let artifact = self.commit(&entry, fetched, &options, progress)?;
        progress(&format!("cached in {}", entry.dir.display()));
        Ok(artifact)
    }

    /// Returns the directory of the whole cache.
    pub(crate) fn cache_dir(&self) -> &Path {
        self.root.parent().unwrap_or(&self.root)
    }

    /// Checks that the name is not that of an official build.
    pub(crate) fn check_own_name(&self, build: &BuildRef) -> Result<()> {
        if self.is_offered(checked(build)?) {
            return Err(SupplyError::Unavailable(format!(
                "{build} is the name of an official build: choose another name, as in {build}-mine"
            )));
        }
        Ok(())
    }

    /// Returns the build if cached and intact; uses no network.
    ///
    /// Reads the whole library to compare its hash: some 20 ms. A shim whose source changed is
    /// recompiled.
    ///
    /// # Errors
    /// When the cached build is damaged, or its shim cannot be recompiled.
    pub fn find(&self, build: &BuildRef) -> Result<Option<Artifact>> {
        self.find_with(build, None)
    }

    /// Returns the build if cached; `held` is its entry if locked by the caller.
    pub(crate) fn find_with(
        &self,
        build: &BuildRef,
        held: Option<&Entry>,
    ) -> Result<Option<Artifact>> {
        let Some(artifact) = self.intact(build)? else { return Ok(None) };
        match self.recipe(build).filter(|recipe| shims::is_stale(&artifact, recipe)) {
            None => Ok(Some(artifact)),
            Some(recipe) => match held {
                Some(entry) => self.recompile_shim(entry, artifact, &recipe).map(Some),
                // Another process may be recompiling it: check again under the lock.
                None => self.find_with(build, Some(&self.lock(build, &mut |_| ())?)),
            },
        }
    }

    /// Returns a cached build whose files are unchanged.
    fn intact(&self, build: &BuildRef) -> Result<Option<Artifact>> {
        let dir = self.dir_of(build)?;
        if !dir.try_exists().map_err(SupplyError::io("read", &dir))? {
            return Ok(None);
        }
        let damaged = |reason: String| self.damaged_build(build, &dir, &reason);
        trust::check(&dir, Entries::Closed).map_err(SupplyError::cache(&dir))?;
        let artifact = read_metadata(&dir, build).map_err(damaged)?;
        if let Some(tree) = &artifact.tree {
            return match tree.check(&dir, &artifact.sha256) {
                Ok(()) => Ok(Some(artifact)),
                // A package update replaced the distribution's server: find it again.
                Err(_changed) if tree.at.is_some() && self.is_offered(build) => Ok(None),
                Err(reason) => Err(damaged(reason)),
            };
        }
        let is_own = trust::check(&artifact.library, Entries::Closed);
        is_own.map_err(SupplyError::cache(&artifact.library))?;
        let found = digest(&artifact.library).map_err(|error| damaged(error.to_string()))?;
        if found != (artifact.sha256.clone(), artifact.bytes) {
            let (is, was) = (&found.0[..NAME_DIGITS], &artifact.sha256);
            let was = was.get(..NAME_DIGITS).unwrap_or(was);
            let name = library_name(&build.engine);
            return Err(damaged(format!(
                "the sha256 of {name} begins with {is}, but {was} was recorded"
            )));
        }
        Ok(Some(artifact))
    }

    /// Returns the error for a cached build that is not as it was stored.
    pub(crate) fn damaged_build(&self, build: &BuildRef, dir: &Path, reason: &str) -> SupplyError {
        SupplyError::Unavailable(format!(
            "the cached {build} in {} is damaged ({reason}): run `assay engine remove {build}`, \
             then {}",
            dir.display(),
            self.remedy(build)
        ))
    }

    /// Returns the shim recipe of the build's engine, if it needs one.
    pub(crate) fn recipe(&self, build: &BuildRef) -> Option<Recipe> {
        (self.engines.recipe)(&build.engine)
    }

    /// Locks the entry of a build, waiting for other processes.
    pub(crate) fn lock(&self, build: &BuildRef, progress: Progress<'_>) -> Result<Entry> {
        Entry::lock(&self.root, checked(build)?, progress)
    }

    /// Copies the user's library into the cache after its smoke test.
    ///
    /// A server's installation is not copied, for it may be large and may not be relocatable: it is
    /// used in place, and a changed program is detected.
    ///
    /// Without a version it is named by its hash, `user-` and 12 digits. Adding the same library
    /// under the same name again changes nothing. A library that finds others through a path
    /// relative to itself (`$ORIGIN`) will not find them from the cache.
    ///
    /// # Errors
    /// When the file is no library for this machine or not of that engine, its shim cannot be
    /// compiled, its smoke test fails, the directory has no server of that engine, or the name is
    /// taken.
    pub fn add(&self, own: &UserBuild<'_>, progress: Progress<'_>) -> Result<Artifact> {
        if let Some(server) = self.server(own.engine) {
            return self.add_server(own, &server, progress);
        }
        check_loadable(own.library)?;
        let (sha256, _) = digest(own.library)?;
        let is_same = |cached: &Artifact| cached.sha256 == sha256;
        let entry = match self.lock_own(own, &sha256, is_same, progress)? {
            Ok(entry) => entry,
            Err(cached) => return Ok(cached),
        };
        let place = entry.place(false);
        fs::copy(own.library, &place)
            .and_then(|_| fs::set_permissions(&place, Permissions::from_mode(0o755)))
            .map_err(SupplyError::io("copy", own.library))?;
        let path = own.library.canonicalize().unwrap_or_else(|_unreadable| own.library.to_owned());
        let origin = format!("added from {}", path.display());
        let options = CommitOptions { headers: own.headers, smoke_test_needed: true };
        self.commit(&entry, Fetched::copy_of(path, origin), &options, progress)
    }

    /// Locks the entry of a user's build, named by its hash unless by the user.
    ///
    /// Returns the cached build instead if it is the same.
    pub(crate) fn lock_own(
        &self,
        own: &UserBuild<'_>,
        sha256: &str,
        is_same: impl Fn(&Artifact) -> bool,
        progress: Progress<'_>,
    ) -> Result<Result<Entry, Artifact>> {
        let version = match own.version {
            Some(version) => version.to_owned(),
            None => format!("user-{}", &sha256[..NAME_DIGITS]),
        };
        let build = BuildRef { engine: own.engine.to_owned(), version: Some(version) };
        self.check_own_name(&build)?;
        let entry = self.lock(&build, progress)?;
        match self.find_with(&build, Some(&entry))? {
            None => Ok(Ok(entry)),
            Some(cached) if is_same(&cached) => Ok(Err(cached)),
            Some(cached) => Err(SupplyError::exists(&cached.build, &cached.origin)),
        }
    }

    /// Removes the build from the cache, intact or not, and its copy for other accounts.
    ///
    /// # Errors
    /// When it is not cached or cannot be removed.
    pub fn remove(&self, build: &BuildRef) -> Result<()> {
        let dir = self.dir_of(build)?;
        if !dir.try_exists().map_err(SupplyError::io("read", &dir))? {
            let text =
                format!("{build} is not cached: `assay engine list` shows the cached builds");
            return Err(SupplyError::Unavailable(text));
        }
        let entry = self.lock(build, &mut |_| ())?;
        if let Ok(artifact) = read_metadata(&dir, build) {
            artifact.remove_copy()?;
        }
        entry.clear()
    }

    /// Returns the cached builds by engine and version, oldest first.
    ///
    /// Hashes are not compared; entries without readable metadata are reported by
    /// [`Store::damaged`].
    pub fn list(&self) -> Vec<Artifact> {
        let builds = self.builds();
        let read = |build: &BuildRef| read_metadata(&self.dir_of(build).ok()?, build).ok();
        builds.iter().filter_map(read).collect()
    }

    /// Returns an error for each damaged entry; reads every library.
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
            // Releases first, then custom names.
            (build.engine.clone(), numbers.is_none(), numbers, build.version.clone())
        });
        builds
    }

    /// Returns the cached build unless its source has a newer one.
    fn find_current(&self, build: &BuildRef, held: Option<&Entry>) -> Result<Option<Artifact>> {
        let Some(artifact) = self.find_with(build, held)? else { return Ok(None) };
        let is_current = match self.sources_of(build).first() {
            Some(source) => source.is_current(&artifact)?,
            None => true,
        };
        Ok(is_current.then_some(artifact))
    }

    /// Returns the directory of a build's entry.
    ///
    /// # Errors
    /// When its name is not valid.
    pub fn dir_of(&self, build: &BuildRef) -> Result<PathBuf> {
        let version = checked(build)?.version.as_deref().unwrap_or_default();
        Ok(self.root.join(&build.engine).join(version))
    }
}

/// Returns the build if its name is valid and has a version.
fn checked(build: &BuildRef) -> Result<&BuildRef> {
    let text = build.to_string();
    match text.parse::<BuildRef>() {
        Ok(parsed) if parsed == *build && build.version.is_some() => Ok(build),
        Ok(_) => Err(SupplyError::Unavailable(format!("{build} names no version"))),
        Err(reason) => Err(SupplyError::Unavailable(reason)),
    }
}

/// Reads the metadata in `dir`, or returns what is wrong with it.
fn read_metadata(dir: &Path, build: &BuildRef) -> Result<Artifact, String> {
    let path = dir.join(METADATA_FILE);
    let text = fs::read_to_string(&path).map_err(|error| format!("{METADATA_FILE}: {error}"))?;
    let metadata: Artifact =
        serde_json::from_str(&text).map_err(|error| format!("{METADATA_FILE}: {error}"))?;
    if metadata.build != *build {
        return Err(format!("{METADATA_FILE} is of {}", metadata.build));
    }
    Ok(metadata.placed(dir))
}

/// Returns the names of the directories in `dir`, hidden ones left out.
fn names_in(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok().filter(|entry| entry.path().is_dir()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.'))
        .collect()
}
