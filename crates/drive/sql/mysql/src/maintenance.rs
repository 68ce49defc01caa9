//! Maintenance between steps: flush, compact, purge and analyze.

use std::sync::PoisonError;

use driver_sql::Connection as _;
use engine::{EngineError, Maintenance};

use crate::database::{MysqlEngine, SavedVariables};
use crate::durability::StorageEngine;
use crate::wire::number;

/// Variables that make `InnoDB` flush dirty pages and purge at once; absent ones are left out.
///
/// Source: MySQL's reference manual, "Configuring Buffer Pool Flushing" and "Purge Configuration".
const FLUSH_VARIABLES: [(&str, &str); 5] = [
    ("innodb_io_capacity", "@@GLOBAL.innodb_io_capacity_max"),
    ("innodb_max_dirty_pages_pct_lwm", "0"),
    ("innodb_max_dirty_pages_pct", "0"),
    ("innodb_idle_flush_pct", "100"),
    ("innodb_purge_rseg_truncate_frequency", "1"),
];

/// Starts maintenance work; `false` when the engine has none of its kind.
pub(crate) fn maintain(engine: &MysqlEngine, work: Maintenance) -> Result<bool, EngineError> {
    let Some(storage_engine) = engine.database.storage_engine else { return Ok(false) };
    match (work, storage_engine) {
        (Maintenance::Flush | Maintenance::Clean, StorageEngine::Innodb) => {
            start_flushing(engine)?;
            if work == Maintenance::Clean {
                for_each_table(engine, "ANALYZE TABLE")?;
            }
            Ok(true)
        }
        (Maintenance::Flush, StorageEngine::Rocksdb) => {
            set(engine, "rocksdb_force_flush_memtable_now", "1")
        }
        (Maintenance::CompactLevel0, StorageEngine::Rocksdb) => {
            set(engine, "rocksdb_force_flush_memtable_and_lzero_now", "1")
        }
        (Maintenance::CompactAll, StorageEngine::Rocksdb) => {
            set(engine, "rocksdb_compact_cf", "'default'")
        }
        (Maintenance::Clean, StorageEngine::Rocksdb) => {
            for_each_table(engine, "ANALYZE TABLE").map(|()| true)
        }
        (Maintenance::CompactAll, StorageEngine::Innodb) => {
            for_each_table(engine, "OPTIMIZE TABLE").map(|()| true)
        }
        (Maintenance::CompactLevel0, _) | (_, StorageEngine::Aria) => Ok(false),
    }
}

/// Makes `InnoDB` flush and purge until [`restore`].
fn start_flushing(engine: &MysqlEngine) -> Result<(), EngineError> {
    let mut saved_variables =
        engine.database.saved_variables.lock().unwrap_or_else(PoisonError::into_inner);
    if saved_variables.is_some() {
        return Ok(());
    }
    let mut before = SavedVariables::new();
    for (name, value) in FLUSH_VARIABLES {
        let sql = format!("SHOW GLOBAL VARIABLES LIKE '{name}'");
        let found = engine.with_control(|connection| connection.rows(&sql))?;
        let Some([_, was]) = found.first().map(Vec::as_slice) else { continue };
        let was = was.clone();
        if set(engine, name, value)? {
            before.insert(0, (name.to_owned(), was));
        }
    }
    *saved_variables = Some(before);
    Ok(())
}

/// Restores the variables of [`start_flushing`].
pub(crate) fn restore(engine: &MysqlEngine) -> Result<(), EngineError> {
    let mut saved_variables =
        engine.database.saved_variables.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, value) in saved_variables.take().unwrap_or_default() {
        set(engine, &name, &value)?;
    }
    Ok(())
}

/// Sets a variable; `false` when the server lacks it or denies it.
fn set(engine: &MysqlEngine, name: &str, value: &str) -> Result<bool, EngineError> {
    let sql = format!("SET GLOBAL {name} = {value}");
    engine.with_control_unlimited(|connection| match connection.run(&sql) {
        // No such variable; no right to set it.
        Err(failure) if matches!(number(&failure), Some(1193 | 1227)) => Ok(false),
        done => done.map(|()| true),
    })
}

/// Runs a statement for each table; it reports its errors in the rows of its answer.
///
/// Source: MySQL's reference manual, "ANALYZE TABLE Statement", "ANALYZE TABLE Output".
fn for_each_table(engine: &MysqlEngine, statement: &str) -> Result<(), EngineError> {
    for table in &engine.tables {
        let sql = format!("{statement} {}", table.qualified);
        let rows = engine.with_control_unlimited(|connection| connection.rows(&sql))?;
        let mut errors = rows.iter().filter_map(|row| match &row[..] {
            [_, _, kind, text] if kind.eq_ignore_ascii_case("error") => Some(text),
            _ => None,
        });
        if let Some(text) = errors.next() {
            return Err(EngineError::Fatal(format!("{sql}: {text}")));
        }
    }
    Ok(())
}
