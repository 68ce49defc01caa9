//! Starts server programs as their user, in their placement.
//!
//! Files are written outside the directories that this user can write.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::Arc;

use child::Confinement;
use model::Password;
use rustix::process::Signal;

use crate::error::ServerError;
use crate::kind::{Site, Task};
use crate::network::Network;
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
#[derive(Debug, Clone, Default)]
pub struct ServerPlacement {
    /// Directories of the control groups it joins.
    pub groups: Vec<PathBuf>,
    /// CPUs it may use; empty for all.
    pub cpus: Vec<u32>,
    /// The files that it may reach; `None` for those of its account.
    pub confinement: Option<Confinement>,
    /// The network that joins it and its clients alone; `None` for that of this host.
    pub network: Option<Arc<Network>>,
}

/// Who runs a program of a server's set-up, in which directories, and the files it may reach.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SetUp<'a> {
    pub(crate) user: &'a User,
    pub(crate) site: &'a Site,
    pub(crate) confinement: Option<&'a Confinement>,
}

impl<'a> SetUp<'a> {
    pub(crate) fn new(user: &'a User, site: &'a Site, placement: &'a ServerPlacement) -> Self {
        Self { user, site, confinement: placement.confinement.as_ref() }
    }
}

impl ServerPlacement {
    /// Adds the directory of the sockets, which is known when the server starts.
    pub(crate) fn with_sockets(&self, dir: &Path) -> Self {
        let confinement = self.confinement.clone().map(|it| it.writing([dir.to_owned()]));
        Self { confinement, ..self.clone() }
    }

    /// Returns the command prefix that enters the network, joins the groups, sets the CPUs, and
    /// confines.
    fn args(&self) -> Vec<OsString> {
        let mut args: Vec<_> = self.network.iter().flat_map(|it| it.server_args()).collect();
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
        args.extend(self.confinement.iter().flat_map(Confinement::args));
        args
    }
}

/// Writes a task's files and starts it after a `prefix`, with its output appended to `log`.
fn launch(
    task: &Task,
    user: &User,
    prefix: Vec<OsString>,
    log: &Path,
) -> Result<Child, ServerError> {
    let paths = task.files.iter().map(|(path, _)| path);
    for path in paths.chain(task.secrets.iter().map(|(path, _)| path)) {
        assert_eq!(path.parent(), log.parent(), "a file of a task is a `Site::file`");
    }
    for (path, text) in &task.files {
        // It holds no secret, and the server must read it.
        write_new(path, text, 0o644).map_err(ServerError::file(path))?;
    }
    for (path, text) in &task.secrets {
        write_secret(path, text, Some(user)).map_err(ServerError::file(path))?;
    }
    let file = File::options().append(true).create(true).open(log);
    let file = file.map_err(ServerError::file(log))?;
    let again = file.try_clone().map_err(ServerError::file(log))?;
    let mut args = prefix;
    args.extend(env_args(&task.environment));
    args.push(task.program.clone().into_os_string());
    args.extend(task.arguments.iter().map(OsString::from));
    let mut command = command(&args);
    // Messages are in English.
    command.env("LC_ALL", "C");
    let input = task.secret_input.as_ref().map_or(&task.input, |secret| &secret.0);
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(file).stderr(again);
    let mut child = command.spawn().map_err(ServerError::spawn)?;
    child::kill_first(child.id());
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read to the end reports why when it ends.
        stdin.write_all(input.as_bytes()).ok();
    }
    Ok(child)
}

/// Starts a server in its placement.
pub(crate) fn serve(
    task: &Task,
    user: &User,
    placement: &ServerPlacement,
    log: &Path,
) -> Result<Child, ServerError> {
    let mut prefix = placement.args();
    prefix.extend(user.args());
    launch(task, user, prefix, log)
}

