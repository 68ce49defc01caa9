//! Registry of the engines this program can drive.
//!
//! To add one: its driver crate, and one line in [`ENGINES`]. A library of the user's that exports
//! `assay_engine.h` needs neither: the cache of builds has its name.

use std::path::Path;

use engine::{Driver, Engine, EngineError, OpenSpec, OptionReach, Refusal};
use model::{DataShape, Dialect, Settings, ShellCommand};
use plan::{Builds, EngineInfo};
use runner::Library;
use server::Kind;
use shim::Recipe;
use supply::ServerProgram;

use crate::environment::Environment;

/// An engine, and how its driver is obtained.
struct EngineSource {
    name: &'static str,
    about: &'static str,
    /// Linked into this program; used when no version is named.
    linked: Option<fn() -> Box<dyn Driver>>,
    /// Loaded at run time, so one program drives every release.
    loaded: Option<Open>,
    /// Makes the shim that is compiled for each loaded build.
    recipe: Option<Recipe>,
    /// What its options reach beyond its data.
    reach: &'static OptionReach,
    /// A server process, with a driver for its protocol.
    server: Option<(ServerProgram, ServerSupport)>,
}

/// An engine without a driver.
const NONE: EngineSource = EngineSource {
    name: "",
    about: "",
    linked: None,
    loaded: None,
    recipe: None,
    reach: &OptionReach::UNKNOWN,
    server: None,
};

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
static ENGINES: &[EngineSource] = &[
    EngineSource { name: "rocksdb", about: "LSM tree; any release since 5.18", loaded: Some(driver_rocksdb::open_library), reach: &driver_rocksdb::REACH, ..NONE },
    EngineSource { name: "leveldb", about: "LSM tree with one background thread", loaded: Some(driver_leveldb::open_library), reach: &OptionReach::CLOSED, ..NONE },
    EngineSource { name: "splinterdb", about: "B-epsilon tree for NVMe; any build since 2022", loaded: Some(driver_splinterdb::open_library), recipe: Some(driver_splinterdb::RECIPE), reach: &OptionReach::CLOSED, ..NONE },
    EngineSource { name: "wiredtiger", about: "B-tree, or LSM tree up to version 11; any build", loaded: Some(driver_wiredtiger::open_library), recipe: Some(driver_wiredtiger::RECIPE), reach: &driver_wiredtiger::REACH, ..NONE },
    EngineSource { name: "sqlite", about: "B-tree with SQL in front", linked: Some(driver_sqlite::driver), loaded: Some(driver_sqlite::open_library), reach: &OptionReach::CLOSED, ..NONE },
    EngineSource { name: "lmdb", about: "copy-on-write B-tree in mapped memory", linked: Some(driver_lmdb::driver), loaded: Some(driver_lmdb::open_library), reach: &OptionReach::CLOSED, ..NONE },
    EngineSource { name: "postgres", about: "SQL server: heap tables and B-trees, vacuumed", server: Some((supply::POSTGRES, POSTGRES)), reach: &driver_postgres::REACH, ..NONE },
    EngineSource { name: "mysql", about: "SQL server: InnoDB's clustered B-trees", server: Some((supply::MYSQL, MYSQL)), reach: &driver_mysql::REACH, ..NONE },
    EngineSource { name: "mariadb", about: "SQL server: InnoDB, and MyRocks' LSM tree", server: Some((supply::MARIADB, MARIADB)), reach: &driver_mysql::REACH, ..NONE },
    EngineSource { name: "redb", about: "copy-on-write B-tree in Rust", linked: Some(driver_redb::driver), reach: &OptionReach::CLOSED, ..NONE },
    EngineSource { name: "fjall", about: "LSM tree in Rust, with or without key-value separation", linked: Some(driver_fjall::driver), reach: &OptionReach::CLOSED, ..NONE },
    EngineSource { name: "indexlog", about: "reference: index+log, after the published design of Magma", linked: Some(driver_indexlog::driver), reach: &OptionReach::CLOSED, ..NONE },
    EngineSource { name: "memory", about: "reference: an ordered map, the oracle of the tests", linked: Some(|| Box::<engine::memory::MemoryDriver>::default()), reach: &OptionReach::CLOSED, ..NONE },
    EngineSource { name: "null", about: "reference: does nothing; shows what the client costs", linked: Some(|| Box::<engine::null::NullDriver>::default()), reach: &OptionReach::CLOSED, ..NONE },
    EngineSource { name: "faulty", about: "reference: misbehaves on a script, to test the harness", linked: Some(|| Box::<engine::faulty::FaultyDriver>::default()), reach: &OptionReach::CLOSED, ..NONE },
];

