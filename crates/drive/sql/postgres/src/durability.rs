//! What the durability class rests on, as sessions and tables have it.

use driver_sql::{Connection as _, TableName, unless_refused};
use model::{Durability, DurabilityRecord};

use crate::tables::leaves_query;
use crate::wire::{Connection, Failure};

/// Settings that limit the class, or the protection of pages.
const SETTINGS: &str = "SELECT name, setting, coalesce(source, '') FROM pg_settings WHERE name IN \
                        ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY name";

/// Settings that a role or a database gives to its sessions, without those of texts and names.
///
/// Source: Postgres' documentation, "pg_settings", `source`.
const FOLLOWED: &str = "SELECT name, setting || ' (' || source || ')' FROM pg_settings WHERE source \
                        IN ('database', 'user', 'database user') AND setting IS DISTINCT FROM \
                        boot_val AND name NOT IN ('client_encoding', 'search_path', 'DateStyle', \
                        'IntervalStyle', 'TimeZone') ORDER BY name";

/// Reads back settings of a session and the persistence of tables.
pub(crate) fn read(
    connection: &mut Connection,
    tables: &[TableName],
) -> Result<DurabilityRecord, Failure> {
    let mut had = DurabilityRecord::default();
    let settings = unless_refused(connection.rows(SETTINGS))?.unwrap_or_default();
    for row in &settings {
        let [name, value, source] = &row[..] else { continue };
        add_setting(name, value, source, &mut had);
    }
    if had.bases.is_empty() {
        had.note("the server reports neither fsync nor synchronous_commit");
    }
    if !tables.is_empty() {
        add_tables(connection, tables, &mut had)?;
    }
    Ok(had)
}

/// Adds what a setting allows.
///
/// Source: Postgres' documentation, "Write-Ahead Log": with `synchronous_commit = off` a crash of
/// the server loses the commits of three times `wal_writer_delay`, every other value waits for the
/// log; with `fsync = off` it is written and not synced; with `full_page_writes = off` pages that
/// were written in part are not restored.
fn add_setting(name: &str, value: &str, source: &str, had: &mut DurabilityRecord) {
    let setting = format!("{name} = {value} ({source})");
    match (name, value) {
        ("synchronous_commit", "off") if ["client", "session"].contains(&source) => {
            had.allow(Durability::None, setting);
        }
        // Sessions request a value of theirs: it was not received.
        ("synchronous_commit", "off") => {
            let why = "where the run requests another value (name the server itself, not a pooler)";
            had.allow(Durability::None, format!("{setting}, {why},"));
        }
        ("fsync", "off") => had.allow(Durability::Os, setting),
        ("synchronous_commit" | "fsync", _) => had.allow(Durability::Sync, setting),
        ("full_page_writes", "off") => {
            had.note(format!("{setting}: pages torn in a crash of the machine are not restored"));
        }
        _ => {}
    }
}

/// Adds tables whose rows do not survive a crash, or that all do.
///
/// Source: Postgres' documentation, "CREATE TABLE", `UNLOGGED`, and `pg_class`, `relpersistence`.
fn add_tables(
    connection: &mut Connection,
    tables: &[TableName],
    had: &mut DurabilityRecord,
) -> Result<(), Failure> {
    let sql = format!(
        "SELECT relname, relpersistence FROM pg_class WHERE relpersistence <> 'p' AND oid IN ({}) \
         ORDER BY relname",
        leaves_query(tables)
    );
    let Some(lost) = unless_refused(connection.pairs(&sql))? else {
        had.note("the server does not report which tables survive a crash");
        return Ok(());
    };
    for (table, code) in &lost {
        let kind = if code == "t" { "temporary" } else { "unlogged" };
        had.allow(Durability::None, format!("table `{table}`, which is {kind},"));
    }
    if lost.is_empty() {
        had.allow(Durability::Sync, "tables that are logged");
    }
    Ok(())
}

/// Describes the settings whose values differ between the login's own session and the run's, and
/// those that the login gives to the run.
pub(crate) fn overridden<'n>(
    own: &mut Connection,
    run: &mut Connection,
    names: impl Iterator<Item = &'n str>,
) -> Result<Vec<String>, Failure> {
    let mut texts = Vec::new();
    for name in names {
        let sql = format!(
            "SELECT setting, source FROM pg_settings WHERE name = lower('{}')",
            name.replace('\'', "''")
        );
        let [mut before, mut now] = [own.pairs(&sql)?, run.pairs(&sql)?];
        let (Some((value, source)), Some((set, _))) = (before.pop(), now.pop()) else { continue };
        if value != set {
            texts.push(format!(
                "the server's own {name} = {value} ({source}) is overridden: sessions of the run \
                 have {set}"
            ));
        }
    }
    let followed = run.pairs(FOLLOWED)?;
    let followed: Vec<_> =
        followed.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if !followed.is_empty() {
        let list = followed.join(", ");
        texts.push(format!("sessions of the run have settings of the role or database: {list}"));
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_allow_what_they_wait_for() {
        let class = |name: &str, value: &str| {
            let mut had = DurabilityRecord::default();
            add_setting(name, value, "user", &mut had);
            had.bases.first().map(|basis| basis.class)
        };
        assert_eq!(class("synchronous_commit", "off"), Some(Durability::None));
        for waits in ["on", "local", "remote_write", "remote_apply"] {
            assert_eq!(class("synchronous_commit", waits), Some(Durability::Sync), "{waits}");
        }
        assert_eq!(class("fsync", "off"), Some(Durability::Os));
        assert_eq!(class("fsync", "on"), Some(Durability::Sync));
        assert_eq!(class("full_page_writes", "off"), None);
    }

    #[test]
    fn torn_pages_are_a_note() {
        let notes = |value: &str| {
            let mut had = DurabilityRecord::default();
            add_setting("full_page_writes", value, "configuration file", &mut had);
            had.notes
        };
        assert!(notes("off")[0].starts_with("full_page_writes = off (configuration file): pages"));
        assert!(notes("on").is_empty());
    }
}
