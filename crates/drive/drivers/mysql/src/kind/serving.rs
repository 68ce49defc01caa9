//! The two kinds of server.

use std::path::Path;

use engine::EngineError;
use model::{Address, Endpoint};
use server::{Kind, ServerSpec, Site, Stop, Task};

use super::bootstrap;
use super::configuration::{Configuration, canonical};
use super::layout::Layout;
use super::refusal;
use super::release::{Flavour, Release};
use super::settings::{Server, refuse_broken_promise};
use crate::wire::Connection;

/// MySQL, 5.6 to 9.
pub static KIND_MYSQL: &dyn Kind = &Serving(Flavour::Mysql);
/// MariaDB, with InnoDB or `MyRocks`.
pub static KIND_MARIADB: &dyn Kind = &Serving(Flavour::Mariadb);

/// Name of the socket in its directory.
const SOCKET: &str = "mysql.sock";
/// The user every set-up leaves, without a password.
const USER: &str = "root";
/// The database of tables.
const DATABASE: &str = "assay";
/// Digits of a binary log's number.
const BINLOG_DIGITS: usize = 6;
/// First version of each that is known to work.
const OLDEST: [(Flavour, Release); 2] =
    [(Flavour::Mysql, Release(5, 6, 0)), (Flavour::Mariadb, Release(10, 5, 0))];

struct Serving(Flavour);

impl Serving {
    /// Returns which server is asked for.
    fn server(&self, ask: &ServerSpec<'_>) -> Result<Server, EngineError> {
        let Some(release) = Release::find(ask.version) else {
            let reason = if ask.version.is_empty() { "nothing" } else { ask.version };
            let program = ask.program.display();
            let text = format!("{program} --version tells no version, but: {reason}");
            return Err(EngineError::Fatal(text));
        };
        let Self(flavour) = *self;
        let is_mariadb = ask.version.contains("MariaDB");
        if is_mariadb != (flavour == Flavour::Mariadb) {
            let other = if is_mariadb { Flavour::Mariadb } else { Flavour::Mysql };
            let text = format!("this is {}: name the engine `{}`", ask.version, other.name());
            return Err(EngineError::Unsupported(text));
        }
        match OLDEST.iter().find(|(known, _)| *known == flavour) {
            Some((_, oldest)) if release < *oldest => {
                let Release(a, b, _) = oldest;
                let text = format!("{} before {a}.{b}", flavour.name());
                Err(EngineError::Unsupported(text))
            }
            _ => Ok(Server { flavour, release }),
        }
    }

    /// Returns the whole configuration that is asked for.
    fn configuration(
        &self,
        server: Server,
        ask: &ServerSpec<'_>,
    ) -> Result<Configuration, EngineError> {
        let options = own(ask.options);
        refuse_broken_promise(ask.settings.durability, &options)?;
        let engine = options.iter().find(|(name, _)| canonical(name) == "default_storage_engine");
        let is_myrocks = engine.is_some_and(|(_, value)| value.eq_ignore_ascii_case("rocksdb"));
        let mut configuration = Configuration::default();
        places(server.flavour, ask, &mut configuration);
        server.defaults(&mut configuration);
        server.settings(ask.settings, is_myrocks, &mut configuration);
        configuration.overlay(&options)?;
        let log_bin = configuration.get("log_bin").is_some_and(|value| !value.is_empty());
        if log_bin && configuration.get("server_id").is_none() {
            configuration.set("server_id", "1");
        }
        Ok(configuration)
    }
}

/// Returns the options without those that are the driver's.
fn own(options: &model::Options) -> model::Options {
    options.iter().filter(|(name, _)| !name.starts_with(crate::config::OURS)).collect()
}

