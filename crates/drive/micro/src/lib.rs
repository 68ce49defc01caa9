//! Microbenchmarks: checksums and compression over blocks, from libraries and from inside an
//! engine's build.
//!
//! It is no benchmark of an engine: a tight loop over a few blocks keeps code and data in the
//! nearest caches. It stands beside the drivers; one process serves one library, and is asked for
//! one short measurement at a time, so that whoever asks can take turns between processes.
//!
//! Invariants: every implementation's answer is checked before it is timed; a kernel that a library
//! does not offer is told with its reason; times come from the loop's own clock, whole batches at a
//! time.
//!
//! To add a kernel: a variant of [`model::Kernel`], its work in `kernel/crates.rs` and its symbol
//! in `kernel/ffi.rs`.

mod block;
mod kernel;
mod serve;
mod time;

pub use kernel::Set;
pub use serve::{Answer, Question, serve};
