//! Server state: one query of counters, columns named by metric.

use model::{EngineState, Readings};

/// Prefix of columns that are common metrics; the others are the server's own.
const COMMON: &str = "engine_";
/// The column of background idleness.
const IS_IDLE: &str = "is_idle";

/// Columns that every release has; `d` is the database, `t` our tables.
///
/// `engine_heap_fetches` is `idx_tup_fetch`: live rows fetched by index scans of our tables,
/// including index-only scans of pages that are not all-visible and rows found through bitmaps.
/// Dead rows are not counted.
///
/// `index_fetch_heap` in `indexam.c`.
const EVERY: &str = "\
    d.blks_hit AS engine_cache_hits, d.blks_read AS engine_cache_misses, \
    d.xact_commit AS engine_commits, d.xact_rollback AS engine_rollbacks, \
    pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') AS engine_wal_write_bytes, \
    pg_database_size(d.datid) AS engine_disk_bytes, \
    t.dead AS engine_garbage_rows, t.fetched AS engine_heap_fetches, \
    t.vacuums AS engine_vacuums, t.hot AS n_tup_hot_upd, \
    d.tup_returned, d.tup_fetched, d.tup_inserted, d.tup_updated, d.tup_deleted, \
    d.temp_bytes, d.deadlocks, b.buffers_clean, b.maxwritten_clean, b.buffers_alloc, \
    d.numbackends AS engine_connections, \
    pg_wal_lsn_diff(pg_current_wal_insert_lsn(), k.redo_lsn) AS engine_checkpoint_age_bytes, \
    r.behind AS engine_replica_lag_bytes, r.late AS engine_replica_lag_us, \
    v.running AS engine_vacuums_running, \
    CASE WHEN a.has_rights THEN a.checkpoints END AS engine_checkpoints_running, \
    CASE WHEN a.has_rights THEN a.active END AS engine_active_connections, \
    CASE WHEN a.has_rights THEN a.waiters END AS engine_lock_waiters";

/// What the processes do; a login without rights sees no kinds of processes.
///
/// The functions below `pg_stat_activity` and `pg_stat_progress_vacuum`: without the views' joins
/// they take a third of the time.
///
/// Source: Postgres' documentation, wait event `CheckpointerMain`, "waiting in main loop of
/// checkpointer process".
const ACTIVITY: &str = "\
    (SELECT bool_or(backend_type = 'checkpointer') AS has_rights, \
    count(*) FILTER (WHERE backend_type = 'checkpointer' \
    AND wait_event IS DISTINCT FROM 'CheckpointerMain') AS checkpoints, \
    count(*) FILTER (WHERE backend_type = 'autovacuum worker') AS autovacuums, \
    count(*) FILTER (WHERE backend_type = 'client backend' AND state = 'active') AS active, \
    count(*) FILTER (WHERE wait_event_type = 'Lock') AS waiters \
    FROM pg_stat_get_activity(NULL)) a, \
    (SELECT count(*) AS running FROM pg_stat_get_progress_info('VACUUM')) v";

/// How far standbys are behind; null without one, and for a login without rights.
///
/// Source: Postgres' documentation, `pg_stat_replication`, `replay_lsn` and `replay_lag`.
const REPLICAS: &str = "\
    (SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)) AS behind, \
    max(extract(epoch FROM replay_lag) * 1000000)::int8 AS late FROM pg_stat_replication) r";

/// Dirty pages of the cache, from `pg_buffercache` 1.4 on.
const DIRTY: &str = "\
    (SELECT buffers_dirty::int8 * current_setting('block_size')::int8 \
    FROM pg_buffercache_summary()) AS engine_dirty_bytes";

/// No vacuum and no checkpoint runs; a login without rights sees no checkpoints.
const IDLE: &str = "v.running + a.autovacuums + a.checkpoints = 0 AS is_idle";

/// Writes of pages before 16: those of checkpoints, of the background writer and of backends,
/// which include pages added to files.
const PAGES_TO_15: &str = "\
    (b.buffers_checkpoint + b.buffers_clean + b.buffers_backend) \
    * current_setting('block_size')::int8 AS engine_page_write_bytes";

