//! What the durability class rests on, as sessions and tables have it.

use std::collections::{BTreeMap, BTreeSet};

use driver_sql::{Connection as _, TableName};
use model::{Durability, DurabilityRecord};

use crate::wire::{Connection, Failure};

/// Variables that limit the class, or the protection of pages.
#[rustfmt::skip]
const VARIABLES: [&str; 15] = [
    "aria_group_commit", "debug_no_sync", "innodb_doublewrite", "innodb_flush_log_at_timeout",
    "innodb_flush_log_at_trx_commit", "innodb_flush_method",
    "innodb_use_global_flush_log_at_trx_commit", "log_bin", "rocksdb_bulk_load",
    "rocksdb_flush_log_at_trx_commit", "rocksdb_manual_wal_flush", "rocksdb_write_disable_wal",
    "sql_log_bin", "sync_binlog", "version",
];
/// Whether `InnoDB` writes its log, since MySQL 8.0.21.
const REDO_LOG: &str = "SHOW GLOBAL STATUS LIKE 'Innodb_redo_log_enabled'";

/// Reads back variables of a session and the storage engines of tables.
pub(crate) fn read(
    connection: &mut Connection,
    tables: &[TableName],
) -> Result<DurabilityRecord, Failure> {
    let names = quoted(VARIABLES.into_iter());
    let sql = format!("SHOW SESSION VARIABLES WHERE Variable_name IN ({names})");
    let mut variables: Variables = connection
        .pairs(&sql)?
        .into_iter()
        .map(|(name, value)| (name.to_lowercase(), value))
        .collect();
    let redo_log = connection.pairs(REDO_LOG)?;
    variables.extend(redo_log.into_iter().map(|(name, value)| (name.to_lowercase(), value)));
    let mut had = DurabilityRecord::default();
    let mut engines = BTreeSet::new();
    for table in stored(connection, tables)? {
        match StorageEngine::of(&table) {
            Some(engine) => {
                engines.insert(engine);
            }
            None => had.allow(Durability::None, table.to_string()),
        }
    }
    for engine in engines {
        engine.add(&variables, &mut had);
    }
    Ok(had)
}

type Variables = BTreeMap<String, String>;

fn quoted<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let quoted: Vec<_> = names.map(|name| format!("'{name}'")).collect();
    quoted.join(", ")
}

/// Returns the storage engine of the first table; `None` for one whose rows a crash may lose.
pub(crate) fn storage_engine(
    connection: &mut Connection,
    tables: &[TableName],
) -> Result<Option<StorageEngine>, Failure> {
    let stored = stored(connection, tables.get(..1).unwrap_or_default())?;
    Ok(stored.first().and_then(StorageEngine::of))
}

/// How a table is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StoredTable {
    name: String,
    engine: String,
    row_format: String,
    options: String,
}

impl std::fmt::Display for StoredTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, engine, .. } = self;
        let kind = if engine == "aria" { ", not transactional," } else { "" };
        write!(f, "table `{name}` of storage engine {engine}{kind}")
    }
}

fn stored(connection: &mut Connection, tables: &[TableName]) -> Result<Vec<StoredTable>, Failure> {
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    let names = quoted(tables.iter().map(|table| table.name.as_str()));
    let rows = connection.rows(&format!(
        "SELECT table_name, LOWER(engine), LOWER(row_format), LOWER(create_options) FROM \
         information_schema.tables WHERE table_schema = DATABASE() AND table_name IN ({names}) \
         ORDER BY table_name"
    ))?;
    let table = |row: Vec<String>| {
        let [name, engine, row_format, options] = <[String; 4]>::try_from(row).ok()?;
        Some(StoredTable { name, engine, row_format, options })
    };
    Ok(rows.into_iter().filter_map(table).collect())
}

/// A storage engine whose tables may survive a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StorageEngine {
    Aria,
    Innodb,
    Rocksdb,
}

impl StorageEngine {
    /// Returns the engine of a table; `None` for one whose rows a crash of the server may lose.
    ///
    /// Source: MariaDB's documentation, "Aria Storage Engine": crash-safe are tables with
    /// `TRANSACTIONAL=1`, the default, and rows in pages. MySQL's reference manual, "The MEMORY
    /// Storage Engine" and "The MyISAM Storage Engine", of which neither has a log.
    fn of(table: &StoredTable) -> Option<Self> {
        match table.engine.as_str() {
            "aria" if table.row_format == "page" && !table.options.contains("transactional=0") => {
                Some(Self::Aria)
            }
            "innodb" => Some(Self::Innodb),
            "rocksdb" => Some(Self::Rocksdb),
            _ => None,
        }
    }

