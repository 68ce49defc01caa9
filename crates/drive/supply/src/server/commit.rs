//! Turns a fetched or user-installed server into a cache entry.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use model::BuildRef;

use super::facts::facts;
use super::program::{ServerProgram, has_program, places};
use super::tree::{Files, TREE_DIR, TreeMetadata, is_open_to_all, open_to_all, survey};
use super::version::version_of;
use crate::artifact::{Artifact, ArtifactMetadata};
use crate::entry::Entry;
use crate::error::SupplyError;
use crate::library::digest;
use crate::source::{Fetched, Progress};
use crate::store::{NAME_DIGITS, Store, UserBuild};

/// Fact: the version line of a server's program.
const VERSION: &str = "version_string";

/// A server's program, found and tested.
struct Found {
    /// Its path in the tree.
    program: PathBuf,
    sha256: String,
    bytes: u64,
    facts: BTreeMap<String, String>,
}

impl Found {
    /// Returns the metadata of an entry: location or list of files, and further facts.
    fn metadata(
        self,
        entry: &Entry,
        origin: String,
        (at, files): (Option<PathBuf>, Option<Files>),
        more: BTreeMap<String, String>,
    ) -> ArtifactMetadata {
        ArtifactMetadata {
            build: entry.build.clone(),
            sha256: self.sha256,
            origin,
            bytes: self.bytes,
            facts: self.facts.into_iter().chain(more).collect(),
            shim: None,
            tree: Some(TreeMetadata { program: self.program, at, files }),
        }
    }
}

impl Store {
    /// Returns the server program of an engine; `None` for a library.
    pub(crate) fn server(&self, engine: &str) -> Option<ServerProgram> {
        self.engines.servers.iter().find(|server| server.engine == engine).copied()
    }

    /// Commits the tree in the entry's work directory, or a reference to an installation.
    pub(crate) fn commit_server(
        &self,
        entry: &Entry,
        fetched: Fetched,
        server: &ServerProgram,
    ) -> Result<Artifact, SupplyError> {
        let Fetched { origin, facts, copied: at } = fetched;
        let tree = entry.place(true);
        let root = at.as_deref().unwrap_or(&tree);
        if at.is_none() {
            open_to_all(root)?;
        }
        let found = self.examine(server, root).map_err(|error| {
            // The path of a fetched tree is temporary: errors name the build instead.
            let build = Some(&entry.build).filter(|_| at.is_none());
            of_build(error, build, root)
        })?;
        let files = if at.is_none() { Some(survey(root)?) } else { None };
        let ready = entry.work("ready")?;
        if at.is_none() {
            let place = ready.join(TREE_DIR);
            fs::rename(&tree, &place).map_err(SupplyError::io("move", &tree))?;
        }
        entry.commit(&ready, found.metadata(entry, origin, (at, files), facts))
    }

    /// Adds the user's installation by reference, without a copy.
    pub(crate) fn add_server(
        &self,
        own: &UserBuild<'_>,
        server: &ServerProgram,
        progress: Progress<'_>,
    ) -> Result<Artifact, SupplyError> {
        let root = self.installation(own.library, server)?;
        let found = self.examine(server, &root)?;
        let version = match own.version {
            Some(version) => version.to_owned(),
            None => format!("user-{}", &found.sha256[..NAME_DIGITS]),
        };
        let build = BuildRef { engine: own.engine.to_owned(), version: Some(version) };
        self.check_own_name(&build)?;
        let entry = self.lock(&build, progress)?;
        if let Some(cached) = self.find_with(&build, Some(&entry))? {
            let is_same = cached.tree.as_ref().is_some_and(|tree| tree.root == root);
            if is_same && cached.sha256 == found.sha256 {
                return Ok(cached);
            }
            return Err(SupplyError::Exists { build: build.to_string(), origin: cached.origin });
        }
        let origin = format!("installation in {}", root.display());
        let ready = entry.work("ready")?;
        entry.commit(&ready, found.metadata(&entry, origin, (Some(root), None), BTreeMap::new()))
    }

    /// Returns the directory of an installation, links followed.
    fn installation(&self, given: &Path, server: &ServerProgram) -> Result<PathBuf, SupplyError> {
        let path = given.canonicalize().map_err(SupplyError::io("read", given))?;
        if path.is_dir() {
            return Ok(path);
        }
        let of_program = path.ancestors().skip(1).find(|dir| has_program(server, dir));
        let directory =
            of_program.map_or_else(|| "DIR".to_owned(), |dir| dir.display().to_string());
        Err(SupplyError::NotInstallation { path: given.to_owned(), directory })
    }

    /// Finds the server's program below `root` and checks its version output.
    fn examine(&self, server: &ServerProgram, root: &Path) -> Result<Found, SupplyError> {
        let Some(program) = server.find(root) else {
            let others = &self.engines.servers;
            let other = others.iter().find(|other| has_program(other, root));
            return Err(SupplyError::NoProgram {
                engine: server.engine,
                root: root.to_owned(),
                searched: places(server),
                other: other.map_or_else(String::new, |other| {
                    format!("; it has the program of {0}: is it {0}@NAME?", other.engine)
                }),
            });
        };
        let path = root.join(&program);
        let output = version_of(&path, root)?;
        let Some(version) = output.lines().find(|line| server.matches(line)) else {
            let first = output.lines().next().unwrap_or("nothing");
            return Err(SupplyError::OtherEngine {
                path,
                engine: server.engine.to_owned(),
                reason: format!(
                    "its `--version` prints: {first}{}",
                    self.other_engine_hint(&output)
                ),
            });
        };
        if rustix::process::geteuid().is_root() && !is_open_to_all(&path) {
            return Err(SupplyError::Closed { root: root.to_owned(), program: path });
        }
        let (sha256, bytes) = digest(&path)?;
        let mut facts = facts(&path, root);
        facts.insert(VERSION.to_owned(), version.trim().to_owned());
        Ok(Found { program, sha256, bytes, facts })
    }

    /// Returns a hint at the engine whose version output this is.
    fn other_engine_hint(&self, output: &str) -> String {
        let other = self.engines.servers.iter().find(|other| other.matches(output));
        other.map_or_else(String::new, |other| format!("; is it {}@NAME?", other.engine))
    }
}

/// Returns an error that names a program by its build instead of its path.
fn of_build(error: SupplyError, build: Option<&BuildRef>, root: &Path) -> SupplyError {
    if let (SupplyError::DoesNotRun { program, reason }, Some(build)) = (&error, build) {
        let program = program.strip_prefix(root).unwrap_or(program);
        let program = format!("{} of {build}", program.display()).into();
        return SupplyError::DoesNotRun { program, reason: reason.clone() };
    }
    error
}

impl TreeMetadata {
    /// Checks that program and files are unchanged, or returns what changed.
    ///
    /// Reads the program, and the names and sizes of the other files.
    pub(crate) fn check(&self, dir: &Path, sha256: &str) -> Result<(), String> {
        let root = self.root(dir);
        let program = root.join(&self.program);
        let (is, _) = digest(&program).map_err(|error| error.to_string())?;
        if is != sha256 {
            return Err(match self.at {
                Some(_) => format!("{} changed since it was added", program.display()),
                None => format!("the sha256 of {} changed", self.program.display()),
            });
        }
        let Some(was) = &self.files else { return Ok(()) };
        let is = survey(&root).map_err(|error| error.to_string())?;
        if is == *was {
            return Ok(());
        }
        Err(format!(
            "its files changed: {} of {} bytes in all, recorded were {} of {}",
            is.count, is.bytes, was.count, was.bytes
        ))
    }
}
