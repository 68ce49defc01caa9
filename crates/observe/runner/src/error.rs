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
    #[error("cannot start the worker {}, a process of this program: {_1}", _0.display())]
    Spawn(PathBuf, #[source] io::Error),
    /// The data directory holds files that are not ours.
    #[error(
        "{} is not empty and was not made by assay: it will not be touched; name an empty or new \
         directory with --data-dir", _0.display()
    )]
    NotOurs(PathBuf),
    /// The data directory cannot be used.
    #[error(
        "cannot use {} for data: {_1}; name another directory with --data-dir",
        std::path::absolute(_0).as_ref().unwrap_or(_0).display()
    )]
    DataDir(PathBuf, #[source] io::Error),
    /// The disk of a directory has less free space than must stay free, before the first run.
    #[error("only {_1} are free on the file system of {}, and the disk floor is {_2}", _0.display())]
    DiskFloor(PathBuf, model::Bytes, model::Bytes),
    /// The memory cap cannot be set.
    #[error("the memory cap cannot be set: {0}; to run without a memory cap, leave `memory` out")]
    MemoryCap(#[from] sampler::CapError),
    /// The engine of the variant of this name refused to open, before machine time was spent.
    #[error("variant {0}: {1}")]
    Refused(String, Refusal),
    /// A variant's server does not run.
    #[error(transparent)]
    Server(ServerError),
    /// The CPUs of this process do not suffice for the requested placement; with the remedy.
    #[error("{0}: {1}")]
    Placement(String, String),
    /// The client cannot offer the rate of the step at this position; with the remedy.
    #[error("{1}: {2}")]
    Load(usize, String, String),
    /// The system does not allow the requested number of client threads; with the remedy.
    #[error("{0}: {1}")]
    Clients(String, String),
    /// A step cannot be executed as specified.
    #[error(transparent)]
    Step(#[from] workload::WorkloadError),
    /// CPU profiles cannot be taken on this host.
    #[error(transparent)]
    Profiler(#[from] profiler::ProfilerError),
    /// The disk of the experiment's events cannot be simulated.
    #[error("`disk_full` and `fsync_fails` need a simulated disk, which only root can mount: {0}")]
    SimulatedDisk(#[from] crashfs::MountError),
    /// The user stopped before the first run.
    #[error("interrupted before the first run")]
    Interrupted,
}
