//! What the comparison needs of the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Serialize;
use tempfile::TempDir;

use crate::task::{ROWS, Task, Work};
use crate::{OURS, peer};

/// The peer, the library both use, and a place to work.
pub(crate) struct Setting {
    /// The library that the installed `db_bench` loads, and our driver too.
    pub(crate) library: PathBuf,
    scratch: TempDir,
}

/// One of the two clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Peer,
    Ours,
}

impl Setting {
    /// Returns the setting; the inner error says what the machine lacks and how to get it.
    pub(crate) fn find() -> Result<Result<Self, String>, String> {
        if !cfg!(target_os = "linux") {
            return Ok(
                Err("callgrind and the choice of a core are there on Linux only".to_owned()),
            );
        }
        for (program, package) in [("valgrind", "valgrind"), (peer::PROGRAM, "rocksdb-tools")] {
            if !is_installed(program) {
                let remedy = format!("install it (Debian's package `{package}`)");
                return Ok(Err(format!("{program} is not on the path: {remedy}")));
            }
        }
        let Some(library) = library_of(peer::PROGRAM)? else {
            let reason = "it was linked statically, so no driver can use the same one";
            return Ok(Err(format!("{} loads no librocksdb: {reason}", peer::PROGRAM)));
        };
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        Ok(Ok(Self { library, scratch }))
    }

    /// Returns the directory that one side has for one work; the sides' data is equal, not shared,
    /// so that they can run at the same time.
    pub(crate) fn place(&self, side: Side, work: &Work) -> PathBuf {
        self.scratch.path().join(format!("{side:?}-{}", work.step))
    }

    /// Returns that directory, empty before writes and filled before reads.
    fn ready(&self, side: Side, work: &Work) -> Result<PathBuf, String> {
        let dir = self.place(side, work);
        if dir.exists() && work.kind.is_write() {
            fs::remove_dir_all(&dir).map_err(|error| error.to_string())?;
        }
        if !dir.exists() {
            fs::create_dir(&dir).map_err(|error| error.to_string())?;
            if !work.kind.is_write() {
                self.fill(&dir)?;
            }
        }
        Ok(dir)
    }

    /// Returns a file of the scratch directory.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Returns the words that make `side` do its job.
    pub(crate) fn words(
        &self,
        side: Side,
        work: &Work,
        operations: u64,
    ) -> Result<Vec<String>, String> {
        let dir = self.ready(side, work)?;
        let task = self.task(work.step, operations, &dir);
        match side {
            Side::Peer => Ok(peer::words(work, &task)),
            Side::Ours => own_words(OURS, &task),
        }
    }

    /// Makes the data of the reads: every row once, compacted. Ours, because `db_bench` reads any
    /// rows with keys of its layout, and our client checks values.
    fn fill(&self, dir: &Path) -> Result<(), String> {
        run(&own_words(OURS, &self.task("fillseq", ROWS, dir))?)?;
        Ok(())
    }

    fn task(&self, step: &str, operations: u64, dir: &Path) -> Task {
        Task {
            step: step.to_owned(),
            operations,
            dir: dir.to_owned(),
            library: self.library.clone(),
        }
    }
}

/// Returns the words that start this program as our side of a comparison: its option, and what
/// to do.
///
/// # Errors
/// When this program's file is not known.
pub(crate) fn own_words(option: &str, task: &impl Serialize) -> Result<Vec<String>, String> {
    let myself = std::env::current_exe().map_err(|error| error.to_string())?;
    let task = serde_json::to_string(task).map_err(|error| error.to_string())?;
    Ok(vec![myself.display().to_string(), option.to_owned(), task])
}

/// Runs a program to its end and returns what it printed.
pub(crate) fn run(words: &[String]) -> Result<String, String> {
    let [program, arguments @ ..] = words else { return Err("no program".to_owned()) };
    let told = |reason: &str| format!("{program}: {reason}");
    let output = Command::new(program).args(arguments).output();
    let Output { status, stdout, stderr } = output.map_err(|error| told(&error.to_string()))?;
    if !status.success() {
        return Err(told(&format!("{status}: {}", String::from_utf8_lossy(&stderr))));
    }
    Ok(String::from_utf8_lossy(&stdout).into_owned())
}

/// Returns whether a program can be started.
pub(crate) fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Returns where a program of the path lies; `None` when there is none.
pub(crate) fn path_of(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|path| path.is_file())
}

/// Returns the RocksDB library that a program loads.
fn library_of(program: &str) -> Result<Option<PathBuf>, String> {
    let path = path_of(program).ok_or_else(|| format!("{program} is not on the path"))?;
    let list = run(&["ldd".to_owned(), path.display().to_string()])?;
    let line = list.lines().find(|line| line.contains("librocksdb"));
    Ok(line.and_then(|line| line.split_whitespace().nth(2)).map(PathBuf::from))
}
