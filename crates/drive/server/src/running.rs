//! A server while it runs.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use engine::EngineError;
use model::{Endpoint, Options, Settings};
use rustix::process::Signal;

use crate::error::ServerError;
use crate::kind::{Kind, ServerSpec, Site, Stop, Task};
use crate::launch::{self, ServerPlacement, launch};
use crate::living::{Living, WAIT_MS, end_all};
use crate::place::Place;
use crate::site::{self, Template};
use crate::user::User;

/// Longest time a program of the set-up may take: MySQL 5.7 takes 9 s, on a busy disk more.
const SET_UP_MAX: Duration = Duration::from_secs(300);
/// Longest time from the start of a server until it answers; one that recovers takes long.
pub const READY_WITHIN: Duration = Duration::from_secs(120);
/// Longest time a server may take to stop: it writes what its cache holds.
pub const STOP_WITHIN: Duration = Duration::from_secs(120);

/// Looks at a living server between two at the shared memory it uses.
const LOOKS_BETWEEN: u32 = 20;

/// Name of a server's log in its directory.
pub const LOG: &str = "server.log";

/// First number of sockets that are named by a port, and how many there are.
const PORTS: (u16, u16) = (20_000, 20_000);
/// Numbers the servers of this process.
static NEXT: AtomicU16 = AtomicU16::new(0);

/// What a server starts from.
#[derive(Clone)]
pub struct Start<'a> {
    /// Its kind.
    pub kind: &'static dyn Kind,
    /// Its program: `.../bin/postgres`.
    pub program: &'a Path,
    /// What tells the program from others of its path: its hash.
    pub fingerprint: &'a str,
    /// Directory of its data, log and temporary files; with an earlier server's data in it, the
    /// server goes on with them. Made for it: should this process be killed, the next Assay
    /// removes it.
    pub dir: &'a Path,
    /// Settings that mean the same for every engine.
    pub settings: &'a Settings,
    /// Options under its own names.
    pub options: &'a Options,
    /// Name of the user it runs as; see [`User::find`].
    pub user: Option<&'a str>,
    /// Where its processes run.
    pub placement: ServerPlacement,
    /// Directory below which data directories just set up are kept for the next one.
    pub templates: Option<&'a Path>,
    /// Time it has to answer.
    pub ready_within: Duration,
}

/// How a server ended of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Death {
    /// How; `None` when nobody knows.
    pub status: Option<ExitStatus>,
    /// The last line of its log that says anything.
    pub last_log_lines: String,
}

impl fmt::Display for Death {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; its last words: {}", launch::how(self.status), self.last_log_lines)
    }
}

/// A server that runs; killed when dropped, its data left to whoever named the directory.
pub struct Running {
    kind: &'static dyn Kind,
    program: PathBuf,
    site: Site,
    user: User,
    version: String,
    endpoint: Endpoint,
    files: Vec<PathBuf>,
    child: Child,
    /// Its end, once taken note of.
    ended: Option<Death>,
    /// How often it was looked at.
    looks: u32,
    place: Place,
}

