//! A connected unix or TCP socket.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use engine::NO_ANSWER;
use model::{Address, LoginOptions};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use crate::tls::Encrypted;

/// Longest wait for the first answer of a server that has not answered yet.
///
/// Our choice: with the questions that follow and the start of a worker, a wrong port is named
/// within five seconds.
pub(crate) const FIRST_WITHIN: Duration = Duration::from_secs(3);
/// The longest wait for a step of a login: hundreds of clients log in at once on a busy host.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(30);

/// Whether a server has answered before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contact {
    /// It has not: what answers in its place is to be named soon.
    First,
    /// It has, and may be busy now.
    Known,
}

impl Contact {
    /// Returns the longest wait for the connection, and for the first answer.
    const fn limit(self) -> Duration {
        match self {
            Self::First => FIRST_WITHIN,
            Self::Known => LOGIN_TIMEOUT,
        }
    }
}

/// A connected socket.
///
/// Encryption begins after a first exchange, which each protocol has its own of.
#[derive(Debug)]
pub enum Socket {
    /// A unix socket.
    Unix(UnixStream),
    /// A TCP connection, without Nagle's delay.
    Tcp(TcpStream),
    /// An encrypted TCP connection.
    Tls(Box<Encrypted>),
}

impl Socket {
    /// Connects; reads time out as stated or else, the first soon, until
    /// [`Socket::clear_read_timeout`].
    ///
    /// # Errors
    /// When no server listens: the reason with its remedy.
    pub fn connect(
        address: &Address,
        login: &LoginOptions,
        contact: Contact,
    ) -> Result<Self, String> {
        let limit = stated(login).unwrap_or(contact.limit());
        let first = if contact == Contact::First { limit.min(FIRST_WITHIN) } else { limit };
        let connected = Self::connect_within(address, limit)
            .and_then(|socket| socket.set_read_timeout(Some(first)).map(|()| socket));
        connected.map_err(|error| {
            let remedy = match contact {
                Contact::First => ": check host and port of the dsn, and whether the server runs",
                Contact::Known => "",
            };
            format!("no server answers at {address}: {error}{remedy}")
        })
    }

    /// Extends the wait for a first answer to what the address states; `false` when that is over.
    ///
    /// # Errors
    /// When the operating system refuses it.
    pub(crate) fn extend_first_wait(&self, login: &LoginOptions) -> io::Result<bool> {
        let rest = stated(login).and_then(|limit| limit.checked_sub(FIRST_WITHIN));
        let Some(rest) = rest.filter(|rest| !rest.is_zero()) else { return Ok(false) };
        let is_first = self.read_timeout()? == Some(FIRST_WITHIN);
        if is_first {
            self.set_read_timeout(Some(rest))?;
        }
        Ok(is_first)
    }

    fn read_timeout(&self) -> io::Result<Option<Duration>> {
        match self {
            Self::Unix(stream) => stream.read_timeout(),
            Self::Tcp(stream) => stream.read_timeout(),
            Self::Tls(stream) => stream.tcp().read_timeout(),
        }
    }

    /// Reads what has been received, without waiting; nothing of a closed connection.
    pub fn read_received(&self, buffer: &mut [u8]) -> usize {
        recv(self, buffer, RecvFlags::DONTWAIT).map_or(0, |(bytes, _whole)| bytes)
    }

