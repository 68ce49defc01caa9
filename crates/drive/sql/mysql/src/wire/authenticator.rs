//! Authentication exchange: the server's requests, method by method.

use std::io::{Read, Write};

use model::Endpoint;

use super::ed25519;
use super::failure::{ErrorPacket, Failure};
use super::method::{password_methods, remedy};
use super::packets::Packets;
use super::result::{EOF_HEADER, ERR_HEADER, error_packet, malformed};
use super::scramble::{encrypted, native, sha2};

/// Bytes of a nonce of methods older than `ed25519`.
pub(super) const NONCE_BYTES: usize = 20;
/// Most packets of one login: eight methods in turn, of two requests each.
const PACKETS_MAX: usize = 16;
/// Most characters of a server's question that are shown.
const QUESTION_CHARS: usize = 80;

pub(super) const NATIVE: &[u8] = b"mysql_native_password";
pub(super) const SHA2: &[u8] = b"caching_sha2_password";
/// Servers also name it for unknown users, to hide which exist.
const SHA256: &[u8] = b"sha256_password";
/// Methods that read the socket's owner from the kernel: the response is empty.
const SOCKET: [&[u8]; 2] = [b"auth_socket", b"unix_socket"];
/// The methods of MariaDB with signatures.
const ED25519: &[u8] = b"client_ed25519";
const PARSEC: &[u8] = b"parsec";
/// Methods to which the password itself is sent: for PAM, LDAP and other directories.
const CLEAR_TEXT: &[u8] = b"mysql_clear_password";
const DIALOG: &[u8] = b"dialog";
/// Errors of a login without a method that succeeded.
///
/// Source: MySQL's and MariaDB's error references.
const DENIED: [u16; 4] = [1045, 1251, 1524, 1698];
/// Errors of a user or database that the server does not know, or does not admit.
const UNKNOWN_NAME: [u16; 3] = [1044, 1045, 1049];
/// First byte of a request of a second factor.
const NEXT_FACTOR: u8 = 2;

/// What carries a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Channel {
    /// TCP, which others can read and the server cannot encrypt.
    Plain,
    /// TCP, which others can read and the server could encrypt.
    Encryptable,
    /// A unix socket.
    Unix,
    /// TLS.
    Encrypted,
}

impl Channel {
    /// Returns whether only the server can read what is sent.
    const fn is_secure(self) -> bool {
        matches!(self, Self::Unix | Self::Encrypted)
    }
}

/// The state of an authentication.
pub(super) struct Authenticator<'a> {
    pub(super) endpoint: &'a Endpoint,
    pub(super) channel: Channel,
    /// The server's version, as its greeting states it.
    pub(super) version: &'a str,
    /// The method requested last, and what it was requested with.
    pub(super) plugin: Vec<u8>,
    pub(super) nonce: Vec<u8>,
    pub(super) progress: Progress,
}

/// How the methods that the server requested were answered.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Why the first method that is not spoken here was answered by nothing.
    unanswered: Option<String>,
    /// Whether a method was answered with the password.
    is_answered: bool,
    /// Whether the password was sent in a dialog.
    is_in_dialog: bool,
}

