//! A running server: start, readiness, death, stop.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use engine::EngineError;
use model::server::{FALLBACK, REPLICA};
use model::{Address, Endpoint, Transport};
use rustix::process::Signal;

use crate::error::ServerError;
use crate::kind::{Kind, ServerSpec, Site, Stop, Task};
use crate::launch::{self, ServerPlacement, SetUp};
use crate::private_dir::PrivateDir;
use crate::process::{ProcessIdentity, kill_all};
use crate::site::{self, Template};
use crate::standby::Standby;
use crate::start::{DATA, SET_UP_MAX, Start, set_up_error, site_of, waits};
use crate::user::{MOVE_DATA, User};

/// Timeout from start to ready; recovery may take long.
pub const READY_WITHIN: Duration = Duration::from_secs(120);
/// Longest time in which a program prints its version. Our choice: it takes milliseconds.
const VERSION_MAX: Duration = Duration::from_secs(20);
/// Timeout of each answer to a probe, which is repeated: requests to stop are polled in between.
pub const PROBE_WITHIN: Duration = Duration::from_secs(2);
/// Timeout of a clean stop: the server writes its dirty cache.
pub const STOP_WITHIN: Duration = Duration::from_secs(120);

/// Polls of a running server per scan of the shared memory it has mapped.
const POLLS_PER_SCAN: u32 = 20;

/// Remedy for a program that the account of a server cannot reach.
const MOVE_SERVER: &str = "move the server with `assay engine add` or --cache-dir";

/// Where a server and its clients are whose network can be cut.
const APART: &str = "server and clients each in a network namespace, joined by a link";
/// Where the standby of a server is.
const FOLLOWING: &str =
    "follows from a copy of the data, on this machine and in the server's group";

/// How a server ended by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Death {
    /// Exit status; `None` when unknown.
    pub status: Option<ExitStatus>,
    /// The last line of its log that is not blank.
    pub last_log_lines: String,
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; last log line: {}", launch::describe_exit(self.status), self.last_log_lines)
    }
}

/// A running server; killed when dropped, its data left in place.
pub struct Running {
    pub(crate) kind: &'static dyn Kind,
    program: PathBuf,
    /// Its directories.
    pub site: Site,
    pub(crate) user: User,
    /// What starts it, and where it runs.
    pub(crate) serving: (Task, ServerPlacement),
    /// First line of its program's `--version`.
    pub version: String,
    /// Where it listens for clients.
    pub endpoint: Endpoint,
    /// Where it is probed: by its socket, if clients have a network of their own.
    pub(crate) probed: Endpoint,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) child: Child,
    pub(crate) standby: Option<Standby>,
    /// Whether it was the standby of one that was killed.
    pub(crate) is_promoted: bool,
    /// What it does without since its start.
    fallback: Option<String>,
    /// Its end, once observed.
    pub(crate) ended: Option<Death>,
    /// Calls of [`Running::death`].
    polls: u32,
    pub(crate) private_dir: PrivateDir,
}

impl Running {
    /// Sets up an empty directory, starts the server, waits until ready.
    ///
    /// The server dies with the thread that calls this. `is_cancelled` is polled for an interrupt.
    ///
    /// # Errors
    /// [`ServerError::Refused`] with the server's message, or any other error; no process is left.
    pub fn start(start: &Start<'_>, is_cancelled: &dyn Fn() -> bool) -> Result<Self, ServerError> {
        check_paths(start)?;
        let data = start.dir.join(DATA);
        let user = User::find(start.user, &data, start.kind.needs_account_name())?;
        // First of all, so that the note covers everything a killed process leaves.
        let mut private_dir = PrivateDir::make(&user, start.dir, &start.placement.groups)?;
        let mut site = site_of(start, &private_dir)?;
        site::make(&site, start.dir, &user)?;
        let start =
            &Start { placement: start.placement.with_sockets(&site.socket), ..start.clone() };
        user.check_reach(&[
            (start.program, MOVE_SERVER),
            (&site.data, MOVE_DATA),
            (&site.socket, "open the directory of the sockets"),
        ])?;
        let is_new = site::is_empty(&site.data)?;
        site.password = site::password(start.dir, is_new)?;
        let version = version_of(start, &user, is_cancelled);
        let spec = ServerSpec {
            program: start.program,
            version: &version,
            site: &site,
            settings: start.settings,
            options: start.options,
        };
        start.kind.check_files(start.program, &version).map_err(EngineError::Unsupported)?;
        let mut files = Vec::new();
        if is_new {
            let tasks = start.kind.set_up(&spec)?;
            files.extend(tasks.iter().flat_map(|task| &task.files).map(|(path, _)| path.clone()));
            let place = SetUp::new(&user, &site, &start.placement);
            set_up(start, place, &tasks, &mut private_dir, is_cancelled)?;
        }
        let copy = |_| Standby::copy(start, &spec, &user, &mut private_dir, is_cancelled);
        let standby = start.options.get(REPLICA).map(copy).transpose()?;
        let task = start.kind.serve(&spec)?;
        files.extend(task.files.iter().map(|(path, _)| path.clone()));
        let child = launch::serve(&task, &user, &start.placement, &site.log)?;
        let mut running = Self {
            kind: start.kind,
            endpoint: start.kind.endpoint(&site),
            probed: start.kind.endpoint(&start.probed(&site)),
            program: start.program.to_owned(),
            site,
            user,
            serving: (task, start.placement.clone()),
            version,
            files,
            child,
            standby,
            is_promoted: false,
            fallback: None,
            ended: None,
            polls: 0,
            private_dir,
        };
        running.record_process()?;
        let ready = running.wait_until(start.ready_within, is_cancelled, |kind, at| kind.probe(at));
        launch::remove_secrets(&running.serving.0)?;
        ready?;
        running.fallback = start.kind.fallback(start.options, &site::tail(&running.site.log))?;
        if let Some(standby) = &mut running.standby {
            standby.serve(start, &running.user)?;
            let at_standby = standby.endpoint.clone();
            let followed = running.wait_until(start.ready_within, is_cancelled, |kind, at| {
                kind.follow(at, &at_standby, start.options)
            });
            running.standby.as_ref().map_or(Ok(()), |it| launch::remove_secrets(&it.serve))?;
            followed?;
        }
        running.private_dir.record_shared_memory()?;
        Ok(running)
    }

