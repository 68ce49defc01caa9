//! Server addresses, credentials and CPU placement.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

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
    /// As [`Tls::Off`] where the server takes it, else as [`Tls::Unverified`].
    Allowed,
    /// As [`Tls::Unverified`] where the server can, else as [`Tls::Off`].
    Preferred,
    /// Encrypted; the server that answers is not verified.
    Unverified,
    /// Encrypted; the server's certificate is signed by a root of this PEM file.
    VerifiedIssuer(PathBuf),
    /// As [`Tls::VerifiedIssuer`], and the certificate is for this host.
    ///
    /// The roots may be [`SYSTEM_ROOTS`].
    Verified(PathBuf),
}

/// In the place of a PEM file: the roots that this machine trusts.
///
/// Source: PostgreSQL documentation, section 34.1.2, `sslrootcert`.
pub const SYSTEM_ROOTS: &str = "system";

impl Tls {
    /// Returns the file of roots, where certificates are verified.
    pub fn roots(&self) -> Option<&Path> {
        match self {
            Self::VerifiedIssuer(roots) | Self::Verified(roots) => Some(roots),
            Self::Off | Self::Waived | Self::Allowed | Self::Preferred | Self::Unverified => None,
        }
    }

    fn is_default(&self) -> bool {
        *self == Self::Off
    }
}

/// Returns whether a host name is that of the loopback interface.
pub fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
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
        let Self::Tcp { tls, .. } = self else { return false };
        matches!(tls, Tls::Unverified | Tls::VerifiedIssuer(_) | Tls::Verified(_))
    }

    /// Returns the addresses to try in turn, where this one lets the server choose.
    pub fn choices(&self) -> Option<[Self; 2]> {
        let Self::Tcp { host, port, tls } = self else { return None };
        let with = |tls| Self::Tcp { host: host.clone(), port: *port, tls };
        match tls {
            Tls::Allowed => Some([with(Tls::Off), with(Tls::Unverified)]),
            Tls::Preferred => Some([with(Tls::Unverified), with(Tls::Off)]),
            Tls::Off | Tls::Waived | Tls::Unverified => None,
            Tls::VerifiedIssuer(_) | Tls::Verified(_) => None,
        }
    }

    /// Returns whether the server may get the password itself, by socket, encrypted or as waived.
    ///
    /// On a port of this machine, too, a program of any account may listen.
    pub fn carries_passwords(&self) -> bool {
        matches!(self, Self::Socket(_) | Self::Tcp { tls: Tls::Waived, .. }) || self.is_encrypted()
    }

    /// Returns how it is connected to, as a record states it.
    pub fn transport(&self) -> &'static str {
        match self {
            Self::Socket(_) => Transport::Unix.name(),
            Self::Tcp { tls: Tls::Off | Tls::Waived, .. } => Transport::Tcp.name(),
            Self::Tcp { tls: Tls::Allowed, .. } => "tls where the server requires it",
            Self::Tcp { tls: Tls::Preferred, .. } => "tls where the server has it",
            Self::Tcp { tls: Tls::Unverified, .. } => "tls, certificate not verified",
            Self::Tcp { tls: Tls::VerifiedIssuer(_), .. } => {
                "tls, issuer of the certificate verified, host not"
            }
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

/// Fact of a run whose server does without something that the system refuses it.
pub const FALLBACK: &str = "server_fallback";

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
            Self::Tcp { host, port, .. } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port, .. } => write!(f, "{host}:{port}"),
        }
    }
}

/// What connections to a server need beyond its address and credentials.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoginOptions {
    /// Longest wait for a connection and for each answer of its login, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u32>,
    /// Parameters of the session that Postgres gets at login, by name: `options`, `search_path`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub session: BTreeMap<String, String>,
    /// What the server must be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<ServerRole>,
    /// Address that is tried after the server's own: that of its standby.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standby: Option<Address>,
    /// The client's certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<ClientCertificate>,
    /// How a Postgres server may verify the login; empty for any method.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<AuthMethod>,
    /// Whether a login must be bound to the encrypted connection it is made on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub binds_channel: bool,
}

impl LoginOptions {
    /// Returns whether nothing is stated.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What a server must be, as `target_session_attrs` states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerRole {
    /// Sessions may write.
    ReadWrite,
    /// It is no standby.
    Primary,
}

