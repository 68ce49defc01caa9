//! The tables of an LSM tree by level.
//!
//! Level 0 has a table for each flush, which overlap; the tables of each other level are disjoint.
//! Leveled compaction. Source: [O'Neil 1996]; the rule of what is
//! compacted next is RocksDB's for its leveled style (the level that is largest for its target).

use std::ops::Bound;
use std::sync::Arc;

use super::Tuple;
use super::merge::Source;
use super::table::{Table, TableCursor};
use crate::caches::Caches;
use crate::error::Result;
use crate::options::Options;

/// How much larger each level is than the one before.
const FANOUT: u64 = 10;

/// The tables of a tree.
#[derive(Clone, Default)]
pub(crate) struct Levels(pub(crate) Vec<Vec<Arc<Table>>>);

/// Tables to be merged into a level.
pub(crate) struct CompactionJob {
    /// Runs of disjoint tables in order.
    pub(crate) runs: Vec<Vec<Arc<Table>>>,
    pub(crate) level: usize,
    /// Whether no other table can have an older version of a key of the inputs.
    pub(crate) is_last: bool,
}

impl Levels {
    /// Adds a table.
    pub(crate) fn insert(&mut self, level: usize, table: Arc<Table>) {
        if self.0.len() <= level {
            self.0.resize_with(level + 1, Vec::new);
        }
        let tables = &mut self.0[level];
        tables.push(table);
        if level > 0 {
            tables.sort_by(|one, other| one.record.first.cmp(&other.record.first));
        }
    }

    /// Removes a table; its file goes with its last reader.
    pub(crate) fn remove(&mut self, id: u64) {
        for table in self.0.iter().flatten().filter(|table| table.record.id == id) {
            table.file.retire();
        }
        self.0.iter_mut().for_each(|tables| tables.retain(|table| table.record.id != id));
    }

    /// Returns all tables with their levels.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (usize, &Arc<Table>)> {
        self.0
            .iter()
            .enumerate()
            .flat_map(|(level, tables)| tables.iter().map(move |table| (level, table)))
    }

    /// Returns the bytes of all tables.
    pub(crate) fn bytes(&self) -> u64 {
        self.tables().map(|(_, table)| table.record.bytes).sum()
    }

    /// Returns the number of tables in level 0.
    pub(crate) fn level0(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    /// Returns the newest tuple of a key.
    pub(crate) fn get(&self, key: &[u8], caches: &Caches) -> Result<Option<Tuple>> {
        let Some((newest, levels)) = self.0.split_first() else { return Ok(None) };
        for table in newest.iter().rev() {
            if let Some(tuple) = table.get(key, caches)? {
                return Ok(Some(tuple));
            }
        }
        for tables in levels {
            let at = tables.partition_point(|table| *table.record.last < *key);
            if let Some(table) = tables.get(at)
                && let Some(tuple) = table.get(key, caches)?
            {
                return Ok(Some(tuple));
            }
        }
        Ok(None)
    }

    /// Returns the tuples from a bound on as sources of a merge.
    pub(crate) fn sources(
        &self,
        bound: Bound<&[u8]>,
        is_forward: bool,
        caches: &Arc<Caches>,
    ) -> Result<Vec<Source<'static>>> {
        let mut sources = Vec::new();
        for (level, tables) in self.0.iter().enumerate() {
            if level == 0 {
                for table in tables {
                    sources.push(source(vec![Arc::clone(table)], bound, is_forward, caches)?);
                }
            } else {
                sources.push(source(tables.clone(), bound, is_forward, caches)?);
            }
        }
        Ok(sources)
    }

    /// Returns the next compaction; `None` when every level is within its target.
    pub(crate) fn job(&self, options: &Options) -> Option<CompactionJob> {
        if self.level0() >= options.level0_tables {
            return self.job_of_level0();
        }
        let mut target = options.level1_bytes;
        for (level, tables) in self.0.iter().enumerate().skip(1) {
            let bytes: u64 = tables.iter().map(|table| table.record.bytes).sum();
            if bytes > target {
                // The oldest table: all have their turn.
                let oldest = tables.iter().min_by_key(|table| table.record.id)?;
                return Some(self.job_of(level, vec![Arc::clone(oldest)]));
            }
            target = target.saturating_mul(FANOUT);
        }
        None
    }

    /// Returns the compaction of level 0; `None` when it is empty.
    pub(crate) fn job_of_level0(&self) -> Option<CompactionJob> {
        (self.level0() > 0).then(|| self.job_of(0, self.0[0].clone()))
    }

    /// Returns the compaction of everything into the last level; `None` when it is there already.
    pub(crate) fn job_of_all(&self) -> Option<CompactionJob> {
        let level = self.0.len().max(2) - 1;
        if self.0.iter().take(level).all(Vec::is_empty) {
            return None;
        }
        let (newest, deeper) = self.0.split_first()?;
        let runs = newest.iter().map(|table| vec![Arc::clone(table)]).chain(deeper.iter().cloned());
        Some(CompactionJob { runs: runs.collect(), level, is_last: true })
    }

    /// Returns the compaction of these tables of a level, which may overlap, into the next one.
    fn job_of(&self, level: usize, inputs: Vec<Arc<Table>>) -> CompactionJob {
        let below = |level: usize| self.0.get(level).into_iter().flatten();
        let mut runs: Vec<_> = inputs.into_iter().map(|table| vec![table]).collect();
        let (first, last) = range(&runs);
        let overlapping = below(level + 1).filter(|table| table.overlaps(&first, &last));
        runs.push(overlapping.map(Arc::clone).collect());
        let (first, last) = range(&runs);
        let mut deeper = (level + 2..self.0.len()).flat_map(below);
        let is_last = !deeper.any(|table| table.overlaps(&first, &last));
        CompactionJob { runs, level: level + 1, is_last }
    }
}

