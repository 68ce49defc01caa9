//! Errors of profiling, each with its remedy.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use model::Privilege;

/// An error of sampling processes or of reading the samples.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfilerError {
    /// `perf` is not installed.
    #[error(
        "CPU profiles need the program `perf`, and the search path has none that may be executed: \
         install perf (Debian: apt-get install linux-perf), or leave out --profile"
    )]
    NotInstalled,
    /// The kernel lets this account sample no such process: the messages of `perf`.
    #[error("the kernel refuses to sample these processes: perf {}; {_0}", Privilege::PROFILES)]
    Refused(String),
    /// The sampled processes have ended.
    #[error("perf has ended because the sampled processes have ended")]
    Ended,
    /// `perf` failed: its status and messages.
    #[error("perf failed ({status}): {messages}")]
    Failed {
        /// How perf ended.
        status: ExitStatus,
        /// The end of its messages.
        messages: String,
    },
    /// `perf` has not answered in time.
    #[error(
        "perf has not answered `{command}` within {seconds} s: check the load of the host, and run \
         `perf record -a sleep 1` by hand"
    )]
    Silent {
        /// The command of its control descriptor.
        command: String,
        /// The limit, seconds.
        seconds: u64,
    },
    /// `perf` has taken no sample of a busy thread.
    #[error("perf takes no samples on this host: run `perf record -e cpu-clock ls` by hand")]
    NoSample,
    /// A system call failed.
    #[error("cannot {action} ({source})")]
    Io {
        /// What failed.
        action: String,
        /// The error of the system.
        source: io::Error,
    },
    /// The file of samples cannot be read.
    #[error("cannot read the samples in {}: {message}", file.display())]
    File {
        /// The file that perf wrote.
        file: PathBuf,
        /// What is wrong with it.
        message: String,
    },
}

impl ProfilerError {
    /// Returns a function that turns a system error into "cannot `action`".
    pub(crate) fn io(action: &str) -> impl FnOnce(io::Error) -> Self + use<> {
        let action = action.to_owned();
        move |source| Self::Io { action, source }
    }

    /// Returns a function that turns an error of reading `file` into an error that names it.
    pub(crate) fn file<E: ToString>(file: &Path) -> impl FnOnce(E) -> Self + use<E> {
        let file = file.to_owned();
        move |error| Self::File { file, message: error.to_string() }
    }
}
