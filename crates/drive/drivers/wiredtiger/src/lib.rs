//! WiredTiger driver, through a shim compiled for each build.
//!
//! Methods of WiredTiger are slots of structs whose layout changes from build to build, even
//! between builds of one version number. So only `shim/wiredtiger.c` uses them,
//! compiled against each build's own header. One table of raw bytes, `table:data`, a B-tree or an
//! LSM tree (`assay.table`); one session and one cursor for each client.
//!
//! Whatever the durability class, a clean close is a checkpoint, and syncs. With a log there is a
//! checkpoint every 60 s or 2 GB of log, as in MongoDB; without checkpoints logs would never be
//! removed. Without a log the only checkpoints are those of `Flush` and close.
//!
//! In 11.3, the battery finds that reads of an LSM outside of a transaction miss commits of other
//! sessions (cause unknown). So in an LSM each read is a transaction, in every build. Version 12
//! silently ignores `direct_io`; the shim refuses it. `docs/engines/wiredtiger.md` has what a user
//! needs.
//!
//! Parts of values are changed by `WT_CURSOR::modify` in a transaction, so that no change is lost,
//! unless `assay.value_changes` is `read-modify-write`. A B-tree stores and logs the change alone,
//! an LSM the whole value.
//!
//! Invariants: an option that would break the guarantee of the durability class is refused; a
//! value goes from its page to [`engine::Rows`] without a copy.
//!
//! To add an option of the driver: a case in `config.rs`. To add a counter: the tables in the shim.

mod binding;
mod config;
mod extension;
mod reach;

pub use binding::{RECIPE, open_library};
pub use reach::REACH;
