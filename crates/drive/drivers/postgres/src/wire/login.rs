//! Login: start-up message, authentication, server parameters.

use std::collections::BTreeMap;
use std::io::{Read, Write};

use bytes::BytesMut;
use driver_sql::{ReceiveBuffer, Socket};
use model::{Address, Endpoint};
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use postgres_protocol::message::backend::{
    AUTHENTICATION_TAG, BACKEND_KEY_DATA_TAG, ERROR_RESPONSE_TAG, PARAMETER_STATUS_TAG,
    READY_FOR_QUERY_TAG,
};
use postgres_protocol::message::frontend;

use super::failure::{ErrorResponse, Failure};
use super::message;

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

/// The parameter with the client's name.
const APPLICATION_NAME: &str = "application_name";

/// Authentication request codes.
///
/// Source: Postgres' documentation, "Message Formats", `Authentication...`.
mod authentication {
    pub(super) const NOTHING: u32 = 0;
    pub(super) const CLEARTEXT: u32 = 3;
    pub(super) const MD5: u32 = 5;
    pub(super) const SASL: u32 = 10;
    pub(super) const SASL_CONTINUE: u32 = 11;
    pub(super) const SASL_FINAL: u32 = 12;
}

/// The state of an authentication by SCRAM.
#[derive(Default)]
struct Scram {
    begun: Option<ScramSha256>,
    /// Whether the server has proved that it knows the password.
    is_finished: bool,
    /// The hash of the server's certificate, where the connection is encrypted.
    end_point: Option<Vec<u8>>,
}

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
fn with_socket_file(address: &Address) -> Address {
    match address {
        Address::Socket(path) if path.is_dir() => {
            Address::Socket(path.join(format!(".s.PGSQL.{DEFAULT_PORT}")))
        }
        Address::Socket(_) | Address::Tcp { .. } => address.clone(),
    }
}

/// Connects, encrypted if the address demands it.
pub(super) fn connect(endpoint: &Endpoint) -> Result<Socket, Failure> {
    let mut stream = Socket::connect(&with_socket_file(&endpoint.address), &endpoint.login)?;
    encrypt(&mut stream, endpoint)?;
    Ok(stream)
}

/// Encrypts the connection, if its address demands it.
///
/// One byte is read, and not into the buffer: what follows it unencrypted is never taken for an
/// answer of the server.
///
/// Source: Postgres' documentation, "Message Flow", "SSL Session Encryption".
fn encrypt(stream: &mut Socket, endpoint: &Endpoint) -> Result<(), Failure> {
    let Endpoint { address, login, .. } = endpoint;
    if !address.is_encrypted() {
        return Ok(());
    }
    let mut out = BytesMut::new();
    frontend::ssl_request(&mut out);
    stream.write_all(&out)?;
    let mut answer = [0];
    stream.read_exact(&mut answer)?;
    if answer != *b"S" {
        return Err(Failure::Rejected(format!("the server at {address} has no TLS (ssl = off)")));
    }
    let failed = |error| Failure::Rejected(format!("TLS with {address}: {error}"));
    stream.encrypt(address, login).map_err(failed)
}

