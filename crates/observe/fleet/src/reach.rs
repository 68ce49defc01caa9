//! Checks that the machines of an experiment can be reached.

use std::io::Read as _;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use model::client_host::slurm_class;
use model::{Hosts, shell_word};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;

use crate::connection::{ends_within, phrase_of, stop};
use crate::transport::Transport;

/// Longest time in which a machine has to answer.
const ANSWER_MAX: Duration = Duration::from_secs(15);
/// Most bytes of a standard error that are read.
const ERROR_BYTES_MAX: usize = 64 << 10;

/// A machine that cannot be reached.
#[derive(Debug, thiserror::Error)]
#[error("{role} {host} cannot be reached: {reason}")]
pub struct Unreachable {
    role: &'static str,
    host: String,
    reason: String,
    /// Command line that connects to the machine.
    pub command: String,
}

/// Checks that ssh reaches each machine of an experiment; takes 15 s at most.
///
/// Machines of Slurm are not checked.
///
/// # Errors
/// The first machine that cannot be reached.
pub fn check_reach(hosts: &Hosts) -> Result<(), Unreachable> {
    let server = [("server host", hosts.server.as_str())];
    let clients = hosts.clients.iter().map(|host| ("client host", host.as_str()));
    let all = server.into_iter().chain(clients);
    let all = all.filter(|(_, host)| slurm_class(host).is_none());
    let config = hosts.ssh_config.as_deref();
    thread::scope(|scope| {
        let check =
            |(role, host): (&'static str, _)| scope.spawn(move || check(role, host, config));
        let checks: Vec<_> = all.map(check).collect();
        checks.into_iter().try_for_each(|check| check.join().unwrap_or(Ok(())))
    })
}

fn check(role: &'static str, host: &str, config: Option<&str>) -> Result<(), Unreachable> {
    let mut command = Transport::of(host, config).command("exec true", &[]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let failure = match command.spawn() {
        Ok(child) => failure(child),
        Err(error) => Some(error.to_string()),
    };
    let Some(reason) = failure else { return Ok(()) };
    let config = config.map(|config| format!(" -F {}", shell_word(config))).unwrap_or_default();
    let command = format!("ssh{config} {} true", shell_word(host));
    Err(Unreachable { role, host: host.to_owned(), reason, command })
}

/// Waits for the end of a connection; returns why it failed, if it did.
fn failure(mut child: Child) -> Option<String> {
    if !ends_within(&mut child, ANSWER_MAX) {
        stop(&mut child).ok();
        return Some(format!("no answer within {} s", ANSWER_MAX.as_secs()));
    }
    let status = match child.wait() {
        Ok(status) if status.success() => return None,
        Ok(status) => phrase_of(status),
        Err(error) => error.to_string(),
    };
    let errors = last_error(&mut child).unwrap_or_default();
    let line = errors.trim().lines().last().map(|line| line.trim().to_owned());
    Some(line.unwrap_or(status))
}

/// Reads what an ended connection wrote to its standard error.
///
/// A master of shared connections may still have the pipe open: one read is enough.
fn last_error(child: &mut Child) -> Option<String> {
    let mut errors = child.stderr.take()?;
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let has_text = poll(&mut [PollFd::new(&errors, PollFlags::IN)], Some(&at_once)).ok()? > 0;
    let mut text = vec![0; if has_text { ERROR_BYTES_MAX } else { 0 }];
    let read = errors.read(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text[..read]).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the first host that ssh cannot reach is named with a command to try, and a host of
    /// Slurm is not tried. Method: a configuration that lets every connection fail.
    #[test]
    fn an_unreachable_host_is_named_with_its_command() {
        if Transport::check_ssh().is_err() {
            return println!("skipped: no ssh");
        }
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("my config");
        std::fs::write(&config, "Host *\n  ProxyCommand echo 'no route' >&2; exit 1\n").unwrap();
        let config = config.to_str().unwrap().to_owned();
        let hosts = |server: &str, client: &str| Hosts {
            server: server.to_owned(),
            clients: vec![client.to_owned()],
            ssh_config: Some(config.clone()),
            ..Hosts::default()
        };
        let found = check_reach(&hosts("slurm:db", "me@c2")).unwrap_err();
        let text = found.to_string();
        assert!(text.starts_with("client host me@c2 cannot be reached: "), "{text}");
        assert_eq!(found.command, format!("ssh -F '{config}' me@c2 true"));
        let found = check_reach(&hosts("db1", "c2")).unwrap_err();
        assert!(found.to_string().starts_with("server host db1 "), "{found}");
        assert!(check_reach(&hosts("slurm:db", "slurm:client")).is_ok());
    }
}
