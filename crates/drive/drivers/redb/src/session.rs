//! One client's session: a transaction per operation.

use std::sync::RwLockReadGuard;

use engine::parts::{self, Part};
use engine::{EngineError, Result, Rows, Session};
use model::{Direction, Op, Outcome};
use redb::{
    AccessGuard, Database, Durability, ReadOnlyTable, ReadableDatabase, StorageError,
    TableDefinition, WriteTransaction,
};

use crate::config::Config;

/// The one table.
pub(crate) const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("kv");

type Table = ReadOnlyTable<&'static [u8], &'static [u8]>;
type Row<'a> = (AccessGuard<'a, &'static [u8]>, AccessGuard<'a, &'static [u8]>);

/// A client's handle.
pub(crate) struct RedbSession<'e> {
    database: RwLockReadGuard<'e, Database>,
    config: Config,
}

impl<'e> RedbSession<'e> {
    /// Returns a session that blocks compactions for its lifetime.
    pub(crate) const fn new(database: RwLockReadGuard<'e, Database>, config: Config) -> Self {
        Self { database, config }
    }

    /// Returns the table in a new read transaction.
    fn table(&self) -> Result<Table> {
        let txn = self.database.begin_read().map_err(failed)?;
        txn.open_table(TABLE).map_err(failed)
    }

    fn write(
        &self,
        change: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<Outcome> {
        let txn = begin_write(&self.database, &self.config, self.config.durability())?;
        change(&txn).map_err(failed)?;
        txn.commit().map_err(failed)?;
        Ok(Outcome::Done)
    }
}

/// Begins a transaction whose commit has the settings of `config`.
pub(crate) fn begin_write(
    database: &Database,
    config: &Config,
    durability: Durability,
) -> Result<WriteTransaction> {
    let mut txn = database.begin_write().map_err(failed)?;
    txn.set_durability(durability).map_err(failed)?;
    txn.set_two_phase_commit(config.is_two_phase);
    txn.set_quick_repair(config.is_quick_repair);
    Ok(txn)
}

/// Converts an error, with redb's own message.
#[cold]
pub(crate) fn failed(error: impl Into<redb::Error>) -> EngineError {
    let error = error.into();
    let text = format!("redb: {error}");
    if matches!(error, redb::Error::ValueTooLarge(_)) {
        EngineError::Unsupported(text)
    } else {
        EngineError::Fatal(text)
    }
}

impl Session for RedbSession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome> {
        match *op {
            Op::Put { key, value } => self.write(|txn| {
                txn.open_table(TABLE)?.insert(key, value)?;
                Ok(())
            }),
            Op::Delete { key } => self.write(|txn| {
                txn.open_table(TABLE)?.remove(key)?;
                Ok(())
            }),
            Op::Get { key } => read(get(&self.table()?, key, rows), rows),
            Op::FieldRead { key, offset, length } => {
                let table = self.table()?;
                if let Some(value) = table.get(key).map_err(failed)? {
                    parts::push_field(key, value.value(), Part { offset, length }, rows)?;
                }
                Ok(rows.outcome())
            }
            Op::Call(_)
            | Op::PartialUpdate { .. }
            | Op::Append { .. }
            | Op::ScanSequence { .. } => parts::execute("redb", self, op, rows),
            Op::MultiGet { keys } => {
                let table = self.table()?;
                read(keys.iter().try_for_each(|key| get(&table, key, rows)), rows)
            }
            Op::Scan { start, limit, direction: Direction::Forward } => {
                let range = self.table()?.range(start..).map_err(failed)?;
                read(push(range, limit, rows), rows)
            }
            Op::Scan { start, limit, direction: Direction::Reverse } => {
                let range = self.table()?.range(..=start).map_err(failed)?;
                read(push(range.rev(), limit, rows), rows)
            }
        }
    }
}

fn get(table: &Table, key: &[u8], rows: &mut Rows) -> Result<(), StorageError> {
    if let Some(value) = table.get(key)? {
        rows.push(key, value.value());
    }
    Ok(())
}

fn push<'a>(
    mut range: impl Iterator<Item = Result<Row<'a>, StorageError>>,
    limit: u32,
    rows: &mut Rows,
) -> Result<(), StorageError> {
    range.by_ref().take(limit as usize).try_for_each(|row| {
        let (key, value) = row?;
        rows.push(key.value(), value.value());
        Ok(())
    })
}

/// Returns the outcome of a read into `rows`.
fn read(done: Result<(), StorageError>, rows: &Rows) -> Result<Outcome> {
    done.map_err(failed)?;
    Ok(rows.outcome())
}