impl Running {
    /// Sets a server up when its directory is empty, starts it and waits until it answers.
    ///
    /// The server dies with the thread that calls this. `is_over` is asked now and then whether
    /// the user has thought better of it.
    ///
    /// # Errors
    /// [`ServerError::Refused`] in the server's own words, or what else stood in the way; nothing
    /// runs then.
    pub fn start(start: &Start<'_>, is_over: &dyn Fn() -> bool) -> Result<Self, ServerError> {
        let mut user = User::find(start.user)?;
        let groups = &start.placement.groups;
        // Before anything is made: what a killed process leaves is in the note.
        let place = Place::make(&user, start.dir, groups)?;
        let site = site_of(start, &place, &user);
        site::make(&site, start.dir, &user)?;
        user.reach(&[
            (start.program, "the server's program elsewhere, with --cache"),
            (&site.data, "the data elsewhere, with --data-dir"),
            (&site.socket, "sockets elsewhere"),
        ])?;
        let version = launch::version(start.program, &user, &start.kind.environment(start.program));
        let ask = ServerSpec {
            program: start.program,
            version: &version,
            site: &site,
            settings: start.settings,
            options: start.options,
        };
        let mut files = Vec::new();
        if site::is_empty(&site.data)? {
            let tasks = start.kind.set_up(&ask)?;
            files.extend(tasks.iter().flat_map(|task| &task.files).map(|(path, _)| path.clone()));
            set_up(start, (&site, &user), &tasks, is_over)?;
        }
        let task = start.kind.serve(&ask)?;
        files.extend(task.files.iter().map(|(path, _)| path.clone()));
        let child = launch(&task, &user, &start.placement, &site.log)?;
        let endpoint = start.kind.endpoint(&site);
        let mut running = Self {
            kind: start.kind,
            program: start.program.to_owned(),
            site,
            user,
            version,
            endpoint,
            files,
            child,
            ended: None,
            looks: 0,
            place,
        };
        if let Some(server) = Living::of(running.child.id()) {
            running.place.note_server(server)?;
        }
        running.wait_until_ready(start.ready_within, is_over)?;
        running.place.note_shared()?;
        Ok(running)
    }

    /// Returns where it listens.
    #[must_use]
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns its directories.
    #[must_use]
    pub const fn site(&self) -> &Site {
        &self.site
    }

