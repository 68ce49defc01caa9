//! Registry of the engines this program can drive.
//!
//! To add one: its driver crate, and one line in [`ENGINES`].

use std::path::Path;

use engine::{Driver, Engine, EngineError, OpenSpec, Refusal};
use model::{DataShape, Dialect, Settings};
use plan::{Builds, EngineInfo};
use runner::Library;
use server::Kind;
use shim::Recipe;
use supply::ServerProgram;

/// How an engine's driver is obtained.
enum Source {
    /// Linked into this program.
    Linked(fn() -> Box<dyn Driver>),
    /// Loaded at run time, so one program drives every release.
    Loaded(Open),
    /// Loaded behind a shim, which is compiled for each build.
    Shimmed(Open, Recipe),
    /// A server process, with a driver for its protocol.
    Server(ServerProgram, ServerSupport),
    /// Linked when no version is named, else loaded.
    Either(fn() -> Box<dyn Driver>, Open),
}

/// Dialect, process kind and driver of a server.
#[derive(Clone, Copy)]
struct ServerSupport {
    dialect: Dialect,
    kind: fn() -> &'static dyn Kind,
    driver: fn() -> Box<dyn Driver>,
}

const POSTGRES: ServerSupport = ServerSupport {
    dialect: Dialect::Postgres,
    kind: || &driver_postgres::KIND,
    driver: driver_postgres::driver,
};
const MYSQL: ServerSupport = ServerSupport {
    dialect: Dialect::Mysql,
    kind: || driver_mysql::KIND_MYSQL,
    driver: driver_mysql::driver,
};
const MARIADB: ServerSupport = ServerSupport {
    dialect: Dialect::Mysql,
    kind: || driver_mysql::KIND_MARIADB,
    driver: driver_mysql::mariadb,
};

/// Opens a library.
type Open = fn(&Path) -> Result<Box<dyn Driver>, EngineError>;

/// The engines, in the order they are listed.
#[rustfmt::skip]
static ENGINES: &[(&str, &str, Source)] = &[
    ("rocksdb", "LSM tree; any release from 5.18 on", Source::Loaded(driver_rocksdb::open_library)),
    ("leveldb", "LSM tree with one background thread", Source::Loaded(driver_leveldb::open_library)),
    ("splinterdb", "B-epsilon tree for NVMe; any build since 2022", Source::Shimmed(driver_splinterdb::open_library, driver_splinterdb::RECIPE)),
    ("wiredtiger", "B-tree, or LSM tree up to version 11; any build", Source::Shimmed(driver_wiredtiger::open_library, driver_wiredtiger::RECIPE)),
    ("sqlite", "B-tree with SQL in front", Source::Either(driver_sqlite::driver, driver_sqlite::open_library)),
    ("lmdb", "copy-on-write B-tree in mapped memory", Source::Either(driver_lmdb::driver, driver_lmdb::open_library)),
    ("postgres", "SQL server: heap tables and B-trees, vacuumed", Source::Server(supply::POSTGRES, POSTGRES)),
    ("mysql", "SQL server: InnoDB's clustered B-trees", Source::Server(supply::MYSQL, MYSQL)),
    ("mariadb", "SQL server: InnoDB, and MyRocks' LSM tree", Source::Server(supply::MARIADB, MARIADB)),
    ("redb", "copy-on-write B-tree in Rust", Source::Linked(driver_redb::driver)),
    ("fjall", "LSM tree in Rust, with or without key-value separation", Source::Linked(driver_fjall::driver)),
    ("memory", "reference: an ordered map, the oracle of the tests", Source::Linked(|| Box::<engine::memory::MemoryDriver>::default())),
    ("null", "reference: does nothing; shows what the client costs", Source::Linked(|| Box::<engine::null::NullDriver>::default())),
    ("faulty", "reference: misbehaves on a script, to test the harness", Source::Linked(|| Box::<engine::faulty::FaultyDriver>::default())),
];