fn find(name: &str) -> Option<&'static EngineSource> {
    ENGINES.iter().find(|engine| engine.name == name)
}

/// Returns the engines whose builds are servers.
pub(crate) fn servers() -> impl Iterator<Item = ServerProgram> {
    ENGINES.iter().filter_map(|engine| Some(engine.server?.0))
}

/// Returns another engine that every build of this program has, to compare a library with.
pub(crate) fn other_linked(name: &str) -> Option<&'static str> {
    let mut linked = ENGINES.iter().filter(|engine| engine.linked.is_some() && engine.name != name);
    linked.next().filter(|_| kind(name).is_none()).map(|engine| engine.name)
}

/// Returns the names of the user's own engines, those that only the cache has.
pub(crate) fn own_engines(environment: &Environment) -> Vec<String> {
    let cached = environment.cache_dir.as_deref().map(supply::cached_engines);
    cached.unwrap_or_default().into_iter().filter(|name| find(name).is_none()).collect()
}

/// Returns the planner's description of each engine; `own` are the user's.
pub(crate) fn infos(own: &[String]) -> Vec<EngineInfo> {
    let own = own.iter().map(|name| EngineInfo {
        name: name.clone(),
        builds: Builds::Loaded,
        dialect: None,
        is_own: true,
    });
    let info = |engine: &EngineSource| EngineInfo {
        name: engine.name.to_owned(),
        builds: match (engine.linked, engine.loaded) {
            (Some(_), Some(_)) => Builds::Either,
            (Some(_), None) => Builds::Linked,
            (None, _) => Builds::Loaded,
        },
        dialect: engine.server.map(|(_, support)| support.dialect),
        is_own: false,
    };
    ENGINES.iter().map(info).chain(own).collect()
}

/// Returns the description of an engine.
pub(crate) fn about(name: &str) -> &'static str {
    find(name).map_or("your own, behind assay_engine.h", |engine| engine.about)
}

/// Returns what an engine's options reach beyond its data; an engine of the user's may do anything.
pub(crate) fn reach(name: &str) -> &'static OptionReach {
    find(name).map_or(&OptionReach::UNKNOWN, |engine| engine.reach)
}

/// Returns the shim recipe of an engine, if it needs one.
pub(crate) fn recipe(name: &str) -> Option<Recipe> {
    find(name)?.recipe
}

/// Returns the server kind of an engine; `None` for a library.
pub(crate) fn kind(name: &str) -> Option<&'static dyn Kind> {
    find(name)?.server.map(|(_, support)| (support.kind)())
}

/// Returns the driver of an engine; one that is loaded needs its library.
pub(crate) fn driver(
    name: &str,
    library: Option<&Library>,
) -> Result<Box<dyn Driver>, EngineError> {
    let Some(engine) = find(name) else {
        let unknown = || {
            let add = ShellCommand::of("assay engine add").operands([name, "PATH"]);
            let remedy = format!("add its library with `{add}`");
            EngineError::build(format!("no engine is named `{name}`: {remedy}"))
        };
        return shim::open_own(&library.ok_or_else(unknown)?.path, name);
    };
    match (engine, library) {
        (EngineSource { server: Some((_, support)), .. }, _) => Ok((support.driver)()),
        (EngineSource { loaded: Some(open), .. }, Some(library)) => open(&library.path),
        (EngineSource { linked: Some(make), .. }, _) => Ok(make()),
        _ => Err(EngineError::build(format!("{name} needs a version: {name}@VERSION"))),
    }
}

/// Returns the options that linked engines know, by engine.
///
/// No database is opened: an engine rejects an unknown option before it reads the directory.
pub(crate) fn known_options(dir: &Path) -> impl Iterator<Item = (&'static str, Vec<String>)> {
    let linked = ENGINES.iter().filter_map(|engine| Some((engine.name, engine.linked?())));
    linked.filter_map(move |(name, driver)| match open_with_unknown_option(&*driver, dir) {
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
    let data = DataShape { rows: 1, key_bytes: 8, value_bytes: 8, compressible_to: 1.0 };
    let settings = Settings { durability, ..Settings::default() };
    let options = [("assay.no_such_option", "1")].into_iter().collect();
    driver.open(&OpenSpec { options, ..OpenSpec::embedded(dir.to_owned(), settings, data) })
}
