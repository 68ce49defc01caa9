//! Identity, settings and statistics of the server.

use std::collections::BTreeMap;
use std::time::Duration;

use driver_sql::{Connection as _, unless_refused};
use model::{Address, Endpoint, Identity, Options};

use crate::config::NAME;
use crate::wire::{Connection, Failure};

/// Settings that are facts of the build or of the data directory.
const FACTS: [&str; 7] = [
    "block_size",
    "data_checksums",
    "debug_assertions",
    "wal_block_size",
    "wal_segment_size",
    "server_encoding",
    "lc_collate",
];
/// Facts of the build that only some logins may read.
const BUILD: &str = "SELECT lower(name), setting FROM pg_config WHERE name IN \
                     ('CC', 'CFLAGS', 'CONFIGURE')";
/// Settings whose values may hold a password.
const SECRET: [&str; 5] = [
    "primary_conninfo",
    "archive_command",
    "restore_command",
    "ssl_passphrase_command",
    "archive_cleanup_command",
];
/// Names the socket file of an own server: differs per server, no setting.
const SOCKET_NUMBER: &str = "port";
/// Statistics views, in order of output; a release may lack some.
#[rustfmt::skip]
const VIEWS: [&str; 11] = [
    "pg_stat_database WHERE datname = current_database()", "pg_stat_bgwriter",
    "pg_stat_checkpointer", "pg_stat_wal", "pg_stat_io", "pg_stat_user_tables",
    "pg_statio_user_tables", "pg_stat_user_indexes", "pg_statio_user_indexes",
    "pg_stat_progress_vacuum", "pg_stat_slru",
];

/// Queries the server's identity.
pub(crate) fn identity(
    connection: &mut Connection,
    endpoint: &Endpoint,
) -> Result<Identity, Failure> {
    let mut facts = BTreeMap::new();
    let banner = connection.first("SELECT version()")?.unwrap_or_default();
    let compiler = banner.split_once("compiled by ").map(|(_, compiler)| compiler.to_owned());
    facts.extend(compiler.map(|compiler| ("compiler".to_owned(), compiler)));
    facts.insert("banner".to_owned(), banner);
    for name in FACTS {
        let value = connection.first(&format!("SELECT current_setting('{name}', true)"))?;
        facts.extend(value.map(|value| (name.to_owned(), value)));
    }
    // Denied to a login without rights, and absent in compatible systems.
    facts.extend(connection.pairs(BUILD).unwrap_or_default());
    let version = connection.parameter("server_version").unwrap_or("unknown").to_owned();
    let origin = match &endpoint.address {
        Address::Socket(_) => "a server on a unix socket".to_owned(),
        Address::Tcp { .. } => format!("a server at {}", endpoint.address),
    };
    Ok(Identity { engine: NAME.to_owned(), version, origin, sha256: None, facts })
}

/// Appends a view's rows.
fn add(text: &mut String, name: &str, rows: Vec<Vec<String>>) {
    text.push_str(&format!("# {name}\n"));
    for row in rows {
        text.push_str(&row.concat());
        text.push('\n');
    }
}

/// Returns every setting in force, with its unit.
pub(crate) fn settings(
    connection: &mut Connection,
    own_options: Vec<(&'static str, String)>,
) -> Result<Options, Failure> {
    let sql = "SELECT name, current_setting(name, true) FROM pg_settings ORDER BY name";
    let pairs = connection.pairs(sql)?;
    let mut options: Options = pairs
        .into_iter()
        .filter(|(name, _)| name != SOCKET_NUMBER)
        .map(|(name, value)| {
            let is_secret = SECRET.contains(&name.as_str()) && !value.is_empty();
            (name, if is_secret { "***".to_owned() } else { value })
        })
        .collect();
    own_options.into_iter().for_each(|(name, value)| options.set(name, value));
    Ok(options)
}

/// Sizes of our tables and indexes, bytes.
const SIZES: &str = "SELECT row_to_json(r) FROM (SELECT relname, relkind, pg_relation_size(c.oid) \
                     bytes, pg_total_relation_size(c.oid) total_bytes FROM pg_class c JOIN \
                     pg_namespace n ON n.oid = relnamespace WHERE relkind IN ('r', 'i') AND \
                     nspname = current_schema() ORDER BY relname) r";
/// Tables and B-trees of ours whose structure is read; of partitioned ones each partition.
const RELATIONS: &str = "SELECT c.oid, c.relname, c.relkind FROM pg_class c JOIN pg_am a ON a.oid \
                         = c.relam JOIN pg_namespace n ON n.oid = c.relnamespace WHERE a.amname \
                         IN ('heap', 'btree') AND c.relkind IN ('r', 'm', 'i') AND n.nspname = \
                         current_schema() ORDER BY relname";
/// Longest time to read one of them.
const STRUCTURE_WITHIN: Duration = Duration::from_secs(20);

/// Returns the structure of tables and B-trees, as far as each is read in time.
///
/// `None` where the release has not the extension.
///
/// Source: Postgres' documentation, `pgstattuple`.
pub(crate) fn structure(connection: &mut Connection) -> Result<Option<String>, Failure> {
    let is_there = "SELECT 1 FROM pg_available_extensions WHERE name = 'pgstattuple'";
    if connection.first(is_there)?.is_none() {
        return Ok(None);
    }
    connection.run("CREATE EXTENSION IF NOT EXISTS pgstattuple")?;
    connection.limit_time(STRUCTURE_WITHIN)?;
    let mut text = String::new();
    for relation in connection.rows(RELATIONS)? {
        let [oid, name, kind] = &relation[..] else { continue };
        let function = if kind == "i" { "pgstatindex" } else { "pgstattuple" };
        let sql = format!("SELECT row_to_json(r) FROM {function}({oid}::regclass) r");
        let found = match connection.rows(&sql) {
            Err(Failure::Refused(response)) => response.to_string(),
            rows => rows?.concat().concat(),
        };
        text.push_str(&format!("# {function} {name}\n{found}\n"));
    }
    Ok(Some(text))
}

/// Returns the main statistics views, one JSON object per row.
pub(crate) fn statistics(connection: &mut Connection) -> Result<String, Failure> {
    let mut text = String::new();
    for view in VIEWS {
        let name = view.split(' ').next().unwrap_or(view);
        // A query of a missing view is an error in the server's log.
        if connection.first(&format!("SELECT to_regclass('{name}')"))?.is_none() {
            continue;
        }
        let sql = view.replacen(name, &format!("SELECT row_to_json(r) FROM {name} r"), 1);
        if let Some(rows) = unless_refused(connection.rows(&sql))? {
            add(&mut text, name, rows);
        }
    }
    add(&mut text, "sizes", connection.rows(SIZES)?);
    Ok(text)
}
