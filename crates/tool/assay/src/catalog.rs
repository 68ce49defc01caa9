//! The planner's catalog, with the built-in profiles and applications.

use std::io::{self, Read as _};
use std::path::Path;

use model::{BuildRef, Bytes, DataShape, Step, StepInfo};
use plan::{ApplicationFiles, Catalog, EngineInfo};
use supply::Distribution;

use crate::environment::Environment;
use crate::registry;

/// Names and texts of the files of a folder of the repository.
macro_rules! files {
    ($folder:literal: $($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../", $folder, "/", $name, ".toml")))),*]
    };
}

/// The profiles in `profiles/`.
static PROFILES: &[(&str, &str)] = files!("profiles":
    "rocksdb-consistent"
    "rocksdb-stock"
    "rocksdb-leveled"
    "rocksdb-universal"
    "rocksdb-blob"
    "rocksdb-blob-shared"
    "rocksdb-vs-splinterdb"
    "rocksdb-vs-splinterdb-universal"
    "rocksdb-dbbench"
    "innodb-binlog"
    "innodb-c32r128"
    "innodb-c8r16"
    "innodb-mariadb-unbuffered"
    "innodb-mariadb"
    "innodb-cy8"
    "innodb-waits"
    "innodb-no-log-writers"
    "innodb"
    "myrocks-fb"
    "myrocks-mariadb"
    "postgres-c32r128"
    "postgres-statements"
    "postgres-c8r16"
    "postgres-cx9a2"
    "postgres-io"
    "postgres"
);

/// The experiments in `experiments/`.
static EXPERIMENTS: &[(&str, &str)] = files!("experiments":
    "quickstart"
    "allocators"
    "blob-cache-priorities"
    "checksums"
    "compiler-flags"
    "durability"
    "group-commit"
    "hot-row"
    "hyperclock-vs-lru"
    "ibench-small-server"
    "ibench-small-server-io"
    "index-log-sequences"
    "index-log-vs-lsm"
    "index-only-scans"
    "innodb-5.6-to-8.0"
    "innodb-5.6-to-8.0-io"
    "innodb-layers"
    "key-value-separation"
    "large-docs"
    "max-background-jobs"
    "max-background-jobs-io"
    "myrocks-5.6-to-8.0"
    "myrocks-5.6-to-8.0-io"
    "mysql-restart"
    "observed-innodb"
    "observed-postgres"
    "open-loop"
    "postgres-12-to-18"
    "postgres-12-to-18-io"
    "postgres-failover"
    "postgres-kill"
    "rocksdb-byos"
    "rocksdb-iobuf"
    "rocksdb-iodir"
    "rocksdb-releases"
    "rocksdb-releases-cache"
    "rocksdb-reopen"
    "same-twice"
    "scalability"
    "secondary-index-reads"
    "server-concurrency"
    "setup-variance"
    "splinterdb-vs-rocksdb"
    "splinterdb-vs-rocksdb-io"
    "standby"
    "standby-mariadb"
    "storage-raw-vs-filesystem"
    "storage-request-sizes"
    "storage-sync-rate"
);

/// The applications in `applications/`.
static APPLICATIONS: &[(&str, &str)] = files!("applications": "documents" "ibench-2023" "ibench-current" "linkbench" "sysbench" "tproc-c");

/// Largest experiment file, in bytes: ten times the largest here.
pub(crate) const EXPERIMENT_BYTES_MAX: u64 = 128 << 10;
/// Largest application, profile or rate file, in bytes.
///
/// A rate at each of the most lines allowed takes a hundred.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The catalog of this program.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// Names of the user's own engines.
    own: Vec<String>,
}

impl Program {
    /// Returns the catalog with the engines that the cache of builds adds.
    pub(crate) fn of(environment: &Environment) -> Self {
        Self { own: registry::own_engines(environment) }
    }
}

/// Returns the text of a shipped experiment.
pub(crate) fn experiment(name: &str) -> Option<&'static str> {
    EXPERIMENTS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Returns the question of a shipped experiment.
pub(crate) fn question(text: &'static str) -> &'static str {
    let line = text.lines().find_map(|line| line.strip_prefix("question"));
    line.and_then(|line| line.split('"').nth(1)).unwrap_or_default()
}

/// Returns the names of the shipped experiments, the first to try first.
pub(crate) fn experiment_names() -> impl Iterator<Item = &'static str> {
    EXPERIMENTS.iter().map(|(name, _)| *name)
}

impl ApplicationFiles for Program {
    fn application(&self, name: &str) -> Option<String> {
        let built_in = APPLICATIONS.iter().find(|(known, _)| *known == name);
        built_in.map(|(_, text)| (*text).to_owned())
    }

    fn application_names(&self) -> Vec<String> {
        APPLICATIONS.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn file(&self, path: &Path) -> Result<String, String> {
        read(path, FILE_BYTES_MAX).map_err(|error| error.to_string())
    }

    fn check_distribution(&self, text: &str, rows: u64) -> Result<(), String> {
        workload::check_distribution(text, rows)
    }
}

impl Catalog for Program {
    fn steps(&self) -> Vec<StepInfo> {
        workload::catalog()
    }

    fn engines(&self) -> Vec<EngineInfo> {
        registry::infos(&self.own)
    }

    fn release(&self, build: &BuildRef) -> Option<String> {
        Distribution::default().release(build).or_else(|| build.version.clone())
    }

    fn profile(&self, name: &str) -> Option<String> {
        let built_in = PROFILES.iter().find(|(known, _)| *known == name);
        built_in.map(|(_, text)| (*text).to_owned())
    }

    fn profile_names(&self) -> Vec<String> {
        PROFILES.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn rule_codes(&self) -> Vec<&'static str> {
        lint::rules().iter().map(|rule| rule.code).collect()
    }

    fn check_step(&self, step: &Step, data: &DataShape) -> Result<(), String> {
        let step = Step { clients: step.clients.max(1), ..step.clone() };
        workload::check(&step, data).map_err(|error| error.to_string())
    }
}

/// Reads a regular file of at most `bytes_max` bytes.
pub(crate) fn read(path: &Path, bytes_max: u64) -> io::Result<String> {
    let mut text = String::new();
    match dynlib::open_regular(path)?.take(bytes_max + 1).read_to_string(&mut text)? {
        bytes if bytes as u64 > bytes_max => {
            Err(io::Error::other(format!("the file is larger than {}", Bytes(bytes_max))))
        }
        _ => Ok(text),
    }
}
