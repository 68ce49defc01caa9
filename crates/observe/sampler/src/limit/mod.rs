//! Limits of this host, one file each, and what a run lacks of them.
//!
//! To add one: a file with its `LIMIT`, and its line in [`registry`].

mod define;

pub(crate) mod aio_events;
pub(crate) mod direct_io;
pub(crate) mod io_uring;
pub(crate) mod memory;
pub(crate) mod open_files;
pub(crate) mod process_limits;
mod registry;
pub(crate) mod shared_memory;
pub(crate) mod threads;

pub use aio_events::aio_events;
pub use define::{Limit, Quota, Shortage};
pub use direct_io::direct_io_error;
pub use io_uring::io_uring_refusal;
pub use registry::{limits, shortages};
pub use threads::{has_no_thread_limit, tightest_thread_limit, with_thread_limit};
