//! Limits of an account and a server that leave a run too little room.

use driver_sql::{Connection as _, Limit, Obstacle, SessionNeeds};

use crate::conditions::variables;
use crate::wire::{Connection, Failure};

/// Limits of an account for an hour.
const HOURLY: [&str; 3] =
    ["MAX_QUERIES_PER_HOUR", "MAX_UPDATES_PER_HOUR", "MAX_CONNECTIONS_PER_HOUR"];
/// The limit of prepared statements of all sessions.
const PREPARED: &str = "max_prepared_stmt_count";
/// The sessions of the login's own account.
const OF_ACCOUNT: &str = "SELECT COUNT(*) FROM information_schema.processlist WHERE user = \
                          SUBSTRING_INDEX(USER(), '@', 1)";

/// Returns the limits that leave too little room; of an own server, of prepared statements alone.
pub(crate) fn limits(
    connection: &mut Connection,
    needs: SessionNeeds,
    is_foreign: bool,
) -> Result<Vec<Obstacle>, Failure> {
    let variables = variables(connection)?;
    let variable = |name: &str| variables.get(name).and_then(|it| it.parse::<u64>().ok());
    let remedy = "raise max_prepared_stmt_count on the server, send statements as text \
                  (`assay.protocol` = \"text\")";
    let prepared = variable(PREPARED).and_then(|most| {
        let used = status(connection, "Prepared_stmt_count");
        let limit = Limit { name: PREPARED, most, used };
        limit.obstacle(needs.statements, "prepared statements", remedy)
    });
    let mut obstacles: Vec<_> = prepared.into_iter().collect();
    if !is_foreign {
        return Ok(obstacles);
    }
    let others = status(connection, "Threads_connected").saturating_sub(1);
    let own = connection.first(OF_ACCOUNT).ok().flatten().and_then(|it| it.parse::<u64>().ok());
    let own = own.unwrap_or(1).saturating_sub(1);
    for (name, used, remedy) in [
        ("max_user_connections", own, "raise this limit of the account or the server"),
        (
            "max_connections",
            others,
            "raise max_connections on the server, or end connections of others",
        ),
    ] {
        // 0 is no limit.
        let most = variable(name).filter(|most| *most > 0);
        obstacles.extend(most.and_then(|most| {
            Limit { name, most, used }.obstacle(needs.connections, "connections", remedy)
        }));
    }
    // None where the login may not read its own definition.
    let mut definition = Vec::new();
    for sql in ["SHOW CREATE USER CURRENT_USER()", "SHOW GRANTS"] {
        definition.extend(connection.rows(sql).unwrap_or_default().concat());
    }
    obstacles.extend(hourly(&definition.join(" ")));
    Ok(obstacles)
}

/// Returns a counter of the server; 0 where it has none of that name.
fn status(connection: &mut Connection, name: &str) -> u64 {
    let rows = connection.pairs(&format!("SHOW GLOBAL STATUS LIKE '{name}'"));
    let value = rows.ok().and_then(|rows| rows.into_iter().next()).map(|(_, value)| value);
    value.and_then(|value| value.parse().ok()).unwrap_or_default()
}

/// Returns the limits for an hour in the definition of an account.
fn hourly(definition: &str) -> Vec<Obstacle> {
    let tokens: Vec<_> = definition.split_whitespace().collect();
    let limit = |name: &&'static str| {
        let at = tokens.iter().position(|token| token == name)?;
        let most = tokens.get(at + 1)?.trim_matches(|c: char| !c.is_ascii_digit());
        let remedy = format!("remove the limit: ALTER USER ... WITH {name} 0");
        let need = "a run exceeds the limit within seconds";
        (most != "0").then(|| Obstacle::new(format!("{name} = {most}"), need, remedy))
    };
    HOURLY.iter().filter_map(limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_for_an_hour_are_read_from_the_account() {
        for text in [
            "CREATE USER `a`@`%` REQUIRE NONE WITH MAX_QUERIES_PER_HOUR 100 PASSWORD EXPIRE",
            "GRANT USAGE ON *.* TO `a`@`%` WITH MAX_QUERIES_PER_HOUR 100",
        ] {
            assert_eq!(hourly(text)[0].setting, "MAX_QUERIES_PER_HOUR = 100");
        }
        assert!(hourly("GRANT USAGE ON *.* TO `a`@`%`").is_empty());
    }
}
