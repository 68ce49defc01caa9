//! A connected unix or TCP socket.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use model::{Address, Endpoint, LoginOptions};
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv, socket_with,
};

use crate::timed_stream::{TimedStream, now};
use crate::tls::Encryption;

/// Longest wait for the first answer of a server that has not answered yet.
///
/// Our choice: with the questions that follow and the start of a worker, a wrong port is named
/// within five seconds.
pub(crate) const FIRST_WITHIN: Duration = Duration::from_secs(3);
/// The longest time of a login: hundreds of clients log in at once on a busy host.
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
    /// Returns the endpoint on a first contact.
    pub fn first(self, endpoint: &Endpoint) -> Option<&Endpoint> {
        (self == Self::First).then_some(endpoint)
    }
}

/// A connected socket.
///
/// Encryption begins after a first exchange, which each protocol has its own of.
#[derive(Debug)]
pub struct Socket {
    stream: TimedStream,
    /// The encryption of a TCP connection, once it has begun.
    encryption: Option<Box<Encryption>>,
    is_unix: bool,
}

impl Socket {
    /// Connects; the name's lookup, the connection and its login end at one deadline, as stated or
    /// else after 30 s, and the wait for a first answer soon, until [`Socket::limit_answers`].
    ///
    /// # Errors
    /// When no server listens: the reason with its remedy.
    pub fn connect(
        address: &Address,
        login: &LoginOptions,
        contact: Contact,
    ) -> Result<Self, String> {
        let end = now() + stated(login).unwrap_or(LOGIN_TIMEOUT);
        let soon = || match contact {
            Contact::First => end.min(now() + FIRST_WITHIN),
            Contact::Known => end,
        };
        let within = if login.timeout_ms.is_some() { end } else { soon() };
        let connected = Self::connect_until(address, within).map(|mut socket| {
            socket.stream.set_deadlines(soon(), end);
            socket
        });
        connected.map_err(|error| {
            let remedy = match contact {
                Contact::First => ": check host and port of the dsn, and whether the server runs",
                Contact::Known => "",
            };
            format!("no server answers at {address}: {error}{remedy}")
        })
    }

    /// Returns a unix socket that is connected, without limits.
    pub fn unix(fd: impl Into<OwnedFd>) -> Self {
        let stream = TimedStream::new(fd, "its unix socket");
        Self { stream, encryption: None, is_unix: true }
    }

    /// Extends the wait for a first answer to what the address states; `false` when that is over.
    pub(crate) fn extend_first_wait(&mut self, login: &LoginOptions) -> bool {
        login.timeout_ms.is_some() && self.stream.extend()
    }

    /// Reads what has been received, without waiting; nothing of a closed connection.
    pub fn read_received(&self, buffer: &mut [u8]) -> usize {
        recv(self, buffer, RecvFlags::DONTWAIT).map_or(0, |(bytes, _whole)| bytes)
    }

    /// Connects; the connection and all reads end at a deadline.
    pub(crate) fn connect_until(address: &Address, end: Instant) -> io::Result<Self> {
        let left = || end.saturating_duration_since(now()).max(Duration::from_millis(1));
        let (mut stream, is_unix) = match address {
            Address::Socket(path) => (TimedStream::new(unix(path, left)?, address), true),
            Address::Tcp { host, port, .. } => {
                let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
                let found = addresses(host, *port, left())?;
                let stream = found.iter().find_map(|address| {
                    let connected = TcpStream::connect_timeout(address, left());
                    connected.map_err(|error| last = error).ok()
                });
                let stream = stream.ok_or(last)?;
                stream.set_nodelay(true)?;
                (TimedStream::new(stream, address), false)
            }
        };
        stream.set_deadlines(end, end);
        Ok(Self { stream, encryption: None, is_unix })
    }

    /// Encrypts a TCP connection, as its address demands; does nothing where it demands nothing.
    ///
    /// # Errors
    /// When the server's certificate is not accepted, a file of certificates cannot be read, or
    /// client and server have no version of TLS in common: 1.2 or 1.3.
    pub fn encrypt(&mut self, address: &Address, login: &LoginOptions) -> io::Result<()> {
        if let Address::Tcp { host, tls, .. } = address {
            let own = login.certificate.as_ref();
            self.encryption = Encryption::begin(&mut self.stream, host, tls, own)?.map(Box::new);
        }
        Ok(())
    }

    /// Waits longer for the steps of a login after its first answer: to its end.
    pub fn expect_slow_steps(&mut self) {
        self.stream.extend();
    }

    /// Returns how the server's certificate was accepted, where that is not by its names.
    pub fn certificate_note(&self) -> Option<&'static str> {
        self.encryption.as_ref()?.note()
    }

    /// Returns the hash of the server's certificate that a login is bound to; `None` without TLS.
    pub fn end_point(&self) -> Option<Vec<u8>> {
        self.encryption.as_ref()?.end_point()
    }

    /// Returns whether only root, or the server, can read the traffic.
    pub const fn is_secure(&self) -> bool {
        self.is_unix || self.encryption.is_some()
    }

    /// Sends what the socket has room for; returns how many bytes were taken.
    pub(crate) fn send_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.expect_answer();
        match &mut self.encryption {
            Some(encryption) => encryption.send_now(&self.stream, bytes),
            None => self.stream.send_now(bytes),
        }
    }

    /// Returns whether taken bytes are not sent yet.
    pub(crate) fn has_unsent(&self) -> bool {
        self.encryption.as_ref().is_some_and(|encryption| encryption.has_unsent())
    }

    /// Limits the time of each answer in the place of the login's limits; `None` waits for ever.
    ///
    /// # Errors
    /// When the operating system refuses it.
    pub fn limit_answers(&mut self, limit: Option<Duration>) -> io::Result<()> {
        self.stream.limit_answers(limit)
    }
}

