//! Every engine this program can drive.
//!
//! To add one: its driver crate, and one line in [`ENGINES`].

use engine::{Driver, EngineError};
use plan::{Builds, EngineInfo};
use runner::Library;
use shim::Recipe;

/// How an engine's driver is had.
enum Source {
    /// Linked into this program.
    Linked(fn() -> Box<dyn Driver>),
    /// Loaded at run time, so one program drives every release.
    Loaded(Open),
    /// Loaded behind a shim, which is compiled for each build.
    Shimmed(Open, Recipe),
    /// Linked when no version is named, else loaded.
    Either(fn() -> Box<dyn Driver>, Open),
}

/// Opens a library.
type Open = fn(&std::path::Path) -> Result<Box<dyn Driver>, EngineError>;

/// The engines, in the order they are listed.
#[rustfmt::skip]
static ENGINES: &[(&str, &str, Source)] = &[
    ("rocksdb", "LSM tree; any release from 5.18 on", Source::Loaded(driver_rocksdb::open_library)),
    ("leveldb", "LSM tree with one background thread", Source::Loaded(driver_leveldb::open_library)),
    ("splinterdb", "B-epsilon tree for NVMe; any build since 2022", Source::Shimmed(driver_splinterdb::open_library, driver_splinterdb::RECIPE)),
    ("sqlite", "B-tree with SQL in front", Source::Either(driver_sqlite::driver, driver_sqlite::open_library)),
    ("lmdb", "copy-on-write B-tree in mapped memory", Source::Linked(driver_lmdb::driver)),
    ("redb", "copy-on-write B-tree in Rust", Source::Linked(driver_redb::driver)),
    ("fjall", "LSM tree in Rust, with or without key-value separation", Source::Linked(driver_fjall::driver)),
    ("memory", "reference: an ordered map, the oracle of the tests", Source::Linked(|| Box::<engine::memory::MemoryDriver>::default())),
    ("null", "reference: does nothing; shows what the client costs", Source::Linked(|| Box::<engine::null::NullDriver>::default())),
    ("faulty", "reference: misbehaves on a script, to test the harness", Source::Linked(|| Box::<engine::faulty::FaultyDriver>::default())),
];

/// Returns what the planner must know of each engine.
pub(crate) fn infos() -> Vec<EngineInfo> {
    let info = |(name, _, source): &(&'static str, &str, Source)| EngineInfo {
        name,
        builds: match source {
            Source::Linked(_) => Builds::Linked,
            Source::Loaded(_) | Source::Shimmed(..) => Builds::Loaded,
            Source::Either(..) => Builds::Either,
        },
    };
    ENGINES.iter().map(info).collect()
}

/// Returns name and description of each engine.
pub(crate) fn descriptions() -> impl Iterator<Item = (&'static str, &'static str)> {
    ENGINES.iter().map(|(name, about, _)| (*name, *about))
}

/// Returns how the shim of an engine is compiled; `None` for an engine that needs none.
pub(crate) fn recipe(name: &str) -> Option<Recipe> {
    ENGINES.iter().find_map(|(known, _, source)| match source {
        Source::Shimmed(_, recipe) if *known == name => Some(*recipe),
        Source::Shimmed(..) | Source::Linked(_) | Source::Loaded(_) | Source::Either(..) => None,
    })
}

/// Returns the driver of an engine; one that is loaded needs its library.
pub(crate) fn driver(
    name: &str,
    library: Option<&Library>,
) -> Result<Box<dyn Driver>, EngineError> {
    let found = ENGINES.iter().find(|(known, ..)| *known == name);
    match (found.map(|(.., source)| source), library) {
        (Some(Source::Linked(make)), _) | (Some(Source::Either(make, _)), None) => Ok(make()),
        (
            Some(Source::Loaded(open) | Source::Shimmed(open, _) | Source::Either(_, open)),
            Some(library),
        ) => open(&library.path),
        (Some(Source::Loaded(_) | Source::Shimmed(..)), None) => {
            Err(EngineError::Unsupported(format!("{name} needs a version: {name}@VERSION")))
        }
        (None, _) => Err(EngineError::Unsupported(format!("no engine is named `{name}`"))),
    }
}
