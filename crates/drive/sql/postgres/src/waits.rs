//! The query of what the server's processes wait for.

use std::time::Duration;

use driver_sql::WaitQuery;

/// Waits by process, under the names of `pg_stat_activity`.
///
/// Read from the function behind the view, which joins two catalogs. An active session without an
/// event runs, or is ready to; one that waits for its client or is in no statement is idle, and so
/// is a process of the server in its main loop (`Activity`).
///
/// Source: Postgres' documentation, "The Cumulative Statistics System", `pg_stat_activity`.
pub(crate) fn queries() -> Vec<WaitQuery> {
    let query = WaitQuery {
        needs: "SELECT 1 FROM pg_settings WHERE name = 'track_activities' AND setting = 'on'",
        prepare: "PREPARE assay_waits AS \
              SELECT CASE WHEN backend_type = 'client backend' THEN pid END, \
              CASE WHEN backend_type = 'client backend' AND state <> 'active' \
              OR wait_event_type IN ('Client', 'Activity') THEN 'idle' \
              ELSE coalesce(wait_event_type || ':' || wait_event, 'running') END \
              FROM pg_stat_get_activity(NULL) WHERE pid <> pg_backend_pid()",
        sample: "EXECUTE assay_waits".to_owned(),
        least_pause: Duration::ZERO,
    };
    vec![query]
}

#[cfg(test)]
mod tests {
    use model::waits::{IDLE, RUNNING};

    use super::*;

    #[test]
    fn sessions_that_do_not_wait_have_the_record_s_names() {
        for name in [IDLE, RUNNING] {
            assert!(queries()[0].prepare.contains(&format!("'{name}'")), "{name}");
        }
    }
}
