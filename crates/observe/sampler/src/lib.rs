//! Samplers: read the kernel's counters of a run into [`model::Readings`].
//!
//! This crate reads no clock and keeps no history: the runner decides when to sample, and what a
//! counter grew by. It stands beside the run in the flow: `/proc`, `/sys` and control groups go
//! in, readings under the names of [`model::metric::METRICS`] come out.
//!
//! Invariants: what the machine does not tell is absent, never 0, and [`Sampler::absence`] says
//! why; counters are read as they are, at the moment asked for (no averages of averages, no first
//! sample since boot); parsers are pure functions over text.
//!
//! To add a sampler, write one file under `source/` with a [`Sampler`] and add its line to
//! [`for_run`].

mod block_device;
mod cap;
mod control_group;
mod error;
mod host_facts;
mod kernel_file;
mod mount;
mod sampler;
mod server_group;
mod source;
mod thread_limits;
mod topology;

pub use cap::MemoryCap;
pub use control_group::CgroupDir;
pub use error::SampleError;
pub use host_facts::host_facts;
pub use sampler::{Foreign, IsLog, RunTargets, Sampler, ServerTargets, for_run};
pub use server_group::ServerGroup;
pub use source::dirty_bytes;
pub use thread_limits::{ThreadLimit, tightest_thread_limit};