/// Sets where everything lies and who is let in.
pub(super) fn places(flavour: Flavour, ask: &ServerSpec<'_>, to: &mut Configuration) {
    let layout = Layout::around(ask.program);
    let text = |path: &Path| path.display().to_string();
    let site = ask.site;
    to.set("basedir", text(&layout.base));
    to.set("datadir", text(&site.data));
    to.set("tmpdir", text(&site.temporary));
    to.set("pid_file", text(&site.temporary.join("server.pid")));
    to.set("socket", text(&site.socket.join(SOCKET)));
    to.set("lc_messages_dir", text(&layout.share));
    to.set("character_sets_dir", text(&layout.share.join("charsets")));
    if let Some(plugins) = &layout.plugins {
        to.set("plugin_dir", text(plugins));
    }
    to.set("skip_networking", "");
    if flavour == Flavour::Mysql {
        to.set("secure_file_priv", text(&site.temporary));
        to.set("loose_mysqlx", "OFF");
    }
}

impl Kind for Serving {
    fn engine(&self) -> &'static str {
        self.0.name()
    }

    fn environment(&self, program: &Path) -> Vec<(String, String)> {
        Layout::around(program).environment()
    }

    fn set_up(&self, ask: &ServerSpec<'_>) -> Result<Vec<Task>, EngineError> {
        let server = self.server(ask)?;
        bootstrap::tasks(server, ask, &self.configuration(server, ask)?)
    }

    fn serve(&self, ask: &ServerSpec<'_>) -> Result<Task, EngineError> {
        let server = self.server(ask)?;
        let configuration = self.configuration(server, ask)?;
        let file = ask.site.log.with_file_name("my.cnf");
        Ok(Task {
            program: ask.program.to_owned(),
            arguments: vec![format!("--defaults-file={}", file.display())],
            environment: Layout::around(ask.program).environment(),
            files: vec![(file, configuration.text())],
            ..Task::default()
        })
    }

    fn endpoint(&self, site: &Site) -> Endpoint {
        Endpoint {
            address: Address::Socket(site.socket.join(SOCKET)),
            user: USER.to_owned(),
            password: None,
            database: DATABASE.to_owned(),
            is_foreign: false,
        }
    }

    /// Also makes the database, which a set-up cannot in every version.
    fn probe(&self, endpoint: &Endpoint) -> Result<(), EngineError> {
        let without = Endpoint { database: String::new(), ..endpoint.clone() };
        let mut connection = Connection::open(&without)?;
        let database = &endpoint.database;
        connection.run(&format!("CREATE DATABASE IF NOT EXISTS `{database}`"))?;
        Ok(())
    }

    fn stop(&self) -> Stop {
        Stop::Terminate
    }

    fn refusal(&self, log: &str) -> EngineError {
        refusal::read(log)
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

    use model::{Options, Settings};

    use super::*;

    fn site() -> Site {
        Site {
            data: PathBuf::from("/s/data"),
            socket: PathBuf::from("/s/run"),
            temporary: PathBuf::from("/s/tmp"),
            log: PathBuf::from("/s/server.log"),
            port: 1,
            user: "nobody".to_owned(),
        }
    }

    fn served(kind: &dyn Kind, version: &str, options: &Options) -> Result<Task, EngineError> {
        let (site, settings) = (site(), Settings::default());
        let program = Path::new("/e/bin/mysqld");
        kind.serve(&ServerSpec { program, version, site: &site, settings: &settings, options })
    }

    #[test]
    fn a_server_is_started_with_a_file_of_its_own() {
        let options = [("default-storage-engine", "ROCKSDB"), ("assay.protocol", "text")];
        let options = options.into_iter().collect();
        let task = served(KIND_MARIADB, "Ver 10.11.6-MariaDB", &options).unwrap();
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
        let text = &served(KIND_MYSQL, "Ver 8.0.31", &binlog).unwrap().files[0].1;
        assert!(text.contains("\nserver_id=1\n") && !text.contains("skip_log_bin"), "{text}");
    }

    #[test]
    fn the_wrong_server_is_told() {
        let options = Options::new();
        let told = |kind, version| served(kind, version, &options).unwrap_err().to_string();
        assert!(told(KIND_MYSQL, "Ver 10.11.6-MariaDB").contains("name the engine `mariadb`"));
        assert!(told(KIND_MARIADB, "Ver 8.0.31").contains("name the engine `mysql`"));
        assert!(told(KIND_MYSQL, "Ver 5.5.60").contains("mysql before 5.6"));
        assert!(told(KIND_MYSQL, "").contains("tells no version"));
    }

    #[test]
    fn logs_are_told_from_data() {
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
