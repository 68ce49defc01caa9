//! The queries of what the server's threads wait for.

use std::time::Duration;

use driver_sql::WaitQuery;

/// Shortest pause between two reads of `innodb_trx`: the server answers from a cache that it makes
/// anew only when it was not read for 0.1 s.
///
/// Source: MySQL, `storage/innobase/trx/trx0i_s.cc`, `CACHE_MIN_IDLE_TIME_US`.
const LEAST_PAUSE: Duration = Duration::from_millis(105);

/// Rows of transactions that wait for a row lock.
///
/// Source: MySQL's reference manual, "The INFORMATION_SCHEMA INNODB_TRX Table".
macro_rules! lock_waits {
    () => {
        "information_schema.innodb_trx x ON x.trx_state = 'LOCK WAIT' AND x.trx_mysql_thread_id = "
    };
}

/// Stages that wait by their name, and those of commits, which hold the CPU of the commit.
///
/// Names are the server's own; `model::waits` has the class that they share with other releases.
///
/// Source: MySQL's reference manual, "General Thread States"; MariaDB's, "General Thread States".
macro_rules! stage {
    ($state:literal) => {
        concat!(
            "WHEN LOWER(",
            $state,
            ") LIKE 'waiting%' OR LOWER(",
            $state,
            ") IN ('commit', ",
            "'commit implicit', 'query end') THEN CONCAT('stage:', ",
            $state,
            ") "
        )
    };
}

/// Waits by connection: events of the performance schema where they are collected, else row locks
/// and stages, else stages alone.
///
/// The innermost event that has not ended counts; table access is no wait, and a session that waits
/// for its socket is idle.
///
/// Source: MySQL's reference manual, "Performance Schema Wait Event Tables".
pub(crate) const WAITS: &[WaitQuery] = &[
    WaitQuery {
        needs: "SELECT 1 FROM performance_schema.setup_consumers WHERE enabled = 'YES' AND name = \
                'events_waits_current'",
        prepare: "",
        sample: concat!(
            "SELECT id, CASE WHEN is_locked THEN 'InnoDB:row lock' WHEN command = 'Sleep' OR event ",
            "LIKE 'wait/io/socket/%' THEN 'idle' WHEN event NOT LIKE 'wait/io/table/%' THEN ",
            "SUBSTRING(event, 6) ",
            stage!("state"),
            "ELSE 'running' END FROM (SELECT t.processlist_id id, t.processlist_command command, ",
            "t.processlist_state state, x.trx_id IS NOT NULL is_locked, (SELECT w.event_name FROM ",
            "performance_schema.events_waits_current w WHERE w.thread_id = t.thread_id AND ",
            "w.end_event_id IS NULL ORDER BY w.event_id DESC LIMIT 1) event FROM ",
            "performance_schema.threads t LEFT JOIN ",
            lock_waits!(),
            "t.processlist_id WHERE t.processlist_id <> CONNECTION_ID()) s"
        ),
        least_pause: LEAST_PAUSE,
    },
    WaitQuery {
        needs: "SELECT 1",
        prepare: "",
        sample: concat!(
            "SELECT p.id, CASE WHEN x.trx_id IS NOT NULL THEN 'InnoDB:row lock' WHEN p.command = ",
            "'Sleep' THEN 'idle' ",
            stage!("p.state"),
            "ELSE 'running' END FROM information_schema.processlist p LEFT JOIN ",
            lock_waits!(),
            "p.id WHERE p.id <> CONNECTION_ID()"
        ),
        least_pause: LEAST_PAUSE,
    },
    WaitQuery {
        needs: "SELECT 1",
        prepare: "",
        sample: concat!(
            "SELECT p.id, CASE WHEN p.command = 'Sleep' THEN 'idle' ",
            stage!("p.state"),
            "ELSE 'running' END FROM information_schema.processlist p WHERE p.id <> ",
            "CONNECTION_ID()"
        ),
        least_pause: Duration::ZERO,
    },
];

#[cfg(test)]
mod tests {
    use model::waits::{IDLE, RUNNING};

    use super::*;

    #[test]
    fn every_query_names_sessions_that_do_not_wait_as_the_record_does() {
        for query in WAITS {
            for name in [IDLE, RUNNING] {
                assert!(query.sample.contains(&format!("'{name}'")), "{}", query.sample);
            }
            let count = |c: char| query.sample.matches(c).count();
            assert_eq!(count('('), count(')'), "{}", query.sample);
        }
    }
}
