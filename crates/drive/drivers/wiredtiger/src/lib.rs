//! WiredTiger as a system under test, behind a shim that is compiled for each build of it.
//!
//! Methods of WiredTiger are slots of structs whose layout changes from build to build, even
//! between builds of one version number. So nothing here knows them: `shim/wiredtiger.c` does,
//! compiled against each build's own header. One table of raw bytes, `table:data`, a B-tree or an
//! LSM tree (`assay.table`); one session and one cursor for each client.
//!
//! | durability | WiredTiger | what a write does |
//! |---|---|---|
//! | `none` | no log | changes pages in the cache; what eviction writes is no checkpoint |
//! | `os` | log, `transaction_sync.method=none` | the same, and its log record goes to `write()` |
//! | `sync` | log, `transaction_sync.method=fsync` | the same, then the log is synced |
//!
//! Whatever the class, a clean close is a checkpoint, and syncs. With a log there is a checkpoint
//! every 60 s or 2 GB of log, as MongoDB has it; without one logs would never be removed. Without
//! a log there is none until a step asks for it (`Flush`) or the engine is closed.
//!
//! Options are the engine's own, dotted where they nest: `eviction.threads_max`, `leaf_page_max`,
//! `lsm.chunk_size`. The engine itself says whether one belongs to `wiredtiger_open` or to
//! `WT_SESSION.create`; a name that both know is the first's, and with the prefix `table.` the
//! second's. The setting `background_jobs` bounds the eviction threads, and an LSM's workers.
//!
//! Counters are those of `statistics=(fast)`. The cache counts pages below the root, inner ones
//! too: a point read of a tree of three levels looks for two. `engine_page_write_bytes` is what the
//! block manager wrote: pages of eviction and checkpoints, and for an LSM its chunks and merges.
//! `engine_stall_us` is the time in which clients, readers too, waited for room in the cache, and
//! what an LSM throttled. The tree's height is that of the deepest search.
//!
//! Traps:
//!
//! - The default cache has 100 MB; its size bounds what is dirty, too, and a full one makes
//!   clients evict.
//! - A `Flush` leaves the file as large as it was: blocks of the checkpoint before are free only
//!   after it. `CompactAll` moves blocks to the front and cuts the file; in an LSM it merges.
//! - Pages are built when they are evicted or checkpointed, so a fill that fits the cache writes
//!   nothing before its checkpoint.
//! - An unset `direct_io` reads through the page cache: a second cache in front of the device.
//! - Version 12 has no LSM and no direct IO (it takes the option in silence; the shim refuses).
//! - Compressors that are not built in are extensions: found beside the library and, for the
//!   distribution's own, where it was installed. For another build name one of that very build:
//!   `extensions = ["PATH/libwiredtiger_snappy.so"]`.
//! - In 11.3, the battery sees reads of an LSM outside of a transaction miss what another session
//!   has committed; why is not known. So in an LSM each read is a transaction, in every build.
//! - The log's files are allocated beforehand, 100 MB each (`log.file_max`), and count as space.
//! - `session_max` is 1000 here, not 100, so that it does not bound the clients.
//!
//! Invariants: an option that would break the promise of the durability class is refused; a value
//! goes from its page to [`engine::Rows`] without a copy.
//!
//! To add an option of ours: a case in `request.rs`. What is counted: the tables in the shim.

mod extension;
mod recipe;
mod request;

use std::collections::BTreeMap;
use std::path::Path;

use engine::{Driver, EngineError};
use model::capability::{CACHE_SIZE, COMPRESSION, CONCURRENT_WRITERS, DIRECT_IO, Feature};
use model::{Capabilities, Durability, Identity, OpKind};
use shim::Binding;

pub use recipe::RECIPE;

/// Longest key and value: 4 GiB less 1 KiB.
///
/// Source: WiredTiger `btree.h`, `WT_BTREE_MAX_OBJECT_SIZE`.
const OBJECT_BYTES_MAX: u32 = u32::MAX - 1024;

static BINDING: Binding =
    Binding { engine: "wiredtiger", capabilities, translate: request::translate, own_files: &[] };

/// Loads a WiredTiger library with its shim and returns its driver.
///
/// # Errors
/// When the library or its shim is absent or cannot be loaded, or when the process holds another
/// engine's library already.
pub fn open_library(path: &Path) -> Result<Box<dyn Driver>, EngineError> {
    shim::open_library(path, &BINDING)
}

/// Returns what a build can do.
fn capabilities(identity: &Identity) -> Capabilities {
    let has = |fact: &str, lack: &str| match identity.facts.get(fact).map(String::as_str) {
        Some("yes") => Feature::Yes,
        _ => Feature::No(lack.to_owned()),
    };
    Capabilities {
        operations: OpKind::ALL.into(),
        durability: Durability::ALL.into(),
        key_bytes_max: None,
        value_bytes_max: Some(OBJECT_BYTES_MAX),
        features: BTreeMap::from([
            (CONCURRENT_WRITERS.to_owned(), Feature::Yes),
            (CACHE_SIZE.to_owned(), Feature::Yes),
            (COMPRESSION.to_owned(), Feature::Yes),
            (DIRECT_IO.to_owned(), has("direct_io", "versions from 12 on have none")),
            (request::LSM.to_owned(), has("lsm", "this build has no LSM: version 12 removed it")),
        ]),
    }
}
