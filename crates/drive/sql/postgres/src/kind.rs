//! Set-up, configuration and start of Postgres 11 to 18.

use std::path::{Path, PathBuf};

use driver_sql::{Connection as _, Contact, OwnOptions, server_options};
use engine::settings_check::{check_settings, refused};
use engine::{EngineError, Setting};
use model::server::REPLICA;
use model::{Endpoint, Options, Password, ServerLoad, SystemNeeds, Transport};
use server::{Kind, PROBE_WITHIN, ServerSpec, Site, Stop, Task};

use crate::config::{NAME, reject_weaker_durability, synchronous_commit};
use crate::driver::capabilities;
use crate::task::{environment, serving};
use crate::wire::{Connection, Session};
use crate::{installation, logins, needs, standby, startup_error};

/// The Postgres server kind.
pub static KIND: PostgresKind = PostgresKind;

/// Oldest supported release, the first with procedures and `DROP ROUTINE`.
///
/// Source: Postgres' documentation, release notes of 11.
const OLDEST: u32 = 11;
/// First release whose standbys read their settings from `postgresql.conf`.
///
/// Source: Postgres' documentation, release notes of 12, `recovery.conf`.
const STANDBY_FROM: u32 = 12;
/// First release that can bypass the page cache.
///
/// Source: Postgres' documentation, release 16, "Developer Options", `debug_io_direct`.
const DIRECT_IO_FROM: u32 = 16;
/// First release with page checksums by default.
///
/// Source: Postgres' documentation, release notes of 18.
const CHECKSUMS_FROM: u32 = 18;
/// Connections of an own server: 128 clients, each with a writer, and control connections.
const CONNECTIONS_MAX: u32 = 300;
/// Default cache, KiB.
///
/// Source: Postgres' source, `initdb.c`: the most of a short list that the machine can give.
const DEFAULT_CACHE_KIB: u64 = 128 << 10;
/// Smallest cache the server takes, KiB.
///
/// Source: Postgres' documentation, "Resource Consumption", `shared_buffers`.
const CACHE_KIB_MIN: u64 = 128;
/// The superuser that set-up creates, and the default database.
const USER: &str = "postgres";

/// Options of files, sockets and log, which Assay sets itself.
#[rustfmt::skip]
const RESERVED: [&str; 19] = [
    "cluster_name", "config_file", "data_directory", "event_source", "external_pid_file",
    "hba_file", "ident_file", "include", "include_dir", "include_if_exists", "listen_addresses",
    "log_destination", "log_directory", "log_filename", "logging_collector", "port",
    "unix_socket_directories", "unix_socket_group", "unix_socket_permissions",
];

/// Postgres, releases 11 to 18.
#[derive(Debug, Clone, Copy)]
pub struct PostgresKind;

