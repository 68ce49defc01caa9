//! A standby on the same machine: configuration, account, statements.

use driver_sql::{Connection as _, Contact, replica};
use engine::EngineError;
use engine::settings_check::refused;
use model::server::REPLICA;
use model::{Endpoint, Options, Replica, Transport};
use server::{LOOPBACK, ServerSpec};

use super::configuration::{Configuration, canonical};
use super::place::is_standby;
use super::release::{Flavour, Release};
use super::settings::Server;
use crate::standby_status::{Status, statements};
use crate::wire::Connection;

/// Removes what only the copied server may have: its identity and its binary log.
///
/// Source: MySQL's reference manual, "Setting Up Replication Using Raw Data Files".
pub(super) const FOLLOWING: &str = "rm -f auto.cnf binlog.*";
/// The binary log, unless an option names it.
const BINLOG: &str = "binlog";
/// How long a commit waits for the standby before it no longer does, ms: longer than a run, since
/// the end of a standby ends the run.
const TIMEOUT_MS: &str = "86400000";
/// First byte of the events of a binary log.
///
/// Source: MySQL's source, `binlog_event.h`, `BIN_LOG_HEADER_SIZE`.
const FIRST_EVENT: u32 = 4;
/// First release whose rows are logged as rows by default.
///
/// Source: MySQL's reference manual, "Binary Logging Options and Variables", `binlog_format`.
const ROWS_FROM: Release = Release(5, 7, 7);
/// First release with an encrypted password that a client without TLS may send.
///
/// Source: MySQL's reference manual, "CHANGE MASTER TO Statement", `GET_MASTER_PUBLIC_KEY`.
const PUBLIC_KEY_FROM: Release = Release(8, 0, 4);

/// Adds what a server and its standby need to a configuration with the user's options.
///
/// # Errors
/// [`EngineError::Refused`] where nothing could follow, or commits would not wait for it.
pub(super) fn configure(
    server: Server,
    spec: &ServerSpec<'_>,
    options: &Options,
    to: &mut Configuration,
) -> Result<(), EngineError> {
    let Some(replica) = replica(spec.options, spec.settings.durability)? else { return Ok(()) };
    check(server, spec, replica, options)?;
    if is_standby(spec.site) {
        to.set("server_id", "2");
        to.set("skip_log_bin", "");
        to.set("relay_log", "relay");
        to.set("read_only", "ON");
        if replica == Replica::Sync {
            to.set("rpl_semi_sync_slave_enabled", "ON");
        }
        return Ok(());
    }
    if to.get("log_bin").is_none_or(str::is_empty) {
        to.set("log_bin", BINLOG);
    }
    let logs_rows = server.flavour == Flavour::Mysql && server.release >= ROWS_FROM;
    if !logs_rows && to.get("binlog_format").is_none() {
        to.set("binlog_format", "ROW");
    }
    if replica == Replica::Sync {
        to.set("rpl_semi_sync_master_timeout", TIMEOUT_MS);
        to.set("rpl_semi_sync_master_wait_point", "AFTER_SYNC");
    }
    Ok(())
}

fn check(
    server: Server,
    spec: &ServerSpec<'_>,
    replica: Replica,
    options: &Options,
) -> Result<(), EngineError> {
    if replica == Replica::Sync && server.flavour == Flavour::Mysql {
        let reason = "commits wait for a standby only in MariaDB and Postgres (the builds of \
                      MySQL that Assay fetches lack the plugin): use `async`";
        return Err(refused(REPLICA, reason));
    }
    if spec.site.transport != Transport::Unix {
        let reason = "Assay reaches the standby of MySQL and MariaDB by unix sockets only: \
                      remove assay.transport and [hosts]";
        return Err(refused(REPLICA, reason));
    }
    let is_off = |name: &str| canonical(name) == "log_bin" && name.to_lowercase().contains("skip");
    match options.iter().find(|(name, _)| is_off(name)) {
        Some((name, _)) => Err(refused(name, "a standby needs the binary log: remove this option")),
        None => Ok(()),
    }
}

/// Starts the standby where it does not run, and lets commits wait for it.
///
/// # Errors
/// While it does not follow.
pub(super) fn follow(
    server: &Endpoint,
    standby: &Endpoint,
    options: &Options,
) -> Result<(), EngineError> {
    let not_yet = |why: &str| Err(EngineError::Fatal(format!("the standby: {why}")));
    let mut at_standby = Connection::open(&without_database(standby), &(), Contact::Known)?;
    let mut at_server = Connection::open(&without_database(server), &(), Contact::Known)?;
    let texts = statements(&mut at_standby)?;
    let Some(status) = Status::read(&mut at_standby, texts.status)? else {
        for statement in [change(&mut at_server, server)?, texts.start.to_owned()] {
            at_standby.run(&statement)?;
        }
        return not_yet("it begins");
    };
    if !status.follows {
        return not_yet(if status.error.is_empty() { "it connects" } else { &status.error });
    }
    if options.get(REPLICA) == Some(Replica::Sync.name()) {
        at_server.run("SET GLOBAL rpl_semi_sync_master_enabled = ON")?;
        let clients = "SHOW GLOBAL STATUS LIKE 'Rpl_semi_sync_master_clients'";
        if at_server.pairs(clients)?.first().is_none_or(|(_, count)| count == "0") {
            return not_yet("no commit waits for it yet");
        }
    }
    Ok(())
}

fn without_database(endpoint: &Endpoint) -> Endpoint {
    Endpoint { database: String::new(), ..endpoint.clone() }
}

