//! WiredTiger driver, through a shim compiled for each build.
//!
//! Methods of WiredTiger are slots of structs whose layout changes from build to build, even
//! between builds of one version number. So only `shim/wiredtiger.c` uses them,
//! compiled against each build's own header. One table of raw bytes, `table:data`, a B-tree or an
//! LSM tree (`assay.table`); one session and one cursor for each client.
//!
//! | durability | WiredTiger | what a write does |
//! |---|---|---|
//! | `none` | no log | changes pages in the cache; evicted pages are no checkpoint |
//! | `os` | log, `transaction_sync.method=none` | the same, and its log record goes to `write()` |
//! | `sync` | log, `transaction_sync.method=fsync` | the same, then the log is synced |
//!
//! Whatever the class, a clean close is a checkpoint, and syncs. With a log there is a checkpoint
//! every 60 s or 2 GB of log, as in MongoDB; without checkpoints logs would never be removed.
//! Without a log the only checkpoints are those of `Flush` and close.
//!
//! Options are the engine's own, dotted where they nest: `eviction.threads_max`, `leaf_page_max`,
//! `lsm.chunk_size`. The engine itself decides whether one belongs to `wiredtiger_open` or
//! to `WT_SESSION.create`; a name of both goes to the first, and with the prefix `table.` to the
//! second. The setting `background_jobs` bounds the eviction threads, and an LSM's workers.
//!
//! Counters are those of `statistics=(fast)`. The cache counts pages below the root, including
//! inner ones: a point read of a tree of three levels looks up two. `engine_page_write_bytes`
//! counts block manager writes: pages of eviction and checkpoints, and for an LSM its chunks and
//! merges. `engine_stall_us` is the time that clients, readers too, waited for room in the cache,
//! and an LSM's throttling. The tree's height is that of the deepest search.
//!
//! Pitfalls:
//!
//! - The default cache has 100 MB; its size also bounds dirty pages, and clients evict when it is
//!   full.
//! - A `Flush` leaves the file as large as it was: blocks of the checkpoint before are free only
//!   after it. `CompactAll` moves blocks to the front and truncates the file; in an LSM it
//!   merges.
//! - Pages are built when they are evicted or checkpointed, so a fill that fits the cache writes
//!   nothing before its checkpoint.
//! - An unset `direct_io` reads through the page cache: a second cache in front of the device.
//! - Version 12 has no LSM and no direct IO (it silently ignores the option; the shim refuses it).
//! - Compressors that are not built in are extensions: found next to the library and, for the
//!   distribution's own, where it was installed. For another build name one of the same build:
//!   `extensions = ["PATH/libwiredtiger_snappy.so"]`.
//! - In 11.3, the battery finds that reads of an LSM outside of a transaction miss commits of other
//!   sessions (cause unknown). So in an LSM each read is a transaction, in every build.
//! - Log files are preallocated, 100 MB each (`log.file_max`), and count as space.
//! - `session_max` is 1000 here, not 100, so that it does not bound the clients.
//!
//! Invariants: an option that would break the guarantee of the durability class is refused; a
//! value goes from its page to [`engine::Rows`] without a copy.
//!
//! To add an option of the driver: a case in `config.rs`. To add a counter: the tables in the shim.

mod binding;
mod config;
mod extension;
mod recipe;

pub use binding::open_library;
pub use recipe::RECIPE;