    /// Returns what its program says of its version.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns the id of its first process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the files worth keeping: its log, and the configuration written for it.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = vec![self.site.log.clone()];
        files.extend(self.files.iter().filter(|path| path.is_file()).cloned());
        files.dedup();
        files
    }

    /// Returns how it was started, by name.
    #[must_use]
    pub fn facts(&self) -> BTreeMap<String, String> {
        let user = match self.user.key() {
            Some(key) => format!("{} with the capability {key}", self.user.name),
            None => self.user.name.clone(),
        };
        let program = self.program.display().to_string();
        let facts = [
            ("server", "started by Assay for the run".to_owned()),
            ("server_program", program),
            ("server_user", user),
            ("server_version", self.version.clone()),
        ];
        let facts = facts.map(|(name, value)| (name.to_owned(), value)).into_iter();
        facts.filter(|(_, value)| !value.is_empty()).collect()
    }

    /// Returns how it died; `None` while it lives. Does not wait.
    pub fn death(&mut self) -> Option<&Death> {
        if self.ended.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.note_end(Some(status));
        }
        self.looks = self.looks.wrapping_add(1);
        if self.ended.is_none() && self.looks.is_multiple_of(LOOKS_BETWEEN) {
            // What cannot be noted is left behind should the server be killed, nothing worse.
            drop(self.place.note_shared());
        }
        self.ended.as_ref()
    }

    /// Returns how it died, when it does within that time.
    ///
    /// For a client who has lost its server: the kernel closes a socket a moment before it tells
    /// of the death.
    pub fn death_within(&mut self, time: Duration) -> Option<&Death> {
        if let Some(server) = Living::of(self.child.id()) {
            server.wait(waits(time), || false);
        }
        self.death()
    }

    /// Asks it to stop and waits; then ends what is left of it.
    ///
    /// # Errors
    /// [`ServerError::Died`] when it had ended before, [`ServerError::NotStopped`] when it was
    /// killed after that time.
    pub fn stop(&mut self, within: Duration) -> Result<(), ServerError> {
        if let Some(death) = self.death() {
            let death = death.to_string();
            self.kill();
            return Err(ServerError::Died(death));
        }
        let signal = match self.kind.stop() {
            Stop::Terminate => Signal::TERM,
            Stop::Interrupt => Signal::INT,
        };
        let has_stopped = self.ask_to_stop(signal, waits(within));
        self.kill();
        if has_stopped {
            Ok(())
        } else {
            Err(ServerError::NotStopped { seconds: within.as_secs() })
        }
    }

    /// Ends every process of it, whatever they are doing.
    pub fn kill(&mut self) {
        if self.ended.is_none() {
            let first: Vec<Living> = Living::of(self.child.id()).into_iter().collect();
            // The note lacks it when it ends before it was written down.
            let is_noted = self.place.note.server.is_some();
            if is_noted {
                self.place.note.end()
            } else {
                end_all(&first)
            }
            let status = self.child.wait().ok();
            self.note_end(status);
        }
        // Those of a server that is gone are found by their control group and directory, and its
        // segments can be told once its number is nobody's.
        self.place.note.end();
    }

    fn ask_to_stop(&self, signal: Signal, waits: u64) -> bool {
        let Some(server) = Living::of(self.child.id()) else { return true };
        server.signal(signal);
        server.wait(waits, || false)
    }

    fn note_end(&mut self, status: Option<ExitStatus>) {
        self.ended = Some(Death { status, last_log_lines: site::last_log_lines(&self.site.log) });
    }

    /// Waits until it answers; one that does not is ended by the drop that follows.
    fn wait_until_ready(
        &mut self,
        within: Duration,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(), ServerError> {
        let mut told = String::new();
        for _ in 0..waits(within) {
            if self.death().is_some() {
                return Err(self.kind.refusal(&site::tail(&self.site.log)).into());
            }
            match self.kind.probe(&self.endpoint) {
                Ok(()) => return Ok(()),
                Err(error) => told = error.to_string(),
            }
            if is_over() {
                return Err(ServerError::Interrupted);
            }
            if let Some(server) = Living::of(self.child.id()) {
                server.wait(1, || false);
            }
        }
        let last_log_lines =
            format!("{}; a client was told: {told}", site::last_log_lines(&self.site.log));
        Err(ServerError::NotReady { seconds: within.as_secs(), last_log_lines })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Returns the directories of a server.
fn site_of(start: &Start<'_>, place: &Place, user: &User) -> Site {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let (first, count) = PORTS;
    #[expect(clippy::cast_possible_truncation, reason = "it is below a number of 16 bits")]
    let own = (std::process::id() % u32::from(count)) as u16;
    Site {
        data: start.dir.join("data"),
        socket: place.socket(),
        temporary: start.dir.join("tmp"),
        log: start.dir.join(LOG),
        port: first + own.wrapping_add(number) % count,
        user: user.name.clone(),
    }
}

/// Fills the data directory: from a template, else by the programs of the set-up.
fn set_up(
    start: &Start<'_>,
    (site, user): (&Site, &User),
    tasks: &[Task],
    is_over: &dyn Fn() -> bool,
) -> Result<(), ServerError> {
    let template = start.templates.map(|root| Template::of(root, start.fingerprint, tasks, site));
    if let Some(template) = &template
        && template.fill(site, user)?
    {
        return Ok(());
    }
    for task in tasks {
        let status = launch::run(task, user, &site.log, waits(SET_UP_MAX), is_over)?;
        if is_over() {
            return Err(ServerError::Interrupted);
        }
        if !status.is_some_and(|status| status.success()) {
            return Err(set_up_refusal(start.kind, task, status, &site.log).into());
        }
    }
    if let Some(template) = &template {
        template.keep(site, user);
    }
    Ok(())
}

/// Returns why a program of the set-up failed: as the kind reads the log.
fn set_up_refusal(
    kind: &dyn Kind,
    task: &Task,
    status: Option<ExitStatus>,
    log: &Path,
) -> EngineError {
    let program = task.program.file_name().unwrap_or_default().to_string_lossy();
    let refusal = kind.refusal(&site::tail(log));
    if let EngineError::Fatal(words) = refusal {
        let how = launch::how(status);
        return EngineError::Fatal(format!("{program} failed ({how}): {words}"));
    }
    refusal
}

/// Returns how many waits there are in a time.
fn waits(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX) / WAIT_MS
}
