//! Starts server programs as their user, in their placement.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};

use crate::error::ServerError;
use crate::kind::Task;
use crate::private_dir::PrivateDir;
use crate::process::ProcessIdentity;
use crate::user::{User, command};

/// Joins control groups, then becomes the command that follows them.
const JOIN: &str = r#"n=$1; shift
while [ "$n" -gt 0 ]; do
  echo $$ > "$1/cgroup.procs" || exit 125
  shift; n=$((n - 1))
done
exec "$@""#;

/// Where a server's processes run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerPlacement {
    /// Directories of the control groups it joins.
    pub groups: Vec<PathBuf>,
    /// CPUs it may use; empty for all.
    pub cpus: Vec<u32>,
}

impl ServerPlacement {
    /// Returns the command prefix that joins the groups and sets the CPUs.
    fn args(&self) -> Vec<OsString> {
        let mut args = Vec::new();
        if !self.groups.is_empty() {
            args.extend(["sh", "-c", JOIN, "sh"].map(OsString::from));
            args.push(self.groups.len().to_string().into());
            args.extend(self.groups.iter().map(|dir| dir.clone().into_os_string()));
        }
        if !self.cpus.is_empty() {
            let cpus: Vec<_> = self.cpus.iter().map(u32::to_string).collect();
            args.extend(
                ["taskset".to_owned(), "-c".to_owned(), cpus.join(",")].map(OsString::from),
            );
        }
        args
    }
}

/// Writes a task's files and starts it, with its output appended to `log`.
///
/// It is in a process group of its own, so that Ctrl-C reaches the caller only.
pub(crate) fn launch(
    task: &Task,
    user: &User,
    placement: &ServerPlacement,
    log: &Path,
) -> Result<Child, ServerError> {
    for (path, text) in &task.files {
        fs::write(path, text).map_err(ServerError::file(path))?;
        user.own(path).map_err(ServerError::file(path))?;
    }
    let file = File::options().append(true).create(true).open(log);
    let file = file.map_err(ServerError::file(log))?;
    user.own(log).map_err(ServerError::file(log))?;
    let again = file.try_clone().map_err(ServerError::file(log))?;
    let mut args = placement.args();
    args.extend(user.args());
    args.extend(env_args(&task.environment));
    args.push(task.program.clone().into_os_string());
    args.extend(task.arguments.iter().map(OsString::from));
    let mut command = command(&args);
    // Messages are in English.
    command.env("LC_ALL", "C");
    let input = if task.input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(input).stdout(file).stderr(again).process_group(0);
    let mut child = command.spawn().map_err(ServerError::spawn)?;
    if let Some(mut input) = child.stdin.take() {
        // A program that does not read to the end reports why when it ends.
        input.write_all(task.input.as_bytes()).ok();
    }
    Ok(child)
}

/// Runs a task until it ends or `is_cancelled`, then returns its status.
///
/// It is recorded as a server is: `initdb` starts servers, which have shared memory too.
pub(crate) fn run(
    task: &Task,
    (user, log): (&User, &Path),
    private_dir: &mut PrivateDir,
    waits: u64,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Option<ExitStatus>, ServerError> {
    let mut child = launch(task, user, &ServerPlacement::default(), log)?;
    if let Some(process) = ProcessIdentity::of(child.id()) {
        let recorded = private_dir.record_server(process);
        if recorded.is_err() || !process.wait(waits, is_cancelled) {
            private_dir.note.end();
        }
        private_dir.note.server = None;
        recorded?;
    }
    Ok(child.wait().ok())
}

/// Returns the first line of a program's `--version`; empty without one.
pub(crate) fn version(program: &Path, user: &User, environment: &[(String, String)]) -> String {
    let mut args = user.args();
    args.extend(env_args(environment));
    args.extend([program.as_os_str().to_owned(), "--version".into()]);
    let Ok(output) = command(&args).output() else { return String::new() };
    let stdout = String::from_utf8_lossy(&output.stdout);
    let line = stdout.lines().next().unwrap_or_default().trim();
    // Some name themselves by the path they were called by.
    let dir = program.parent().map(|dir| format!("{}/", dir.display())).unwrap_or_default();
    line.strip_prefix(&dir).unwrap_or(line).to_owned()
}

/// Returns the command prefix that sets variables for the program alone, not for `setpriv`:
/// libraries of the server must not be loaded by it.
fn env_args(environment: &[(String, String)]) -> Vec<OsString> {
    if environment.is_empty() {
        return Vec::new();
    }
    let set = environment.iter().map(|(name, value)| format!("{name}={value}").into());
    std::iter::once("env".into()).chain(set).collect()
}

/// Describes how a process ended: `exit code 1`, `signal 9`.
pub(crate) fn describe_exit(status: Option<ExitStatus>) -> String {
    match (status, status.and_then(|status| status.signal())) {
        (_, Some(signal)) => format!("signal {signal}"),
        (Some(status), None) => format!("exit code {}", status.code().unwrap_or(-1)),
        (None, None) => "unknown exit status".to_owned(),
    }
}
