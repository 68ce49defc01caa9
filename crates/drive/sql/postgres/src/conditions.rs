//! Settings of a login and limits of a server that a run cannot have.

use crate::wire::{Connection, Failure};
use driver_sql::{Connection as _, Obstacle, SessionNeeds, TableName};

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
const CONDITIONS: [Condition; 8] = [
    Condition {
        name: "default_transaction_isolation",
        is_good: |value| value == "read committed" || value == "read uncommitted",
        need: "transactions that conflict fail under it, where others wait",
        usual: "read committed",
        is_possible: true,
    },
    Condition {
        name: "default_transaction_read_only",
        is_good: |value| value == "off",
        need: "a run writes",
        usual: "off",
        is_possible: false,
    },
    Condition {
        name: "idle_in_transaction_session_timeout",
        is_good: |value| lasts(value, IDLE_MS_MIN),
        need: "transactions wait for their clients, and some are held open",
        usual: "0",
        is_possible: true,
    },
    Condition {
        name: "idle_session_timeout",
        is_good: |value| lasts(value, IDLE_MS_MIN),
        need: "sessions wait between operations and steps",
        usual: "0",
        is_possible: true,
    },
    Condition {
        name: "lock_timeout",
        is_good: |value| lasts(value, IDLE_MS_MIN),
        need: "statements wait for the locks of other clients",
        usual: "0",
        is_possible: true,
    },
    Condition {
        name: "session_replication_role",
        is_good: |value| value == "origin",
        need: "foreign keys and triggers are to be executed",
        usual: "origin",
        is_possible: true,
    },
    Condition {
        name: "statement_timeout",
        is_good: |value| lasts(value, STATEMENT_MS_MIN),
        need: "statements of a load last minutes",
        usual: "0",
        is_possible: true,
    },
    Condition {
        name: "transaction_timeout",
        is_good: |value| lasts(value, STATEMENT_MS_MIN),
        need: "transactions of a load last minutes",
        usual: "0",
        is_possible: true,
    },
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
    let rows = match connection.rows(&sql) {
        // A compatible system without the view.
        Err(Failure::Refused(_)) => Vec::new(),
        rows => rows?,
    };
    let mut obstacles: Vec<_> = search_path(connection).into_iter().collect();
    if connection.first("SELECT pg_is_in_recovery()").ok().flatten().as_deref() == Some("t") {
        obstacles.push(Obstacle {
            setting: "pg_is_in_recovery() = true".to_owned(),
            need: "a run writes, and the server is a standby".to_owned(),
            remedy: "name its primary in the dsn".to_owned(),
        });
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
        true => "tables of its first schema exist for one session only",
        false if is_missing == "t" => {
            "tables are created in its first schema that exists and that the role may use"
        }
        false => return None,
    };
    Some(Obstacle {
        setting: format!("search_path = {path}"),
        need: need.to_owned(),
        remedy: "create a schema, ALTER ROLE ... SET search_path, or state search_path=SCHEMA in \
                 the dsn"
            .to_owned(),
    })
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
            ", or state it in the dsn to measure with it: options=-c%20{name}%3D{}",
            value.replace(' ', "%5C%20")
        ),
        false => String::new(),
    };
    Obstacle {
        setting: format!("{name} = {value}{place}"),
        need: (*need).to_owned(),
        remedy: match source {
            STATED => "remove it there".to_owned(),
            _ => format!("ALTER ROLE ... SET {name} = '{usual}'{statement}"),
        },
    }
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
    let rows = match connection.rows(LIMITS) {
        Err(Failure::Refused(_)) => return Ok(Vec::new()),
        rows => rows?,
    };
    let numbers: Vec<i64> = rows.iter().flatten().filter_map(|it| it.parse().ok()).collect();
    let [role, database, server, of_role, of_database, of_server] = numbers[..] else {
        return Ok(Vec::new());
    };
    let limit = |name, most: i64, used: i64, remedy| {
        let most = u64::try_from(most).ok()?;
        let used = u64::try_from(used).unwrap_or_default();
        Obstacle::of_limit((name, most), used, needs.connections, ("connections", remedy))
    };
    let found = [
        limit(
            "CONNECTION LIMIT of the role",
            role,
            of_role,
            "raise it by ALTER ROLE ... CONNECTION LIMIT",
        ),
        limit(
            "CONNECTION LIMIT of the database",
            database,
            of_database,
            "raise it by ALTER DATABASE ... CONNECTION LIMIT",
        ),
        limit(
            "max_connections, less those reserved,",
            server,
            of_server,
            "raise max_connections on the server, or end connections of others",
        ),
    ];
    Ok(found.into_iter().flatten().collect())
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
        let active = match connection.first(&sql) {
            // A compatible system without row security.
            Err(Failure::Refused(_)) => return Ok(obstacles),
            active => active?,
        };
        obstacles.extend((active.as_deref() == Some("t")).then(|| {
            Obstacle {
                setting: format!("row security of table `{name}` is active"),
                need: "a run reads and writes every row".to_owned(),
                remedy: "give the role BYPASSRLS, or remove what switches row security on for new \
                     tables"
                    .to_owned(),
            }
        }));
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
        assert_eq!(impossible.remedy, "remove it there");
        assert!(!obstacle(&CONDITIONS[1], "on", "user").remedy.contains("options="));
    }
}