    /// Adds what the engine's variables allow.
    fn add(self, variables: &Variables, had: &mut DurabilityRecord) {
        for (name, value) in variables {
            let setting = format!("{name} = {value}");
            match self.allowed(name, value, variables) {
                Some(class) => had.allow(class, setting),
                None => had
                    .notes
                    .extend(self.note(name, value).map(|what| format!("{setting}: {what}"))),
            }
        }
        if !variables.contains_key(self.level()) {
            had.note(format!("the server reports no {}", self.level()));
        }
        had.notes.extend(self.seconds_lost(variables));
    }

    /// Returns the variable that states what a commit waits for.
    const fn level(self) -> &'static str {
        match self {
            Self::Aria => "aria_group_commit",
            Self::Innodb => "innodb_flush_log_at_trx_commit",
            Self::Rocksdb => "rocksdb_flush_log_at_trx_commit",
        }
    }

    /// Returns the strongest class that a variable allows; `None` for one without an effect on it.
    ///
    /// Sources: MySQL's reference manual, "InnoDB Startup Options and System Variables", "Binary
    /// Logging Options and Variables" (a commit that the binary log lost is rolled back), and
    /// "Disabling Redo Logging"; MariaDB's documentation of the variables of `InnoDB` (3 is a sync
    /// too), Aria and `MyRocks`.
    fn allowed(self, name: &str, value: &str, variables: &Variables) -> Option<Durability> {
        use Durability::{None as Lost, Os, Sync};
        let is = |name: &str, value: &str| {
            variables.get(name).is_some_and(|found| found.eq_ignore_ascii_case(value))
        };
        let is_on = value.eq_ignore_ascii_case("on") || value == "1";
        let if_on = |class| is_on.then_some(class);
        match (self, name) {
            (_, "debug_no_sync") => if_on(Os),
            (Self::Innodb | Self::Rocksdb, "sync_binlog")
                if is("log_bin", "on") && !is("sql_log_bin", "off") =>
            {
                Some(if value == "1" { Sync } else { Os })
            }
            (Self::Innodb, "innodb_flush_log_at_trx_commit") => Some(match value {
                "1" | "3" => Sync,
                "2" => Os,
                _ => Lost,
            }),
            (Self::Innodb, "innodb_flush_method") => {
                ["nosync", "littlesync"].contains(&value.to_lowercase().as_str()).then_some(Os)
            }
            (Self::Innodb, "innodb_redo_log_enabled") => (!is_on).then_some(Lost),
            (Self::Innodb, "innodb_use_global_flush_log_at_trx_commit") => {
                // A session may then have another value than the one that is read.
                (!is_on).then_some(Lost)
            }
            (Self::Rocksdb, "rocksdb_flush_log_at_trx_commit") => Some(match value {
                "1" => Sync,
                "2" => Os,
                _ => Lost,
            }),
            // With a sync for each commit the log is flushed before it.
            (Self::Rocksdb, "rocksdb_manual_wal_flush")
                if !is("rocksdb_flush_log_at_trx_commit", "1") =>
            {
                if_on(Lost)
            }
            (Self::Rocksdb, "rocksdb_write_disable_wal" | "rocksdb_bulk_load") => if_on(Lost),
            // Otherwise its log is synced at each commit: 87 times in 82 updates (our measurement,
            // MariaDB 10.11.19, `none`).
            (Self::Aria, "aria_group_commit") => {
                Some(if value.eq_ignore_ascii_case("soft") { Os } else { Sync })
            }
            _ => None,
        }
    }

    /// Returns what a variable gives up that no class depends on.
    ///
    /// Source: MySQL's reference manual, "InnoDB Startup Options and System Variables".
    fn note(self, name: &str, value: &str) -> Option<&'static str> {
        let value = value.to_lowercase();
        match (self, name, value.as_str()) {
            (Self::Innodb, "innodb_doublewrite", "off" | "0" | "detect_only") => {
                Some("pages torn in a crash of the machine are not restored")
            }
            (Self::Innodb, "innodb_doublewrite", "fast") => Some(
                "the doublewrite buffer is not synced: pages torn in a loss of power may stay \
                 torn",
            ),
            (Self::Innodb, "innodb_flush_method", "o_direct_no_fsync") => Some(
                "pages are not synced: a drive whose cache is lost with the power may lose them",
            ),
            _ => None,
        }
    }

    /// Describes what a crash of the machine loses where commits wait for no sync.
    fn seconds_lost(self, variables: &Variables) -> Option<String> {
        let level = variables.get(self.level())?;
        let seconds = variables.get("innodb_flush_log_at_timeout")?;
        let is_late = self == Self::Innodb && !["1", "3"].contains(&level.as_str());
        is_late.then(|| {
            format!(
                "innodb_flush_log_at_timeout = {seconds}: a crash of the machine loses the commits \
                 of about {seconds} s"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn had(engine: StorageEngine, variables: &[(&str, &str)]) -> DurabilityRecord {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let mut had = DurabilityRecord::default();
        engine.add(&variables.iter().map(own).collect(), &mut had);
        had
    }

    /// Returns the class of the weakest variable.
    fn class(engine: StorageEngine, variables: &[(&str, &str)]) -> Durability {
        let had = had(engine, variables);
        had.violation(Durability::Sync).map_or(Durability::Sync, |basis| basis.class)
    }

    #[test]
    fn variables_allow_what_a_commit_waits_for() {
        use Durability::{None as Lost, Os, Sync};
        use StorageEngine::{Aria, Innodb, Rocksdb};
        let level = |level| ("innodb_flush_log_at_trx_commit", level);
        for (engine, variables, expected) in [
            (Innodb, &[level("1")][..], Sync),
            (Innodb, &[level("3")], Sync),
            (Innodb, &[level("2")], Os),
            (Innodb, &[level("0")], Lost),
            (Innodb, &[("log_bin", "ON"), level("1"), ("sync_binlog", "0")], Os),
            (Innodb, &[("log_bin", "ON"), level("1"), ("sync_binlog", "100")], Os),
            (Innodb, &[("log_bin", "ON"), ("sql_log_bin", "OFF"), ("sync_binlog", "0")], Sync),
            (Innodb, &[("log_bin", "OFF"), level("1"), ("sync_binlog", "0")], Sync),
            (Innodb, &[level("1"), ("innodb_flush_method", "nosync")], Os),
            (Innodb, &[level("1"), ("innodb_flush_method", "O_DIRECT")], Sync),
            (Innodb, &[level("1"), ("debug_no_sync", "ON")], Os),
            (Innodb, &[level("1"), ("innodb_redo_log_enabled", "OFF")], Lost),
            (Innodb, &[level("1"), ("rocksdb_flush_log_at_trx_commit", "0")], Sync),
            (Rocksdb, &[("rocksdb_flush_log_at_trx_commit", "1"), level("0")], Sync),
            (Rocksdb, &[("rocksdb_flush_log_at_trx_commit", "2")], Os),
            (Rocksdb, &[("rocksdb_flush_log_at_trx_commit", "0")], Lost),
            (
                Rocksdb,
                &[("rocksdb_flush_log_at_trx_commit", "2"), ("rocksdb_manual_wal_flush", "ON")],
                Lost,
            ),
            (
                Rocksdb,
                &[("rocksdb_flush_log_at_trx_commit", "1"), ("rocksdb_manual_wal_flush", "ON")],
                Sync,
            ),
            (Rocksdb, &[("rocksdb_write_disable_wal", "ON")], Lost),
            (Aria, &[("aria_group_commit", "none"), level("0")], Sync),
            (Aria, &[("aria_group_commit", "soft")], Os),
        ] {
            assert_eq!(class(engine, variables), expected, "{engine:?} {variables:?}");
        }
    }

    #[test]
    fn given_up_protection_of_pages_is_a_note() {
        let level = ("innodb_flush_log_at_trx_commit", "1");
        let notes = |name, value| had(StorageEngine::Innodb, &[level, (name, value)]).notes;
        for (name, value) in [
            ("innodb_doublewrite", "OFF"),
            ("innodb_doublewrite", "DETECT_ONLY"),
            ("innodb_doublewrite", "fast"),
            ("innodb_flush_method", "O_DIRECT_NO_FSYNC"),
        ] {
            assert!(notes(name, value)[0].starts_with(&format!("{name} = {value}: ")));
        }
        for (name, value) in [("innodb_doublewrite", "ON"), ("innodb_flush_method", "fsync")] {
            assert_eq!(notes(name, value), [""; 0]);
        }
        let late = [("innodb_flush_log_at_trx_commit", "2"), ("innodb_flush_log_at_timeout", "30")];
        assert!(had(StorageEngine::Innodb, &late).notes[0].ends_with("of about 30 s"));
        let of_rocksdb = had(StorageEngine::Rocksdb, &late).notes;
        assert_eq!(of_rocksdb, ["the server reports no rocksdb_flush_log_at_trx_commit"]);
    }

    #[test]
    fn tables_without_a_log_may_lose_their_rows() {
        let of = |engine: &str, row_format: &str, options: &str| {
            let [engine, row_format, options] = [engine, row_format, options].map(str::to_owned);
            StorageEngine::of(&StoredTable { name: "t1".to_owned(), engine, row_format, options })
        };
        for engine in ["memory", "heap", "myisam", "blackhole", "csv", "archive", "federated", ""] {
            assert_eq!(of(engine, "fixed", ""), None, "{engine}");
        }
        assert_eq!(of("innodb", "dynamic", "partitioned"), Some(StorageEngine::Innodb));
        assert_eq!(of("aria", "page", ""), Some(StorageEngine::Aria));
        assert_eq!(of("aria", "page", "transactional=0"), None);
        assert_eq!(of("aria", "dynamic", ""), None);
    }
}
