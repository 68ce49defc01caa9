//! A connected unix or TCP stream whose reads end at a deadline.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use engine::NO_ANSWER;
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, SendFlags, recv, send};

/// The end of the error of a login that takes too long.
const LOGIN_LIMIT: &str = "within its limit: 30 s, or connect_timeout of the dsn";

/// Start of the error of an answer that does not come in time.
const SILENCE: &str = "the server does not answer: a query had no answer for ";

/// Returns whether an error is that of an answer that did not come in time.
pub(crate) fn is_silence(reason: &str) -> bool {
    reason.starts_with(SILENCE)
}

/// Returns whether an error is that of a time limit, of an answer, a login or a connection.
pub(crate) fn is_timeout(reason: &str) -> bool {
    let limits = [NO_ANSWER, "timed out", "the server has taken no connection within"];
    is_silence(reason) || limits.iter().any(|limit| reason.contains(limit))
}

/// A connected stream; its errors name the server.
///
/// A server that sends byte by byte has no more time than any other.
#[derive(Debug)]
pub(crate) struct TimedStream {
    fd: OwnedFd,
    /// The server's address, as errors show it.
    server: String,
    /// The time at which reads end, and that at which its extension does; `None` where each read
    /// may take any time.
    deadlines: Option<[Instant; 2]>,
    /// Longest time of an answer from its request; `None` for any.
    answer_limit: Option<Duration>,
}

impl TimedStream {
    /// Returns the stream of a server, without limits.
    pub(crate) fn new(fd: impl Into<OwnedFd>, server: impl ToString) -> Self {
        Self { fd: fd.into(), server: server.to_string(), deadlines: None, answer_limit: None }
    }

    /// Ends all reads at `soon`, and at `end` once they are extended.
    pub(crate) const fn set_deadlines(&mut self, soon: Instant, end: Instant) {
        self.deadlines = Some([soon, end]);
    }

    /// Extends the deadline of reads; `false` where that was done before, or there is none.
    pub(crate) fn extend(&mut self) -> bool {
        let is_extended = self.deadlines.is_none_or(|[soon, end]| soon >= end);
        self.deadlines = self.deadlines.map(|[_, end]| [end; 2]);
        !is_extended
    }

    /// Limits the time of each answer in the place of the deadlines; `None` waits for ever.
    pub(crate) fn limit_answers(&mut self, limit: Option<Duration>) -> io::Result<()> {
        (self.answer_limit, self.deadlines) = (limit, None);
        Ok(set_socket_timeout(&self.fd, Timeout::Recv, limit)?)
    }

    /// Notes that a request is sent.
    #[inline]
    pub(crate) fn expect_answer(&mut self) {
        if let Some(limit) = self.answer_limit {
            self.deadlines = now().checked_add(limit).map(|end| [end; 2]);
        }
    }

    /// Sends what the stream has room for, without waiting.
    pub(crate) fn send_now(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(&self.fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
    }

    /// Limits a read to the time that is left.
    #[cold]
    fn limit_read(&self, deadline: Instant) -> Result<(), Errno> {
        let left = deadline.saturating_duration_since(now());
        if left.is_zero() {
            return Err(Errno::AGAIN);
        }
        set_socket_timeout(&self.fd, Timeout::Recv, Some(left))
    }

    /// Returns the error of a connection that the server has closed.
    #[cold]
    pub(crate) fn closed(&self) -> io::Error {
        let text = format!("the server at {} closed the connection", self.server);
        io::Error::new(io::ErrorKind::UnexpectedEof, text)
    }

    /// Returns an error with the server's address; it names a timeout, which the system calls
    /// "temporarily unavailable".
    #[cold]
    fn named(&self, error: Errno) -> io::Error {
        let server = &self.server;
        match error {
            Errno::INTR => error.into(),
            Errno::AGAIN => {
                let text = match self.answer_limit {
                    Some(limit) => format!("{SILENCE}{} s", limit.as_secs_f64()),
                    None => format!("{server} {NO_ANSWER} the login {LOGIN_LIMIT}"),
                };
                io::Error::new(io::ErrorKind::TimedOut, text)
            }
            error => io::Error::new(error.kind(), format!("{server}: {}", io::Error::from(error))),
        }
    }
}

/// Returns the time, for deadlines and the round trip of an empty query.
#[expect(
    clippy::disallowed_methods,
    reason = "logins and answers are limited; no operation is timed"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

impl Read for TimedStream {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let limited = self.deadlines.map_or(Ok(()), |[deadline, _]| self.limit_read(deadline));
        match limited.and_then(|()| recv(&self.fd, &mut *buffer, RecvFlags::empty())) {
            Ok((0, _)) if !buffer.is_empty() => Err(self.closed()),
            Ok((bytes, _)) => Ok(bytes),
            Err(error) => Err(self.named(error)),
        }
    }
}