/// Checkpoints before 17.
const CHECKPOINTS_TO_16: &str = "\
    b.checkpoints_timed + b.checkpoints_req AS engine_checkpoints, b.checkpoints_timed, \
    b.checkpoints_req, b.checkpoint_write_time, b.checkpoint_sync_time, b.buffers_checkpoint, \
    b.buffers_backend, b.buffers_backend_fsync, \
    b.buffers_checkpoint * current_setting('block_size')::int8 AS engine_checkpoint_write_bytes";

/// Checkpoints of 17, including skipped ones.
const CHECKPOINTS_17: &str = "c.num_timed + c.num_requested AS engine_checkpoints";

/// Checkpoints from 18 on.
const CHECKPOINTS_FROM_18: &str = "c.num_done AS engine_checkpoints";

const CHECKPOINTER_FROM_17: &str = "\
    c.num_timed, c.num_requested, c.write_time, c.sync_time, c.buffers_written, \
    c.buffers_written * current_setting('block_size')::int8 AS engine_checkpoint_write_bytes";

/// Whether the server counts the syncs of its WAL; methods that sync as they write are not counted.
///
/// WAL syncs and, from 16 on, those of data files are one figure: without the first it is unknown.
///
/// Source: Postgres' documentation, `pg_stat_wal`, `wal_sync` ("otherwise zero").
const COUNTS_SYNCS: &str = "current_setting('wal_sync_method') NOT LIKE 'open%'";

/// Pages written and added in 16 and 17, in bytes.
const IO_16: &str = "sum(coalesce(writes, 0) * op_bytes + coalesce(extends, 0) * op_bytes)";
/// The same from 18 on.
const IO_FROM_18: &str =
    "sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0)) FILTER (WHERE object <> 'wal')";

/// Returns the state query for a major version (`15`) and these tables' OIDs.
///
/// `counts_dirty` is whether the database can count the dirty pages of its cache.
pub(crate) fn query(major: u32, tables: &[String], counts_dirty: bool) -> String {
    let mut columns = vec![EVERY, IDLE];
    let mut from = vec![
        "(SELECT * FROM pg_stat_database WHERE datname = current_database()) d".to_owned(),
        "pg_stat_bgwriter b".to_owned(),
        of_tables(tables),
        "pg_control_checkpoint() k".to_owned(),
        ACTIVITY.to_owned(),
        REPLICAS.to_owned(),
    ];
    columns.extend(counts_dirty.then_some(DIRTY));
    if major >= 14 {
        columns.push(
            "w.wal_records, w.wal_fpi AS engine_wal_page_images, w.wal_bytes, w.wal_buffers_full",
        );
        from.push("pg_stat_wal w".to_owned());
    }
    if (14..=17).contains(&major) {
        columns.push("w.wal_write, w.wal_sync");
    }
    let syncs = match major {
        14 | 15 => Some("w.wal_sync + b.buffers_backend_fsync"),
        16 | 17 => Some("w.wal_sync + i.fsyncs"),
        18.. => Some("i.fsyncs"),
        _ => None,
    };
    let syncs =
        syncs.map(|sum| format!("CASE WHEN {COUNTS_SYNCS} THEN {sum} END AS engine_fsyncs"));
    columns.extend(syncs.as_deref());
    if major >= 16 {
        let written = if major >= 18 { IO_FROM_18 } else { IO_16 };
        columns.push("i.written AS engine_page_write_bytes");
        from.push(format!(
            "(SELECT {written} AS written, sum(coalesce(fsyncs, 0)) AS fsyncs FROM pg_stat_io) i"
        ));
    } else {
        columns.push(PAGES_TO_15);
    }
    match major {
        ..=16 => columns.push(CHECKPOINTS_TO_16),
        17 => columns.extend([CHECKPOINTS_17, CHECKPOINTER_FROM_17]),
        18.. => columns.extend([CHECKPOINTS_FROM_18, CHECKPOINTER_FROM_17]),
    }
    if major >= 17 {
        from.push("pg_stat_checkpointer c".to_owned());
    }
    format!("SELECT {} FROM {}", columns.join(", "), from.join(", "))
}

