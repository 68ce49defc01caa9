//! The encryption that an address states.

use std::path::PathBuf;

use model::server::SYSTEM_ROOTS;
use model::{ClientCertificate, Dialect, Tls};
use reader::error::PlanError;

use super::text::wrong;

/// How much is encrypted and verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    /// Nothing is encrypted.
    Off,
    /// The server may demand encryption.
    Allow,
    /// The server may refuse encryption.
    Prefer,
    /// All is encrypted.
    Require,
    /// The issuer of the certificate is verified.
    Issuer,
    /// The host of the certificate is verified, too.
    Host,
    /// As [`Mode::Host`], by the roots of this machine unless others are named.
    HostOfSystem,
}

/// What the clients of a server family call encryption.
struct Names {
    /// The parameter of the mode.
    mode: &'static str,
    /// The parameter of the roots.
    roots: &'static str,
    /// The mode that verifies issuer and host.
    host: &'static str,
    /// The mode that verifies the issuer.
    issuer: &'static str,
}

/// Source: PostgreSQL documentation, section 34.19; MySQL reference manual, section 6.2.3.
const fn names(dialect: Dialect) -> Names {
    match dialect {
        Dialect::Postgres => Names {
            mode: "sslmode",
            roots: "sslrootcert",
            host: "verify-full",
            issuer: "verify-ca",
        },
        Dialect::Mysql => Names {
            mode: "ssl-mode",
            roots: "ssl-ca",
            host: "VERIFY_IDENTITY",
            issuer: "VERIFY_CA",
        },
    }
}

/// The encryption that an address states.
#[derive(Default)]
pub(super) struct Encryption {
    pub(super) mode: Option<Mode>,
    /// The file of roots, or the word for the roots of this machine.
    pub(super) roots: Option<PathBuf>,
    /// The file of the client's certificate.
    pub(super) chain: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
    /// Whether an unverified server gets the password without encryption.
    pub(super) is_waived: bool,
    /// Switches of older drivers, by [`Switch`](super::parameter::Switch).
    pub(super) switches: [Option<bool>; 3],
}

impl Encryption {
    /// Returns the client's certificate, if it is stated with its key.
    pub(super) fn certificate(&self) -> Result<Option<ClientCertificate>, PlanError> {
        match (self.chain.clone(), self.key.clone()) {
            (Some(chain), Some(key)) => Ok(Some(ClientCertificate { chain, key })),
            (None, None) => Ok(None),
            _ => Err(wrong("a client's certificate needs a key, and a key its certificate")
                .remedy("name both PEM files: sslcert and sslkey, or ssl-cert and ssl-key")),
        }
    }

    /// Returns the encryption of a connection by TCP, if its parts agree.
    pub(super) fn checked(&mut self, dialect: Dialect) -> Result<Tls, PlanError> {
        self.read_switches(dialect)?;
        let Names { mode, roots, host, issuer } = names(dialect);
        let (file, is_system) = match self.roots.clone() {
            Some(path) if path.as_os_str() == SYSTEM_ROOTS => (Some(path), true),
            other => (other, false),
        };
        let useless = || {
            Err(wrong(format!("`{roots}` verifies nothing without `{mode}={host}`"))
                .remedy(format!("add {mode}={host}, or leave {roots} out")))
        };
        let by_default = match (dialect, &file) {
            (_, Some(_)) if is_system => Some(Mode::Host),
            (Dialect::Mysql, Some(_)) => Some(Mode::Issuer),
            _ => None,
        };
        let tls = match (self.mode.or(by_default), file) {
            (Some(Mode::Host | Mode::HostOfSystem), Some(file)) => Tls::Verified(file),
            (Some(Mode::HostOfSystem), None) => Tls::Verified(SYSTEM_ROOTS.into()),
            (Some(weak), Some(_)) if is_system && weak != Mode::Off => {
                return Err(wrong(format!("`{roots}=system` needs `{mode}={host}`")).remedy(
                    "the roots of the system sign for every host: the host must be verified, too",
                ));
            }
            (Some(Mode::Issuer), Some(file)) => Tls::VerifiedIssuer(file),
            // Source: PostgreSQL documentation, section 34.19.1: with roots it is verify-ca.
            (Some(Mode::Require), Some(file)) if dialect == Dialect::Postgres => {
                Tls::VerifiedIssuer(file)
            }
            (_, Some(_)) => return useless(),
            (Some(verified @ (Mode::Issuer | Mode::Host)), None) => {
                let name = if verified == Mode::Host { host } else { issuer };
                return Err(wrong(format!("`{mode}={name}` needs roots to trust")).remedy(
                    format!(
                        "add {roots}=/FILE, or {mode}={host}&{roots}=system for the authorities of \
                     this machine"
                    ),
                ));
            }
            (None | Some(Mode::Off), None) if self.is_waived => Tls::Waived,
            (None | Some(Mode::Off), None) => Tls::Off,
            (Some(Mode::Allow), None) => Tls::Allowed,
            (Some(Mode::Prefer), None) => Tls::Preferred,
            (Some(Mode::Require), None) => Tls::Unverified,
        };
        if self.chain.is_some() && matches!(tls, Tls::Off | Tls::Waived) {
            return Err(wrong("a client's certificate needs an encrypted connection")
                .remedy(format!("add {mode}={host}, or leave the certificate out")));
        }
        Ok(tls)
    }

    /// Checks the encryption of a unix socket, which has none.
    pub(super) fn check_socket(&self) -> Result<(), PlanError> {
        // Clients of Postgres leave out what is only preferred.
        let is_off = matches!(self.mode, None | Some(Mode::Off | Mode::Allow | Mode::Prefer));
        let is_plain = is_off && self.switches.iter().all(|switch| *switch != Some(true));
        if is_plain && self.roots.is_none() && self.chain.is_none() {
            return Ok(());
        }
        Err(wrong("a unix socket is not encrypted")
            .remedy("name a host, or leave the encryption out"))
    }

    /// Takes the mode of the switches of older drivers; a mode that is stated itself must fit them.
    ///
    /// Source: Connector/J developer guide, section 3.5.3, `sslMode`; pgJDBC, "Configuring the
    /// Client", `ssl`; PostgreSQL documentation of 13, section 33.1.2, `requiressl`.
    fn read_switches(&mut self, dialect: Dialect) -> Result<(), PlanError> {
        let [encrypt, _, _] = self.switches;
        let (least, usual) = match self.switches {
            [_, _, Some(true)] => (Mode::Issuer, Mode::Issuer),
            [_, Some(true), _] => (Mode::Require, Mode::Require),
            [Some(true), ..] if dialect == Dialect::Postgres => (Mode::Prefer, Mode::HostOfSystem),
            [Some(true), ..] => (Mode::Prefer, Mode::Prefer),
            [Some(false), ..] => (Mode::Off, Mode::Off),
            [None, ..] => return Ok(()),
        };
        let mode = *self.mode.get_or_insert(usual);
        if mode < least || (encrypt == Some(false) && mode != Mode::Off) {
            let name = names(dialect).mode;
            return Err(wrong("two parameters demand different degrees of encryption")
                .remedy(format!("state the encryption by {name} alone")));
        }
        Ok(())
    }
}
