//! Programs, library and scratch directory of the comparison.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Serialize;
use tempfile::TempDir;

use crate::ours::OURS;
use crate::peer;
use crate::task::{ROWS, Task, Work};

/// The shared library and the scratch directory of both clients.
pub(crate) struct Environment {
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

impl Environment {
    /// Returns the environment; the inner error names the missing part and its remedy.
    pub(crate) fn find() -> Result<Result<Self, String>, String> {
        if !cfg!(target_os = "linux") {
            return Ok(Err("callgrind and CPU pinning require Linux".to_owned()));
        }
        for (program, package) in [("valgrind", "valgrind"), (peer::PROGRAM, "rocksdb-tools")] {
            if !is_installed(program) {
                let remedy = format!("install it (Debian's package `{package}`)");
                return Ok(Err(format!("{program} is not on the path: {remedy}")));
            }
        }
        let Some(library) = library_of(peer::PROGRAM)? else {
            let reason = "it is linked statically, so no driver can use the same one";
            return Ok(Err(format!("{} loads no librocksdb: {reason}", peer::PROGRAM)));
        };
        let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
        Ok(Ok(Self { library, scratch }))
    }

    /// Returns the data directory of one side and work.
    ///
    /// The sides have equal, separate data, so that they can run at the same time.
    pub(crate) fn data_dir(&self, side: Side, work: &Work) -> PathBuf {
        self.scratch.path().join(format!("{side:?}-{}", work.step))
    }

    /// Returns that directory, empty before writes and filled before reads.
    fn ready(&self, side: Side, work: &Work) -> Result<PathBuf, String> {
        let dir = self.data_dir(side, work);
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

    /// Returns the command line of one side.
    pub(crate) fn args(
        &self,
        side: Side,
        work: &Work,
        operations: u64,
    ) -> Result<Vec<String>, String> {
        let dir = self.ready(side, work)?;
        let task = self.task(work.step, operations, &dir);
        match side {
            Side::Peer => Ok(peer::args(work, &task)),
            Side::Ours => own_args(OURS, &task),
        }
    }

    /// Fills the data of the reads with our client: every row once, compacted. `db_bench` reads any
    /// rows with keys of its layout, while our client checks values.
    fn fill(&self, dir: &Path) -> Result<(), String> {
        run(&own_args(OURS, &self.task("fillseq", ROWS, dir))?)?;
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

/// Returns the command line of this program as our side: option and task.
///
/// # Errors
/// When this program's file is not known.
pub(crate) fn own_args(option: &str, task: &impl Serialize) -> Result<Vec<String>, String> {
    let myself = std::env::current_exe().map_err(|error| error.to_string())?;
    let task = serde_json::to_string(task).map_err(|error| error.to_string())?;
    Ok(vec![myself.display().to_string(), option.to_owned(), task])
}

/// Runs a program to its end and returns what it printed.
pub(crate) fn run(args: &[String]) -> Result<String, String> {
    let [program, arguments @ ..] = args else { return Err("no program".to_owned()) };
    let failure = |reason: &str| format!("{program}: {reason}");
    let output = Command::new(program).args(arguments).output();
    let Output { status, stdout, stderr } = output.map_err(|error| failure(&error.to_string()))?;
    if !status.success() {
        return Err(failure(&format!("{status}: {}", String::from_utf8_lossy(&stderr))));
    }
    Ok(String::from_utf8_lossy(&stdout).into_owned())
}

/// Returns whether a program can be started.
pub(crate) fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Returns the file of a program on the path; `None` when missing.
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