impl Kind for PostgresKind {
    fn engine(&self) -> &'static str {
        NAME
    }

    fn check_release(&self, version: &str) -> Result<(), String> {
        major(version).map(drop)
    }

    fn check_files(&self, program: &Path, version: &str) -> Result<(), String> {
        installation::check(program, major(version)?)
    }

    /// `initdb` ends without one. Source: Postgres' source, `initdb.c`, `get_id`.
    fn needs_account_name(&self) -> bool {
        true
    }

    fn needs(&self, options: &Options, load: &ServerLoad) -> SystemNeeds {
        needs::of(options, load)
    }

    /// What `initdb` makes in a second of CPU is stored, with a password that never was in force;
    /// then a server of one session sets the password.
    /// Source: Postgres' documentation, "postgres", "Options for Single-User Mode".
    fn set_up(&self, spec: &ServerSpec<'_>) -> Result<Vec<Task>, EngineError> {
        let major = checked(spec)?;
        let data = spec.site.data.display().to_string();
        let password = spec.site.file("initdb.password");
        let mut arguments: Vec<_> = ["-D", &data, "-U", USER, "-A", "scram-sha-256", "-E", "UTF8"]
            .into_iter()
            .chain(["--locale=C", "--no-sync"])
            .map(str::to_owned)
            .collect();
        arguments.push(format!("--pwfile={}", password.display()));
        if major >= CHECKSUMS_FROM {
            // As in earlier releases, so that a series of releases compares like with like.
            arguments.push("--no-data-checksums".to_owned());
        }
        let program = spec.program.with_file_name("initdb");
        let secrets = vec![(password, Password("replaced before a server starts".to_owned()))];
        let initdb =
            Task { program, arguments, environment: environment(), secrets, ..Task::default() };
        // A failed statement would be in the log.
        let options =
            ["-c", "password_encryption=scram-sha-256", "-c", "log_min_error_statement=panic"];
        let arguments = ["--single", "-F", "-D", &data].into_iter().chain(options).chain([USER]);
        let statement = format!("ALTER USER {USER} PASSWORD '{}'\n", spec.site.password.0);
        let set_password = Task {
            program: spec.program.to_owned(),
            arguments: arguments.map(str::to_owned).collect(),
            environment: environment(),
            secret_input: Some(Password(statement)),
            ..Task::default()
        };
        Ok(vec![initdb, set_password])
    }

    fn serve(&self, spec: &ServerSpec<'_>) -> Result<Task, EngineError> {
        let major = checked(spec)?;
        let file = spec.site.file("postgresql.conf");
        let logins = logins::file(spec).into_iter().collect();
        Ok(serving(spec, file, configuration(spec, major), logins))
    }

    fn endpoint(&self, site: &Site) -> Endpoint {
        site.endpoint(socket(site), USER, USER)
    }

    fn probe(&self, endpoint: &Endpoint) -> Result<(), EngineError> {
        let mut connection = Connection::open(endpoint, &Session::default(), Contact::Known)?;
        connection.limit_wait(Some(PROBE_WITHIN))?;
        Ok(connection.run("SELECT 1")?)
    }

    fn standby(&self, spec: &ServerSpec<'_>, site: &Site) -> Result<[Task; 2], EngineError> {
        let major = checked(spec)?;
        Ok(standby::tasks(&ServerSpec { site, ..*spec }, spec.site, |spec| {
            configuration(spec, major)
        }))
    }

    fn follow(
        &self,
        server: &Endpoint,
        _standby: &Endpoint,
        _options: &Options,
    ) -> Result<(), EngineError> {
        standby::follow(&mut Connection::open(server, &Session::default(), Contact::Known)?)
    }

    fn promote(&self, standby: &Endpoint) -> Result<(), EngineError> {
        let mut connection = Connection::open(standby, &Session::default(), Contact::Known)?;
        connection.limit_wait(Some(PROBE_WITHIN))?;
        standby::promote(&mut connection)
    }

    fn stop(&self) -> Stop {
        Stop::Interrupt
    }

    fn startup_error(&self, log: &str) -> EngineError {
        startup_error::read(log)
    }

    fn is_log(&self, path: &Path) -> bool {
        path.starts_with("pg_wal")
    }
}

/// Returns the socket's file.
///
/// Source: Postgres' documentation, "Connections and Authentication",
/// `unix_socket_directories`.
fn socket(site: &Site) -> PathBuf {
    site.socket.join(format!(".s.PGSQL.{}", site.port))
}

/// Parses the major version: 15 of `postgres (PostgreSQL) 15.10`.
///
/// # Errors
/// For one that is too old, and for a text without version.
fn major(version: &str) -> Result<u32, String> {
    let mut tokens = version.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    let number = tokens.find(|token| token.starts_with(|c: char| c.is_ascii_digit()));
    let digits = number.and_then(|token| token.split(|c: char| !c.is_ascii_digit()).next());
    match digits.and_then(|digits| digits.parse().ok()) {
        Some(major) if major >= OLDEST => Ok(major),
        Some(_) => {
            Err(format!("Assay runs Postgres {OLDEST} and newer, and the program is `{version}`"))
        }
        None => Err(format!("`{version}` shows no version of Postgres")),
    }
}

/// Returns the major version of the server, with its options checked.
fn checked(spec: &ServerSpec<'_>) -> Result<u32, EngineError> {
    let major = major(spec.version).map_err(EngineError::Unsupported)?;
    check_options(spec, major)?;
    Ok(major)
}

