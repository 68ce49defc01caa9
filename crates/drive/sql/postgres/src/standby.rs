//! A standby on the same machine: copy, configuration, replication slot.

use driver_sql::{Connection as _, replica, server_options};
use engine::EngineError;
use engine::settings_check::refused;
use model::Replica;
use model::server::REPLICA;
use server::standby::copy;
use server::{ServerSpec, Site, Task};

use crate::task::serving;
use crate::wire::{Connection, Failure};

/// The slot by which the server keeps the log that the standby has yet to read.
const SLOT: &str = "assay";
/// Makes a standby of a copy: it has no slots of its own.
///
/// Source: Postgres' documentation, "File System Level Backup" and "Setting Up a Standby Server".
const FOLLOWING: &str = "rm -rf pg_replslot/* && : > standby.signal";
/// Replication connections: the default, as a standby may not have fewer than its data's server.
const SENDERS: &str = "10";
/// Once it is promoted, commits of the standby wait for no other.
const ALONE: &str = "synchronous_standby_names = ''\n";
/// Promotes a standby, without waiting for it.
///
/// Source: Postgres' documentation, "Recovery Control Functions", `pg_promote`.
const PROMOTE: &str = "SELECT pg_promote(false) WHERE pg_is_in_recovery()";
/// Creates the slot, once.
const CREATE_SLOT: &str = "SELECT pg_create_physical_replication_slot('assay') WHERE NOT EXISTS \
                           (SELECT FROM pg_replication_slots WHERE slot_name = 'assay')";
/// Whether a standby follows and, where commits wait for it, is the one they wait for.
const FOLLOWS: &str = "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND (sync_state \
                       <> 'async' OR current_setting('synchronous_standby_names') = '')";

/// Most checks at close whether the standby follows.
const VERIFY_TRIES: u32 = 10;
/// Pause between two of them.
const PAUSE: &str = "SELECT pg_sleep(0.1)";

/// Rejects options with which no standby could follow, or commits would not wait for it.
pub(crate) fn check_options(spec: &ServerSpec<'_>) -> Result<(), EngineError> {
    if replica(spec.options, spec.settings.durability)?.is_none() {
        return Ok(());
    }
    for (name, value) in server_options(spec.options) {
        let value = value.to_ascii_lowercase();
        match (name.to_ascii_lowercase().as_str(), value.as_str()) {
            ("wal_level", "minimal") => {
                return Err(refused(
                    name,
                    "a standby cannot follow a log of level `minimal`: use `replica`",
                ));
            }
            ("max_wal_senders", "0") => {
                return Err(refused(name, "a standby needs a WAL sender: use 10"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns the settings of a server with a standby.
pub(crate) fn settings(spec: &ServerSpec<'_>) -> Vec<(&'static str, String)> {
    let Some(kind) = spec.options.get(REPLICA) else { return Vec::new() };
    let names = if kind == Replica::Sync.name() { "*" } else { "" };
    vec![
        ("wal_level", "replica".to_owned()),
        ("max_wal_senders", SENDERS.to_owned()),
        ("synchronous_standby_names", names.to_owned()),
    ]
}

/// Returns the programs that copy the data of `primary` to `spec`'s directories, and follow it.
pub(crate) fn tasks(
    spec: &ServerSpec<'_>,
    primary: &Site,
    configuration: impl FnOnce(&ServerSpec<'_>) -> String,
) -> [Task; 2] {
    let copy = copy(&primary.data, &spec.site.data, FOLLOWING);
    let (socket, port) = (primary.socket.display(), primary.port);
    let mut text = configuration(spec);
    text.push_str(&format!(
        "primary_conninfo = 'host={socket} port={port} user=postgres application_name={SLOT}'\n\
         primary_slot_name = '{SLOT}'\n\
         {ALONE}"
    ));
    [copy, serving(spec, spec.site.file("replica.conf"), text, Vec::new())]
}

/// Creates the slot; success means that the standby follows.
pub(crate) fn follow(connection: &mut Connection) -> Result<(), EngineError> {
    connection.run(CREATE_SLOT)?;
    match follows(connection)? {
        true => Ok(()),
        false => Err(EngineError::Fatal("the standby does not follow yet".to_owned())),
    }
}

/// Promotes a standby; success means that it takes writes.
pub(crate) fn promote(connection: &mut Connection) -> Result<(), EngineError> {
    connection.run(PROMOTE)?;
    match connection.first("SELECT pg_is_in_recovery()")?.as_deref() {
        Some("f") => Ok(()),
        _ => Err(EngineError::Fatal("the standby is not promoted yet".to_owned())),
    }
}

/// Returns whether the standby follows.
fn follows(connection: &mut Connection) -> Result<bool, Failure> {
    Ok(connection.first(FOLLOWS)?.is_some())
}

/// Checks that a standby still follows, or does again within a second.
///
/// # Errors
/// When it does not.
pub(crate) fn verify(connection: &mut Connection) -> Result<(), EngineError> {
    for _ in 0..VERIFY_TRIES {
        if follows(connection)? {
            return Ok(());
        }
        connection.run(PAUSE)?;
    }
    Err(EngineError::Fatal("the standby does not follow the server: see its log".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use model::{Durability, Options, Settings};
    use server::Kind;

    use super::*;
    use crate::kind::KIND;

    fn site(dir: &str) -> Site {
        Site {
            data: Path::new(dir).join("data"),
            log: Path::new(dir).join("log"),
            ..Site::default()
        }
    }

    fn standby(durability: Durability, options: &[(&str, &str)]) -> Result<String, EngineError> {
        let options: Options = options.iter().copied().collect();
        let settings = Settings { durability, ..Settings::default() };
        let (primary, site) = (site("/d"), site("/r"));
        let (program, version) = (Path::new("/p/bin/postgres"), "postgres (PostgreSQL) 15.10");
        let options = &options;
        let spec = ServerSpec { program, version, site: &primary, settings: &settings, options };
        let [copy, serve] = KIND.standby(&spec, &site)?;
        assert!(copy.arguments.ends_with(&["/d/data".to_owned(), "/r/data".to_owned()]));
        Ok(serve.files.into_iter().map(|(_, text)| text).collect())
    }

    #[test]
    fn commits_wait_only_for_a_synchronous_standby() {
        let text = standby(Durability::Sync, &[(REPLICA, "sync")]).unwrap();
        for line in ["synchronous_standby_names = '*'", "primary_slot_name = 'assay'"] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(text.ends_with(ALONE), "it has no standby once it is promoted: {text}");
        let text = standby(Durability::None, &[(REPLICA, "async")]).unwrap();
        assert!(text.contains("synchronous_standby_names = ''"), "{text}");
    }

    #[test]
    fn options_without_which_nothing_follows_are_rejected_by_name() {
        let sync = (REPLICA, "sync");
        let rejected = |durability, options: &[(&str, &str)]| {
            let error = standby(durability, options).unwrap_err();
            error.refused_option().map(str::to_owned)
        };
        assert_eq!(rejected(Durability::None, &[sync]).as_deref(), Some(REPLICA));
        assert_eq!(rejected(Durability::Sync, &[(REPLICA, "1")]).as_deref(), Some(REPLICA));
        for option in [("WAL_Level", "Minimal"), ("max_wal_senders", "0")] {
            assert_eq!(rejected(Durability::Sync, &[sync, option]).as_deref(), Some(option.0));
        }
    }
}
