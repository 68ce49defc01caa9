//! Errors that stop an experiment; a failed run is a record.

use std::io;
use std::path::PathBuf;

use engine::Refusal;
use server::ServerError;

/// An error that stops an experiment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// The archive cannot be written or read.
    #[error(transparent)]
    Archive(#[from] archive::ArchiveError),
    /// The worker process cannot be started: the program, and the system's reason.
    #[error("cannot start the worker {}: {_1}", _0.display())]
    Spawn(PathBuf, #[source] io::Error),
    /// The data directory holds files that are not ours.
    #[error(
        "{} is not empty and was not made by assay: it will not be touched; name an empty or new \
         directory with --data-dir", _0.display()
    )]
    NotOurs(PathBuf),
    /// The data directory cannot be used.
    #[error("cannot use {} for data: {_1}; name another directory with --data-dir", _0.display())]
    DataDir(PathBuf, #[source] io::Error),
    /// The disk of a directory is below the floor before the first run.
    #[error("only {free} free on the file system of {}, and {floor} must stay free", path.display())]
    DiskFloor {
        /// The directory.
        path: PathBuf,
        /// Free space.
        free: model::Bytes,
        /// Space that must stay free.
        floor: model::Bytes,
    },
    /// The memory cap cannot be set.
    #[error("{0}")]
    MemoryCap(String),
    /// A variant's engine refused to open, before machine time was spent.
    #[error("variant {variant}: {refusal}")]
    Refused {
        /// The variant.
        variant: String,
        /// The cause.
        refusal: Refusal,
    },
    /// A variant's server does not run.
    #[error(transparent)]
    Server(ServerError),
    /// The CPUs of this process do not suffice for the requested placement; with the remedy.
    #[error("{0}: {1}")]
    Placement(String, String),
    /// The client cannot offer a step's rate on this host.
    #[error("{message}: {remedy}")]
    Load {
        /// Position of the step in the experiment, 0-based.
        step_index: usize,
        /// The ceiling and the requested rate.
        message: String,
        /// The remedy.
        remedy: String,
    },
    /// The system does not allow the requested number of client threads.
    #[error("{message}: {remedy}")]
    Clients {
        /// The allowed and the requested number.
        message: String,
        /// The remedy.
        remedy: String,
    },
    /// A step cannot be executed as specified.
    #[error(transparent)]
    Step(#[from] workload::WorkloadError),
    /// The user stopped before the first run.
    #[error("interrupted before the first run")]
    Interrupted,
}
