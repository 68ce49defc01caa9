//! The queries of what the server's threads wait for.

use std::time::Duration;

use driver_sql::WaitQuery;

/// Shortest pause between two reads of `innodb_trx`: the server answers from a cache that it makes
/// anew only when it was not read for 0.1 s.
///
/// Source: MySQL, `storage/innobase/trx/trx0i_s.cc`, `CACHE_MIN_IDLE_TIME_US`.
const LEAST_PAUSE: Duration = Duration::from_millis(105);

/// Joins the transactions that wait for a row lock, by the number of the connection.
///
/// Source: MySQL's reference manual, "The INFORMATION_SCHEMA INNODB_TRX Table".
const LOCK_WAITS: &str = "LEFT JOIN information_schema.innodb_trx x ON x.trx_state = 'LOCK WAIT' \
                          AND x.trx_mysql_thread_id =";

/// Returns waits by connection: events of the performance schema where they are collected, else row
/// locks and stages, else stages alone.
///
/// The innermost event that has not ended counts; table access is no wait, and a session that waits
/// for its socket is idle.
///
/// Source: MySQL's reference manual, "Performance Schema Wait Event Tables".
pub(crate) fn wait_queries() -> Vec<WaitQuery> {
    let events = format!(
        "SELECT id, CASE WHEN is_locked THEN 'InnoDB:row lock' WHEN command = 'Sleep' OR event \
         LIKE 'wait/io/socket/%' THEN 'idle' WHEN event NOT LIKE 'wait/io/table/%' THEN \
         SUBSTRING(event, 6) {stage} ELSE 'running' END FROM (SELECT t.processlist_id id, \
         t.processlist_command command, t.processlist_state state, x.trx_id IS NOT NULL is_locked, \
         (SELECT w.event_name FROM performance_schema.events_waits_current w WHERE w.thread_id = \
         t.thread_id AND w.end_event_id IS NULL ORDER BY w.event_id DESC LIMIT 1) event FROM \
         performance_schema.threads t {LOCK_WAITS} t.processlist_id WHERE t.processlist_id <> \
         CONNECTION_ID()) s",
        stage = stage("state")
    );
    let stages = |is_locked: &str, locks: &str| {
        format!(
            "SELECT p.id, CASE {is_locked} WHEN p.command = 'Sleep' THEN 'idle' {} ELSE 'running' \
             END FROM information_schema.processlist p {locks} WHERE p.id <> CONNECTION_ID()",
            stage("p.state")
        )
    };
    let row_locks =
        stages("WHEN x.trx_id IS NOT NULL THEN 'InnoDB:row lock'", &format!("{LOCK_WAITS} p.id"));
    let collected = "SELECT 1 FROM performance_schema.setup_consumers WHERE enabled = 'YES' AND \
                     name = 'events_waits_current'";
    let query = |needs, sample, least_pause| WaitQuery { needs, prepare: "", sample, least_pause };
    vec![
        query(collected, events, LEAST_PAUSE),
        query("SELECT 1", row_locks, LEAST_PAUSE),
        query("SELECT 1", stages("", ""), Duration::ZERO),
    ]
}

/// Returns the case of stages that wait by their name, and of those of commits, which hold the CPU
/// of the commit.
///
/// Names are the server's own; `model::waits` has the class that they share with other releases.
///
/// Source: MySQL's reference manual, "General Thread States"; MariaDB's, "General Thread States".
fn stage(state: &str) -> String {
    format!(
        "WHEN LOWER({state}) LIKE 'waiting%' OR LOWER({state}) IN ('commit', 'commit implicit', \
         'query end') THEN CONCAT('stage:', {state})"
    )
}

#[cfg(test)]
mod tests {
    use model::waits::{IDLE, RUNNING};

    use super::*;

    #[test]
    fn every_query_names_sessions_that_do_not_wait_as_the_record_does() {
        for query in wait_queries() {
            for name in [IDLE, RUNNING] {
                assert!(query.sample.contains(&format!("'{name}'")), "{}", query.sample);
            }
            let count = |c: char| query.sample.matches(c).count();
            assert_eq!(count('('), count(')'), "{}", query.sample);
        }
    }
}