/// Rejects settings and options that this server lacks or that would break the set-up.
fn check_options(spec: &ServerSpec<'_>, major: u32) -> Result<(), EngineError> {
    check_settings("Postgres", &capabilities(), spec.settings)?;
    if spec.settings.direct_io && major < DIRECT_IO_FROM {
        return Err(EngineError::setting(
            Setting::DirectIo,
            format!(
                "direct_io: Postgres {major} always uses the page cache; {DIRECT_IO_FROM} and newer \
             can bypass it"
            ),
        ));
    }
    OwnOptions::of(spec.options)?;
    reject_weaker_durability(spec.settings.durability, spec.options)?;
    standby::check_options(spec)?;
    if major < STANDBY_FROM && spec.options.get(REPLICA).is_some() {
        let reason = format!(
            "Assay starts standbys of Postgres {STANDBY_FROM} and newer: remove the \
                     option"
        );
        return Err(refused(REPLICA, reason));
    }
    for (name, _) in server_options(spec.options) {
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(refused(name, "not a name of a Postgres parameter"));
        }
        if RESERVED.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(refused(
                name,
                "Assay sets the server's files and sockets itself: remove the option",
            ));
        }
    }
    Ok(())
}

/// Returns the text of `postgresql.conf`: Assay's own lines, settings, then options.
fn configuration(spec: &ServerSpec<'_>, major: u32) -> String {
    let settings = spec.settings;
    let mut options = Options::new();
    let is_tcp = spec.site.transport == Transport::Tcp;
    options.set("listen_addresses", if is_tcp { spec.site.ip() } else { String::new() });
    options.set("unix_socket_directories", spec.site.socket.display().to_string());
    options.set("unix_socket_permissions", "0700");
    options.set("port", spec.site.port.to_string());
    options.set("max_connections", CONNECTIONS_MAX.to_string());
    options.set("timezone", "UTC");
    options.set("log_timezone", "UTC");
    options.set("log_checkpoints", "on");
    options.set("log_autovacuum_min_duration", "0");
    // The crash of a server process is an outcome of the run, not to be recovered from.
    options.set("restart_after_crash", "off");
    options.set("synchronous_commit", synchronous_commit(settings.durability));
    let syncs = if settings.durability == model::Durability::Os { "off" } else { "on" };
    options.set("fsync", syncs);
    // A value that `initdb` writes to the replaced file.
    let cache_kib = settings.cache_bytes.map_or(DEFAULT_CACHE_KIB, |bytes| bytes.0 / 1024);
    options.set("shared_buffers", format!("{}kB", cache_kib.max(CACHE_KIB_MIN)));
    if settings.direct_io && major >= DIRECT_IO_FROM {
        options.set("debug_io_direct", "data,wal");
    }
    if let Some(jobs) = settings.background_jobs {
        options.set("autovacuum_max_workers", jobs.to_string());
        options.set("max_parallel_maintenance_workers", jobs.to_string());
    }
    if let Some((file, _)) = logins::file(spec) {
        options.set("hba_file", file.display().to_string());
    }
    standby::settings(spec).into_iter().for_each(|(name, value)| options.set(name, value));
    for (name, value) in server_options(spec.options) {
        options.set(name.to_ascii_lowercase(), value);
    }
    let mut text = "# Written by Assay for one run.\n".to_owned();
    for (name, value) in options.iter() {
        text.push_str(&format!("{name} = '{}'\n", value.replace('\'', "''")));
    }
    text
}

#[cfg(test)]
mod tests {
    use model::{Bytes, Durability, Settings};

    use super::*;

    fn site() -> Site {
        Site {
            data: PathBuf::from("/d/data"),
            socket: PathBuf::from("/s"),
            temporary: PathBuf::from("/d/tmp"),
            log: PathBuf::from("/d/log"),
            port: 20_007,
            transport: Transport::Unix,
            address: None,
            password: Password("hush".to_owned()),
        }
    }

    fn configured(
        version: &str,
        settings: &Settings,
        options: &[(&str, &str)],
    ) -> Result<String, EngineError> {
        let options: Options = options.iter().copied().collect();
        let (site, program) = (site(), Path::new("/p/bin/postgres"));
        let spec = ServerSpec { program, version, site: &site, settings, options: &options };
        let task = KIND.serve(&spec)?;
        Ok(task.files.into_iter().map(|(_, text)| text).collect())
    }