/// Returns the limit of a login that its address states.
fn stated(login: &LoginOptions) -> Option<Duration> {
    login.timeout_ms.map(|limit| Duration::from_millis(limit.into()))
}

/// Connects to a unix socket; where its queue of connections is full, waits for room until the
/// deadline.
///
/// Source: Linux, `unix_stream_connect` in net/unix/af_unix.c: the wait has the limit of sends.
fn unix(path: &Path, left: impl Fn() -> Duration) -> io::Result<OwnedFd> {
    let limit = left();
    let address = SocketAddrUnix::new(path)?;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    loop {
        set_socket_timeout(&socket, Timeout::Send, Some(left()))?;
        match connect(&socket, &address) {
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let text = format!(
                    "the queue of connections of the socket is full, and the server has taken no \
                     connection within {:.1} s",
                    limit.as_secs_f32()
                );
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            connected => {
                connected?;
                set_socket_timeout(&socket, Timeout::Send, None)?;
                return Ok(socket);
            }
        }
    }
}

/// Returns the addresses of a host.
///
/// The system's lookup of a name may take minutes: a thread waits for one that takes too long.
fn addresses(host: &str, port: u16, limit: Duration) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let zone = host.split_once('%').map(|(_, zone)| zone.to_owned());
    let name = host.to_owned();
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::Builder::new().spawn(move || {
        let found = (name.as_str(), port).to_socket_addrs().map(Iterator::collect);
        // The caller may have given up.
        sender.send(found).ok();
    })?;
    let found = receiver.recv_timeout(limit).unwrap_or_else(|_too_late| {
        let text =
            format!("the lookup of the host name has not ended within {} s", limit.as_secs_f32());
        Err(io::Error::new(io::ErrorKind::TimedOut, text))
    });
    match (found, zone) {
        (Err(error), Some(zone)) if error.kind() != io::ErrorKind::TimedOut => {
            Err(io::Error::other(format!(
                "{error}; the zone `{zone}` of the address must be a network interface of this \
                 host (`ip link` lists them)"
            )))
        }
        (found, _) => found,
    }
}

impl Read for Socket {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.encryption {
            Some(encryption) => encryption.read(&mut self.stream, buffer),
            None => self.stream.read(buffer),
        }
    }
}

impl Write for Socket {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.encryption {
            Some(encryption) => encryption.write(&mut self.stream, bytes),
            None => self.stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: neither a silent server nor one that drips has more time than the address states.
    #[test]
    fn a_login_waits_as_long_as_its_address_states() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::tcp("localhost", listener.local_addr().unwrap().port());
        let login = LoginOptions { timeout_ms: Some(200), ..LoginOptions::default() };
        for sent in ["", "."] {
            let mut socket = Socket::connect(&address, &login, Contact::First).unwrap();
            let (mut server, _) = listener.accept().unwrap();
            let server = thread::spawn(move || {
                while server.write_all(sent.as_bytes()).is_ok() && !sent.is_empty() {
                    thread::park_timeout(Duration::from_millis(5));
                }
                server
            });
            let error = socket.read_exact(&mut [0; 1 << 10]).unwrap_err();
            let expected = format!("{address} does not answer the login within its limit: ");
            assert!(error.to_string().starts_with(&expected), "{error}");
            drop(socket);
            drop(server.join().unwrap());
        }
    }

    /// Goal: a server that takes no connection has no more time than the address states.
    ///
    /// Method: connections that nothing takes fill the queue of a listening unix socket.
    #[test]
    fn a_full_queue_of_a_unix_socket_has_the_limit_of_the_login() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let listener =
            socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .unwrap();
        rustix::net::bind(&listener, &SocketAddrUnix::new(&path).unwrap()).unwrap();
        rustix::net::listen(&listener, 1).unwrap();
        let address = Address::Socket(path);
        let login = LoginOptions { timeout_ms: Some(50), ..LoginOptions::default() };
        let connect = || Socket::connect(&address, &login, Contact::Known);
        let queued: Vec<_> = std::iter::from_fn(|| connect().ok()).take(16).collect();
        assert!((1..16).contains(&queued.len()), "{} fit into the queue", queued.len());
        let error = connect().unwrap_err();
        assert!(error.contains("the queue of connections of the socket is full"), "{error}");
        drop(rustix::net::accept(&listener).unwrap());
        connect().unwrap();
    }

    #[test]
    fn names_and_addresses_are_resolved() {
        let found = |host| addresses(host, 7, Duration::from_secs(9)).unwrap();
        assert_eq!(found("::1"), ["[::1]:7".parse().unwrap()]);
        assert!(found("localhost").iter().all(|it| it.ip().is_loopback() && it.port() == 7));
    }
}
