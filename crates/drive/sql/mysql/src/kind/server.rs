//! The server kinds MySQL and MariaDB.

use std::path::Path;

use driver_sql::{Connection as _, Contact, OwnOptions, server_options};
use engine::EngineError;
use model::{Endpoint, Options, ServerLoad, SystemNeeds};
use server::standby::copy;
use server::{Kind, PROBE_WITHIN, ServerSpec, Site, Stop, Task};

use super::bootstrap;
use super::configuration::{Configuration, Layout, canonical};
use super::login;
use super::place::{listens, socket};
use super::release::{Flavour, Release};
use super::settings::{MyRocks, Server, reject_weaker_durability};
use super::{needs, standby, startup_error};
use crate::wire::Connection;

/// MySQL, 5.6 to 9.
pub static KIND_MYSQL: &dyn Kind = &MysqlKind(Flavour::Mysql);
/// MariaDB, with InnoDB or `MyRocks`.
pub static KIND_MARIADB: &dyn Kind = &MysqlKind(Flavour::Mariadb);

/// The user that every set-up creates; it gets its password at each start.
const USER: &str = "root";
/// The database of tables.
const DATABASE: &str = "assay";
/// Digits of a binary log's number.
const BINLOG_DIGITS: usize = 6;

struct MysqlKind(Flavour);

impl MysqlKind {
    /// Returns flavour and release of a program that prints `version`, checked.
    ///
    /// # Errors
    /// For another flavour, a release that is too old, and a text without version.
    fn parse(&self, version: &str) -> Result<Server, String> {
        let Self(flavour) = *self;
        let name = flavour.name();
        let Some(release) = Release::find(version) else {
            return Err(format!("`{version}` shows no version of {name}"));
        };
        let is_mariadb = version.contains("MariaDB");
        if is_mariadb != (flavour == Flavour::Mariadb) {
            let other = if is_mariadb { Flavour::Mariadb } else { Flavour::Mysql };
            return Err(format!("the program is {version}: name the engine `{}`", other.name()));
        }
        let oldest = match flavour {
            Flavour::Mysql => Release(5, 6, 0),
            Flavour::Mariadb => Release(10, 5, 0),
        };
        if release < oldest {
            let Release(a, b, _) = oldest;
            return Err(format!(
                "Assay runs {name} {a}.{b} and newer, and the program is `{version}`"
            ));
        }
        Ok(Server { flavour, release })
    }

    /// Returns flavour and release of a server, checked.
    fn server(&self, spec: &ServerSpec<'_>) -> Result<Server, EngineError> {
        self.parse(spec.version).map_err(EngineError::Unsupported)
    }

    /// Returns the complete configuration of `spec`.
    fn configuration(
        &self,
        server: Server,
        spec: &ServerSpec<'_>,
    ) -> Result<Configuration, EngineError> {
        OwnOptions::of(spec.options)?;
        let options: Options = server_options(spec.options).collect();
        reject_weaker_durability(spec.settings.durability, &options)?;
        let engine = options.iter().find(|(name, _)| canonical(name) == "default_storage_engine");
        let is_myrocks = engine.is_some_and(|(_, value)| value.eq_ignore_ascii_case("rocksdb"));
        let myrocks = is_myrocks.then(|| MyRocks::of(server.flavour, spec.program));
        let mut configuration = Configuration::default();
        configuration.set_paths(server.flavour, spec);
        server.defaults(&mut configuration);
        if listens(spec) {
            // A password that is sent by TCP is encrypted with it.
            configuration.set("loose_caching_sha2_password_auto_generate_rsa_keys", "ON");
        }
        server.settings(spec.settings, myrocks, &mut configuration);
        configuration.overlay(&options)?;
        standby::configure(server, spec, &options, &mut configuration)?;
        let log_bin = configuration.get("log_bin").is_some_and(|value| !value.is_empty());
        if log_bin && configuration.get("server_id").is_none() {
            configuration.set("server_id", "1");
        }
        Ok(configuration)
    }

    /// Returns the server's program with its configuration and statements in files of these names.
    fn serving(
        &self,
        spec: &ServerSpec<'_>,
        file: &str,
        init_file: &str,
    ) -> Result<Task, EngineError> {
        let server = self.server(spec)?;
        let mut configuration = self.configuration(server, spec)?;
        let (file, init_file) = (spec.site.file(file), spec.site.file(init_file));
        configuration.set("init_file", init_file.display().to_string());
        Ok(Task {
            program: spec.program.to_owned(),
            arguments: vec![format!("--defaults-file={}", file.display())],
            environment: Layout::around(spec.program).environment(),
            files: vec![(file, configuration.text())],
            secrets: vec![(init_file, login::require_password(server, spec.site, listens(spec)))],
            ..Task::default()
        })
    }
}