impl Write for TimedStream {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.expect_answer();
        send(&self.fd, bytes, SendFlags::NOSIGNAL).map_err(|error| self.named(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for TimedStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::*;

    #[test]
    fn time_limits_are_known_by_their_errors() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let mut stream = TimedStream::new(ours, "s");
        let of_login = stream.named(Errno::AGAIN).to_string();
        stream.limit_answers(Some(Duration::from_secs(1))).unwrap();
        let of_answer = stream.named(Errno::AGAIN).to_string();
        let of_network = stream.named(Errno::TIMEDOUT).to_string();
        for text in [of_login, of_answer, of_network] {
            assert!(is_timeout(&text), "{text}");
        }
        for error in [stream.closed(), stream.named(Errno::CONNREFUSED)] {
            assert!(!is_timeout(&error.to_string()), "{error}");
        }
    }

    /// Goal: a server that drips has the limit of the whole, and not of each byte.
    #[test]
    fn reads_of_a_dripping_server_end_at_the_deadline() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let server = thread::spawn(move || {
            while theirs.write_all(b".").is_ok() {
                thread::park_timeout(Duration::from_millis(5));
            }
        });
        let mut stream = TimedStream::new(ours, "db:1");
        let start = now();
        stream.set_deadlines(start + Duration::from_millis(20), start + Duration::from_millis(90));
        for is_extended in [true, false] {
            let error = stream.read_exact(&mut [0; 1 << 10]).unwrap_err();
            assert_eq!(error.to_string(), format!("db:1 {NO_ANSWER} the login {LOGIN_LIMIT}"));
            assert_eq!(stream.extend(), is_extended);
        }
        drop(stream);
        server.join().unwrap();
    }

    /// Goal: a server that sends an answer byte by byte has no more time than any other.
    #[test]
    fn an_answer_in_drips_has_the_limit_of_a_whole_one() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut stream = TimedStream::new(ours, "db:1");
        stream.limit_answers(Some(Duration::from_millis(50))).unwrap();
        stream.write_all(b"?").unwrap();
        let server = thread::spawn(move || {
            while theirs.write_all(b".").is_ok() {
                thread::park_timeout(Duration::from_millis(5));
            }
        });
        let error = stream.read_exact(&mut [0; 1 << 10]).unwrap_err();
        assert!(is_silence(&error.to_string()), "{error}");
        stream.limit_answers(None).unwrap();
        stream.read_exact(&mut [0; 2]).unwrap();
        drop(stream);
        server.join().unwrap();
    }

    #[test]
    fn errors_name_the_server() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        let mut stream = TimedStream::new(ours, "db:1");
        let error = stream.read(&mut [0]).unwrap_err();
        assert_eq!(error.to_string(), "the server at db:1 closed the connection");
        let error = stream.write(&[0]).unwrap_err().to_string();
        assert!(error.starts_with("db:1: Broken pipe"), "{error}");
    }
}
