//! Settings of a login and limits of a server that a run cannot have.

use crate::wire::{Connection, Failure};
use driver_sql::{Connection as _, Limit, Obstacle, SessionNeeds, TableName, unless_refused};

/// A setting that ends or spoils a run unless the dsn states it.
struct Condition {
    name: &'static str,
    /// Values with which a run is as it is meant to be.
    is_good: fn(&str) -> bool,
    /// What a run needs.
    need: &'static str,
    /// The value that gives it.
    usual: &'static str,
    /// Whether a run is possible with another value, where the dsn states that.
    is_possible: bool,
}

/// Source of a setting that the client has stated at login.
const STATED: &str = "client";
/// Shortest limit of a statement, milliseconds: loads insert and index in statements of minutes.
const STATEMENT_MS_MIN: u64 = 600_000;
/// Shortest limit of idle sessions and of waits for a lock, milliseconds: clients wait for others.
const IDLE_MS_MIN: u64 = 60_000;

/// The settings, by name.
///
/// Source: Postgres' documentation, "Client Connection Defaults", of 12 to 18.
#[rustfmt::skip]
const CONDITIONS: [Condition; 8] = [
    Condition { name: "default_transaction_isolation", usual: "read committed", is_possible: true,
        is_good: |it| matches!(it, "read committed" | "read uncommitted"),
        need: "transactions that conflict fail instead of waiting for each other" },
    Condition { name: "default_transaction_read_only", is_good: |it| it == "off", usual: "off",
        is_possible: false, need: "a run writes" },
    Condition { name: "idle_in_transaction_session_timeout", is_good: |it| lasts(it, IDLE_MS_MIN),
        usual: "0", is_possible: true,
        need: "transactions wait for their clients, and some are held open" },
    Condition { name: "idle_session_timeout", is_good: |it| lasts(it, IDLE_MS_MIN), usual: "0",
        is_possible: true, need: "sessions wait between operations and steps" },
    Condition { name: "lock_timeout", is_good: |it| lasts(it, IDLE_MS_MIN), usual: "0",
        is_possible: true, need: "statements wait for the locks of other clients" },
    Condition { name: "session_replication_role", is_good: |it| it == "origin", usual: "origin",
        is_possible: true, need: "a run needs foreign keys and triggers to be executed" },
    Condition { name: "statement_timeout", is_good: |it| lasts(it, STATEMENT_MS_MIN), usual: "0",
        is_possible: true, need: "statements of a load last minutes" },
    Condition { name: "transaction_timeout", is_good: |it| lasts(it, STATEMENT_MS_MIN), usual: "0",
        is_possible: true, need: "transactions of a load last minutes" },
];

/// Returns whether a time limit is none, or long enough.
fn lasts(value: &str, least: u64) -> bool {
    value.parse().is_ok_and(|limit: u64| limit == 0 || limit >= least)
}

/// Returns the settings of a foreign server that a run cannot have, unless its dsn states them.
pub(crate) fn obstacles(connection: &mut Connection) -> Result<Vec<Obstacle>, Failure> {
    let names: Vec<_> = CONDITIONS.iter().map(|it| format!("'{}'", it.name)).collect();
    let sql = format!(
        "SELECT name, setting, coalesce(source, '') FROM pg_settings WHERE name IN ({})",
        names.join(", ")
    );
    let rows = unless_refused(connection.rows(&sql))?.unwrap_or_default();
    let mut obstacles: Vec<_> = search_path(connection).into_iter().collect();
    if connection.first("SELECT pg_is_in_recovery()").ok().flatten().as_deref() == Some("t") {
        let need = "a run writes, and the server is a standby";
        let remedy = "name the primary of the server in the dsn";
        obstacles.push(Obstacle::new("pg_is_in_recovery() = true", need, remedy));
    }
    for row in &rows {
        let [name, value, source] = &row[..] else { continue };
        let is_stated = source == STATED;
        let applies = |it: &&Condition| it.name == name && !(is_stated && it.is_possible);
        let condition = CONDITIONS.iter().find(applies);
        let bad = condition.filter(|it| !(it.is_good)(value));
        obstacles.extend(bad.map(|it| obstacle(it, value, source)));
    }
    Ok(obstacles)
}

/// Returns the obstacle of a search path without a schema for tables that every session finds.
fn search_path(connection: &mut Connection) -> Option<Obstacle> {
    let sql = "SELECT current_schema() IS NULL, current_setting('search_path')";
    // A compatible system may have neither.
    let rows = connection.rows(sql).unwrap_or_default();
    let [is_missing, path] = &rows.first()?[..] else { return None };
    let need = match path.trim_start_matches([' ', '"']).starts_with("pg_temp") {
        true => "tables of the path's first schema exist for one session only",
        false if is_missing == "t" => {
            "a run creates tables, and the path names no schema that exists and that the role may \
             use"
        }
        false => return None,
    };
    let remedy = "create a schema, ALTER ROLE ... SET search_path, or state search_path=SCHEMA in \
                  the dsn";
    Some(Obstacle::new(format!("search_path = {path}"), need, remedy))
}