/// Logs in with session `settings`.
pub(super) fn log_in(
    stream: &mut Socket,
    receive_buffer: &mut ReceiveBuffer,
    endpoint: &Endpoint,
    settings: &[(String, String)],
) -> Result<LoggedIn, Failure> {
    let stated = &endpoint.login.session;
    let name = stated.get(APPLICATION_NAME).map_or("assay", String::as_str);
    let ours = [
        ("user", endpoint.user.as_str()),
        ("database", endpoint.database.as_str()),
        (APPLICATION_NAME, name),
        ("client_encoding", "UTF8"),
    ];
    let of_address = stated.iter().filter(|(name, _)| *name != APPLICATION_NAME);
    let of_variant = settings.iter().map(|(name, value)| (name, value));
    let others = of_address.chain(of_variant).map(|(name, value)| (name.as_str(), value.as_str()));
    let mut out = BytesMut::new();
    frontend::startup_message(ours.into_iter().chain(others), &mut out)
        .map_err(|error| Failure::Rejected(format!("login: {error}")))?;
    stream.write_all(&out)?;
    let mut logged_in = LoggedIn::default();
    let mut scram = Scram { end_point: stream.end_point(), ..Scram::default() };
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
                return Err(with_remedy(ErrorResponse::parse(message.body), &endpoint.address));
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
    scram: &mut Scram,
    out: &mut BytesMut,
) -> Result<(), Failure> {
    let Some((kind, data)) = body.split_first_chunk::<4>() else {
        return Err(Failure::Lost("not a Postgres login".to_owned()));
    };
    let kind = u32::from_be_bytes(*kind);
    let is_bound = match kind {
        authentication::NOTHING => scram.is_finished,
        authentication::CLEARTEXT | authentication::MD5 => false,
        _ => true,
    };
    if endpoint.login.binds_channel && !is_bound {
        return Err(unbound("does not log in by SCRAM"));
    }
    match kind {
        // Source: RFC 5802, section 3: the client must verify the server's signature.
        authentication::NOTHING if scram.begun.is_some() && !scram.is_finished => {
            let why = "accepts a login by SCRAM without its proof that it knows the password";
            Err(Failure::Rejected(format!("the server at {} {why}", endpoint.address)))
        }
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
        authentication::SASL => begin(data, endpoint, scram, out),
        authentication::SASL_CONTINUE => {
            let begun = scram.begun.as_mut();
            let begun = begun.ok_or_else(|| impossible("unexpected SCRAM message"))?;
            begun.update(data)?;
            Ok(frontend::sasl_response(begun.message(), out)?)
        }
        authentication::SASL_FINAL => {
            let begun = scram.begun.as_mut();
            begun.ok_or_else(|| impossible("unexpected SCRAM message"))?.finish(data)?;
            scram.is_finished = true;
            Ok(())
        }
        kind => Err(impossible(&format!("the server requires authentication method {kind}"))),
    }
}

/// Begins an authentication by one of the methods that the server offers.
fn begin(
    offered: &[u8],
    endpoint: &Endpoint,
    scram: &mut Scram,
    out: &mut BytesMut,
) -> Result<(), Failure> {
    let offers = |method: &str| offered.split(|byte| *byte == 0).any(|it| it == method.as_bytes());
    let is_bound = endpoint.login.binds_channel;
    let method = if is_bound { SCRAM_SHA_256_PLUS } else { SCRAM_SHA_256 };
    if !offers(method) {
        let offered = offered.escape_ascii();
        return Err(match is_bound {
            true => unbound("offers no channel binding"),
            false => impossible(&format!("the server requires {offered}")),
        });
    }
    let binding = match scram.end_point.clone() {
        _ if !is_bound => ChannelBinding::unsupported(),
        Some(hash) => ChannelBinding::tls_server_end_point(hash),
        None => return Err(unbound("has a certificate that no login can be bound to")),
    };
    let begun = ScramSha256::new(password(endpoint)?, binding);
    frontend::sasl_initial_response(method, begun.message(), out)?;
    scram.begun = Some(begun);
    Ok(())
}

/// Returns the error of a server to which a login cannot be bound.
#[cold]
fn unbound(why: &str) -> Failure {
    Failure::Rejected(format!(
        "the server {why}, and the dsn demands channel_binding=require: leave it out of the dsn, \
         or give the user a password by SCRAM-SHA-256 and the server a certificate"
    ))
}

fn password(endpoint: &Endpoint) -> Result<&[u8], Failure> {
    endpoint.password.as_ref().map(|password| password.0.as_bytes()).ok_or_else(|| {
        let user = &endpoint.user;
        Failure::Rejected(format!("the server requires the password of `{user}`: give one"))
    })
}

#[cold]
fn impossible(what: &str) -> Failure {
    Failure::Rejected(format!(
        "{what}: Assay logs in by trust, password, md5 or SCRAM-SHA-256, and by \
         SCRAM-SHA-256-PLUS with channel_binding=require"
    ))
}