/// Writes a file in the place of an earlier one, with these permissions whatever the umask.
fn write_new(path: &Path, text: &str, mode: u32) -> io::Result<File> {
    fs::remove_file(path).or_else(if_absent)?;
    let mut file = File::options().write(true).create_new(true).mode(mode).open(path)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// Writes a password to a file that only this process's user can read, and `reader`.
pub(crate) fn write_secret(
    path: &Path,
    password: &Password,
    reader: Option<&User>,
) -> io::Result<()> {
    let file = write_new(path, &password.0, 0o600)?;
    reader.map_or(Ok(()), |user| user.let_read(&file))
}

/// Removes the passwords that a task has read.
pub(crate) fn remove_secrets(task: &Task) -> Result<(), ServerError> {
    for (path, _) in &task.secrets {
        fs::remove_file(path).or_else(if_absent).map_err(ServerError::file(path))?;
    }
    Ok(())
}

fn if_absent(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

/// Runs `tar` in a directory of the user, as the user: whatever another process puts there, nothing
/// is read or written that the user could not.
pub(crate) fn tar(
    user: &User,
    args: &[&str],
    dir: &Path,
    stdin: Stdio,
    stdout: Stdio,
) -> io::Result<()> {
    let mut all = user.args();
    all.extend(["tar", "-C"].map(OsString::from));
    all.push(dir.as_os_str().to_owned());
    all.extend(args.iter().map(OsString::from));
    let output = command(&all).stdin(stdin).stdout(stdout).stderr(Stdio::piped()).spawn()?;
    let output = output.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("tar: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

/// Runs a task until it ends or `is_cancelled`, then returns its status.
///
/// It is recorded as a server is: `initdb` starts servers, which have shared memory too.
pub(crate) fn run(
    task: &Task,
    SetUp { user, site, confinement }: SetUp<'_>,
    private_dir: &mut PrivateDir,
    waits: u64,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<Option<ExitStatus>, ServerError> {
    // A program that needs a name for its account maps it by a file of `/proc`, which no confined
    // program writes. It reads no option of an experiment.
    let confinement = confinement.filter(|_| !user.has_alias());
    let mut prefix = confinement.map(Confinement::args).unwrap_or_default();
    prefix.extend(user.set_up_args());
    let mut child = launch(task, user, prefix, &site.log)?;
    if let Some(process) = ProcessIdentity::of(child.id()) {
        let recorded = private_dir.record_server(process);
        if recorded.is_err() || !process.wait(waits, is_cancelled) {
            private_dir.note.end();
        }
        recorded?;
    }
    let status = child.wait().ok();
    if !status.is_some_and(|status| status.success()) {
        // One that was killed leaves the servers that it started.
        private_dir.note.end();
    }
    private_dir.note.server = None;
    Ok(status)
}

/// Returns what a program prints for `--version`; root runs it as an account of its own.
///
/// `environment` has variables of the program alone.
///
/// # Errors
/// When the account or `setpriv` is missing; a program that does not start is a failed one.
pub fn version_output(program: &Path, environment: &[(String, String)]) -> io::Result<Output> {
    let user = User::find(None, Path::new(""), false).map_err(io::Error::other)?;
    version_command(program, &user, environment).output()
}

fn version_command(program: &Path, user: &User, environment: &[(String, String)]) -> Command {
    let mut args = user.args();
    args.extend(env_args(environment));
    args.extend([program.as_os_str().to_owned(), "--version".into()]);
    // Messages are in English.
    let mut command = command(&args);
    command.env("LC_ALL", "C");
    command
}

/// Returns the first line of a program's `--version`; empty without one, or once `is_cancelled`.
pub(crate) fn version(
    program: &Path,
    user: &User,
    environment: &[(String, String)],
    waits: u64,
    is_cancelled: &dyn Fn() -> bool,
) -> String {
    let mut command = version_command(program, user, environment);
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(child) = command.spawn() else { return String::new() };
    if let Some(process) = ProcessIdentity::of(child.id())
        && !process.wait(waits, is_cancelled)
    {
        process.signal(Signal::KILL);
    }
    let Ok(output) = child.wait_with_output() else { return String::new() };
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
