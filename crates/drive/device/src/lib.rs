//! Measures storage with fio: what a device or a file system does here.
//!
//! No IO tester of ours: fio makes every request and times it. This crate writes its job files,
//! runs it as a child process, reads its JSON, and adds what the block layer counted meanwhile. It
//! stores nothing and draws nothing.
//!
//! Invariants: a file lies in a directory of our own, which is removed when [`TestFile`] is
//! dropped; a device is opened exclusively, and written only where its name was repeated; what was
//! never written is measured before anything is read from it.
//!
//! To add a kind of requests, add it to `model::IoPattern` and its lines to `job`.

mod counters;
mod error;
mod file;
mod fio;
mod job;
mod other_users;
mod output;
mod queue;
mod raw;
mod steady;
mod step;
mod trace;

pub use counters::{BlockStat, read_stat};
pub use error::DeviceError;
pub use file::{TestFile, check_parent};
pub use fio::Fio;
pub use job::{Job, Place, Work, WriteTarget};
pub use queue::{directory, settings};
pub use raw::RawDevice;
pub use steady::{ROUND_S, WriteBudget, settle};
pub use step::step_record;
pub use trace::{Direction, Tracer};