/// Adds the remedy to an error that requires TLS, without it only, and to one of a pooler.
///
/// Source: `PgBouncer`'s source, `set_startup_options` in `client.c`.
fn with_remedy(mut error_response: ErrorResponse, address: &Address) -> Failure {
    let message = error_response.message.to_ascii_lowercase();
    let tls_messages =
        ["no encryption", "ssl off", "ssl connection is required", "ssl is required"];
    let is_plain = matches!(address, Address::Tcp { .. }) && !address.is_encrypted();
    if is_plain && tls_messages.iter().any(|text| message.contains(text)) {
        "add ?sslmode=require to the dsn, or sslmode=verify-full with sslrootcert=FILE"
            .clone_into(&mut error_response.hint);
    }
    if message.starts_with("unsupported startup parameter") {
        "a pooler answers: name the server itself in the dsn, or list the parameter in \
         ignore_startup_parameters of PgBouncer and set it for the role or the database"
            .clone_into(&mut error_response.hint);
    }
    Failure::Refused(Box::new(error_response))
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
            login: model::LoginOptions::default(),
        }
    }

    fn answered(body: &[u8], password: Option<&str>) -> Result<Vec<u8>, String> {
        answered_at(Tls::Waived, body, password)
    }

    fn answered_at(tls: Tls, body: &[u8], password: Option<&str>) -> Result<Vec<u8>, String> {
        let mut out = BytesMut::new();
        let address = Address::Tcp { host: "h".to_owned(), port: 1, tls };
        answer(body, &Endpoint { address, ..endpoint(password) }, &mut Scram::default(), &mut out)
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
        for body in [&b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0\0"[..], b"\0\0\0\x07", b"\0\0\0\x0b"] {
            let refused = answered(body, Some("h")).unwrap_err();
            assert!(refused.contains("Assay logs in by"), "{refused}");
        }
    }

    #[test]
    fn a_login_that_must_be_bound_is_bound_or_refused() {
        let login = model::LoginOptions { binds_channel: true, ..Default::default() };
        let bound = Endpoint { login, ..endpoint(Some("hush")) };
        let answered = |body: &[u8], end_point: Option<&[u8]>| {
            let mut scram = Scram { end_point: end_point.map(<[u8]>::to_vec), ..Scram::default() };
            let mut out = BytesMut::new();
            answer(body, &bound, &mut scram, &mut out).map(|()| out.to_vec())
        };
        let plus = b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";
        let begun = answered(plus, Some(b"hash")).unwrap();
        let named = b"SCRAM-SHA-256-PLUS\0";
        assert!(begun.windows(named.len()).any(|bytes| bytes == named));
        let refused = |body: &[u8], hash| answered(body, hash).unwrap_err().to_string();
        for body in [&b"\0\0\0\0"[..], b"\0\0\0\x03", b"\0\0\0\x05abcd"] {
            assert!(refused(body, Some(b"hash")).contains("does not log in by SCRAM"));
        }
        let plain = b"\0\0\0\x0aSCRAM-SHA-256\0\0";
        assert!(refused(plain, Some(b"hash")).contains("offers no channel binding"));
        assert!(refused(plus, None).contains("has a certificate that"));
    }

    #[test]
    fn a_login_without_the_proof_of_the_server_is_refused() {
        let (known, mut scram, mut out) =
            (endpoint(Some("hush")), Scram::default(), BytesMut::new());
        let mut answered = |body: &[u8]| answer(body, &known, &mut scram, &mut out);
        answered(b"\0\0\0\x0aSCRAM-SHA-256\0\0").unwrap();
        let refused = answered(b"\0\0\0\0").unwrap_err().to_string();
        assert!(refused.contains("without its proof"), "{refused}");
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

    #[test]
    fn an_error_of_a_login_has_the_remedy() {
        let address = endpoint(None).address;
        for (message, remedy) in [
            (
                "no pg_hba.conf entry for host \"::1\", user \"u\", no encryption",
                "?sslmode=require",
            ),
            ("unsupported startup parameter: synchronous_commit", "name the server itself"),
        ] {
            let error = ErrorResponse { message: message.to_owned(), ..ErrorResponse::default() };
            let text = with_remedy(error, &address).to_string();
            assert!(text.contains(remedy), "{text}");
        }
    }
}
