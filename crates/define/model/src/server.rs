//! Server addresses, credentials and CPU placement.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cpu_count::CpuCount;
use crate::names::names;
use crate::secret::Password;

/// Address of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Address {
    /// A unix socket.
    Socket(PathBuf),
    /// A host and a port.
    Tcp {
        /// The host's name or address.
        host: String,
        /// The port.
        port: u16,
        /// Whether the connection is encrypted.
        #[serde(default, skip_serializing_if = "Tls::is_default")]
        tls: Tls,
    },
}

/// Encryption of a TCP connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tls {
    /// None; the server gets no password that others could read on the way.
    #[default]
    Off,
    /// None, and the server gets the password in clear text if it requests it so.
    Waived,
    /// Encrypted; the server that answers is not verified.
    Unverified,
    /// Encrypted; the server's certificate is for this host and signed by a root of this PEM file.
    Verified(PathBuf),
}

impl Tls {
    /// Returns whether nothing is encrypted.
    pub fn is_off(&self) -> bool {
        matches!(self, Self::Off | Self::Waived)
    }

    fn is_default(&self) -> bool {
        *self == Self::Off
    }
}

impl Address {
    /// Returns the address of a port, without encryption.
    pub fn tcp(host: impl Into<String>, port: u16) -> Self {
        Self::Tcp { host: host.into(), port, tls: Tls::Off }
    }

    /// Returns the address for a connection without encryption.
    pub fn without_tls(&self) -> Self {
        match self {
            Self::Socket(_) => self.clone(),
            Self::Tcp { host, port, .. } => Self::tcp(host.as_str(), *port),
        }
    }

    /// Returns whether the connection is to be encrypted.
    pub fn is_encrypted(&self) -> bool {
        matches!(self, Self::Tcp { tls, .. } if !tls.is_off())
    }

    /// Returns whether the server may get the password itself, by socket, encrypted or as waived.
    ///
    /// On a port of this machine, too, a program of any account may listen.
    pub fn carries_passwords(&self) -> bool {
        !matches!(self, Self::Tcp { tls: Tls::Off, .. })
    }

    /// Returns how it is connected to, as a record states it.
    pub fn transport(&self) -> &'static str {
        match self {
            Self::Socket(_) => Transport::Unix.name(),
            Self::Tcp { tls: Tls::Off | Tls::Waived, .. } => Transport::Tcp.name(),
            Self::Tcp { tls: Tls::Unverified, .. } => "tls, certificate not verified",
            Self::Tcp { tls: Tls::Verified(_), .. } => "tls, certificate verified",
        }
    }
}

/// Own option of servers that Assay starts: how clients connect to them.
pub const TRANSPORT: &str = "assay.transport";

/// How clients connect to a server on this machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Transport {
    /// By a unix socket.
    #[default]
    Unix,
    /// By TCP, over the loopback interface.
    Tcp,
}

names!(Transport, "a transport": Unix "unix", Tcp "tcp");

/// Own option of servers that Assay starts: a standby on this machine.
pub const REPLICA: &str = "assay.replica";

/// When a server with a standby acknowledges a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replica {
    /// After the standby has written, flushed or applied it, as the server is set.
    Sync,
    /// Without waiting for the standby.
    Async,
}

names!(Replica, "a kind of standby": Sync "sync", Async "async");

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => write!(f, "{}", path.display()),
            Self::Tcp { host, port, .. } => write!(f, "{host}:{port}"),
        }
    }
}

/// Address and credentials of a server.
///
/// It is sent to the worker through a pipe and stored nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// The server's address.
    pub address: Address,
    /// The user.
    pub user: String,
    /// The user's password; `None` when none is needed.
    pub password: Option<Password>,
    /// The database in which tables are created.
    pub database: String,
    /// Whether the server was not started by Assay.
    pub is_foreign: bool,
}

/// A running server, as an experiment file names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dsn {
    /// The server's address.
    pub address: Address,
    /// The user.
    pub user: String,
    /// The database.
    pub database: String,
    /// The password as written; never stored in a file.
    #[serde(skip)]
    pub password: Option<Password>,
    /// Environment variable that holds the password, when the file names one (`${NAME}`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_from: Option<String>,
    /// Whether a password was written; a resumed experiment must get it again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_password: bool,
}

impl fmt::Display for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}/{}", self.user, self.address, self.database)
    }
}

/// CPU placement of the client and its server.
///
/// A client and a server that answer each other on different CPUs wake each other for every
/// request, which a virtual machine may charge with ten times the CPU of the work itself. Our
/// measurement, on a 2-vCPU virtual machine, Postgres 12, point select: 12 us of server CPU per
/// operation on one CPU, 46 to 107 us on two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The kernel's choice.
    #[default]
    Free,
    /// One CPU for both: CPU per operation can be compared, throughput cannot.
    SameCpu,
    /// Each has half of the CPUs for itself.
    Split,
}

names!(Placement, "a placement": Free "free", SameCpu "same-cpu", Split "split");

impl Placement {
    /// Returns the CPUs of a run, of the host's.
    pub fn cpus(self, of_host: CpuCount) -> CpuCount {
        match self {
            Self::SameCpu => of_host.min(CpuCount::of(1)),
            Self::Free | Self::Split => of_host,
        }
    }

    /// Returns whether it is the kernel's choice.
    pub fn is_free(&self) -> bool {
        *self == Self::Free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_and_server_on_one_cpu_have_no_other() {
        let all = [Placement::Free, Placement::Split, Placement::SameCpu];
        let cpus = all.map(|placement| placement.cpus(CpuCount::of(8)));
        assert_eq!(cpus, [8, 8, 1].map(CpuCount::of));
    }

    #[test]
    fn a_password_is_never_shown_or_stored() {
        let dsn = Dsn {
            address: Address::tcp("db", 5432),
            user: "bench".to_owned(),
            database: "test".to_owned(),
            password: Some(Password("hush".to_owned())),
            password_from: None,
            has_password: true,
        };
        let stored = serde_json::to_string(&dsn).unwrap();
        assert!(!stored.contains("hush") && !format!("{dsn:?} {dsn}").contains("hush"), "{stored}");
        assert_eq!(dsn.to_string(), "bench@db:5432/test");
        let read: Dsn = serde_json::from_str(&stored).unwrap();
        assert!(read.password.is_none() && read.has_password);
    }
}
