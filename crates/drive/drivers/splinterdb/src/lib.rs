//! SplinterDB as a system under test: any build since 2022, through a shim compiled for it.
//!
//! SplinterDB is an embedded store for NVMe: a size-tiered B-epsilon tree whose memtables and
//! branches are B-trees, with a page cache of its own and asynchronous IO. Its header changes from
//! commit to commit, so `shim/splinterdb.c` is compiled against the headers of each build; probes
//! tell what a build has (`recipe.rs`). It stands below `shim`, which does the rest; the program's
//! registry names [`open_library`] and [`RECIPE`].
//!
//! | durability | SplinterDB | what is kept |
//! |---|---|---|
//! | `none` | all there is | everything after a clean close; a crash may leave nothing to open |
//!
//! There is no recovery: `use_log` writes a log that nothing replays, and the engine never syncs.
//! The shim syncs the file when it closes and, where the build can write its cache back
//! (`splinterdb_cache_flush`, since 2023), on `flush`. `compact` is `splinterdb_optimize` (since
//! June 2026). Older builds have neither, and say so.
//!
//! Counters come from the engine's printed statistics and need `use_stats = 1`, which times every
//! operation (2 % of the CPU of a point read): `engine_page_write_bytes`, `engine_cache_hits` and
//! `_misses`, and the pages of each type under the engine's words. Without it, and in builds
//! before October 2022, writes are seen by process and device alone.
//!
//! Traps:
//! - A full disk ends the process by a signal, and `disk_size` is fixed for life. Unless it is set,
//!   it has room for six times the rows, overwrites included; the file is sparse, and each GiB of
//!   it takes 1 MiB of memory.
//! - A cache below four memtables ends or stops the process, so it is refused: 96 MiB, unless
//!   `memtable_capacity` is set. Builds of 2022 abort with memtables of 1 MiB.
//! - Without background threads (the engine's default) flushes and compactions run inside inserts.
//! - The page cache fills up to `cache_size` whatever the data, outside `malloc` in builds of 2026:
//!   it counts as resident memory, of the shared kind.
//! - Builds before June 2026 take values of 1,433 bytes at most, those before June 2025 keys of 100
//!   bytes and those before November 2022 of 103 (of 104, but then the key of 0xff alone is lost to
//!   scans). Builds before April 2026 read ranges upwards only: iterators go both ways since July
//!   2023, but lose rows where they turn at the border of a page. Capabilities tell.
//! - At most 64 threads work with it at one time, its own included.
//! - What it would print to stdout goes to `splinterdb.log`, archived with the run; what it prints
//!   before it ends the process goes to stderr.
//! - An option of 0 asks for the build's default, and is told as 0.
//! - A shim compiled against headers a few commits older than the library may pass the proof: the
//!   configuration is followed by zeros, so that fields the headers lack are at their defaults.
//!
//! To add an option, add the field to the table in `shim/splinterdb.c`: the shim tells its names.

mod binding;
mod options;
mod recipe;

pub use binding::open_library;
pub use recipe::RECIPE;