    /// Connects; reads time out after `limit`.
    pub(crate) fn connect_within(address: &Address, limit: Duration) -> io::Result<Self> {
        match address {
            Address::Socket(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(limit))?;
                Ok(Self::Unix(stream))
            }
            Address::Tcp { host, port, .. } => {
                let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
                for address in (host.as_str(), *port).to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, limit) {
                        Ok(stream) => {
                            stream.set_nodelay(true)?;
                            stream.set_read_timeout(Some(limit))?;
                            return Ok(Self::Tcp(stream));
                        }
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }

    /// Encrypts a TCP connection, as its address demands; does nothing where it demands nothing.
    ///
    /// # Errors
    /// When the server's certificate is not accepted, a file of certificates cannot be read, or
    /// client and server have no version of TLS in common: 1.2 or 1.3.
    pub fn encrypt(&mut self, address: &Address, login: &LoginOptions) -> io::Result<()> {
        if let (Self::Tcp(stream), Address::Tcp { host, tls, .. }) = (&*self, address) {
            let unread = stream.try_clone()?;
            let own = login.certificate.as_ref();
            if let Some(encrypted) = Encrypted::begin(unread, host, tls, own)? {
                *self = Self::Tls(Box::new(encrypted));
            }
        }
        Ok(())
    }

    /// Waits longer for the steps of a login after its first answer: as stated, or 30 s.
    ///
    /// # Errors
    /// When the operating system refuses it.
    pub fn expect_slow_steps(&self, login: &LoginOptions) -> io::Result<()> {
        self.set_read_timeout(Some(stated(login).unwrap_or(LOGIN_TIMEOUT)))
    }

    /// Returns how the server's certificate was accepted, where that is not by its names.
    pub fn certificate_note(&self) -> Option<&'static str> {
        match self {
            Self::Tls(stream) => stream.note(),
            Self::Unix(_) | Self::Tcp(_) => None,
        }
    }

    /// Returns the hash of the server's certificate that a login is bound to; `None` without TLS.
    pub fn end_point(&self) -> Option<Vec<u8>> {
        match self {
            Self::Tls(stream) => stream.end_point(),
            Self::Unix(_) | Self::Tcp(_) => None,
        }
    }

    /// Returns whether only root, or the server, can read the traffic.
    pub const fn is_secure(&self) -> bool {
        matches!(self, Self::Unix(_) | Self::Tls(_))
    }

    /// Sends what the socket has room for; returns how many bytes were taken.
    pub(crate) fn send_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tls(stream) => stream.send_now(bytes),
            Self::Unix(_) | Self::Tcp(_) => {
                Ok(send(&*self, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
            }
        }
    }

    /// Returns whether taken bytes are not sent yet.
    pub(crate) fn has_unsent(&self) -> bool {
        matches!(self, Self::Tls(stream) if stream.has_unsent())
    }

    /// Removes the read timeout: statements may take long.
    ///
    /// # Errors
    /// When the operating system refuses it.
    pub fn clear_read_timeout(&self) -> io::Result<()> {
        self.set_read_timeout(None)
    }

    /// Sets the longest wait for data; `None` waits for ever.
    ///
    /// # Errors
    /// When the operating system refuses it.
    pub fn set_read_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_read_timeout(limit),
            Self::Tcp(stream) => stream.set_read_timeout(limit),
            Self::Tls(stream) => stream.tcp().set_read_timeout(limit),
        }
    }
}

/// Returns the limit of each wait of a login that its address states.
fn stated(login: &LoginOptions) -> Option<Duration> {
    login.timeout_ms.map(|limit| Duration::from_millis(limit.into()))
}

/// Names a read timeout, which the system calls "temporarily unavailable".
fn timed_out(error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::WouldBlock {
        return error;
    }
    io::Error::new(io::ErrorKind::TimedOut, format!("it {NO_ANSWER} within the time limit"))
}

impl Read for Socket {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
        .map_err(timed_out)
    }
}

impl Write for Socket {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
            Self::Tls(stream) => stream.tcp().as_fd(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_waits_as_long_as_its_address_states() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::tcp("127.0.0.1", listener.local_addr().unwrap().port());
        let login = LoginOptions { timeout_ms: Some(1), ..LoginOptions::default() };
        let mut socket = Socket::connect(&address, &login, Contact::First).unwrap();
        let error = socket.read(&mut [0]).unwrap_err();
        assert_eq!(error.to_string(), "it has not answered within the time limit");
    }

    #[test]
    fn a_silent_server_is_a_timeout() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        ours.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let error = Socket::Unix(ours).read(&mut [0]).unwrap_err();
        assert_eq!(error.to_string(), "it has not answered within the time limit");
    }
}
