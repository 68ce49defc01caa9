//! Writes to a socket whose peer may be writing too.

use std::io::{self, Read};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

/// Writes all bytes, calling `take` whenever the socket is readable.
///
/// A server whose answers are not read stops reading, so a pipelining client that only writes
/// would deadlock. `take` reads once. One system call where the socket has room.
///
/// # Errors
/// When the socket fails, or `take` does.
pub fn write_and_take<S: AsFd + Read>(
    socket: &mut S,
    bytes: &[u8],
    mut take: impl FnMut(&mut S) -> io::Result<()>,
) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match send(&*socket, rest, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(sent) => rest = &rest[sent..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                if wait(socket)? {
                    take(socket)?;
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Waits until the socket can be read or written; returns whether it can be read.
#[cold]
fn wait(socket: &impl AsFd) -> io::Result<bool> {
    let mut polled = [PollFd::new(socket, PollFlags::IN | PollFlags::OUT)];
    loop {
        match poll(&mut polled, None) {
            Ok(_) => return Ok(polled[0].revents().contains(PollFlags::IN)),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::*;

    #[test]
    fn pipelining_never_deadlocks_on_full_socket_buffers() {
        // Goal: no deadlock however much is pipelined. Method: a peer that writes back all it
        // reads, blocking, and far more in flight than both buffers hold.
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        let echo = thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                let read = theirs.read(&mut buffer).unwrap();
                if read == 0 {
                    break;
                }
                theirs.write_all(&buffer[..read]).unwrap();
            }
        });
        let sent: Vec<u8> = (0..=250).cycle().take(8 << 20).collect();
        let mut back = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        write_and_take(&mut ours, &sent, |socket| {
            let read = socket.read(&mut buffer)?;
            back.extend_from_slice(&buffer[..read]);
            Ok(())
        })
        .unwrap();
        while back.len() < sent.len() {
            let read = ours.read(&mut buffer).unwrap();
            back.extend_from_slice(&buffer[..read]);
        }
        assert!(back == sent);
        drop(ours);
        echo.join().unwrap();
    }

    #[test]
    fn closed_socket_is_an_error_not_a_signal() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        let error = write_and_take(&mut ours, b"x", |_| Ok(())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
