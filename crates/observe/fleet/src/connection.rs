//! Clients of connections: how they end.

use std::io;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Time that a client has to end when its connection ends.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// Time between the two signals that end a client by force.
const STOP_MAX: Duration = Duration::from_secs(1);

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
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // The process is a child that was not waited for: the number is its own.
    pid.map(|pid| kill_process(pid, Signal::TERM));
    if !ends_within(child, STOP_MAX) {
        child.kill()?;
    }
    child.wait()
}
