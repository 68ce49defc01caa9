//! Work a server is told to do between steps.

use std::sync::PoisonError;

use engine::{EngineError, Maintenance};
use model::EngineState;

use crate::instance::MysqlEngine;
use crate::tables::Store;

/// Variables that make `InnoDB` write what is dirty and purge what is deleted at once; absent ones
/// are left out.
///
/// Source: MySQL's reference manual, "Configuring Buffer Pool Flushing" and "Purge Configuration".
const HASTE: [(&str, &str); 5] = [
    ("innodb_io_capacity", "@@GLOBAL.innodb_io_capacity_max"),
    ("innodb_max_dirty_pages_pct_lwm", "0"),
    ("innodb_max_dirty_pages_pct", "0"),
    ("innodb_idle_flush_pct", "100"),
    ("innodb_purge_rseg_truncate_frequency", "1"),
];

/// Variables as they were, in the order in which they must be set again.
pub(crate) type Restored = Vec<(String, String)>;

/// Starts `work`; returns `false` when there is no such work here.
pub(crate) fn maintain(engine: &MysqlEngine, work: Maintenance) -> Result<bool, EngineError> {
    match (work, engine.store) {
        (Maintenance::Flush | Maintenance::Clean, Store::Innodb) => {
            hurry(engine)?;
            if work == Maintenance::Clean {
                analyze(engine)?;
            }
            Ok(true)
        }
        (Maintenance::Flush, Store::Myrocks) => {
            set(engine, "rocksdb_force_flush_memtable_now", "1")
        }
        (Maintenance::CompactLevel0, Store::Myrocks) => {
            set(engine, "rocksdb_force_flush_memtable_and_lzero_now", "1")
        }
        (Maintenance::CompactAll, Store::Myrocks) => set(engine, "rocksdb_compact_cf", "'default'"),
        (Maintenance::Clean, Store::Myrocks) => analyze(engine).map(|()| true),
        (Maintenance::CompactAll, Store::Innodb) => {
            each_table(engine, "OPTIMIZE TABLE").map(|()| true)
        }
        (Maintenance::CompactLevel0, _) | (_, Store::Other) => Ok(false),
    }
}

/// Makes `InnoDB` write and purge until [`rest`] finds it at rest.
fn hurry(engine: &MysqlEngine) -> Result<(), EngineError> {
    let mut restless = engine.restless.lock().unwrap_or_else(PoisonError::into_inner);
    if restless.is_some() {
        return Ok(());
    }
    let mut before = Restored::new();
    for (name, value) in HASTE {
        let found = engine.ask(|connection| connection.rows(&like(name)))?;
        let Some([_, was]) = found.first().map(Vec::as_slice) else { continue };
        let was = was.clone();
        if set(engine, name, value)? {
            before.insert(0, (name.to_owned(), was));
        }
    }
    *restless = Some(before);
    Ok(())
}

fn like(name: &str) -> String {
    format!("SHOW GLOBAL VARIABLES LIKE '{name}'")
}

/// Takes back what [`hurry`] has set once the server is at rest.
pub(crate) fn rest(engine: &MysqlEngine, state: &EngineState) -> Result<(), EngineError> {
    if state.is_idle == Some(true) { restore(engine) } else { Ok(()) }
}

/// Takes back what [`hurry`] has set.
pub(crate) fn restore(engine: &MysqlEngine) -> Result<(), EngineError> {
    let mut restless = engine.restless.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, value) in restless.take().unwrap_or_default() {
        set(engine, &name, &value)?;
    }
    Ok(())
}

/// Sets a variable; returns `false` when the server lacks it or the user may not.
fn set(engine: &MysqlEngine, name: &str, value: &str) -> Result<bool, EngineError> {
    let sql = format!("SET GLOBAL {name} = {value}");
    engine.ask(|connection| match connection.run(&sql) {
        // No such variable; no right to set it.
        Err(failure) if matches!(failure.number(), Some(1193 | 1227)) => Ok(false),
        done => done.map(|_| true),
    })
}

fn analyze(engine: &MysqlEngine) -> Result<(), EngineError> {
    each_table(engine, "ANALYZE TABLE")
}

/// Runs a statement that takes a list of tables.
fn each_table(engine: &MysqlEngine, words: &str) -> Result<(), EngineError> {
    for table in &engine.names {
        engine.ask(|connection| connection.run(&format!("{words} `{table}`")).map(drop))?;
    }
    Ok(())
}
