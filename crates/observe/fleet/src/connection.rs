//! Clients of connections: how they end.

use std::io;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Time that a client has to end when its connection ends.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// Time between the two signals that end a client by force.
pub(crate) const STOP_MAX: Duration = Duration::from_secs(1);

/// Exit code of a shell whose program was ended by a signal, minus the signal.
///
/// Source: POSIX.1-2017, Shell & Utilities, section 2.8.2.
const SIGNALED: i32 = 128;

/// Describes how the client of a connection ended.
pub(crate) fn phrase_of(status: ExitStatus) -> String {
    match status.code() {
        Some(code @ SIGNALED..255) => {
            format!("it was killed by signal {}", code - SIGNALED)
        }
        Some(255) => "the connection ended".to_owned(),
        Some(code) => format!("it ended with exit code {code}"),
        None => format!("its connection was ended: {status}"),
    }
}

/// Adds how a shell or a program ended on a machine to the reason of a broken connection.
pub(crate) fn with_code(reason: &str, status: &io::Result<ExitStatus>) -> String {
    match status {
        Ok(status) if matches!(status.code(), Some(1..255)) => {
            format!("{reason}: {}", phrase_of(*status))
        }
        _ => reason.to_owned(),
    }
}

/// Ends a client of a connection: its input has ended.
pub(crate) fn end(child: &mut Child) -> io::Result<ExitStatus> {
    if ends_within(child, PATIENCE) { child.wait() } else { stop(child) }
}

/// Returns whether a client of a connection ends within a time.
#[expect(clippy::disallowed_methods, reason = "nothing is measured on this host")]
pub(crate) fn ends_within(child: &mut Child, most: Duration) -> bool {
    let step = Duration::from_millis(50);
    let mut waited = Duration::ZERO;
    while matches!(child.try_wait(), Ok(None)) {
        if waited >= most {
            return false;
        }
        std::thread::sleep(step);
        waited += step;
    }
    true
}

/// Ends a client of a connection by force: ssh ends its `ProxyCommand` if it has the time.
pub(crate) fn stop(child: &mut Child) -> io::Result<ExitStatus> {
    // The process is a child that was not waited for: the number is its own.
    kill_process(Pid::from_child(child), Signal::TERM).ok();
    if !ends_within(child, STOP_MAX) {
        child.kill()?;
    }
    child.wait()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::process::{Command, Stdio};

    use super::*;

    /// Goal: a client that ends by force can clean up. Method: one that catches the signal.
    #[test]
    fn a_client_is_terminated_before_it_is_killed() {
        for (action, code) in [("exit 7", Some(7)), ("", None)] {
            let script = format!("trap '{action}' TERM; echo; while :; do sleep 0.02; done");
            let mut shell = Command::new("sh");
            let mut child = shell.args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
            child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
            let status = stop(&mut child);
            assert_eq!(status.as_ref().unwrap().code(), code);
            let text = if code.is_some() { "gone: it ended with exit code 7" } else { "gone" };
            assert_eq!(with_code("gone", &status), text);
        }
    }
}
