//! Limits of this host, one file each, and what a run lacks of them.
//!
//! To add one: a file with its `LIMIT`, its `mod` line and its entry in [`LIMITS`].

mod define;

mod aio_events;
mod direct_io;
mod inodes;
mod io_uring;
mod memory;
mod open_files;
mod proc;
mod process_limits;
mod registry;
mod shared_memory;
mod threads;

pub use aio_events::aio_events;
pub use define::{Limit, Quota, Shortage};
pub use direct_io::direct_io_error;
pub use inodes::{cause_of_full, check_inodes, lack_of_inodes};
pub use io_uring::io_uring_refusal;
pub use process_limits::LOG_BYTES;
pub use registry::{limits, shortages};
pub use threads::{has_no_thread_limit, tightest_thread_limit, with_thread_limit};

/// Every limit, in the order of messages.
pub(crate) static LIMITS: &[&Limit] = &[
    &proc::LIMIT,
    &threads::LIMIT,
    &open_files::LIMIT,
    &process_limits::LIMIT,
    &memory::LIMIT,
    &shared_memory::LIMIT,
    &aio_events::LIMIT,
    &io_uring::LIMIT,
    &direct_io::LIMIT,
    &inodes::LIMIT,
];
