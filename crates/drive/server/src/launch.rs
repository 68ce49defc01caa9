//! Programs of a server, started as its user.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::error::ServerError;
use crate::kind::Task;
use crate::living::Living;
use crate::user::{User, command, spawn_error};

/// Variables that a server does not inherit: what is preloaded is for the worker.
const NOT_INHERITED: &[&str] = &["LD_PRELOAD", "MALLOC_CONF", "LD_BIND_NOW"];
/// Begin of the names of variables that hold passwords.
const PASSWORDS: &str = "ASSAY_PASSWORD";

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
    /// Returns the words before a command that bring it there.
    fn words(&self) -> Vec<OsString> {
        let mut words = Vec::new();
        if !self.groups.is_empty() {
            words.extend(["sh", "-c", JOIN, "sh"].map(OsString::from));
            words.push(self.groups.len().to_string().into());
            words.extend(self.groups.iter().map(|dir| dir.clone().into_os_string()));
        }
        if !self.cpus.is_empty() {
            let cpus: Vec<_> = self.cpus.iter().map(u32::to_string).collect();
            words.extend(
                ["taskset".to_owned(), "-c".to_owned(), cpus.join(",")].map(OsString::from),
            );
        }
        words
    }
}

/// Starts a task: its files are written, its words go to `log`.
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
    let mut words = placement.words();
    words.extend(user.words());
    words.extend(with(&task.environment));
    words.push(task.program.clone().into_os_string());
    words.extend(task.arguments.iter().map(OsString::from));
    let mut command = command(&words);
    inherit(&mut command);
    let input = if task.input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(input).stdout(file).stderr(again).process_group(0);
    let mut child = command.spawn().map_err(spawn_error)?;
    if let Some(mut input) = child.stdin.take() {
        // A program that does not read to the end says why when it ends.
        input.write_all(task.input.as_bytes()).ok();
    }
    Ok(child)
}

/// Runs a task to its end, which it may be told to hasten; returns how it ended.
pub(crate) fn run(
    task: &Task,
    user: &User,
    log: &Path,
    waits: u64,
    is_over: &dyn Fn() -> bool,
) -> Result<Option<ExitStatus>, ServerError> {
    let mut child = launch(task, user, &ServerPlacement::default(), log)?;
    if let Some(process) = Living::of(child.id())
        && !process.wait(waits, is_over)
    {
        crate::living::end_all(&[process]);
    }
    Ok(child.wait().ok())
}

/// Returns what a program says of its version, in one line; nothing when it says nothing.
pub(crate) fn version(program: &Path, user: &User, environment: &[(String, String)]) -> String {
    let mut words = user.words();
    words.extend(with(environment));
    words.extend([program.as_os_str().to_owned(), "--version".into()]);
    let Ok(output) = command(&words).output() else { return String::new() };
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said.lines().next().unwrap_or_default().trim();
    // Some name themselves by the path they were called by.
    let dir = program.parent().map(|dir| format!("{}/", dir.display())).unwrap_or_default();
    line.strip_prefix(&dir).unwrap_or(line).to_owned()
}

/// Returns the words before a command that put variables into its environment alone: libraries of
/// the server's are none of `setpriv`'s.
fn with(environment: &[(String, String)]) -> Vec<OsString> {
    if environment.is_empty() {
        return Vec::new();
    }
    let set = environment.iter().map(|(name, value)| format!("{name}={value}").into());
    std::iter::once("env".into()).chain(set).collect()
}

/// Takes out of the environment what is not the server's business; its messages are in English.
fn inherit(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with(PASSWORDS) || NOT_INHERITED.contains(&&*text) {
            command.env_remove(&name);
        }
    }
    command.env("LC_ALL", "C");
}

/// Returns in words how a process ended: `exit code 1`, `signal 9`.
pub(crate) fn how(status: Option<ExitStatus>) -> String {
    match (status, status.and_then(|status| status.signal())) {
        (_, Some(signal)) => format!("signal {signal}"),
        (Some(status), None) => format!("exit code {}", status.code().unwrap_or(-1)),
        (None, None) => "it vanished".to_owned(),
    }
}
