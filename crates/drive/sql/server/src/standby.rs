//! A standby: a second server, which follows the first from a copy of its data.

use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::Duration;

use model::{Endpoint, Transport};

use crate::error::ServerError;
use crate::kind::{ServerSpec, Site, Task};
use crate::launch::{self, SetUp};
use crate::private_dir::PrivateDir;
use crate::site::{self, last_log_lines};
use crate::start::{Start, set_up_error, waits};
use crate::user::User;

/// Name of its data directory, next to that of its server.
pub const DATA: &str = "replica";
/// Name of its log.
const LOG: &str = "replica.log";
/// Longest copy of the data: 1 TB at 70 MB/s.
const COPY_MAX: Duration = Duration::from_secs(4 * 60 * 60);

/// Empties the directory `$2` and copies the data directory `$1` of a stopped server to it.
const COPY: &str =
    r#"find "$2" -mindepth 1 -delete && cp -a --reflink=auto "$1/." "$2/" && cd "$2""#;

/// Returns the program that copies the data of a stopped server, and then runs `then` in the copy.
pub fn copy(from: &Path, to: &Path, then: &str) -> Task {
    let script = format!("{COPY} && {then}");
    let dirs = [from, to].map(|dir| dir.display().to_string());
    let arguments = ["-c".to_owned(), script, "sh".to_owned()].into_iter().chain(dirs);
    Task { program: "/bin/sh".into(), arguments: arguments.collect(), ..Task::default() }
}

/// A standby that has its data, and runs after [`Standby::serve`].
#[derive(Debug)]
pub(crate) struct Standby {
    pub(crate) serve: Task,
    /// Where it listens.
    pub(crate) endpoint: Endpoint,
    pub(crate) log: PathBuf,
    pub(crate) child: Option<Child>,
    /// Whether its end was observed.
    pub(crate) has_died: bool,
}

impl Standby {
    /// Copies the data of a server that does not run.
    ///
    /// # Errors
    /// [`ServerError::Refused`] for a kind without standby, or when the copy fails.
    pub(crate) fn copy(
        start: &Start<'_>,
        spec: &ServerSpec<'_>,
        user: &User,
        private_dir: &mut PrivateDir,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, ServerError> {
        let site = Site {
            data: start.dir.join(DATA),
            log: start.dir.join(LOG),
            port: spec.site.port + 1,
            transport: Transport::Unix,
            address: None,
            ..spec.site.clone()
        };
        let [copy, serve] = start.kind.standby(spec, &site)?;
        site::make(&site, start.dir, user)?;
        let place = SetUp::new(user, &site, &start.placement);
        let status = launch::run(&copy, place, private_dir, waits(COPY_MAX), is_cancelled)?;
        if is_cancelled() {
            return Err(ServerError::Interrupted);
        }
        if !status.is_some_and(|status| status.success()) {
            return Err(set_up_error(start.kind, &copy, status, &site.log).into());
        }
        let endpoint = start.kind.endpoint(&site);
        Ok(Self { serve, endpoint, log: site.log, child: None, has_died: false })
    }

    /// Starts it.
    pub(crate) fn serve(&mut self, start: &Start<'_>, user: &User) -> Result<(), ServerError> {
        self.child = Some(launch::serve(&self.serve, user, &start.placement, &self.log)?);
        Ok(())
    }

    /// Returns its process while it runs.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Returns its log and the configuration written for it.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let written = self.serve.files.iter().map(|(path, _)| path.clone());
        std::iter::once(self.log.clone()).chain(written).collect()
    }

    /// Returns how it ended and its last log line; `None` while it runs. Does not wait.
    pub(crate) fn death(&mut self) -> Option<(ExitStatus, String)> {
        let status = self.child.as_mut()?.try_wait().ok().flatten()?;
        self.has_died = true;
        Some((status, format!("of the standby: {}", last_log_lines(&self.log))))
    }

    /// Waits for the end of its killed process.
    pub(crate) fn reap(&mut self) {
        if let Some(mut child) = self.child.take() {
            // One that the search for its processes did not find yet would run on.
            child.kill().ok();
            child.wait().ok();
        }
    }
}
