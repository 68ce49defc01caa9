//! Options of a server.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Options of a server.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where it listens; port 0 is a free port.
    pub listen: SocketAddr,
    /// Host names by which browsers reach it, besides those of loopback.
    pub public_names: Vec<String>,
    /// Who may use it.
    pub access: Access,
    /// Whether pages may start and stop runs.
    pub may_run: bool,
    /// Receives errors of the site, a line each.
    pub log: Option<fn(&str)>,
}

/// Who may use a server.
#[derive(Debug, Clone)]
pub enum Access {
    /// Every process of this host: the address must be a loopback address.
    Loopback,
    /// Browsers that present the token.
    Token {
        /// The hash of the token: [`crate::Token::hash`].
        hash: [u8; 32],
        /// The encryption; `None`: plain HTTP.
        tls: Option<Tls>,
    },
}

/// The encryption of connections.
#[derive(Debug, Clone)]
pub struct Tls {
    /// A PEM file of certificates, the server's first.
    pub certificates: PathBuf,
    /// A PEM file with the private key of the first certificate.
    pub key: PathBuf,
}
