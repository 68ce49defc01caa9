//! Samplers of the kernel's counters during a run.
//!
//! This crate reads no clock and stores no history: the runner decides when to sample, and computes
//! growth. `/proc`, `/sys` and control groups go in, [`model::Readings`] under the names of
//! [`model::metric::METRICS`] come out.
//!
//! Invariants: what the machine does not report is absent, never 0; counters are read as they are,
//! at the moment of the call (no averages of averages, no first sample since boot); parsers are
//! pure functions over text.
//!
//! To add a sampler, write one file under `source/`, with its `mod` line and its entry there.
//! Limits that a run is checked against before it begins are in `limit/`.

mod block_device;
mod cap;
mod control_group;
mod cpus;
mod error;
mod host_facts;
mod kernel_file;
mod limit;
mod memory_limit;
mod mount;
mod process_tree;
mod run;
mod running_server;
mod server_group;
mod source;
mod storage_basis;
mod targets;

pub use block_device::{BlockDevice, nearest_existing};
pub use cap::MemoryCap;
pub use control_group::{CgroupDir, enclosing_groups};
pub use cpus::{quota_cpus, usable_cpus};
pub use error::CapError;
pub use host_facts::host_facts;
pub use limit::{
    LOG_BYTES, Limit, Quota, Shortage, aio_events, cause_of_full, check_inodes, direct_io_error,
    has_no_thread_limit, io_uring_refusal, lack_of_inodes, limits, shortages,
    tightest_thread_limit, with_thread_limit,
};
pub use memory_limit::{free_memory, limit_notes, memory_limit, oom_evidence};
pub use mount::{Mount, holding, parse_mounts};
pub use run::for_run;
pub use running_server::RunningServer;
pub use server_group::ServerGroup;

pub use source::disk_free::free_space;
pub use source::host::{dirty_bytes, sample as host_readings};
pub use source::network::is_own_address;
pub use storage_basis::{OpenFiles, file_system, storage_basis};
pub use targets::{Foreign, IsLog, RunTargets, Sampler, ServerTargets};
