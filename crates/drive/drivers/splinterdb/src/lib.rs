//! SplinterDB driver: any build since 2022, through a compiled shim.
//!
//! SplinterDB is an embedded store for NVMe: a size-tiered B-epsilon tree whose memtables and
//! branches are B-trees, with a page cache of its own and asynchronous IO. Its header changes from
//! commit to commit, so `shim/splinterdb.c` is compiled against the headers of each build; probes
//! detect a build's features (`recipe.rs`). It stands below `shim`, the generic part; the program's
//! registry names [`open_library`] and [`RECIPE`].
//!
//! | durability | SplinterDB | guarantee |
//! |---|---|---|
//! | `none` | the only class | everything after a clean close; a crash may leave nothing to open |
//!
//! There is no recovery: `use_log` writes a log that nothing replays, and the engine never syncs.
//! The shim syncs the file when it closes and, where the build can write its cache back
//! (`splinterdb_cache_flush`, since 2023), on `flush`. `compact` is `splinterdb_optimize` (since
//! June 2026). Older builds have neither, and report so.
//!
//! Counters come from the engine's printed statistics and need `use_stats = 1`, which times every
//! operation (2 % of the CPU of a point read): `engine_page_write_bytes`, `engine_cache_hits` and
//! `_misses`, and the pages of each type under the engine's names. Without it, and in builds
//! before October 2022, writes are measured by process and device only.
//!
//! Pitfalls:
//! - A full disk ends the process by a signal, and `disk_size` is fixed for life. Unless it is set,
//!   it has room for six times the rows, overwrites included; the file is sparse, and each GiB of
//!   it takes 1 MiB of memory.
//! - A cache below four memtables ends or stops the process, so it is refused: 96 MiB, unless
//!   `memtable_capacity` is set. Builds of 2022 abort with memtables of 1 MiB.
//! - Without background threads (the engine's default) flushes and compactions run inside inserts.
//! - The page cache fills up to `cache_size` whatever the data, outside `malloc` in builds of 2026:
//!   it counts as resident memory, of the shared kind.
//! - Builds before June 2026 take values of 1,433 bytes at most, those before June 2025 keys of 100
//!   bytes and those before November 2022 of 103 (of 104, but then scans lose the key of all 0xff).
//!   Builds before April 2026 read ranges upwards only: iterators go both ways since July 2023, but
//!   lose rows where they turn at the border of a page. The capabilities reflect all of this.
//! - At most 64 threads use it at one time, its own included.
//! - Its stdout goes to `splinterdb.log`, archived with the run; messages before it aborts go to
//!   stderr.
//! - An option of 0 selects the build's default, and is reported as 0.
//! - A shim compiled against headers a few commits older than the library may pass the smoke
//!   test: the configuration is followed by zeros, so that fields the headers lack have defaults.
//!
//! To add an option, add the field to the table in `shim/splinterdb.c`: the shim reports the names.

mod binding;
mod config;
mod recipe;

pub use binding::open_library;
pub use recipe::RECIPE;