impl Kind for MysqlKind {
    /// Source: MySQL manual, "Using Option Files" (quotes, backslashes), `tmpdir` (a list with
    /// colons) and `innodb_directories` (one with semicolons, to which the data are added).
    fn reserved_in_paths(&self) -> &'static [char] {
        &['\n', '\r', '"', '\\', ':', ';']
    }

    fn engine(&self) -> &'static str {
        self.0.name()
    }

    fn environment(&self, program: &Path) -> Vec<(String, String)> {
        Layout::around(program).environment()
    }

    /// A release may be named by two numbers.
    fn version_text(&self, release: &str) -> String {
        let patch = if release.matches('.').count() < 2 { ".0" } else { "" };
        let product = if self.0 == Flavour::Mariadb { "-MariaDB" } else { "" };
        format!("{release}{patch}{product}")
    }

    fn check_release(&self, version: &str) -> Result<(), String> {
        self.parse(version).map(drop)
    }

    fn check_files(&self, program: &Path, version: &str) -> Result<(), String> {
        bootstrap::check_files(self.parse(version)?, program)
    }

    fn needs(&self, options: &Options, load: &ServerLoad) -> SystemNeeds {
        needs::of(self.0, options, load)
    }

    fn fallback(&self, options: &Options, log: &str) -> Result<Option<String>, EngineError> {
        needs::fallback(options, log)
    }

    fn set_up(&self, spec: &ServerSpec<'_>) -> Result<Vec<Task>, EngineError> {
        let server = self.server(spec)?;
        bootstrap::tasks(server, spec, &self.configuration(server, spec)?)
    }

    fn serve(&self, spec: &ServerSpec<'_>) -> Result<Task, EngineError> {
        self.serving(spec, "my.cnf", "init.sql")
    }

    fn endpoint(&self, site: &Site) -> Endpoint {
        site.endpoint(socket(site), USER, DATABASE)
    }

    /// Also creates the database, which set-up cannot in every version.
    fn probe(&self, endpoint: &Endpoint) -> Result<(), EngineError> {
        let without = Endpoint { database: String::new(), ..endpoint.clone() };
        let mut connection = Connection::open(&without, &(), Contact::Known)?;
        connection.limit_wait(Some(PROBE_WITHIN))?;
        let database = &endpoint.database;
        connection.run(&format!("CREATE DATABASE IF NOT EXISTS `{database}`"))?;
        Ok(())
    }

    fn standby(&self, spec: &ServerSpec<'_>, site: &Site) -> Result<[Task; 2], EngineError> {
        let copy = copy(&spec.site.data, &site.data, standby::FOLLOWING);
        let spec = ServerSpec { site, ..*spec };
        Ok([copy, self.serving(&spec, "replica.cnf", "replica.sql")?])
    }

    fn follow(
        &self,
        server: &Endpoint,
        standby: &Endpoint,
        options: &Options,
    ) -> Result<(), EngineError> {
        standby::follow(server, standby, options)
    }

    fn stop(&self) -> Stop {
        Stop::Terminate
    }

    fn startup_error(&self, log: &str) -> EngineError {
        startup_error::read(log)
    }

    fn is_log(&self, path: &Path) -> bool {
        let mut parts = path.iter().map(|part| part.to_string_lossy());
        let Some(first) = parts.next() else { return false };
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let is_binlog = |name: &str| {
            name.rsplit_once('.').is_some_and(|(_, number)| {
                number == "index"
                    || (number.len() == BINLOG_DIGITS && number.bytes().all(|c| c.is_ascii_digit()))
            })
        };
        match &*first {
            "#innodb_redo" => true,
            "#rocksdb" => file.ends_with(".log"),
            name => parts.next().is_none() && (name.starts_with("ib_logfile") || is_binlog(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use model::{Options, Password, Settings, Transport};

    use super::*;

    fn site() -> Site {
        Site {
            data: PathBuf::from("/s/data"),
            socket: PathBuf::from("/s/run"),
            temporary: PathBuf::from("/s/tmp"),
            log: PathBuf::from("/s/server.log"),
            port: 1,
            transport: Transport::Unix,
            address: None,
            password: Password("hush".to_owned()),
        }
    }

    fn serve_task(kind: &dyn Kind, version: &str, options: &Options) -> Result<Task, EngineError> {
        let (site, settings) = (site(), Settings::default());
        let program = Path::new("/e/bin/mysqld");
        kind.serve(&ServerSpec { program, version, site: &site, settings: &settings, options })
    }

    #[test]
    fn server_starts_with_its_own_configuration_file() {
        let options = [("default-storage-engine", "ROCKSDB"), ("assay.protocol", "text")];
        let options = options.into_iter().collect();
        let task = serve_task(KIND_MARIADB, "Ver 10.11.6-MariaDB", &options).unwrap();
        assert_eq!(task.arguments, ["--defaults-file=/s/my.cnf"]);
        let text = &task.files[0].1;
        for line in [
            "socket=/s/run/mysql.sock",
            "skip_networking",
            "plugin_load_add=ha_rocksdb.so",
            "default-storage-engine=ROCKSDB",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        assert!(!text.contains("assay.protocol"), "{text}");
        let binlog = [("log-bin", "bl")].into_iter().collect();
        let text = &serve_task(KIND_MYSQL, "Ver 8.0.31", &binlog).unwrap().files[0].1;
        assert!(text.contains("\nserver_id=1\n") && !text.contains("skip_log_bin"), "{text}");
    }

    /// Goal: MyRocks works where it is a plugin and where it is compiled in, as in FB MySQL.
    /// Method: a tree of a server with the plugin's file, and one without.
    #[test]
    fn myrocks_is_loaded_where_it_is_a_plugin_and_turned_on_where_it_is_compiled_in() {
        let tree = tempfile::tempdir().unwrap();
        let plugins = tree.path().join("lib/plugin");
        std::fs::create_dir_all(&plugins).unwrap();
        let program = tree.path().join("bin/mysqld");
        let options = [("default_storage_engine", "rocksdb")].into_iter().collect();
        let text = || {
            let (site, settings) = (site(), Settings::default());
            let spec = ServerSpec {
                program: &program,
                version: "Ver 8.0.28",
                site: &site,
                settings: &settings,
                options: &options,
            };
            KIND_MYSQL.serve(&spec).unwrap().files[0].1.clone()
        };
        let compiled_in = text();
        assert!(compiled_in.contains("\nloose_rocksdb=ON\n"), "{compiled_in}");
        assert!(!compiled_in.contains("plugin_load_add"), "{compiled_in}");
        std::fs::write(plugins.join("ha_rocksdb.so"), "").unwrap();
        let plugin = text();
        assert!(plugin.contains("\nplugin_load_add=ha_rocksdb.so\n"), "{plugin}");
        assert!(!plugin.contains("loose_rocksdb"), "{plugin}");
    }

    #[test]
    fn wrong_server_is_reported() {
        let options = Options::new();
        let error_text =
            |kind, version| serve_task(kind, version, &options).unwrap_err().to_string();
        assert!(
            error_text(KIND_MYSQL, "Ver 10.11.6-MariaDB").contains("name the engine `mariadb`")
        );
        assert!(error_text(KIND_MARIADB, "Ver 8.0.31").contains("name the engine `mysql`"));
        assert!(error_text(KIND_MYSQL, "Ver 5.5.60").contains("runs mysql 5.6 and newer"));
        assert!(error_text(KIND_MYSQL, "").contains("shows no version"));
    }

    /// Goal: a release that cannot be run is known by its name, before it is obtained.
    #[test]
    fn releases_are_checked_by_their_names() {
        for (kind, name, is_good) in [
            (KIND_MYSQL, "5.6.24", true),
            (KIND_MYSQL, "5.5.9", false),
            (KIND_MYSQL, "5", true),
            (KIND_MYSQL, "8.4", true),
            (KIND_MYSQL, "mine", true),
            (KIND_MARIADB, "10.11", true),
            (KIND_MARIADB, "10.2.11", false),
            (KIND_MARIADB, "5.5", false),
        ] {
            assert_eq!(kind.check_name(name).is_ok(), is_good, "{name}");
        }
        let error = KIND_MARIADB.check_name("10.2.11").unwrap_err();
        let expected = "Assay runs mariadb 10.5 and newer, and the program is `10.2.11-MariaDB`";
        assert_eq!(error, expected);
    }

    #[test]
    fn logs_are_distinguished_from_data() {
        for (path, is_log) in [
            ("ib_logfile0", true),
            ("#innodb_redo/#ib_redo7", true),
            ("bl.000001", true),
            ("bl.index", true),
            ("#rocksdb/000012.log", true),
            ("#rocksdb/000012.sst", false),
            ("ibdata1", false),
            ("assay/assay_kv.ibd", false),
            ("assay/x.000001", false),
        ] {
            assert_eq!(KIND_MYSQL.is_log(Path::new(path)), is_log, "{path}");
        }
    }
}
