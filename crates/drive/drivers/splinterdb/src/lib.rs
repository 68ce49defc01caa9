//! SplinterDB as a system under test: any build since 2022, through a shim compiled for it.
//!
//! SplinterDB is an embedded store for NVMe: a STB-epsilon-tree whose memtables and branches are
//! B-trees, with a user-level page cache and asynchronous direct IO. Its header changes from commit
//! to commit, so `shim/splinterdb.c` is compiled against the headers of each build; probes tell
//! what a build has (`recipe.rs`). It stands below `shim`, which does the rest; the program's
//! registry names [`open_library`] and [`RECIPE`].
//!
//! | durability | SplinterDB | what is kept |
//! |---|---|---|
//! | `none` | all there is | everything, after a clean close; a crash may leave nothing to open |
//!
//! There is no recovery: `use_log` writes a log that nothing replays, and the engine never syncs.
//! The shim syncs the file when it closes and, where the build can write its cache back
//! (`splinterdb_cache_flush`, since 2023), on `flush`. `compact` is `splinterdb_optimize` (since June
//! 2026). Older builds have neither, and say so.
//!
//! Counters come from the engine's printed statistics and need `use_stats = 1`, which times every
//! operation: `engine_page_write_bytes`, `engine_cache_hits` and `_misses`, and the pages of each
//! type under the engine's words. Without it, writes are seen by process and device alone.
//!
//! Traps:
//! - A full disk ends the process by a signal, and `disk_size` is fixed for life. Unless it is set, it
//!   has room for six times the rows, overwrites included; the file is sparse.
//! - Without background threads (the engine's default) flushes and compactions run inside inserts.
//! - The page cache fills up to `cache_size` whatever the data, outside `malloc` in builds of 2026:
//!   it counts as resident memory, of the shared kind.
//! - Builds before June 2026 refuse values above 1,433 bytes, builds before November 2022 keys above
//!   103 bytes, builds before July 2023 read ranges upwards only. Capabilities tell.
//! - At most 64 threads work with it at one time, its own included.
//! - What it would print to stdout goes to `splinterdb.log`, archived with the run; what it prints
//!   before it ends the process goes to stderr.
//! - An option of 0 asks for the build's default, and is told as 0.
//!
//! To add an option, add the field to the table in `shim/splinterdb.c`: the shim tells its names.

mod binding;
mod options;
mod recipe;

pub use binding::open_library;
pub use recipe::RECIPE;
