//! Login: start-up message, authentication, server parameters.

use std::collections::BTreeMap;
use std::io::Write;

use bytes::BytesMut;
use driver_sql::{Contact, ReceiveBuffer, Socket};
use model::{Address, Endpoint};
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{
    AUTHENTICATION_TAG, BACKEND_KEY_DATA_TAG, ERROR_RESPONSE_TAG, PARAMETER_STATUS_TAG,
    READY_FOR_QUERY_TAG,
};
use postgres_protocol::message::frontend;

use super::failure::{ErrorResponse, Failure};
use super::first_answer::await_answer;
use super::message;
use super::method::{authentication, impossible, with_remedy};

/// Most messages of a login: more than the server's 350 parameters.
const MESSAGES_MAX: u32 = 1000;
/// Port in a socket's name when only its directory is given.
///
/// Source: Postgres' documentation, "Connections and Authentication", `port`.
const DEFAULT_PORT: u16 = 5432;

/// What is not sent without encryption, and the remedy.
const CLEAR_TEXT: &str = "the password in clear text, and the connection is not encrypted: add \
                          sslmode=require or verify-full to the dsn, connect by a unix socket, or \
                          permit it by require_auth=password";

/// Parameters that the server reports at login, by name.
pub(super) type ServerParameters = BTreeMap<String, String>;

/// What a server reports at login.
#[derive(Debug, Default)]
pub(super) struct LoggedIn {
    pub(super) parameters: ServerParameters,
    /// Its process for the connection; `None` in compatible systems without one.
    pub(super) process: Option<u64>,
}

/// Returns the address with the socket's file, also for its directory.
pub(super) fn with_socket_file(address: &Address) -> Address {
    match address {
        Address::Socket(path) if path.is_dir() => {
            Address::Socket(path.join(format!(".s.PGSQL.{DEFAULT_PORT}")))
        }
        Address::Socket(_) | Address::Tcp { .. } => address.clone(),
    }
}

/// Sends the first message of a login, with session `settings`.
fn send_startup(
    stream: &mut Socket,
    endpoint: &Endpoint,
    settings: &[(String, String)],
) -> Result<(), Failure> {
    let ours = [
        ("user", endpoint.user.as_str()),
        ("database", endpoint.database.as_str()),
        ("application_name", "assay"),
        ("client_encoding", "UTF8"),
    ];
    let theirs = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut out = BytesMut::new();
    frontend::startup_message(ours.into_iter().chain(theirs), &mut out)
        .map_err(|error| Failure::Rejected(format!("login: {error}")))?;
    Ok(stream.write_all(&out)?)
}

/// Logs in with session `settings`.
pub(super) fn log_in(
    stream: &mut Socket,
    receive_buffer: &mut ReceiveBuffer,
    endpoint: &Endpoint,
    settings: &[(String, String)],
    contact: Contact,
) -> Result<LoggedIn, Failure> {
    send_startup(stream, endpoint, settings)?;
    await_answer(stream, receive_buffer, &with_socket_file(&endpoint.address), contact)?;
    let mut out = BytesMut::new();
    let mut logged_in = LoggedIn::default();
    let mut scram = None;
    for _ in 0..MESSAGES_MAX {
        let message = message::next(receive_buffer, stream)?;
        match message.tag {
            AUTHENTICATION_TAG => {
                out.clear();
                answer(message.body, endpoint, &mut scram, &mut out)?;
                if !out.is_empty() {
                    stream.write_all(&out)?;
                }
            }
            PARAMETER_STATUS_TAG => {
                let mut message =
                    message.body.split(|byte| *byte == 0).map(String::from_utf8_lossy);
                if let (Some(name), Some(value)) = (message.next(), message.next()) {
                    logged_in.parameters.insert(name.into_owned(), value.into_owned());
                }
            }
            ERROR_RESPONSE_TAG => {
                return Err(with_remedy(ErrorResponse::parse(message.body), endpoint));
            }
            BACKEND_KEY_DATA_TAG => {
                let process = message.body.first_chunk::<4>();
                logged_in.process = process.map(|id| u64::from(u32::from_be_bytes(*id)));
            }
            READY_FOR_QUERY_TAG => return Ok(logged_in),
            _ => {}
        }
    }
    Err(Failure::Lost("the login does not end".to_owned()))
}

