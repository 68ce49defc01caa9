//! Turns a fetched or user-installed server into a cache entry.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::facts::facts;
use super::hashes;
use super::installation;
use super::program::ServerProgram;
use super::public::first_closed;
use super::tree::{Files, TREE_DIR, Tree, is_open_to_all, open_to_all};
use super::version::version_of;
use crate::artifact::Artifact;
use crate::entry::Entry;
use crate::error::{Result, SupplyError};
use crate::library::digest;
use crate::program::listed;
use crate::source::{Fetched, Progress};
use crate::store::{Store, UserBuild};

/// Fact: the version line of a server's program.
const VERSION: &str = "version_string";

/// A server's program, not yet run.
struct Found {
    /// Its path in the tree.
    program: PathBuf,
    sha256: String,
    bytes: u64,
    facts: BTreeMap<String, String>,
}

impl Found {
    /// Returns the artifact of an entry; `files` are those in the cache.
    fn artifact(self, entry: &Entry, fetched: Fetched, files: Option<Files>) -> Artifact {
        let Fetched { origin, facts, copied: at } = fetched;
        Artifact {
            build: entry.build.clone(),
            library: PathBuf::new(),
            sha256: self.sha256,
            origin,
            bytes: files.as_ref().map_or(self.bytes, |files| files.bytes),
            facts: self.facts.into_iter().chain(facts).collect(),
            shim: None,
            tree: Some(Tree { root: PathBuf::new(), program: self.program, at, files }),
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
    ) -> Result<Artifact> {
        let ready = entry.work("ready")?;
        let (found, files) = match &fetched.copied {
            Some(root) => (self.find_program(server, root)?, None),
            None => {
                let tree = entry.place(true);
                open_to_all(&tree)?;
                let found = self.find_program(server, &tree)?;
                fs::rename(&tree, ready.join(TREE_DIR)).map_err(SupplyError::io("move", &tree))?;
                (found, Some(hashes::store_hashes(&ready)?))
            }
        };
        let artifact = found.artifact(entry, fetched, files);
        entry.commit(&ready, self.with_version(server, artifact, &ready)?)
    }

    /// Adds the user's installation by reference, without a copy.
    pub(crate) fn add_server(
        &self,
        own: &UserBuild<'_>,
        server: &ServerProgram,
        progress: Progress<'_>,
    ) -> Result<Artifact> {
        let root = installation::find(own.library, server)?;
        let found = self.find_program(server, &root)?;
        let is_same = |cached: &Artifact| {
            cached.sha256 == found.sha256 && cached.tree.as_ref().is_some_and(|it| it.root == root)
        };
        let entry = match self.lock_own(own, &found.sha256, is_same, progress)? {
            Ok(entry) => entry,
            Err(cached) => return Ok(cached),
        };
        let origin = format!("installation in {}", root.display());
        let ready = entry.work("ready")?;
        let fetched = Fetched { origin, facts: BTreeMap::new(), copied: Some(root) };
        let artifact = found.artifact(&entry, fetched, None);
        entry.commit(&ready, self.with_version(server, artifact, &ready)?)
    }

    /// Finds the server's program below `root`.
    fn find_program(&self, server: &ServerProgram, root: &Path) -> Result<Found> {
        let others = &self.engines.servers;
        let Some(program) = server.find(root) else {
            let other = others.iter().find(|other| other.find(root).is_some());
            let hint = other.map_or_else(String::new, |other| {
                format!("; it has the program of {}: {}", other.engine, as_engine(other, root))
            });
            return Err(SupplyError::Unavailable(format!(
                "no program of {} in {} (searched: {}){hint}",
                server.engine,
                root.display(),
                listed(server.candidates())
            )));
        };
        let path = root.join(&program);
        let (sha256, bytes) = digest(&path)?;
        let facts = facts(&path, root);
        Ok(Found { program, sha256, bytes, facts })
    }

    /// Runs the program of a server, below `ready` or in place, and notes its version.
    ///
    /// By root it is run as an account of its own, where that can enter. The path of a fetched tree
    /// is temporary: errors name its program by its build instead.
    fn with_version(
        &self,
        server: &ServerProgram,
        mut artifact: Artifact,
        ready: &Path,
    ) -> Result<Artifact> {
        let placed = artifact.clone().placed(ready);
        let Some(Tree { root, at, program, .. }) = placed.tree.clone() else { return Ok(artifact) };
        let shown = match at {
            Some(_) => {
                check_open_to_all(&placed.library, &root)?;
                placed.library.display().to_string()
            }
            None => format!("{} of {}", program.display(), placed.build),
        };
        let opened = placed.open_to_all()?;
        let version = self.version(server, &opened, &shown).and_then(|version| {
            self.check_installation(server, &opened, &version)?;
            Ok(version)
        });
        if version.is_err() {
            opened.remove_copy()?;
        }
        artifact.facts.insert(VERSION.to_owned(), version?);
        Ok(artifact)
    }

    /// Checks that a run will start this server: its release, and the files that it needs.
    fn check_installation(
        &self,
        server: &ServerProgram,
        artifact: &Artifact,
        version: &str,
    ) -> Result<()> {
        let Some(kind) = (self.engines.kind)(server.engine) else { return Ok(()) };
        let checked = kind.check_release(version);
        checked.and_then(|()| kind.check_files(&artifact.library, version)).map_err(|reason| {
            SupplyError::Unavailable(format!("{} cannot be run: {reason}", artifact.build))
        })
    }

    /// Returns the line of a program's version output that is the server's.
    fn version(&self, server: &ServerProgram, artifact: &Artifact, shown: &str) -> Result<String> {
        let root = artifact.tree.as_ref().map_or(Path::new("/"), |tree| &tree.root);
        let output = version_of(&artifact.library, root, shown)?;
        if let Some(version) = output.lines().find(|line| server.matches(line)) {
            return Ok(version.trim().to_owned());
        }
        let first = output.lines().next().unwrap_or("nothing");
        let other = self.engines.servers.iter().find(|other| other.matches(&output));
        let hint = other.map_or_else(String::new, |it| format!(": {}", as_engine(it, root)));
        Err(SupplyError::Unavailable(format!(
            "{shown} is not {}: its `--version` prints: {first}{hint}",
            server.engine
        )))
    }
}

/// Returns the command that adds an installation as a build of the right engine.
fn as_engine(ServerProgram { engine, .. }: &ServerProgram, root: &Path) -> String {
    format!("run `assay engine add {engine}@NAME {}`", root.display())
}

/// Checks that the account that a server of root runs as can run a program in place.
fn check_open_to_all(program: &Path, root: &Path) -> Result<()> {
    let remedy = match first_closed(root) {
        Some(dir) if rustix::process::geteuid().is_root() => format!("o+x {}", dir.display()),
        None if rustix::process::geteuid().is_root() && !is_open_to_all(program) => {
            format!("-R a+rX {}", root.display())
        }
        _ => return Ok(()),
    };
    Err(SupplyError::Unavailable(format!(
        "{} is closed to other users, but root starts servers as another user: chmod {remedy}",
        program.display(),
    )))
}

impl Tree {
    /// Checks that the files are unchanged, or returns what changed.
    ///
    /// Of a tree in the cache, all of them; of an installation used in place, its program.
    pub(crate) fn check(&self, entry: &Path, sha256: &str) -> Result<(), String> {
        let has_list = self.files.as_ref().is_some_and(|files| files.list_sha256.is_some());
        if !has_list {
            let program = self.root.join(&self.program);
            let (is, _) = digest(&program).map_err(|error| error.to_string())?;
            if is != sha256 {
                return Err(format!("{} changed since it was added", program.display()));
            }
        }
        self.files.as_ref().map_or(Ok(()), |files| hashes::check(entry, files))
    }
}