impl CompactionJob {
    /// Returns the tables to be merged.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.runs.iter().flatten()
    }

    /// Returns the tuples of all runs as sources of a merge.
    pub(crate) fn sources(&self, caches: &Arc<Caches>) -> Result<Vec<Source<'static>>> {
        self.runs.iter().map(|run| source(run.clone(), Bound::Unbounded, true, caches)).collect()
    }
}

/// Returns the first and the last key of tables.
fn range(runs: &[Vec<Arc<Table>>]) -> (Vec<u8>, Vec<u8>) {
    let tables = || runs.iter().flatten();
    let first = tables().map(|table| &table.record.first).min();
    let last = tables().map(|table| &table.record.last).max();
    (first.cloned().unwrap_or_default(), last.cloned().unwrap_or_default())
}

/// Returns the tuples of disjoint tables in order, from a bound on.
fn source(
    mut tables: Vec<Arc<Table>>,
    bound: Bound<&[u8]>,
    is_forward: bool,
    caches: &Arc<Caches>,
) -> Result<Source<'static>> {
    if let Bound::Included(key) | Bound::Excluded(key) = bound {
        tables.retain(|table| {
            if is_forward { *key <= *table.record.last } else { *table.record.first <= *key }
        });
    }
    if !is_forward {
        tables.reverse();
    }
    let mut tables = tables.into_iter();
    let Some(first) = tables.next() else { return Ok(Box::new(std::iter::empty())) };
    let caches = Arc::clone(caches);
    let first = TableCursor::new(first, Arc::clone(&caches), bound, is_forward)?;
    // Later tables lie within the bound as a whole.
    let rest = tables.flat_map(move |table| -> Source<'static> {
        match TableCursor::new(table, Arc::clone(&caches), Bound::Unbounded, is_forward) {
            Ok(cursor) => Box::new(cursor),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    });
    Ok(Box::new(first.chain(rest)))
}