    /// Returns the id of its first process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns its log and the configuration files written for it.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = vec![self.site.log.clone()];
        files.extend(self.files.iter().filter(|path| path.is_file()).cloned());
        files.extend(self.standby.iter().flat_map(Standby::files));
        files.dedup();
        files
    }

    /// Returns the facts of its start, by name.
    pub fn facts(&self) -> BTreeMap<String, String> {
        let program = self.program.display().to_string();
        let facts = [
            ("server", "started by Assay for the run".to_owned()),
            (FALLBACK, self.fallback.clone().unwrap_or_default()),
            ("server_network", self.network().map_or("", |_| APART).to_owned()),
            ("server_program", program),
            ("server_replica", self.standby.as_ref().map_or("", |_| FOLLOWING).to_owned()),
            ("server_transport", self.transport()),
            ("server_user", self.user.name.clone()),
            ("server_version", self.version.clone()),
        ];
        let facts = facts.map(|(name, value)| (name.to_owned(), value)).into_iter();
        facts.filter(|(_, value)| !value.is_empty()).collect()
    }

    /// Returns the address of its standby.
    pub fn standby_address(&self) -> Option<Address> {
        self.standby.as_ref().map(|standby| standby.endpoint.address.clone())
    }

    /// Returns how clients connect, with the address of TCP.
    fn transport(&self) -> String {
        let transport = self.site.transport;
        match transport {
            Transport::Unix => transport.to_string(),
            Transport::Tcp => format!("{transport} {}", self.endpoint.address),
        }
    }

    /// Returns how it died; `None` while it runs. Does not wait.
    pub fn death(&mut self) -> Option<&Death> {
        if self.ended.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.note_end(Some(status));
        }
        if self.ended.is_none()
            && let Some((status, last_log_lines)) = self.standby.as_mut().and_then(Standby::death)
        {
            self.ended = Some(Death { status: Some(status), last_log_lines });
        }
        self.polls = self.polls.wrapping_add(1);
        if self.ended.is_none() && self.polls.is_multiple_of(POLLS_PER_SCAN) {
            // On failure the memory is left behind if the server is killed, nothing worse.
            drop(self.private_dir.record_shared_memory());
        }
        self.ended.as_ref()
    }

    /// Returns how it died, waiting at most `time`.
    ///
    /// For a client that lost its connection: the kernel closes a socket a moment before it reports
    /// the death.
    pub fn death_within(&mut self, time: Duration) -> Option<&Death> {
        if let Some(server) = ProcessIdentity::of(self.child.id()) {
            server.wait(waits(time), || false);
        }
        self.death()
    }

    /// Stops it cleanly, then kills what is left of its processes.
    ///
    /// # Errors
    /// [`ServerError::Died`] when it had ended before, [`ServerError::NotStopped`] when it was
    /// killed after that time.
    pub fn stop(&mut self, within: Duration) -> Result<(), ServerError> {
        self.stop_unless(within, &|| false)
    }

    /// Stops it as [`Running::stop`] does, or kills it once `is_cancelled`.
    ///
    /// # Errors
    /// As [`Running::stop`].
    pub fn stop_unless(
        &mut self,
        within: Duration,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), ServerError> {
        if let Some(death) = self.death() {
            let death = death.to_string();
            self.kill();
            return Err(ServerError::Died(death));
        }
        let signal = self.stop_signal();
        let server = ProcessIdentity::of(self.child.id());
        let standby = self.standby.as_ref().and_then(Standby::pid).and_then(ProcessIdentity::of);
        // The server first: it stops once the standby has all of its log.
        let has_stopped = [server, standby].into_iter().flatten().all(|process| {
            process.signal(signal);
            process.wait(waits(within), is_cancelled)
        });
        self.kill();
        if has_stopped { Ok(()) } else { Err(ServerError::NotStopped(within.as_secs())) }
    }

    /// Returns the signal of a clean stop.
    pub(crate) fn stop_signal(&self) -> Signal {
        match self.kind.stop() {
            Stop::Terminate => Signal::TERM,
            Stop::Interrupt => Signal::INT,
        }
    }

    /// Kills every process of it.
    pub fn kill(&mut self) {
        if self.ended.is_none() {
            // A server that ended at once is not in the note.
            if self.private_dir.note.server.is_some() {
                self.private_dir.note.end();
            } else if let Some(server) = ProcessIdentity::of(self.child.id()) {
                kill_all(&[server]);
            }
            let status = self.child.wait().ok();
            self.note_end(status);
        }
        // Processes that outlive the server are found by control group and directory; its segments
        // can be matched once its process id is free.
        self.private_dir.note.end();
        if let Some(standby) = &mut self.standby {
            // Where the standby died first, the server has been killed with the rest.
            self.child.wait().ok();
            standby.reap();
        }
    }

    fn note_end(&mut self, status: Option<ExitStatus>) {
        self.ended = Some(Death { status, last_log_lines: site::last_log_lines(&self.site.log) });
    }

    /// Waits until a probe succeeds; on error the drop that follows kills it.
    fn wait_until(
        &mut self,
        within: Duration,
        is_cancelled: &dyn Fn() -> bool,
        probe: impl Fn(&dyn Kind, &Endpoint) -> Result<(), EngineError>,
    ) -> Result<(), ServerError> {
        let mut probe_error = String::new();
        let mut endpoint = self.probed.clone();
        endpoint.login.timeout_ms = u32::try_from(PROBE_WITHIN.as_millis()).ok();
        for _ in 0..waits(within) {
            if self.death().is_some() {
                let standby = self.standby.as_ref().filter(|it| it.has_died);
                let log = standby.map_or(&self.site.log, |standby| &standby.log);
                return Err(self.kind.startup_error(&site::tail(log)).into());
            }
            match probe(self.kind, &endpoint) {
                Ok(()) => return Ok(()),
                Err(error) => probe_error = error.to_string(),
            }
            if is_cancelled() {
                return Err(ServerError::Interrupted);
            }
            if let Some(server) = ProcessIdentity::of(self.child.id()) {
                server.wait(1, || false);
            }
        }
        let last = site::last_log_lines(&self.site.log);
        let last = format!("{last}; last probe: {probe_error}");
        Err(ServerError::NotReady(within.as_secs(), last))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns the first line of the program's `--version`; empty without one.
fn version_of(start: &Start<'_>, user: &User, is_cancelled: &dyn Fn() -> bool) -> String {
    let environment = start.kind.environment(start.program);
    launch::version(start.program, user, &environment, waits(VERSION_MAX), is_cancelled)
}

/// Rejects directories whose names the server would not take for what they are.
fn check_paths(start: &Start<'_>) -> Result<(), ServerError> {
    let reserved = start.kind.reserved_in_paths();
    for (path, remedy) in [(start.dir, MOVE_DATA), (start.program, MOVE_SERVER)] {
        if let Some(sign) = path.to_string_lossy().chars().find(|sign| reserved.contains(sign)) {
            let engine = start.kind.engine();
            return Err(ServerError::fatal(format!(
                "{engine} cannot use {path:?}: its configuration has another meaning for {sign:?}; \
                 {remedy}"
            )));
        }
    }
    Ok(())
}

/// Fills the data directory from a template, else by the set-up programs, then sets the password.
fn set_up(
    start: &Start<'_>,
    place: SetUp<'_>,
    tasks: &[Task],
    private_dir: &mut PrivateDir,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<(), ServerError> {
    let SetUp { user, site, .. } = place;
    let has_secret = |task: &Task| task.secret_input.is_some();
    let (stored, own) = tasks.split_at(tasks.iter().position(has_secret).unwrap_or(tasks.len()));
    let mut run_all = |tasks: &[Task]| {
        for task in tasks {
            let status = launch::run(task, place, private_dir, waits(SET_UP_MAX), is_cancelled);
            launch::remove_secrets(task)?;
            let status = status?;
            if is_cancelled() {
                return Err(ServerError::Interrupted);
            }
            if !status.is_some_and(|status| status.success()) {
                return Err(set_up_error(start.kind, task, status, &site.log).into());
            }
        }
        Ok(())
    };
    let template = start.templates.map(|root| Template::of(root, start.fingerprint, stored, site));
    let is_filled = template.as_ref().map_or(Ok(false), |template| template.fill(site, user))?;
    if !is_filled {
        run_all(stored)?;
        if let Some(template) = &template {
            template.store(site, user);
        }
    }
    run_all(own)
}
