//! Writes and reads the results archive.
//!
//! It is the only writer of results, and computes nothing itself: `fold` computes a step from its
//! intervals again. Values computed from an experiment's records are cached next to them, and the
//! cache may be deleted at any time. The runner uses it to write, and the programs to read.
//!
//! Invariants: files are appended or replaced by rename, never rewritten in place, so a kill at any
//! moment leaves every record readable; a file that cannot be parsed is an error that names it,
//! never a silent gap; a name read from a file is checked before it becomes part of a path; a
//! finished run has checksums, and a file read that differs from its own is noted. The layout is in
//! ARCHITECTURE.md, "What a run leaves behind".
//!
//! To change a shape: see `model::record`.

mod bundle;
mod checksum;
mod cuts;
mod derived;
mod device;
mod ended;
mod error;
mod experiment;
mod import;
mod layout;
mod limits;
mod lock;
mod log;
mod merge;
mod numbers;
mod output;
mod own;
mod pack;
mod parallel;
mod parts;
mod profile;
mod refold;
mod regular;
mod replace;
mod results;
mod run;
mod scratch;
mod summary;
mod tail;
mod transfer;
mod unpack;
mod verify;

pub use bundle::{BUNDLE, BundleFacts};
pub use checksum::{changed_files, checksum_of};
pub use error::ArchiveError;
pub use experiment::ExperimentDir;
pub use lock::HeldLocks;
pub use log::{HistogramLog, Log, LogLine, decode_histogram};
pub use merge::Merged;
pub use output::{OutputDir, write_output};
pub use own::OwnKey;
pub use parallel::parallel_map;
pub use parts::{Part, PartExperiment, PartSet, PartSetWriter};
pub use profile::{ProfileCheck, check_profiles, wrong_samples};
pub use refold::{IntervalLatency, Recount, latency, recount, trim_warmup};
pub use results::{Listing, Results};
pub use run::{HistogramPlace, RunWriter, read_intervals, read_record, step_tag};
pub use scratch::{ScratchDir, remove_scratch};
pub use summary::{ExperimentSummary, Summaries};
pub use tail::IntervalTail;
pub use transfer::{pack_run, unpack_run};
pub use verify::{FileCheck, Mismatch};
