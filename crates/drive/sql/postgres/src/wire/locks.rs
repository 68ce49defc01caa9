//! Waits for locks: their limit, and the query of who holds the locks.

/// Longest wait for the lock of a run, which one that has just ended may still hold; the key is
/// "assay" in bytes. Both statements are one transaction, whose end the lock outlives.
pub(super) const LOCK_RUN: &str =
    "SET LOCAL lock_timeout = '3s'; SELECT pg_advisory_lock(418548769145)";
/// Returns 0 where another session holds the lock of a run; the halves of its key are columns.
///
/// Source: Postgres' documentation, "System Views", `pg_locks`.
pub(super) const HOLDS_RUN: &str = "SELECT max((pid = pg_backend_pid())::int) FROM pg_locks WHERE locktype = 'advisory' AND \
     granted AND classid = 418548769145 >> 32 AND objid = 418548769145 & 4294967295 AND \
     database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/// Begins the query of how many sessions, whose numbers follow, execute a statement.
pub(super) const BUSY: &str =
    "SELECT count(*) FROM pg_stat_activity WHERE state <> 'idle' AND pid IN";

/// Returns the query of what sessions of these numbers wait for: statement, and holder in words.
///
/// The holder of number 0 is a prepared transaction. A login without rights sees no statements of
/// other users.
///
/// Source: Postgres' documentation, "System Information Functions", `pg_blocking_pids`.
pub(super) fn query(numbers: &[u64]) -> String {
    let numbers = numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    format!(
        "SELECT DISTINCT left(w.query, 200), CASE WHEN b.pid IS NULL THEN 'a prepared transaction' \
         ELSE concat_ws(', ', 'session ' || b.pid || ' of user `' || b.usename || '`', \
         nullif(b.application_name, ''), 'from ' || host(b.client_addr), b.state, \
         'whose last statement began at ' || to_char(b.query_start AT TIME ZONE 'UTC', \
         'YYYY-MM-DD HH24:MI:SS') || ' UTC: `' || left(btrim(b.query), 200) || '`') END \
         FROM pg_stat_activity w CROSS JOIN unnest(pg_blocking_pids(w.pid)) p \
         LEFT JOIN pg_stat_activity b ON b.pid = p WHERE w.pid IN ({numbers})"
    )
}
