//! What a server is started with, and how a program of its set-up fails.

use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use engine::EngineError;
use model::{Options, Settings};

use crate::error::ServerError;
use crate::kind::{Kind, Task};
use crate::launch::{self, ServerPlacement};
use crate::private_dir;
use crate::process::WAIT_MS;
use crate::site;
use crate::user::User;

/// Timeout of a set-up program: MySQL 5.7 takes 9 s, more on a busy disk.
pub const SET_UP_MAX: Duration = Duration::from_secs(300);

/// Everything a server is started with.
#[derive(Clone)]
pub struct Start<'a> {
    /// Its kind.
    pub kind: &'static dyn Kind,
    /// Its program: `.../bin/postgres`.
    pub program: &'a Path,
    /// Hash of the program, the key of its templates.
    pub fingerprint: &'a str,
    /// Directory of its data, log and temporary files.
    ///
    /// An earlier server's data in it is used again. If this process is killed, the next Assay
    /// removes the directory.
    pub dir: &'a Path,
    /// Settings that mean the same for every engine.
    pub settings: &'a Settings,
    /// Options under its own names.
    pub options: &'a Options,
    /// Host name or address at which clients on other machines reach it; `None` without such.
    pub address: Option<&'a str>,
    /// Name of the user it runs as; see [`User::find`].
    pub user: Option<&'a str>,
    /// Where its processes run.
    pub placement: ServerPlacement,
    /// Directory of templates: data directories stored right after set-up.
    pub templates: Option<&'a Path>,
    /// Timeout until it is ready.
    pub ready_within: Duration,
}

/// Checks that servers of a kind can be started here: their account, its reach, `setpriv`, sockets.
///
/// Returns the number of the account.
///
/// `data` is the directory of data, which need not exist; `user` that of [`User::find`].
///
/// # Errors
/// The reason, with the remedy.
pub fn check_host(kind: &dyn Kind, data: &Path, user: Option<&str>) -> Result<u32, ServerError> {
    let user = User::check_data_dir(data, user, kind.needs_account_name())?;
    private_dir::check()?;
    Ok(user.uid)
}

/// Returns the error of a failed set-up program, as the kind reads the log.
pub(crate) fn set_up_error(
    kind: &dyn Kind,
    task: &Task,
    status: Option<ExitStatus>,
    log: &Path,
) -> EngineError {
    let program = task.program.file_name().unwrap_or_default().to_string_lossy();
    let startup_error = kind.startup_error(&site::tail(log));
    if let EngineError::Fatal(reason) = startup_error {
        let exit = launch::describe_exit(status);
        return EngineError::Fatal(format!("{program} failed ({exit}): {reason}"));
    }
    startup_error
}

/// Converts a timeout to a count of waits.
pub(crate) fn waits(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX) / WAIT_MS
}