/// Writes the response to an authentication request; nothing when none is due.
fn answer(
    body: &[u8],
    endpoint: &Endpoint,
    scram: &mut Option<ScramSha256>,
    out: &mut BytesMut,
) -> Result<(), Failure> {
    let Some((kind, data)) = body.split_first_chunk::<4>() else {
        return Err(Failure::Lost("not a Postgres login".to_owned()));
    };
    match u32::from_be_bytes(*kind) {
        authentication::NOTHING => Ok(()),
        authentication::CLEARTEXT if !endpoint.address.carries_passwords() => {
            let address = &endpoint.address;
            Err(Failure::Rejected(format!("the server at {address} requests {CLEAR_TEXT}")))
        }
        authentication::CLEARTEXT => Ok(frontend::password_message(password(endpoint)?, out)?),
        authentication::MD5 => {
            let salt = data.first_chunk::<4>().copied().unwrap_or_default();
            let hash = md5_hash(endpoint.user.as_bytes(), password(endpoint)?, salt);
            Ok(frontend::password_message(hash.as_bytes(), out)?)
        }
        authentication::SASL => {
            let mut offered = data.split(|byte| *byte == 0);
            if !offered.any(|name| name == SCRAM_SHA_256.as_bytes()) {
                return Err(impossible(endpoint, authentication::SASL, data));
            }
            let begun = ScramSha256::new(password(endpoint)?, ChannelBinding::unsupported());
            frontend::sasl_initial_response(SCRAM_SHA_256, begun.message(), out)?;
            *scram = Some(begun);
            Ok(())
        }
        authentication::SASL_CONTINUE => {
            let begun = scram.as_mut().ok_or_else(unexpected)?;
            begun.update(data)?;
            Ok(frontend::sasl_response(begun.message(), out)?)
        }
        authentication::SASL_FINAL => {
            let begun = scram.as_mut().ok_or_else(unexpected)?;
            Ok(begun.finish(data)?)
        }
        kind => Err(impossible(endpoint, kind, data)),
    }
}

#[cold]
fn unexpected() -> Failure {
    Failure::Lost("a SCRAM message before its exchange: not a Postgres login".to_owned())
}

fn password(endpoint: &Endpoint) -> Result<&[u8], Failure> {
    endpoint.password.as_ref().map(|password| password.0.as_bytes()).ok_or_else(|| {
        let user = &endpoint.user;
        Failure::Rejected(format!("the server requires the password of `{user}`: give one"))
    })
}

#[cfg(test)]
mod tests {
    use model::{Password, Tls};

    use super::*;

    fn endpoint(password: Option<&str>) -> Endpoint {
        Endpoint {
            address: Address::tcp("h", 1),
            user: "postgres".to_owned(),
            password: password.map(|password| Password(password.to_owned())),
            database: "d".to_owned(),
            is_foreign: true,
        }
    }

    fn answered(body: &[u8], password: Option<&str>) -> Result<Vec<u8>, String> {
        answered_at(Tls::Waived, body, password)
    }

    fn answered_at(tls: Tls, body: &[u8], password: Option<&str>) -> Result<Vec<u8>, String> {
        let mut out = BytesMut::new();
        let address = Address::Tcp { host: "h".to_owned(), port: 1, tls };
        answer(body, &Endpoint { address, ..endpoint(password) }, &mut None, &mut out)
            .map(|()| out.to_vec())
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn each_authentication_method_is_answered_or_rejected() {
        assert_eq!(answered(b"\0\0\0\0", None), Ok(vec![]));
        assert_eq!(answered(b"\0\0\0\x03", Some("hush")), Ok(b"p\0\0\0\x09hush\0".to_vec()));
        let md5 = answered(b"\0\0\0\x05abcd", Some("hush")).unwrap();
        assert_eq!((md5.len(), &md5[5..8]), (41, &b"md5"[..]));
        let scram = answered(b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0", Some("h"));
        assert!(scram.unwrap().starts_with(b"p\0\0\0"), "begun");
        let refused = answered(b"\0\0\0\x03", None).unwrap_err();
        assert_eq!(refused, "the server requires the password of `postgres`: give one");
        for (body, name) in [
            (&b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0\0"[..], "channel binding"),
            (b"\0\0\0\x0aOAUTHBEARER\0\0", "OAuth"),
            (b"\0\0\0\x07", "gss (Kerberos)"),
            (b"\0\0\0\x09", "sspi"),
            (b"\0\0\0\x63", "number 99"),
        ] {
            let refused = answered(body, Some("h")).unwrap_err();
            assert!(refused.contains(name) && refused.contains("pg_hba.conf"), "{refused}");
        }
        assert!(answered(b"\0\0\0\x0b", Some("h")).unwrap_err().contains("not a Postgres login"));
    }

    #[test]
    fn no_password_is_sent_in_clear_text_without_encryption() {
        let clear = |tls| answered_at(tls, b"\0\0\0\x03", Some("hush"));
        let refused = clear(Tls::Off).unwrap_err();
        assert!(refused.starts_with("the server at h:1 requests the password in"), "{refused}");
        for tls in [Tls::Unverified, Tls::Waived] {
            assert_eq!(clear(tls), Ok(b"p\0\0\0\x09hush\0".to_vec()));
        }
        let md5 = answered_at(Tls::Off, b"\0\0\0\x05abcd", Some("hush")).unwrap();
        assert!(!md5.windows(4).any(|bytes| bytes == b"hush"));
    }
}
