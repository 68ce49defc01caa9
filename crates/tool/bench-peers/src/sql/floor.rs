//! What a client that waits for each answer cannot go below: to send, to sleep, to receive.

use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use super::cost;
use crate::ECHO;

/// Exchanges of one measurement, and those before it.
const EXCHANGES: u32 = 40_000;
const WARMUP: u32 = 2_000;
/// Bytes of a request and of an answer, about those of a point select.
const REQUEST: [u8; 40] = [1; 40];
const ANSWER: [u8; 64] = [2; 64];

/// Returns the CPU of an exchange with a process that does nothing but answer, us.
///
/// # Errors
/// When this program cannot be started again, or the other process ends early.
pub(super) fn exchange_us() -> Result<f64, String> {
    let told = |error: std::io::Error| error.to_string();
    let (mut near, far) = UnixStream::pair().map_err(told)?;
    let myself = std::env::current_exe().map_err(told)?;
    let mut command = Command::new(myself);
    command.arg(ECHO).stdin(Stdio::from(OwnedFd::from(far)));
    let mut other = command.spawn().map_err(told)?;
    // Its end of the socket is in the command, too; while that is open the other never ends.
    drop(command);
    let mut exchange = |count: u32| {
        (0..count).try_for_each(|_| {
            near.write_all(&REQUEST)?;
            near.read_exact(&mut [0; ANSWER.len()])
        })
    };
    exchange(WARMUP).map_err(told)?;
    let before = cost::own_us();
    let done = exchange(EXCHANGES);
    let took = cost::own_us() - before;
    drop(near);
    other.wait().map_err(told)?;
    done.map_err(told)?;
    Ok(took / f64::from(EXCHANGES))
}

/// Answers each request on the standard input, a socket, until it closes.
///
/// # Errors
/// When it is no socket.
pub(crate) fn echo() -> Result<(), String> {
    let told = |error: std::io::Error| error.to_string();
    let socket = std::io::stdin().as_fd().try_clone_to_owned().map_err(told)?;
    let mut socket = UnixStream::from(socket);
    let mut request = REQUEST;
    while socket.read_exact(&mut request).is_ok() {
        socket.write_all(&ANSWER).map_err(told)?;
    }
    Ok(())
}
