//! A real Postgres, when one is installed.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use engine::EngineError;
use model::{Address, Endpoint, Options, Settings};
use server::{Kind, Running, ServerPlacement, ServerSpec, Site, Start, Stop, Task};

/// Just enough of Postgres to start it.
struct Postgres;

impl Kind for Postgres {
    fn engine(&self) -> &'static str {
        "postgres"
    }

    fn needs_account_name(&self) -> bool {
        true
    }

    fn set_up(&self, spec: &ServerSpec<'_>) -> Result<Vec<Task>, EngineError> {
        let data = spec.site.data.display().to_string();
        let args = ["-D", &data, "-U", "bench", "-A", "trust", "--no-sync", "--locale=C"];
        let program = spec.program.with_file_name("initdb");
        Ok(vec![Task { program, arguments: args.map(str::to_owned).into(), ..Task::default() }])
    }

    fn serve(&self, spec: &ServerSpec<'_>) -> Result<Task, EngineError> {
        let data = spec.site.data.display().to_string();
        let socket = format!("unix_socket_directories={}", spec.site.socket.display());
        let port = format!("port={}", spec.site.port);
        let args = ["-D", &data, "-c", "listen_addresses=", "-c", &socket, "-c", &port];
        let arguments = args.map(str::to_owned).into();
        Ok(Task { program: spec.program.into(), arguments, ..Task::default() })
    }

    fn endpoint(&self, site: &Site) -> Endpoint {
        let socket = site.socket.join(format!(".s.PGSQL.{}", site.port));
        Endpoint {
            address: Address::Socket(socket),
            user: "bench".to_owned(),
            password: None,
            database: "postgres".to_owned(),
            is_foreign: false,
            login: model::LoginOptions::default(),
        }
    }

    fn probe(&self, endpoint: &Endpoint) -> Result<(), EngineError> {
        let Address::Socket(path) = &endpoint.address else { unreachable!() };
        let connected = UnixStream::connect(path);
        connected.map(drop).map_err(|error| EngineError::Fatal(error.to_string()))
    }

    fn stop(&self) -> Stop {
        Stop::Interrupt
    }

    fn startup_error(&self, log: &str) -> EngineError {
        EngineError::Fatal(log.to_owned())
    }

    fn is_log(&self, path: &Path) -> bool {
        path.starts_with("pg_wal")
    }
}

/// Returns a Postgres of this machine.
fn program() -> Option<PathBuf> {
    let mut installed = (12..=18)
        .rev()
        .map(|major| PathBuf::from(format!("/usr/lib/postgresql/{major}/bin/postgres")));
    installed.find(|path| path.with_file_name("initdb").is_file())
}

#[test]
fn real_server_starts_and_leaves_nothing() {
    let Some(program) = program() else {
        println!("skipped: no Postgres here: apt-get install postgresql");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let site = dir.path().join("below/site");
    let start = Start {
        kind: &Postgres,
        program: &program,
        fingerprint: "",
        dir: &site,
        settings: &Settings::default(),
        options: &Options::new(),
        address: None,
        user: None,
        placement: ServerPlacement::default(),
        templates: None,
        ready_within: server::READY_WITHIN,
    };
    let mut running = Running::start(&start, &|| false).unwrap();
    assert!(running.version.contains("PostgreSQL"), "{}", running.version);
    running.stop(server::STOP_WITHIN).unwrap();
    let log = std::fs::read_to_string(&running.site.log).unwrap();
    assert!(log.contains("database system is shut down"), "{log}");

    let mut running = Running::start(&start, &|| false).unwrap();
    let pid = running.pid();
    let named: Vec<_> = named_memory(pid);
    assert!(!named.is_empty(), "this Postgres has its shared memory elsewhere");
    running.kill();
    assert!(named.iter().all(|path| !path.exists()), "{named:?}");
    let segments = std::fs::read_to_string("/proc/sysvipc/shm").unwrap();
    let creator = |line: &str| line.split_ascii_whitespace().nth(4) == Some(&pid.to_string());
    assert!(!segments.lines().any(creator), "{segments}");
}

/// Returns the named shared memory of a process.
fn named_memory(pid: u32) -> Vec<PathBuf> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let starts =
        maps.lines().filter_map(|line| Some(PathBuf::from(&line[line.find("/dev/shm/")?..])));
    starts.collect()
}
