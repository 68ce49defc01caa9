//! Where a server is reached, who may know its password, and which CPUs it and its client get.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where a server listens.
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
    },
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => write!(f, "{}", path.display()),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

/// Everything needed to log in. It goes to the worker through a pipe, and nowhere else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Where.
    pub address: Address,
    /// As whom.
    pub user: String,
    /// The user's password; `None` when none is needed.
    pub password: Option<Password>,
    /// The database that tables are made in.
    pub database: String,
    /// Whether it is a server that Assay did not start.
    pub is_foreign: bool,
}

/// A password: no `Debug` shows it.
///
/// It can be written, because a worker must be told; so nothing that is kept may hold one.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A server that runs already, as an experiment file names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dsn {
    /// Where.
    pub address: Address,
    /// As whom.
    pub user: String,
    /// The database.
    pub database: String,
    /// The password as written; never in a file that is kept.
    #[serde(skip)]
    pub password: Option<Password>,
    /// Environment variable that holds the password, when the file names one (`${NAME}`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password_from: Option<String>,
    /// Whether a password was written, so that a resumed experiment can ask for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_password: bool,
}

impl fmt::Display for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}/{}", self.user, self.address, self.database)
    }
}

/// Which CPUs the client and its server get.
///
/// A client and a server that answer each other on different CPUs wake each other for every
/// request, which a virtual machine may charge with ten times the CPU of the work itself.
/// Source: the project's reference, servers, section 0.
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

impl Placement {
    /// Every placement.
    pub const ALL: [Self; 3] = [Self::Free, Self::SameCpu, Self::Split];

    /// Returns the name as written in experiment files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::SameCpu => "same-cpu",
            Self::Split => "split",
        }
    }

    /// Returns whether it is the kernel's choice.
    #[must_use]
    pub fn is_free(&self) -> bool {
        *self == Self::Free
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown_and_never_kept() {
        let dsn = Dsn {
            address: Address::Tcp { host: "db".to_owned(), port: 5432 },
            user: "bench".to_owned(),
            database: "test".to_owned(),
            password: Some(Password("hush".to_owned())),
            password_from: None,
            has_password: true,
        };
        let kept = serde_json::to_string(&dsn).unwrap();
        assert!(!kept.contains("hush") && !format!("{dsn:?} {dsn}").contains("hush"), "{kept}");
        assert_eq!(dsn.to_string(), "bench@db:5432/test");
        let read: Dsn = serde_json::from_str(&kept).unwrap();
        assert!(read.password.is_none() && read.has_password);
    }
}
