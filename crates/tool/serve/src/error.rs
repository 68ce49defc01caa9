//! Why a server does not start or stops.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a server does not start or stops.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Another process listens there.
    #[error("{0} is in use: stop the process that listens there, or name another port")]
    InUse(SocketAddr),
    /// The kernel does not allow this user to listen there.
    #[error("this user may not listen on {0}: name a port of 1024 or above")]
    NotPermitted(SocketAddr),
    /// It cannot listen there for another reason.
    #[error("cannot listen on {0}: {1}; name an address of this host")]
    Listen(SocketAddr, #[source] io::Error),
    /// Other hosts reach an address that only this host may use.
    #[error("other hosts reach {0}: listen on 127.0.0.1, or demand a token")]
    Exposed(SocketAddr),
    /// A file of certificates or of their key cannot be used: what, where and why.
    #[error(
        "the {_0} in {} cannot be used: {_2}; name a PEM file of certificates, the server's first, \
         and a PEM file with its private key",
        _1.display()
    )]
    Pem(&'static str, PathBuf, String),
    /// The kernel returns no random token.
    #[error("the kernel's random generator gives no token: {0}; see getrandom(2)")]
    Random(#[source] io::Error),
    /// The event loop does not start.
    #[error("the event loop of the server cannot start: {0}; check the limit of open files")]
    EventLoop(#[source] io::Error),
}

impl ServeError {
    /// Returns the error of a socket that cannot listen.
    pub(crate) fn listen(address: SocketAddr, error: io::Error) -> Self {
        let is = |kind| error.kind() == kind;
        if is(ErrorKind::AddrInUse) {
            Self::InUse(address)
        } else if is(ErrorKind::PermissionDenied) {
            Self::NotPermitted(address)
        } else {
            Self::Listen(address, error)
        }
    }
}