names!(ServerRole, "a role of a server": ReadWrite "read-write", Primary "primary");

/// How a Postgres server verifies a login, as `require_auth` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuthMethod {
    /// Not at all, or by a certificate or the account of a socket's peer.
    None,
    /// By the password in clear text.
    Password,
    /// By an MD5 hash of the password.
    Md5,
    /// By SCRAM-SHA-256.
    #[serde(rename = "scram-sha-256")]
    Scram,
}

names!(AuthMethod, "a method of a login": None "none", Password "password", Md5 "md5",
    Scram "scram-sha-256");

/// PEM files of a client's certificate and of its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientCertificate {
    /// The certificate, with those of its issuers.
    pub chain: PathBuf,
    /// The private key.
    pub key: PathBuf,
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
    /// What its connections need.
    #[serde(default)]
    pub login: LoginOptions,
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
    /// What its connections need.
    #[serde(default, skip_serializing_if = "LoginOptions::is_default")]
    pub login: LoginOptions,
    /// Parameters of the address that have no effect, each with the reason.
    #[serde(skip)]
    pub notes: Vec<String>,
}

impl Dsn {
    /// Returns the end of a line about a connection that does not protect the password.
    ///
    /// Postgres alone has methods to choose from; MySQL waives that the server's key is verified.
    pub fn exposure(&self) -> &'static str {
        match self.address {
            Address::Tcp { tls: Tls::Waived, .. } if self.login.methods.is_empty() => {
                ", which is sent encrypted by an unverified key if the server requests it"
            }
            Address::Tcp { tls: Tls::Waived, .. } => {
                ", which is sent in clear text if the server requests it"
            }
            Address::Tcp { .. } | Address::Socket(_) => "",
        }
    }
}

impl fmt::Display for Dsn {
    /// As in an address: no user is taken for a host, and no part hides the next one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [user, database] = [&self.user, &self.database].map(|name| encoded(name, ""));
        write!(f, "{user}@{}/{database}", encoded(&self.address.to_string(), "/:[]%"))
    }
}

/// Returns a text with its signs percent-encoded, except letters, digits and these.
///
/// Source: RFC 3986, section 2.3, "Unreserved Characters".
fn encoded(text: &str, plain: &str) -> String {
    let is_plain =
        |sign: char| sign.is_alphanumeric() || "-._~".contains(sign) || plain.contains(sign);
    let shown = |sign: char| match is_plain(sign) {
        true => sign.to_string(),
        false => sign.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect(),
    };
    text.chars().map(shown).collect()
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
    fn an_address_that_lets_the_server_choose_is_never_used_itself() {
        let at = |tls| Address::Tcp { host: "::1".to_owned(), port: 1, tls };
        let tried = |tls| {
            let choices = at(tls).choices().expect("two");
            choices.map(|it| it.is_encrypted())
        };
        assert_eq!(tried(Tls::Allowed), [false, true]);
        assert_eq!(tried(Tls::Preferred), [true, false]);
        assert!(!at(Tls::Preferred).carries_passwords() && at(Tls::Waived).carries_passwords());
        assert!(at(Tls::Unverified).choices().is_none());
        assert_eq!(at(Tls::Off).to_string(), "[::1]:1");
    }

    #[test]
    fn loopback_addresses_are_those_of_the_own_machine() {
        assert!(["localhost", "127.0.0.2", "::1"].into_iter().all(is_loopback));
        assert!(!["db1", "10.0.0.1", "127.example.org"].into_iter().any(is_loopback));
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
            login: LoginOptions::default(),
            notes: Vec::new(),
        };
        let stored = serde_json::to_string(&dsn).unwrap();
        assert!(!stored.contains("hush") && !format!("{dsn:?} {dsn}").contains("hush"), "{stored}");
        assert_eq!(dsn.to_string(), "bench@db:5432/test");
        let user = "me@trusted:5432/bench    ".to_owned();
        let forged = Dsn { user, address: Address::tcp("evil @trusted", 1), ..dsn.clone() };
        let expected = "me%40trusted%3A5432%2Fbench%20%20%20%20@evil%20%40trusted:1/test";
        assert_eq!(forged.to_string(), expected);
        let read: Dsn = serde_json::from_str(&stored).unwrap();
        assert!(read.password.is_none() && read.has_password);
    }
}