fn obstacle(condition: &Condition, value: &str, source: &str) -> Obstacle {
    let Condition { name, need, usual, is_possible, .. } = condition;
    let place = match source {
        STATED => " (set in the dsn or the variant)",
        "user" => " (set for the role)",
        "database" => " (set for the database)",
        "database user" => " (set for the role in this database)",
        _ => " (set on the server)",
    };
    let statement = match is_possible {
        true => format!(
            ", or state this value in the dsn to measure with it: options=-c%20{name}%3D{}",
            value.replace(' ', "%5C%20")
        ),
        false => String::new(),
    };
    let remedy = match source {
        STATED => "remove it from the dsn or the variant".to_owned(),
        _ => format!("ALTER ROLE ... SET {name} = '{usual}'{statement}"),
    };
    Obstacle::new(format!("{name} = {value}{place}"), *need, remedy)
}

/// Limits of connections, with what others use of each: -1 is no limit.
///
/// Superusers have none but the server's. Source: Postgres' documentation, `pg_roles`,
/// `pg_database`, "Connections and Authentication".
const LIMITS: &str = "\
    SELECT CASE WHEN r.rolsuper THEN -1 ELSE r.rolconnlimit END, \
    CASE WHEN r.rolsuper THEN -1 ELSE d.datconnlimit END, \
    current_setting('max_connections')::int - CASE WHEN r.rolsuper THEN 0 ELSE \
    current_setting('superuser_reserved_connections')::int \
    + coalesce(nullif(current_setting('reserved_connections', true), ''), '0')::int END, \
    (SELECT count(*) FROM pg_stat_activity WHERE usename = session_user) - 1, \
    (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = \
    'client backend') - 1, \
    (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') - 1 \
    FROM pg_roles r, pg_database d WHERE r.rolname = session_user AND d.datname = \
    current_database()";

/// Returns the limits of a foreign server that leave too little room.
pub(crate) fn limits(
    connection: &mut Connection,
    needs: SessionNeeds,
) -> Result<Vec<Obstacle>, Failure> {
    let rows = unless_refused(connection.rows(LIMITS))?.unwrap_or_default();
    let numbers: Vec<i64> = rows.iter().flatten().filter_map(|it| it.parse().ok()).collect();
    let [role, database, server, of_role, of_database, of_server] = numbers[..] else {
        return Ok(Vec::new());
    };
    let limit = |name, (most, used): (i64, i64), remedy| {
        let most = u64::try_from(most).ok()?;
        let used = u64::try_from(used).unwrap_or_default();
        Limit { name, most, used }.obstacle(needs.connections, "connections", remedy)
    };
    let of_role = limit(
        "CONNECTION LIMIT of the role",
        (role, of_role),
        "raise the limit by ALTER ROLE ... CONNECTION LIMIT",
    );
    let of_database = limit(
        "CONNECTION LIMIT of the database",
        (database, of_database),
        "raise the limit by ALTER DATABASE ... CONNECTION LIMIT",
    );
    let of_server = limit(
        "max_connections, less those reserved,",
        (server, of_server),
        "raise max_connections on the server, or end connections of others",
    );
    Ok([of_role, of_database, of_server].into_iter().flatten().collect())
}

/// Returns the tables whose rows policies filter for this login.
///
/// A platform may switch row security on for every table that is created.
pub(crate) fn row_security(
    connection: &mut Connection,
    tables: &[TableName],
) -> Result<Vec<Obstacle>, Failure> {
    let mut obstacles = Vec::new();
    for TableName { name, qualified } in tables {
        let sql = format!("SELECT row_security_active('{}')", qualified.replace('\'', "''"));
        let active = unless_refused(connection.first(&sql))?.flatten();
        let remedy = "give the role BYPASSRLS, or remove what switches row security on for new \
                      tables";
        let setting = format!("row security of table `{name}` is active");
        obstacles.extend(
            (active.as_deref() == Some("t"))
                .then(|| Obstacle::new(setting, "a run reads and writes every row", remedy)),
        );
    }
    Ok(obstacles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_limits_and_other_isolations_are_obstacles() {
        let is_good = |name: &str, value: &str| {
            let condition = CONDITIONS.iter().find(|it| it.name == name).unwrap();
            (condition.is_good)(value) && (condition.is_good)(condition.usual)
        };
        for (name, good, bad) in [
            ("statement_timeout", "600000", "8000"),
            ("idle_in_transaction_session_timeout", "60000", "500"),
            ("default_transaction_isolation", "read committed", "serializable"),
            ("default_transaction_isolation", "read uncommitted", "repeatable read"),
            ("default_transaction_read_only", "off", "on"),
            ("session_replication_role", "origin", "replica"),
        ] {
            assert!(is_good(name, good) && !is_good(name, bad), "{name}");
        }
        let condition = &CONDITIONS[0];
        let text = obstacle(condition, "serializable", "user").setting;
        assert_eq!(text, "default_transaction_isolation = serializable (set for the role)");
        let impossible = obstacle(&CONDITIONS[1], "on", STATED);
        assert_eq!(
            impossible.setting,
            "default_transaction_read_only = on (set in the dsn or the variant)"
        );
        assert_eq!(impossible.remedy, "remove it from the dsn or the variant");
        assert!(!obstacle(&CONDITIONS[1], "on", "user").remedy.contains("options="));
    }
}
