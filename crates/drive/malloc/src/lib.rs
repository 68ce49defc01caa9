//! Memory allocators: their libraries, identification and statistics.
//!
//! It preloads nothing: `runner` starts the worker with the library that [`Libraries`] found, and
//! the worker checks with [`Heap::expect`] that this library serves `malloc`, since the loader
//! ignores a library that it cannot preload. Rust's own allocations go to `malloc` too, so client
//! and engine share the one heap. What an engine maps itself (LMDB, SplinterDB, parts of
//! WiredTiger) is in no allocator's statistics, only in the kernel's figures for the process.
//!
//! Invariants: an allocator is identified by the library that `malloc` resolves to, never by a name
//! or by the environment; a value that an allocator does not report is absent, never 0.
//!
//! To add an allocator: `model::Allocator`, its `Source` in an `ffi` file, and its lines in
//! `library::FILES` and `heap::KNOWN`.

mod error;
mod ffi;
mod ffi_jemalloc;
mod ffi_others;
mod heap;
mod library;
mod source;
mod tunable;

pub use error::MallocError;
pub use heap::Heap;
pub use library::Libraries;
pub use tunable::{Tunables, is_tunable};
