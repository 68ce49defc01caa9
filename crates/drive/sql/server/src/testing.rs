//! Servers as engines of a directory, for the tests of their drivers.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use engine::conformance::wait_until;
use engine::{Driver, Engine, EngineError, Maintenance, OpenSpec, Rows, ServerSide, Session};
use model::{
    Capabilities, DataShape, Direction, Durability, EngineState, Identity, Op, Options, Settings,
};
use rustix::process::{Pid, Signal, kill_process};

use crate::error::ServerError;
use crate::kind::Kind;
use crate::launch::ServerPlacement;
use crate::running::{READY_WITHIN, Running, STOP_WITHIN};
use crate::start::Start;

/// Returns whether servers run as an account other than this process; prints it if not.
#[expect(clippy::print_stdout, reason = "a skipped test prints the reason")]
pub fn is_root() -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    if !is_root {
        println!("skipped: only root starts servers as other accounts");
    }
    is_root
}

/// Returns whether the kernel maps every account's id here; prints it if not.
#[expect(clippy::print_stdout, reason = "a skipped test prints the reason")]
pub fn maps_every_id() -> bool {
    let has_all = |map: &str| {
        let text = fs::read_to_string(format!("/proc/self/{map}")).unwrap_or_default();
        text.split_ascii_whitespace().eq(["0", "0", "4294967295"])
    };
    let maps = has_all("uid_map") && has_all("gid_map");
    if is_root() && !maps {
        println!("skipped: this user namespace maps only some ids");
    }
    nix::unistd::geteuid().is_root() && maps
}

/// Time for which a commit that waits is watched: a hundred times what another takes.
const HELD: Duration = Duration::from_millis(500);
/// Time within which a commit that does not wait ends, on a busy machine too.
const ENDS_WITHIN: Duration = Duration::from_secs(60);

/// Checks that a commit waits while processes are stopped, or that it does not wait.
///
/// They have stopped before it begins: on a busy machine a thread goes on for a while.
///
/// # Panics
/// When one of them is not there, or the commit waits or ends where it should not.
pub fn assert_waits(processes: &[Pid], is_expected: bool, commit: impl FnOnce() + Send) {
    let signal_all = |signal| {
        processes.iter().for_each(|pid| kill_process(*pid, signal).expect("it is there"));
    };
    assert!(!processes.is_empty(), "there is a process to wait for");
    signal_all(Signal::STOP);
    assert!(wait_until(|| processes.iter().all(|pid| has_stopped(*pid))), "{processes:?}");
    let (end, ended) = sync_channel(1);
    thread::scope(|scope| {
        scope.spawn(move || {
            commit();
            end.send(()).ok();
        });
        let watched = if is_expected { HELD } else { ENDS_WITHIN };
        let is_waiting = ended.recv_timeout(watched).is_err();
        signal_all(Signal::CONT);
        assert_eq!(is_waiting, is_expected, "the commit waits for {processes:?}");
    });
}

/// Returns whether every thread of a process has stopped.
fn has_stopped(pid: Pid) -> bool {
    let threads = fs::read_dir(format!("/proc/{}/task", pid.as_raw_nonzero()));
    threads.expect("it is there").flatten().all(|thread| {
        let status = fs::read_to_string(thread.path().join("status"));
        // A thread that has ended meanwhile does nothing more.
        status.is_ok_and(|text| text.contains("\nState:\tT")) || !thread.path().exists()
    })
}

/// Checks that a server's processes have no rights and its password is nowhere to be read.
///
/// # Panics
/// When one has a capability or could gain one, or a command line, an environment or a stored file
/// has the password.
pub fn assert_confined(running: &Running) {
    let password = &running.site.password.0;
    assert!(password.len() >= 32, "128 random bits");
    let has_password = |path: &Path| {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.windows(password.len()).any(|part| part == password.as_bytes())
    };
    let mut servers = 0;
    for process in fs::read_dir("/proc").expect("there is a /proc").flatten() {
        let process = process.path();
        assert!(!["cmdline", "environ"].iter().any(|name| has_password(&process.join(name))));
        let is_its = |path: PathBuf| path.starts_with(&running.site.data);
        if !fs::read_link(process.join("cwd")).is_ok_and(is_its) {
            continue;
        }
        servers += u32::from(assert_without_rights(&process));
    }
    assert!(servers > 0, "it works in its data directory");
    let files = running.site.log.parent().map(fs::read_dir).expect("it has a directory");
    for file in files.expect("it can be read").flatten().map(|entry| entry.path()) {
        let is_stored = running.files().contains(&file);
        assert!(!has_password(&file) || !is_stored, "{} is archived", file.display());
        let mode = fs::metadata(&file).map_or(0, |meta| meta.permissions().mode());
        assert!(!has_password(&file) || mode & 0o077 == 0, "{} is readable", file.display());
    }
}

/// Checks that the process of this folder of `/proc` has no rights; returns `false` when it has
/// ended.
///
/// # Panics
/// When it is root's, or has a capability or could gain one.
pub fn assert_without_rights(process: &Path) -> bool {
    let Ok(status) = fs::read_to_string(process.join("status")) else { return false };
    let none = "0000000000000000";
    for field in ["CapEff:", "CapPrm:", "CapAmb:"].map(|name| format!("{name}\t{none}")) {
        assert!(status.contains(&field), "{field} is not in {status}");
    }
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    assert!(!status.contains("Uid:\t0\t"), "{status}");
    true
}

/// Starts a server with default settings and these options.
///
/// # Panics
/// When it does not start.
pub fn started(kind: &'static dyn Kind, program: &Path, dir: &Path, options: &Options) -> Running {
    let spec = OpenSpec { options: options.clone(), ..embedded(dir, Settings::default()) };
    start(kind, program, None, &spec).expect("the server starts")
}

