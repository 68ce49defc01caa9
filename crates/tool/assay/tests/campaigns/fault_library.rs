//! The library that injects faults: `faults.c`, compiled here.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use crate::sandbox::note;

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The process is killed, in the middle of a write.
    Kill,
    /// The call fails with EIO.
    Io,
    /// The disk is full from this call on.
    Full,
    /// A write is shorter than requested.
    Short,
}

impl Fault {
    /// Returns its name in `faults.c`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Io => "io",
            Self::Full => "full",
            Self::Short => "short",
        }
    }

    /// Returns whether the system can do this at a call.
    pub(crate) fn fits(self, call: &Call) -> bool {
        let is_write = matches!(&*call.name, "write" | "pwrite" | "writev");
        match self {
            Self::Kill | Self::Io => true,
            Self::Full => !matches!(&*call.name, "close" | "unlink" | "rmdir"),
            Self::Short => is_write,
        }
    }
}

/// A call that changes a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// Its position among those that count, 1-based.
    pub(crate) number: usize,
    /// Its name.
    pub(crate) name: String,
    /// The file or directory.
    pub(crate) path: PathBuf,
}

/// The compiled library, with a log of the calls.
pub(crate) struct FaultLibrary {
    dir: TempDir,
}

impl FaultLibrary {
    /// Compiles it; prints why where that is impossible.
    pub(crate) fn compile() -> Option<Self> {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let source = dir.path().join("faults.c");
        fs::write(&source, include_str!("faults.c")).expect("a scratch directory");
        let mut command = Command::new("cc");
        command.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]).arg(&source);
        match command.arg("-o").arg(dir.path().join("faults.so")).output() {
            Ok(output) => {
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                Some(Self { dir })
            }
            Err(error) => {
                note(&format!("skipped: no C compiler `cc` ({error}): install gcc or clang"));
                None
            }
        }
    }

    /// Lets a command count its calls on paths that start with one of `below`, separated by colons,
    /// and fail at the one of that number, if any.
    ///
    /// Its children inherit the library without its settings, so it does nothing in them.
    pub(crate) fn inject(&self, command: &mut Command, below: &str, at: Option<(usize, Fault)>) {
        let (number, kind) = at.map_or((0, "none"), |(number, fault)| (number, fault.name()));
        let log = self.log();
        if log.exists() {
            fs::remove_file(&log).expect("a scratch directory");
        }
        command.env("LD_PRELOAD", self.dir.path().join("faults.so"));
        command.env("FAULT_BELOW", below).env("FAULT_LOG", log);
        command.env("FAULT_AT", number.to_string()).env("FAULT_KIND", kind);
    }

    /// Returns the calls of the last command.
    pub(crate) fn calls(&self) -> Vec<Call> {
        let text = fs::read_to_string(self.log()).unwrap_or_default();
        let call = |line: &str| {
            let (number, rest) = line.split_once(' ')?;
            let (name, path) = rest.split_once(' ')?;
            Some(Call { number: number.parse().ok()?, name: name.to_owned(), path: path.into() })
        };
        text.lines().map(|line| call(line).expect("`NUMBER CALL PATH`")).collect()
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("calls")
    }
}