/// Returns the engines whose builds are servers.
pub(crate) fn servers() -> Vec<ServerProgram> {
    let server = |(_, _, source): &(&str, &str, Source)| match source {
        Source::Server(program, _) => Some(*program),
        Source::Linked(_) | Source::Loaded(_) | Source::Shimmed(..) | Source::Either(..) => None,
    };
    ENGINES.iter().filter_map(server).collect()
}

/// Returns the planner's description of each engine.
pub(crate) fn infos() -> Vec<EngineInfo> {
    let info = |(name, _, source): &(&'static str, &str, Source)| EngineInfo {
        name,
        builds: match source {
            Source::Linked(_) => Builds::Linked,
            Source::Loaded(_) | Source::Shimmed(..) | Source::Server(..) => Builds::Loaded,
            Source::Either(..) => Builds::Either,
        },
        dialect: server_support(name).map(|server_support| server_support.dialect),
    };
    ENGINES.iter().map(info).collect()
}

/// Returns name and description of each engine.
pub(crate) fn descriptions() -> impl Iterator<Item = (&'static str, &'static str)> {
    ENGINES.iter().map(|(name, about, _)| (*name, *about))
}

/// Returns the shim recipe of an engine, if it needs one.
pub(crate) fn recipe(name: &str) -> Option<Recipe> {
    ENGINES.iter().find_map(|(known, _, source)| match source {
        Source::Shimmed(_, recipe) if *known == name => Some(*recipe),
        Source::Shimmed(..)
        | Source::Linked(_)
        | Source::Loaded(_)
        | Source::Either(..)
        | Source::Server(..) => None,
    })
}

/// Returns the server support of an engine; `None` for a library.
fn server_support(name: &str) -> Option<ServerSupport> {
    ENGINES.iter().find_map(|(known, _, source)| match source {
        Source::Server(_, server_support) if *known == name => Some(*server_support),
        Source::Server(..)
        | Source::Shimmed(..)
        | Source::Linked(_)
        | Source::Loaded(_)
        | Source::Either(..) => None,
    })
}

/// Returns the server kind of an engine; `None` for a library.
pub(crate) fn kind(name: &str) -> Option<&'static dyn Kind> {
    server_support(name).map(|server_support| (server_support.kind)())
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
        (Some(Source::Server(_, server_support)), _) => Ok((server_support.driver)()),
        (Some(Source::Loaded(_) | Source::Shimmed(..)), None) => {
            Err(EngineError::build(format!("{name} needs a version: {name}@VERSION")))
        }
        (None, _) => Err(EngineError::build(format!("no engine is named `{name}`"))),
    }
}

/// Returns the options that linked engines know, by engine.
///
/// No database is opened: an engine rejects an unknown option before it reads the directory.
pub(crate) fn known_options(dir: &Path) -> impl Iterator<Item = (&'static str, Vec<String>)> {
    let linked = ENGINES.iter().filter_map(|(name, _, source)| match source {
        Source::Linked(make) | Source::Either(make, _) => Some((*name, make)),
        Source::Loaded(_) | Source::Shimmed(..) | Source::Server(..) => None,
    });
    let dir = dir.to_owned();
    linked.filter_map(move |(name, make)| match open_with_unknown_option(&*make(), &dir) {
        Err(EngineError::Refused(Refusal::Option { known, .. })) => Some((name, known)),
        Ok(_) | Err(_) => None,
    })
}

/// Opens a directory with an option that no engine has.
fn open_with_unknown_option(
    driver: &dyn Driver,
    dir: &Path,
) -> Result<Box<dyn Engine>, EngineError> {
    let durability = driver.capabilities().durability.first().copied().unwrap_or_default();
    driver.open(&OpenSpec {
        endpoint: None,
        application: None,
        dir: dir.to_owned(),
        settings: Settings { durability, ..Settings::default() },
        options: [("assay.no_such_option", "1")].into_iter().collect(),
        data: DataShape { rows: 1, key_bytes: 8, value_bytes: 8, compressible_to: 1.0 },
    })
}
