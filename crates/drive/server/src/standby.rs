//! A standby: a second server, which follows the first from a copy of its data.

use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use model::Transport;

use crate::error::ServerError;
use crate::kind::{ServerSpec, Site, Task};
use crate::launch;
use crate::private_dir::PrivateDir;
use crate::site::{self, last_log_lines};
use crate::start::{Start, set_up_error, waits};
use crate::user::User;

/// Name of its data directory, next to that of its server.
const DATA: &str = "replica";
/// Name of its log.
const LOG: &str = "replica.log";
/// Longest copy of the data: 1 TB at 70 MB/s.
const COPY_MAX: Duration = Duration::from_secs(4 * 60 * 60);

/// A standby that has its data, and runs after [`Standby::serve`].
#[derive(Debug)]
pub(crate) struct Standby {
    serve: Task,
    pub(crate) log: PathBuf,
    child: Option<Child>,
    has_died: bool,
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
            ..spec.site.clone()
        };
        let [copy, serve] = start.kind.standby(spec, &site)?;
        site::make(&site, start.dir, user)?;
        let place = (user, site.log.as_path());
        let status = launch::run(&copy, place, private_dir, waits(COPY_MAX), is_cancelled)?;
        if is_cancelled() {
            return Err(ServerError::Interrupted);
        }
        if !status.is_some_and(|status| status.success()) {
            return Err(set_up_error(start.kind, &copy, status, &site.log).into());
        }
        Ok(Self { serve, log: site.log, child: None, has_died: false })
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

    /// Returns whether its end was observed.
    pub(crate) const fn has_died(&self) -> bool {
        self.has_died
    }

    /// Waits for the end of its killed process.
    pub(crate) fn reap(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.wait().ok();
        }
    }
}