fn embedded(dir: &Path, settings: Settings) -> OpenSpec {
    let data = DataShape { rows: 1000, key_bytes: 4, value_bytes: 900, compressible_to: 0.5 };
    OpenSpec::embedded(dir.to_owned(), settings, data)
}

fn start(
    kind: &'static dyn Kind,
    program: &Path,
    templates: Option<&Path>,
    spec: &OpenSpec,
) -> Result<Running, ServerError> {
    let start = Start {
        kind,
        program,
        fingerprint: "",
        dir: &spec.dir,
        settings: &spec.settings,
        options: &spec.options,
        address: None,
        user: None,
        placement: ServerPlacement::default(),
        templates,
        ready_within: READY_WITHIN,
    };
    Running::start(&start, &|| false)
}

/// Rows written before a server is killed.
const ROWS: u32 = 300;
/// Bytes of a value of theirs.
const VALUE: [u8; 900] = [7; 900];

/// A driver that starts a server per directory, for the conformance battery.
///
/// Set-up runs once; later directories are copies.
pub struct Served<D> {
    kind: &'static dyn Kind,
    program: PathBuf,
    templates: PathBuf,
    driver: D,
}

impl<D: Driver> Served<D> {
    /// Returns a driver that starts `program` per directory and connects with `driver`.
    ///
    /// A directory already set up is copied from `templates`.
    pub fn new(kind: &'static dyn Kind, program: &Path, templates: &Path, driver: D) -> Self {
        Self { kind, program: program.to_owned(), templates: templates.to_owned(), driver }
    }

    /// Starts the server on `dir`, without connecting to it.
    ///
    /// # Errors
    /// As [`Running::start`].
    pub fn start(&self, spec: &OpenSpec) -> Result<Running, EngineError> {
        Ok(start(self.kind, &self.program, Some(&self.templates), spec)?)
    }

    fn connect(&self, running: Running, spec: &OpenSpec) -> Result<Opened, EngineError> {
        let endpoint = Some(running.endpoint.clone());
        let engine = self.driver.open(&OpenSpec { endpoint, ..spec.clone() })?;
        Ok(Opened { engine, running: Mutex::new(running) })
    }

    /// Checks that acknowledged writes survive a kill of all server processes.
    ///
    /// Each durability class but `none`: rows are written, every process of the server is killed,
    /// and it is started again on the same directory.
    ///
    /// # Panics
    /// When the server fails, or a row is missing; the text names the class.
    pub fn survives_server_crash(&self) {
        let mut offered = self.driver.capabilities().durability;
        offered.remove(&Durability::None);
        assert!(offered.contains(&Durability::Sync), "{offered:?}");
        for class in offered {
            let dir = tempfile::tempdir().expect("a directory can be made");
            let settings = Settings { durability: class, ..Settings::default() };
            let spec = embedded(dir.path(), settings);
            let open = || {
                let running = self.start(&spec).expect("the server starts");
                self.connect(running, &spec).expect("the login succeeds")
            };
            let opened = open();
            write_rows(&*opened.engine);
            opened.running().kill();
            drop(opened);

            let opened = open();
            assert_eq!(count_rows(&*opened.engine), u64::from(ROWS), "class {class}");
            Box::new(opened).close().expect("the server stops");
        }
    }
}

fn write_rows(engine: &dyn Engine) {
    let mut session = engine.session().expect("there is room for a client");
    let mut rows = Rows::new();
    for row in 0..ROWS {
        let op = Op::Put { key: &row.to_be_bytes(), value: &VALUE };
        session.execute(&op, &mut rows).expect("the row is written");
    }
}

fn count_rows(engine: &dyn Engine) -> u64 {
    let mut session = engine.session().expect("there is room for a client");
    let mut rows = Rows::new();
    rows.clear(false);
    let op = Op::Scan { start: &[0], limit: 100 * ROWS, direction: Direction::Forward };
    session.execute(&op, &mut rows).expect("the rows are read");
    rows.count()
}

impl<D: Driver> Driver for Served<D> {
    fn identity(&self) -> Identity {
        self.driver.identity()
    }

    fn capabilities(&self) -> Capabilities {
        self.driver.capabilities()
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        if !spec.dir.is_dir() {
            return Err(EngineError::Fatal(format!("{} is not a directory", spec.dir.display())));
        }
        let running = self.start(spec)?;
        Ok(Box::new(self.connect(running, spec)?))
    }
}

/// An engine with the server behind it.
struct Opened {
    engine: Box<dyn Engine>,
    /// Locked only to be `Sync`.
    running: Mutex<Running>,
}

impl Opened {
    fn running(&self) -> std::sync::MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine for Opened {
    fn session(&self) -> Result<Box<dyn Session + '_>, EngineError> {
        self.engine.session()
    }

    fn identity(&self) -> Identity {
        self.engine.identity()
    }

    fn effective_options(&self) -> Result<Options, EngineError> {
        self.engine.effective_options()
    }

    fn maintain(&self, work: Maintenance) -> Result<bool, EngineError> {
        self.engine.maintain(work)
    }

    fn state(&self) -> Result<EngineState, EngineError> {
        self.engine.state()
    }

    fn statistics_text(&self) -> Option<String> {
        self.engine.statistics_text()
    }

    fn own_files(&self) -> Vec<PathBuf> {
        self.running().files()
    }

    fn server(&self) -> Option<&dyn ServerSide> {
        self.engine.server()
    }

    fn close(self: Box<Self>) -> Result<(), EngineError> {
        let Self { engine, running } = *self;
        let closed = engine.close();
        let mut running = running.into_inner().unwrap_or_else(PoisonError::into_inner);
        running.stop(STOP_WITHIN)?;
        closed
    }
}
