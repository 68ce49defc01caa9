//! Waits for locks: the queries of who holds the locks, by release.

/// Pairs of the session that waits and the one that holds the lock, the most exact first; a holder
/// is certain, or one of those that are possible.
///
/// Row locks from 8.0 on and before; metadata locks, where they are instrumented; the lock of a
/// run; row locks of `MyRocks`; where no view has metadata locks, every other session of a user.
///
/// Source: MySQL's reference manual, "Performance Schema Lock Tables", "`InnoDB`
/// `INFORMATION_SCHEMA` Transaction and Locking Information", "Metadata Locking".
const HOLDERS: [(&str, &str); 6] = [
    (
        "",
        "SELECT w.processlist_id AS waits, h.processlist_id AS holds \
         FROM performance_schema.data_lock_waits l \
         JOIN performance_schema.threads w ON w.thread_id = l.requesting_thread_id \
         JOIN performance_schema.threads h ON h.thread_id = l.blocking_thread_id",
    ),
    (
        "",
        "SELECT w.trx_mysql_thread_id AS waits, h.trx_mysql_thread_id AS holds \
         FROM information_schema.innodb_lock_waits l \
         JOIN information_schema.innodb_trx w ON w.trx_id = l.requesting_trx_id \
         JOIN information_schema.innodb_trx h ON h.trx_id = l.blocking_trx_id",
    ),
    (
        "",
        "SELECT w.processlist_id AS waits, h.processlist_id AS holds \
         FROM performance_schema.metadata_locks r JOIN performance_schema.metadata_locks g \
         ON g.object_type = r.object_type AND g.object_schema <=> r.object_schema \
         AND g.object_name <=> r.object_name AND g.owner_thread_id <> r.owner_thread_id \
         AND (g.lock_type IN ('SHARED', 'SHARED_NO_WRITE', 'SHARED_NO_READ_WRITE', \
         'SHARED_READ_ONLY', 'EXCLUSIVE') \
         OR r.lock_type IN ('SHARED_NO_WRITE', 'SHARED_NO_READ_WRITE', 'EXCLUSIVE')) \
         JOIN performance_schema.threads w ON w.thread_id = r.owner_thread_id \
         JOIN performance_schema.threads h ON h.thread_id = g.owner_thread_id \
         WHERE r.lock_status = 'PENDING'",
    ),
    (
        "",
        "SELECT id AS waits, IS_USED_LOCK(CONCAT('assay ', DATABASE())) AS holds \
         FROM information_schema.processlist WHERE state = 'User lock'",
    ),
    (
        "perhaps ",
        "SELECT w.thread_id AS waits, h.thread_id AS holds FROM information_schema.rocksdb_trx w \
         JOIN information_schema.rocksdb_trx h ON h.thread_id <> w.thread_id \
         WHERE w.waiting_key <> ''",
    ),
    (
        "perhaps ",
        "SELECT w.id AS waits, h.id AS holds FROM information_schema.processlist w \
         JOIN information_schema.processlist h ON h.id NOT IN (w.id, CONNECTION_ID()) \
         AND h.user NOT IN ('system user', 'event_scheduler') \
         WHERE w.state LIKE 'Waiting for%lock%'",
    ),
];
/// The session's program, and its statement: the current one, or else the last.
const STATEMENT: &str = "IFNULL(CONCAT(', ', (SELECT a.attr_value FROM performance_schema.session_connect_attrs a \
     WHERE a.processlist_id = b.id AND a.attr_name = 'program_name' LIMIT 1)), ''), \
     IFNULL(CONCAT(': `', LEFT(COALESCE(b.info, (SELECT e.sql_text FROM \
     performance_schema.events_statements_current e JOIN performance_schema.threads t \
     ON t.thread_id = e.thread_id WHERE t.processlist_id = b.id LIMIT 1)), 200), '`'), '')";
/// The current statement, for a login without rights to the performance schema.
const CURRENT: &str = "IFNULL(CONCAT(': `', LEFT(b.info, 200), '`'), '')";

/// Returns the queries of what sessions of these numbers wait for: statement, and holder in words.
pub(super) fn queries(numbers: &[u64]) -> Vec<String> {
    let numbers = numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let sessions = "information_schema.processlist";
    let both = HOLDERS.into_iter().flat_map(|it| [(it, STATEMENT), (it, CURRENT)]);
    let named = both.map(|((certainty, holders), statement)| {
        format!(
            "SELECT DISTINCT m.info, CONCAT('{certainty}session ', b.id, ' of user `', b.user, \
             '` from ', b.host, ', `', b.command, '` since ', NOW() - INTERVAL b.time SECOND, \
             {statement}) FROM ({holders}) l JOIN {sessions} m ON m.id = l.waits \
             JOIN {sessions} b ON b.id = l.holds WHERE l.waits IN ({numbers})"
        )
    });
    // Without the right `PROCESS` a login sees its own sessions only.
    let unnamed = format!(
        "SELECT info, 'a session that this user has no right to see (PROCESS)' FROM {sessions} \
         WHERE id IN ({numbers}) AND (state LIKE 'Waiting for%lock%' OR state = 'User lock')"
    );
    named.chain([unnamed]).collect()
}
