//! CPU floor of a blocking client: round trips with an echo process.

use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use super::cpu;

/// Option: run as an echo process.
pub(crate) const ECHO: &str = "--echo";

/// Exchanges of one measurement, and of its warm-up.
const EXCHANGES: u32 = 40_000;
const WARMUP: u32 = 2_000;
/// Request and answer, about the size of a point select's.
const REQUEST: [u8; 40] = [1; 40];
const ANSWER: [u8; 64] = [2; 64];

/// Returns the CPU time of an exchange with the echo process, us.
///
/// # Errors
/// When this program cannot be started again, or the other process ends early.
pub(super) fn exchange_us() -> Result<f64, String> {
    let message = |error: std::io::Error| error.to_string();
    let (mut near, far) = UnixStream::pair().map_err(message)?;
    let myself = std::env::current_exe().map_err(message)?;
    let mut command = Command::new(myself);
    command.arg(ECHO).stdin(Stdio::from(OwnedFd::from(far)));
    let mut other = command.spawn().map_err(message)?;
    // The command also holds the far end of the socket; while that is open the child never ends.
    drop(command);
    let mut exchange = |count: u32| {
        (0..count).try_for_each(|_| {
            near.write_all(&REQUEST)?;
            near.read_exact(&mut [0; ANSWER.len()])
        })
    };
    exchange(WARMUP).map_err(message)?;
    let before = cpu::own_us();
    let done = exchange(EXCHANGES);
    let took = cpu::own_us() - before;
    drop(near);
    other.wait().map_err(message)?;
    done.map_err(message)?;
    Ok(took / f64::from(EXCHANGES))
}

/// Answers each request on the standard input, a socket, until it closes.
///
/// # Errors
/// When it is no socket.
pub(crate) fn echo() -> Result<(), String> {
    let message = |error: std::io::Error| error.to_string();
    let socket = std::io::stdin().as_fd().try_clone_to_owned().map_err(message)?;
    let mut socket = UnixStream::from(socket);
    let mut request = REQUEST;
    while socket.read_exact(&mut request).is_ok() {
        socket.write_all(&ANSWER).map_err(message)?;
    }
    Ok(())
}
