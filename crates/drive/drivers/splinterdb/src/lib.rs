//! SplinterDB driver: any build since 2022, through a compiled shim.
//!
//! SplinterDB is an embedded store for NVMe: a size-tiered B-epsilon tree whose memtables and
//! branches are B-trees, with a page cache of its own and asynchronous IO. Its header changes from
//! commit to commit, so `shim/splinterdb.c` is compiled against the headers of each build; probes
//! detect a build's features (`recipe.rs`). It stands below `shim`, the generic part; the program's
//! registry names [`open_library`] and [`RECIPE`].
//!
//! There is no recovery: `use_log` writes a log that nothing replays, and the engine never syncs.
//! The shim syncs the file when it closes and, where the build can write its cache back
//! (`splinterdb_cache_flush`, since 2023), on `flush`. `compact` is `splinterdb_optimize` (since
//! June 2026). Older builds have neither, and report so. Keys of 104 bytes of the oldest builds are
//! refused: scans lose the key of all 0xff. Iterators go both ways since July 2023, but lose rows
//! where they turn at the border of a page, until April 2026.
//!
//! Parts of values are changed by a lookup and an insert of the whole. `splinterdb_update` would
//! add a message that merge functions of the `data_config` combine with the value later. It is
//! blind: it reports neither an absent row nor bytes beyond a value's end, so right answers would
//! need the lookup that it saves. What is left is a shorter insert (of 1.4 kB at most in builds
//! before blobs), against merge functions whose signatures change from build to build, and data
//! that only they can read.
//!
//! A shim compiled against headers a few commits older than the library may pass the smoke test:
//! the configuration is followed by zeros, so that fields the headers lack have defaults.
//! `docs/engines/splinterdb.md` has what a user needs.
//!
//! To add an option, add the field to the table in `shim/splinterdb.c`: the shim reports the names.
//! A boolean is in `FLAGS` in `config.rs`, too.

mod binding;
mod config;
mod recipe;

pub use binding::open_library;
pub use recipe::RECIPE;