impl Authenticator<'_> {
    fn password(&self) -> &[u8] {
        self.endpoint.password.as_ref().map_or(&[], |password| password.0.as_bytes())
    }

    /// NUL-terminated clear-text password.
    fn clear_text(&self) -> Vec<u8> {
        [self.password(), &[0]].concat()
    }

    /// The nonce of methods older than `ed25519`.
    fn scramble(&self) -> &[u8] {
        self.nonce.get(..NONCE_BYTES).unwrap_or(&self.nonce)
    }

    /// Returns the first response of the method; the reason why there is none otherwise.
    pub(super) fn response(&mut self) -> Result<Vec<u8>, String> {
        match self.plugin.as_slice() {
            NATIVE | b"" => Ok(native(self.password(), self.scramble())),
            SHA2 => Ok(sha2(self.password(), self.scramble())),
            SHA256 if self.channel == Channel::Encrypted || self.password().is_empty() => {
                Ok(self.clear_text())
            }
            // Requests the server's key: to this method a unix socket does not count as secure.
            SHA256 => Ok(vec![1]),
            ED25519 => ed25519::signed(self.password(), &self.nonce)
                .ok_or_else(|| "the server sends no nonce for ed25519".to_owned()),
            // Requests the salt.
            PARSEC => Ok(Vec::new()),
            CLEAR_TEXT if self.channel.is_secure() => Ok(self.clear_text()),
            CLEAR_TEXT | DIALOG if !self.channel.is_secure() => Err(format!(
                "the server requests the password of `{}` in clear text, and the connection is \
                 not encrypted: add ssl-mode=REQUIRED or VERIFY_IDENTITY to the dsn, connect by a \
                 unix socket, or give the account {}",
                self.endpoint.user,
                password_methods(self.version)
            )),
            DIALOG => self.dialog(&self.nonce.clone()),
            other if SOCKET.contains(&other) => Ok(Vec::new()),
            other => Err(format!(
                "the user `{}` logs in by `{}`, which is not supported: give the account {}",
                self.endpoint.user,
                String::from_utf8_lossy(other),
                password_methods(self.version)
            )),
        }
    }

    /// Answers the server's requests until the login ends.
    ///
    /// An account may have several methods, which MariaDB requests in turn until one succeeds: one
    /// that is not spoken here is answered by nothing, and the next is awaited.
    pub(super) fn finish<S: Read + Write>(
        &mut self,
        packets: &mut Packets<S>,
    ) -> Result<(), Failure> {
        for _ in 0..PACKETS_MAX {
            let packet = match packets.next() {
                Ok(packet) => packet,
                Err(error) => return Err(self.unanswered().unwrap_or_else(|| error.into())),
            };
            let response = match packet.split_first() {
                Some((0, _)) => return Ok(()),
                Some((&ERR_HEADER, _)) => return Err(self.refusal(error_packet(packet))),
                Some((&EOF_HEADER, b"")) => {
                    let text =
                        "the server requires a pre-4.1 password: set the user's password again";
                    return Err(Failure::Rejected(text.to_owned()));
                }
                Some((&EOF_HEADER, other)) => Some(self.switch(other)),
                Some((1, more)) => self.more(more)?,
                Some(_) if [DIALOG, PARSEC].contains(&self.plugin.as_slice()) => {
                    self.more(packet)?
                }
                Some((&NEXT_FACTOR, _)) => {
                    return Err(Failure::Rejected(format!(
                        "the user `{}` logs in by several factors, which is not supported: name \
                         a user in the dsn that logs in by a password alone",
                        self.endpoint.user
                    )));
                }
                _ => return Err(malformed("a step of the login")),
            };
            if let Some(response) = response {
                packets.reply().extend_from_slice(&response);
                packets.send()?;
            }
        }
        Err(Failure::Rejected(format!(
            "the server sends more than {PACKETS_MAX} requests for one login: give the account {}",
            password_methods(self.version)
        )))
    }

    /// Returns the response to a request of another method.
    fn switch(&mut self, request: &[u8]) -> Vec<u8> {
        let (plugin, nonce) = until_zero(request).unwrap_or((request, &[]));
        self.plugin = plugin.to_vec();
        self.nonce = nonce.to_vec();
        match self.response() {
            Ok(response) => {
                self.progress.is_answered |= !SOCKET.contains(&self.plugin.as_slice());
                response
            }
            Err(reason) => {
                self.progress.unanswered.get_or_insert(reason);
                Vec::new()
            }
        }
    }

    /// Returns the response to a further request of the method; `None` when none is due.
    fn more(&mut self, more: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        match self.plugin.as_slice() {
            SHA2 => self.sha2_more(more),
            SHA256 => self.encrypted(more).map(Some),
            PARSEC => match ed25519::signed_by_salt(self.password(), &self.nonce, more)? {
                Some(signed) => Ok(Some(signed)),
                None => Err(malformed("the salt of parsec")),
            },
            DIALOG if self.channel.is_secure() => {
                self.dialog(more).map(Some).map_err(Failure::Rejected)
            }
            // What follows a method that was answered by nothing.
            _ if self.progress.unanswered.is_some() => Ok(Some(Vec::new())),
            _ => Err(malformed("a step of the login")),
        }
    }

    /// Returns the password for a question of it; another question has no answer.
    ///
    /// Source: MariaDB's source, `plugin/auth_pam/auth_pam_common.c`: 4 and 5 begin a question
    /// of a password, 2 and 3 one of other text.
    fn dialog(&mut self, question: &[u8]) -> Result<Vec<u8>, String> {
        let (kind, text) = question.split_first().unwrap_or((&4, b""));
        if matches!(kind, 4 | 5) && !self.progress.is_in_dialog {
            self.progress.is_in_dialog = true;
            return Ok(self.clear_text());
        }
        let text = String::from_utf8_lossy(text);
        let shown: String =
            text.trim().chars().filter(|c| !c.is_control()).take(QUESTION_CHARS).collect();
        Err(format!(
            "the login of `{}` requires an answer to `{shown}`, besides a password: name a user in \
             the dsn that logs in by a password alone",
            self.endpoint.user
        ))
    }

    /// Returns the response to the server's lookup in its password cache.
    fn sha2_more(&self, more: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        match more {
            // A cache hit.
            [3] => Ok(None),
            [4] if self.channel.is_secure() => Ok(Some(self.clear_text())),
            [4] => Ok(Some(vec![2])),
            pem => self.encrypted(pem).map(Some),
        }
    }

    /// Returns the password encrypted with the server's key, which nothing verifies.
    ///
    /// Without TLS any program that answers in its place can read it: as MySQL's own clients do,
    /// it is sent to a foreign server on request of the user alone.
    fn encrypted(&self, pem: &[u8]) -> Result<Vec<u8>, Failure> {
        let Endpoint { address, is_foreign, .. } = self.endpoint;
        if *is_foreign && !self.channel.is_secure() && !address.carries_passwords() {
            return Err(Failure::Rejected(format!(
                "the server at {address} requests the password, encrypted by a key that is not \
                 verified: add ssl-mode=REQUIRED to the dsn, connect by a unix socket, or permit \
                 the key by get-server-public-key=1"
            )));
        }
        encrypted(self.password(), self.scramble(), pem)
    }

    /// Returns why the only methods of the account were not answered; `None` when one was.
    fn unanswered(&mut self) -> Option<Failure> {
        let reason = self.progress.unanswered.take().filter(|_| !self.progress.is_answered);
        reason.map(Failure::Rejected)
    }

    /// Returns the failure of a login that the server refuses, with the remedy for this server.
    fn refusal(&mut self, failure: Failure) -> Failure {
        let Failure::Refused(ErrorPacket { number, .. }) = &failure else { return failure };
        if DENIED.contains(number)
            && let Some(unanswered) = self.unanswered()
        {
            return unanswered;
        }
        let has_certificate = self.endpoint.login.certificate.is_some();
        let lacking = match self.channel {
            Channel::Encryptable => Some("TLS, add ssl-mode=REQUIRED"),
            Channel::Encrypted if !has_certificate => {
                Some("a client certificate (X509), add ssl-cert and ssl-key")
            }
            Channel::Plain => Some("TLS, set up TLS on the server (ssl_cert, ssl_key)"),
            Channel::Unix | Channel::Encrypted => None,
        };
        let remedy = remedy(*number, self.version, lacking, self.channel == Channel::Unix);
        let is_named = UNKNOWN_NAME.contains(number) && !has_ascii_names(self.endpoint);
        match (remedy, is_named) {
            (None, false) => failure,
            (Some(remedy), false) => Failure::Rejected(format!("{failure}: {remedy}")),
            (_, true) => Failure::Rejected(format!(
                "{failure}: give the dsn the right user, password and database; the names were sent \
                 as utf8mb4, which a server with skip-character-set-client-handshake ignores"
            )),
        }
    }
}

/// Returns whether the names that a login sends are the same in every character set.
pub(super) fn has_ascii_names(endpoint: &Endpoint) -> bool {
    endpoint.user.is_ascii() && endpoint.database.is_ascii()
}

/// Returns the bytes before the first zero, and those after it.
pub(super) fn until_zero(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}