/// Returns the subquery of sums over our tables, partitions apart.
fn of_tables(tables: &[String]) -> String {
    let oids = tables.join(",");
    format!(
        "(SELECT coalesce(sum(pg_stat_get_dead_tuples(o)), 0) AS dead, \
         coalesce(sum(pg_stat_get_autovacuum_count(o)), 0) AS vacuums, \
         coalesce(sum(pg_stat_get_tuples_hot_updated(o)), 0) AS hot, \
         coalesce(sum(pg_stat_get_tuples_fetched(o)), 0) \
         + (SELECT coalesce(sum(pg_stat_get_tuples_fetched(indexrelid)), 0) FROM pg_index \
         WHERE indrelid = ANY ('{{{oids}}}'::oid[])) AS fetched \
         FROM unnest('{{{oids}}}'::oid[]) o) t"
    )
}

/// Parses the row of the state query.
pub(crate) fn parse(row: Vec<(String, String)>) -> EngineState {
    let (mut readings, mut own_counters, mut is_idle) = (Readings::new(), Readings::new(), None);
    for (name, value) in row {
        if name == IS_IDLE {
            is_idle = Some(value == "t");
        } else if let Ok(value) = value.parse() {
            let of = if name.starts_with(COMMON) { &mut readings } else { &mut own_counters };
            of.insert(name, value);
        }
    }
    EngineState { readings, own_counters, is_idle, ..EngineState::default() }
}

#[cfg(test)]
mod tests {
    use model::metric::{self, METRICS};

    use super::*;

    #[test]
    fn common_columns_are_metrics() {
        let known: Vec<_> = METRICS.iter().map(|metric| metric.name).collect();
        for major in 12..=18 {
            let query = query(major, &["1".to_owned(), "2".to_owned()], major >= 16);
            let common: Vec<_> =
                query.split([' ', ',']).filter(|word| word.starts_with(COMMON)).collect();
            assert!(common.len() >= 9, "{query}");
            assert!(common.iter().all(|name| known.contains(name)), "{common:?}");
        }
    }

    /// Goal: syncs that the server does not count are unknown, not 0.
    #[test]
    fn syncs_are_unknown_where_the_wal_syncs_as_it_writes() {
        for (major, is_known) in [(13, false), (14, true), (16, true), (18, true)] {
            let query = query(major, &[], false);
            assert_eq!(query.contains("END AS engine_fsyncs"), is_known, "{query}");
            assert_eq!(query.contains("NOT LIKE 'open%' THEN"), is_known, "{query}");
        }
        let unknown = parse(vec![("engine_fsyncs".to_owned(), String::new())]);
        assert!(unknown.readings.is_empty());
    }

    /// Goal: page images are a metric from 14 on, unknown before, and no counter of the server's
    /// own. The answer is 15.10's, shortened.
    #[test]
    fn page_images_of_the_log_are_counted_from_14_on() {
        for (major, is_known) in [(12, false), (13, false), (14, true), (18, true)] {
            assert_eq!(
                query(major, &[], false).contains("engine_wal_page_images"),
                is_known,
                "{major}"
            );
        }
        let row = [
            ("engine_wal_write_bytes", "26713480"),
            ("engine_page_write_bytes", "8986624"),
            ("engine_wal_page_images", "1431"),
            ("wal_bytes", "1893220"),
        ];
        let state = parse(row.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        assert_eq!(state.readings.value(metric::ENGINE_WAL_PAGE_IMAGES), Some(1431.0));
        assert_eq!(state.readings.value(metric::ENGINE_WAL_WRITE_BYTES), Some(26_713_480.0));
        assert_eq!(state.own_counters.len(), 1);
    }

    #[test]
    fn columns_are_sorted_by_name_prefix() {
        let row = [("engine_commits", "7"), ("tup_fetched", "9"), ("is_idle", "f"), ("x", "word")];
        let state = parse(row.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        assert_eq!(state.readings.len() + state.own_counters.len(), 2);
        assert_eq!(state.is_idle, Some(false));
    }
}