    const FIFTEEN: &str = "postgres (PostgreSQL) 15.10";

    #[test]
    fn options_override_settings_in_the_configuration() {
        let settings = Settings {
            durability: Durability::Os,
            cache_bytes: Some(Bytes(64 << 20)),
            ..Settings::default()
        };
        let options =
            [("Shared_Buffers", "1GB"), ("search_path", "'a'"), ("assay.protocol", "text")];
        let text = configured(FIFTEEN, &settings, &options).unwrap();
        for line in [
            "listen_addresses = ''",
            "unix_socket_directories = '/s'",
            "port = '20007'",
            "synchronous_commit = 'on'",
            "fsync = 'off'",
            "shared_buffers = '1GB'",
            "search_path = '''a'''",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(!text.contains("assay."), "{text}");
    }

    #[test]
    fn options_that_would_break_the_set_up_are_rejected_by_name() {
        let none = Settings { durability: Durability::None, ..Settings::default() };
        for name in ["listen_addresses", "PORT", "data_directory", "a b", "assay.pipeline"] {
            let error = configured(FIFTEEN, &none, &[(name, "x")]).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
        }
        let direct = Settings { direct_io: true, ..none.clone() };
        let error = configured(FIFTEEN, &direct, &[]).unwrap_err().to_string();
        assert!(error.starts_with("not supported: direct_io: Postgres 15"), "{error}");
        let text = configured("postgres (PostgreSQL) 18.0", &direct, &[]).unwrap();
        assert!(text.contains("debug_io_direct = 'data,wal'"), "{text}");
        for version in ["postgres (PostgreSQL) 9.6.24", "", "mysqld  Ver 8"] {
            assert!(matches!(configured(version, &none, &[]), Err(EngineError::Unsupported(_))));
        }
    }

    /// Goal: only a server that clients on other machines reach listens and admits them there.
    #[test]
    fn logins_from_other_machines_are_admitted_only_at_an_address_for_them() {
        let (options, settings, program) = (Options::new(), Settings::default(), Path::new("/p"));
        let texts = |site: &Site| {
            let spec = ServerSpec {
                program,
                version: FIFTEEN,
                site,
                settings: &settings,
                options: &options,
            };
            KIND.serve(&spec).unwrap().files.into_iter().map(|(_, text)| text).collect::<String>()
        };
        let address = server::ListenAddress { host: "db1".to_owned(), ip: [10, 0, 0, 7].into() };
        let remote = Site { transport: Transport::Tcp, address: Some(address), ..site() };
        let text = texts(&remote);
        for line in [
            "listen_addresses = '10.0.0.7'",
            "hba_file = '/d/pg_hba.conf'",
            "host all all all scram-sha-256",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}: {text}");
        }
        assert!(!text.contains("trust"), "{text}");
        let text = texts(&Site { transport: Transport::Tcp, ..site() });
        assert!(text.contains("listen_addresses = '127.0.0.1'"), "{text}");
        assert!(!text.contains("hba_file"), "{text}");
        assert_eq!(KIND.endpoint(&remote).address, model::Address::tcp("db1", 20_007));
    }

    #[test]
    fn set_up_disables_checksums_in_every_release() {
        let (site, options, settings) = (site(), Options::new(), Settings::default());
        let task_of = |version| {
            let program = Path::new("/p/bin/postgres");
            let spec = ServerSpec {
                program,
                version,
                site: &site,
                settings: &settings,
                options: &options,
            };
            KIND.set_up(&spec).unwrap().remove(0)
        };
        let (old, new) = (task_of(FIFTEEN), task_of("postgres (PostgreSQL) 18beta1"));
        assert_eq!(old.program, Path::new("/p/bin/initdb"));
        let flag = "--no-data-checksums".to_owned();
        assert!(!old.arguments.contains(&flag) && new.arguments.contains(&flag));
        assert!(KIND.is_log(Path::new("pg_wal/000")) && !KIND.is_log(Path::new("base/1")));
    }
}
