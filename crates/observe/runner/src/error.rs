//! How running an experiment fails, as opposed to how a run ends.

use std::io;
use std::path::PathBuf;

/// What keeps an experiment from being run; a run that ends badly is not an error but a record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// The archive cannot be written or read.
    #[error(transparent)]
    Archive(#[from] archive::ArchiveError),
    /// The worker process cannot be started.
    #[error("cannot start the worker {}: {source}", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The data directory is not ours.
    #[error(
        "{} is not empty and was not made by assay: it will not be touched; name an empty or new \
         directory with --data-dir", path.display()
    )]
    NotOurs {
        /// The directory.
        path: PathBuf,
    },
    /// The data directory cannot be used.
    #[error("cannot use {} for data: {source}; name another directory with --data-dir", path.display())]
    DataDir {
        /// The directory.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The disk is below the floor before the first run.
    #[error("only {free} free on the file system of {}, and {floor} must stay free", path.display())]
    DiskFloor {
        /// The directory.
        path: PathBuf,
        /// Free space.
        free: model::Bytes,
        /// What must stay free.
        floor: model::Bytes,
    },
    /// The memory cap cannot be set.
    #[error("{0}")]
    MemoryCap(String),
    /// A variant's engine refused to open, before machine time was spent.
    #[error("variant {variant}: {reason}")]
    Refused {
        /// The variant.
        variant: String,
        /// The culprit, when it is an option.
        option: Option<String>,
        /// The engine's own words.
        reason: String,
        /// The options it has, when it tells.
        known: Vec<String>,
    },
    /// The CPUs of this process do not suffice for the placement asked for.
    #[error("{message}: {remedy}")]
    Placement {
        /// What is asked for and what there is.
        message: String,
        /// What to do about it.
        remedy: String,
    },
    /// A variant's engine takes no keys or values as long as those asked for.
    #[error("variant {variant}: {message}: {remedy}")]
    TooLong {
        /// The variant.
        variant: String,
        /// What is too long, as experiment files name it.
        word: String,
        /// What is asked for and what the engine takes.
        message: String,
        /// What to do about it.
        remedy: String,
    },
    /// A variant cannot have the allocator it asks for.
    #[error("variant {variant}: {message}: {remedy}")]
    Allocator {
        /// The variant.
        variant: String,
        /// What is asked for and what was found.
        message: String,
        /// What to do about it.
        remedy: String,
    },
    /// The client cannot offer what a step asks for on this host.
    #[error("{message}: {remedy}")]
    Load {
        /// Position of the step in the experiment, 0-based.
        step_index: usize,
        /// What it can do and what was asked, with the figures.
        message: String,
        /// What to do about it.
        remedy: String,
    },
    /// The system does not allow as many client threads as are asked for.
    #[error("{message}: {remedy}")]
    Clients {
        /// What is allowed and what was asked, with the figures.
        message: String,
        /// What to do about it.
        remedy: String,
    },
    /// A step cannot be executed as asked.
    #[error(transparent)]
    Step(#[from] workload::WorkloadError),
    /// The user stopped before the first run.
    #[error("interrupted before the first run")]
    Interrupted,
}
