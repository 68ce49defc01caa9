//! Microbenchmarks of block checksums and compression.
//!
//! The code comes from Rust crates or from inside an engine's build. It is no benchmark of an
//! engine: a tight loop over a few blocks keeps code and data in the nearest caches. It stands next
//! to the drivers; one process serves one library and makes one short measurement per request, so
//! that the parent can interleave processes.
//!
//! Invariants: every implementation's result is checked before it is timed; a kernel that a library
//! does not offer is reported with the reason; times come from the loop's own clock, whole batches
//! at a time.
//!
//! To add a kernel: a variant of [`model::Kernel`], its work in `kernel/crates.rs` and its symbol
//! in `kernel/ffi.rs`.

mod block;
mod kernel;
mod serve;
mod time;

pub use kernel::Set;
pub use serve::{Request, Responder, Response};
