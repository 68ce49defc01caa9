//! Readings of single tables and indexes, and of the cache.

use driver_sql::{Connection as _, TableName, unless_refused};
use model::{Metric, Readings, TableReadings, metric};

use crate::wire::{Connection, Failure};

/// First release whose `pg_buffercache` has a summary, which locks no page.
const SUMMARY_FROM: u32 = 16;
/// Largest cache whose dirty pages are counted, in pages: 4 GiB.
///
/// The summary reads the header of each page: 2 ms a second were measured for 2 GiB.
const COUNTED_PAGES_MAX: u64 = 524_288;
/// Most tables and indexes, the largest first. Our choice: as many rows as a picture has room for.
const TABLES_MAX: u32 = 24;
/// Longest wait for the lock under which a size is read: the sample of a second is left out, and
/// not late, while a table is rewritten. Our choice.
const LOCK_TIMEOUT_MS: u32 = 50;

/// The columns after the name.
const COLUMNS: [Metric; 4] = [
    metric::ENGINE_DISK_BYTES,
    metric::ENGINE_GARBAGE_ROWS,
    metric::ENGINE_VACUUMS,
    metric::ENGINE_VACUUMS_RUNNING,
];

/// Returns the query of the OIDs in which rows of tables lie: their own, or their partitions'.
///
/// A partitioned table has no size and no statistics of its own.
pub(crate) fn leaves_query(tables: &[TableName]) -> String {
    let quoted = tables.iter().map(|table| format!("'{}'", table.qualified.replace('\'', "''")));
    let tables: Vec<String> = quoted.collect();
    format!(
        "WITH RECURSIVE t AS (SELECT unnest(ARRAY[{}]::regclass[])::oid AS id UNION \
         SELECT i.inhrelid FROM pg_inherits i JOIN t ON i.inhparent = t.id) \
         SELECT c.oid FROM t JOIN pg_class c ON c.oid = t.id WHERE c.relkind IN ('r', 'm')",
        tables.join(", ")
    )
}

/// Returns the query of tables with these OIDs and their indexes.
pub(crate) fn query(tables: &[String]) -> String {
    let oids = tables.join(",");
    format!(
        "SET LOCAL lock_timeout = '{LOCK_TIMEOUT_MS}ms'; \
         SELECT c.relname, pg_table_size(c.oid), \
         CASE c.relkind WHEN 'r' THEN pg_stat_get_dead_tuples(c.oid) END, \
         CASE c.relkind WHEN 'r' THEN pg_stat_get_autovacuum_count(c.oid) END, \
         CASE c.relkind WHEN 'r' THEN \
         (SELECT count(*) FROM pg_stat_get_progress_info('VACUUM') v \
         WHERE v.relid = c.oid) END \
         FROM pg_class c WHERE c.oid = ANY ('{{{oids}}}'::oid[]) OR c.oid IN \
         (SELECT indexrelid FROM pg_index WHERE indrelid = ANY ('{{{oids}}}'::oid[])) \
         ORDER BY 2 DESC NULLS LAST, 1 LIMIT {TABLES_MAX}"
    )
}

/// Samples the tables; none while one is locked against readers.
pub(crate) fn sample(connection: &mut Connection, query: &str) -> Result<TableReadings, Failure> {
    let rows = unless_refused(connection.rows(query))?.unwrap_or_default();
    Ok(rows.into_iter().filter_map(parse).collect())
}

fn parse(row: Vec<String>) -> Option<(String, Readings)> {
    let mut row = row.into_iter();
    let name = row.next()?;
    let known = |(metric, value): (Metric, String)| Some((metric, value.parse::<f64>().ok()?));
    Some((name, COLUMNS.into_iter().zip(row).filter_map(known).collect()))
}

/// Returns whether the dirty pages of the cache can be counted, after an attempt to make it so.
///
/// A foreign server gets no extension.
pub(crate) fn can_count_dirty(
    connection: &mut Connection,
    major: u32,
    is_foreign: bool,
) -> Result<bool, Failure> {
    if major < SUMMARY_FROM {
        return Ok(false);
    }
    let pages =
        connection.first("SELECT setting FROM pg_settings WHERE name = 'shared_buffers'")?;
    let pages = pages.and_then(|pages| pages.parse::<u64>().ok());
    if pages.is_none_or(|pages| pages > COUNTED_PAGES_MAX) {
        return Ok(false);
    }
    let create = "CREATE EXTENSION IF NOT EXISTS pg_buffercache";
    let statements = (!is_foreign).then_some(create).into_iter();
    for statement in statements.chain(["SELECT FROM pg_buffercache_summary()"]) {
        if unless_refused(connection.run(statement))?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_index_does_not_have_is_unknown() {
        let row = |texts: [&str; 5]| parse(texts.map(str::to_owned).into()).unwrap();
        let (name, table) = row(["orders", "8192", "17", "2", "1"]);
        assert_eq!((name.as_str(), table.len()), ("orders", 4));
        assert_eq!(table.value(metric::ENGINE_GARBAGE_ROWS), Some(17.0));
        let (_, index) = row(["orders_pkey", "16384", "", "", ""]);
        assert_eq!(index, Readings::from([(metric::ENGINE_DISK_BYTES, 16384.0)]));
    }
}