/// Returns the statement by which a standby follows from the start of the server.
///
/// Its data were copied before, and each start of a server begins a binary log.
fn change(connection: &mut Connection, server: &Endpoint) -> Result<String, EngineError> {
    let version = connection.first("SELECT VERSION()")?.unwrap_or_default();
    let port = connection.first("SELECT @@port")?.unwrap_or_default();
    let logs = connection.rows("SHOW BINARY LOGS")?;
    let log = logs.last().and_then(|row| row.first()).cloned().unwrap_or_default();
    let (user, password) = (&server.user, server.password.clone().unwrap_or_default().0);
    let release = Release::find(&version).unwrap_or(Release(8, 0, 0));
    Ok(change_text(&version, release, |master| {
        format!(
            "{master}_HOST = '{LOOPBACK}', {master}_PORT = {port}, {master}_USER = '{user}', \
             {master}_PASSWORD = '{password}', {master}_LOG_FILE = '{log}', \
             {master}_LOG_POS = {FIRST_EVENT}, {master}_CONNECT_RETRY = 1"
        )
    }))
}

fn change_text(version: &str, release: Release, list: impl Fn(&str) -> String) -> String {
    if version.contains("MariaDB") {
        return format!("CHANGE MASTER TO {}, MASTER_USE_GTID = no", list("MASTER"));
    }
    if release >= crate::standby_status::RENAMED {
        let list = list("SOURCE");
        return format!("CHANGE REPLICATION SOURCE TO {list}, GET_SOURCE_PUBLIC_KEY = 1");
    }
    let key = if release >= PUBLIC_KEY_FROM { ", GET_MASTER_PUBLIC_KEY = 1" } else { "" };
    format!("CHANGE MASTER TO {}{key}", list("MASTER"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use model::{Durability, Settings};
    use server::Site;
    use server::standby::DATA;

    use super::*;

    fn configured(
        (flavour, release): (Flavour, Release),
        (data, transport): (&str, Transport),
        durability: Durability,
        options: &[(&str, &str)],
    ) -> Result<String, EngineError> {
        let all: Options = options.iter().copied().collect();
        let settings = Settings { durability, ..Settings::default() };
        let site = Site { data: Path::new("/d").join(data), transport, ..Site::default() };
        let (program, version) = (Path::new("/p/bin/mysqld"), "");
        let spec = ServerSpec { program, version, site: &site, settings: &settings, options: &all };
        let mut configuration = Configuration::default();
        let own: Options = driver_sql::server_options(&all).collect();
        configuration.overlay(&own)?;
        configure(Server { flavour, release }, &spec, &own, &mut configuration)?;
        Ok(configuration.text())
    }

    const MARIADB: (Flavour, Release) = (Flavour::Mariadb, Release(10, 11, 6));
    const MYSQL: (Flavour, Release) = (Flavour::Mysql, Release(8, 0, 31));
    const UNIX: (&str, Transport) = ("data", Transport::Unix);

    #[test]
    fn a_followed_server_logs_and_its_standby_does_not() {
        let sync = [(REPLICA, "sync")];
        let server = configured(MARIADB, UNIX, Durability::Sync, &sync).unwrap();
        for line in ["log_bin=binlog", "binlog_format=ROW", "rpl_semi_sync_master_timeout=86400000"]
        {
            assert!(server.lines().any(|found| found == line), "{line}: {server}");
        }
        let at = (DATA, Transport::Unix);
        let standby = configured(MARIADB, at, Durability::Sync, &sync).unwrap();
        for line in ["server_id=2", "skip_log_bin", "rpl_semi_sync_slave_enabled=ON"] {
            assert!(standby.lines().any(|found| found == line), "{line}: {standby}");
        }
        let own = [(REPLICA, "async"), ("log-bin", "bl")];
        let named = configured(MYSQL, UNIX, Durability::None, &own).unwrap();
        assert!(named.contains("log-bin=bl\n") && !named.contains("semi_sync"), "{named}");
    }

    #[test]
    fn a_standby_that_could_not_follow_is_rejected_by_the_option_s_name() {
        let rejected = |server, at, durability, options: &[(&str, &str)]| {
            let error = configured(server, at, durability, options).unwrap_err();
            error.refused_option().map(str::to_owned)
        };
        let (sync, os) = ([(REPLICA, "sync")], Durability::Os);
        assert_eq!(rejected(MYSQL, UNIX, os, &sync).as_deref(), Some(REPLICA));
        assert_eq!(rejected(MARIADB, UNIX, Durability::None, &sync).as_deref(), Some(REPLICA));
        let tcp = ("data", Transport::Tcp);
        assert_eq!(rejected(MARIADB, tcp, os, &sync).as_deref(), Some(REPLICA));
        let off = [(REPLICA, "async"), ("skip-log-bin", "")];
        assert_eq!(rejected(MYSQL, UNIX, os, &off).as_deref(), Some("skip-log-bin"));
    }

    #[test]
    fn standbys_follow_by_the_statement_of_their_release() {
        let text = |version, release| {
            change_text(version, release, |master| format!("{master}_LOG_POS = {FIRST_EVENT}"))
        };
        let mariadb = text("10.11.6-MariaDB", Release(10, 11, 6));
        assert_eq!(mariadb, "CHANGE MASTER TO MASTER_LOG_POS = 4, MASTER_USE_GTID = no");
        assert_eq!(text("5.7.22", Release(5, 7, 22)), "CHANGE MASTER TO MASTER_LOG_POS = 4");
        let new = text("8.0.31", Release(8, 0, 31));
        assert!(new.starts_with("CHANGE REPLICATION SOURCE TO SOURCE_LOG_POS = 4"), "{new}");
        assert!(new.ends_with("GET_SOURCE_PUBLIC_KEY = 1"), "{new}");
    }
}
