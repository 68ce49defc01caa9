//! A connected unix or TCP socket.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::Address;

/// Timeout of connecting and of each read of the login.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(10);
/// Port in a socket's name when only its directory is given.
///
/// Source: Postgres' documentation, "Connections and Authentication", `port`.
const DEFAULT_PORT: u16 = 5432;

/// A connected socket.
#[derive(Debug)]
pub(super) enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    /// Connects; reads time out until [`Socket::clear_read_timeout`].
    pub(super) fn connect(address: &Address) -> io::Result<Self> {
        match address {
            Address::Socket(path) => {
                let stream = UnixStream::connect(socket_file(path))?;
                stream.set_read_timeout(Some(LOGIN_TIMEOUT))?;
                Ok(Self::Unix(stream))
            }
            Address::Tcp { host, port } => {
                let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
                for address in (host.as_str(), *port).to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, LOGIN_TIMEOUT) {
                        Ok(stream) => {
                            stream.set_nodelay(true)?;
                            stream.set_read_timeout(Some(LOGIN_TIMEOUT))?;
                            return Ok(Self::Tcp(stream));
                        }
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }

    /// Removes the read timeout: statements may take long.
    pub(super) fn clear_read_timeout(&self) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_read_timeout(None),
            Self::Tcp(stream) => stream.set_read_timeout(None),
        }
    }

    /// Writes everything.
    #[inline]
    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.write_all(bytes),
            Self::Tcp(stream) => stream.write_all(bytes),
        }
    }
}

impl Read for Socket {
    #[inline]
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

/// Returns the socket file, also for its directory.
fn socket_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(format!(".s.PGSQL.{DEFAULT_PORT}")) } else { path.to_owned() }
}
