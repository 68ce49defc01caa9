//! CPU profiles of processes, sampled by Linux `perf` and folded into stacks with names.
//!
//! `perf` only records. Everything that is counted comes from its file: the event that was really
//! used, the samples of each measured span, the lost samples and the stacks.
//!
//! Invariants: a wrong or truncated file is an error, never a panic; an address without a symbol
//! is [`model::profile::UNKNOWN`] in its module, never a guess; a span without enough samples is
//! refused with its reason by [`refusal`].

mod address_space;
mod cost;
mod counters;
mod data_file;
mod demangle;
mod elf;
mod error;
mod fold;
mod perf_process;
mod profiler;
mod recorder;
mod refusal;
mod rooted;
mod span;
mod stack;
mod storage_engine;
mod symbols;
mod unwind;

pub use counters::Counters;
pub use error::ProfilerError;
pub use fold::Folded;
pub use profiler::Profiler;
pub use recorder::{Recorder, Recording};
pub use refusal::refusal;
pub use storage_engine::storage_engine_share;
