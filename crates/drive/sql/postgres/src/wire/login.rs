//! Login: start-up message, authentication, server parameters.

use std::collections::BTreeMap;
use std::io::Write;

use bytes::BytesMut;
use driver_sql::{Contact, ReceiveBuffer, Socket};
use model::{AuthMethod, Endpoint};
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
use super::first_answer::await_answer;
use super::message;
use super::method::{authentication, impossible, with_remedy};

/// Most messages of a login: more than the server's 350 parameters.
const MESSAGES_MAX: u32 = 1000;

/// What is not sent without encryption, and the remedy.
const CLEAR_TEXT: &str = "the password in clear text, and the connection is not encrypted: add \
                          sslmode=require or verify-full to the dsn, connect by a unix socket, \
                          or permit clear text by require_auth=password";

/// The parameter with the client's name.
const APPLICATION_NAME: &str = "application_name";

/// Configuration of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Session {
    /// Settings sent at login.
    pub(crate) settings: Vec<(String, String)>,
    /// Schemas in which names are found, each quoted; empty where the login's own are.
    pub(crate) search_path: String,
    /// Whether TOAST compression is off.
    pub(crate) is_uncompressed: bool,
}

/// The state of an authentication, by SCRAM above all.
#[derive(Default)]
struct Scram {
    begun: Option<ScramSha256>,
    /// Whether the server has proved that it knows the password.
    is_finished: bool,
    /// Whether the server has requested a password, by this or another method.
    is_requested: bool,
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

/// Sends the first message of a login, with session `settings`.
fn send_startup(
    stream: &mut Socket,
    endpoint: &Endpoint,
    settings: &[(String, String)],
) -> Result<(), Failure> {
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
    await_answer(stream, receive_buffer, endpoint, contact)?;
    let mut out = BytesMut::new();
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
    Err(Failure::Lost(format!("the login does not end after {MESSAGES_MAX} messages")))
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
    check_method(kind, endpoint, scram)?;
    match kind {
        // Source: RFC 5802, section 3: the client must verify the server's signature.
        authentication::NOTHING if scram.begun.is_some() && !scram.is_finished => {
            let why = "accepts a login by SCRAM without a proof that it knows the password";
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
            let begun = begun.ok_or_else(unexpected)?;
            begun.update(data)?;
            Ok(frontend::sasl_response(begun.message(), out)?)
        }
        authentication::SASL_FINAL => {
            let begun = scram.begun.as_mut();
            begun.ok_or_else(unexpected)?.finish(data)?;
            scram.is_finished = true;
            Ok(())
        }
        kind => Err(impossible(endpoint, kind, data)),
    }
}

/// Checks that the dsn permits the method of an authentication request.
fn check_method(kind: u32, endpoint: &Endpoint, scram: &mut Scram) -> Result<(), Failure> {
    let method = match kind {
        authentication::NOTHING if !scram.is_requested => AuthMethod::None,
        authentication::CLEARTEXT => AuthMethod::Password,
        authentication::MD5 => AuthMethod::Md5,
        authentication::SASL => AuthMethod::Scram,
        _ => return Ok(()),
    };
    scram.is_requested = true;
    let permitted = &endpoint.login.methods;
    if permitted.is_empty() || permitted.contains(&method) {
        return Ok(());
    }
    let names: Vec<_> = permitted.iter().map(|it| it.name()).collect();
    Err(Failure::Rejected(format!(
        "the server at {} logs `{}` in by the method {method}, and the dsn permits {} alone: change \
         require_auth in the dsn, or the line for this role in pg_hba.conf",
        endpoint.address,
        endpoint.user,
        names.join(", ")
    )))
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
        return Err(match is_bound {
            true => unbound("offers no channel binding"),
            false => impossible(endpoint, authentication::SASL, offered),
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
        "the server {why}, and the dsn demands channel_binding=require: leave channel_binding \
         out of the dsn, or give the user a password by SCRAM-SHA-256 and the server a \
         certificate"
    ))
}

#[cold]
fn unexpected() -> Failure {
    Failure::Lost("a SCRAM message came too early: the server is not Postgres".to_owned())
}

fn password(endpoint: &Endpoint) -> Result<&[u8], Failure> {
    endpoint.password.as_ref().map(|password| password.0.as_bytes()).ok_or_else(|| {
        let user = &endpoint.user;
        let remedy = "give the password in the dsn, as ${ASSAY_PASSWORD_NAME}";
        Failure::Rejected(format!("the server requires the password of `{user}`: {remedy}"))
    })
}

#[cfg(test)]
mod tests {
    use model::{Address, Password, Tls};

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
        assert!(refused.starts_with("the server requires the password of `postgres`: give the"));
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
        assert!(answered(b"\0\0\0\x0b", Some("h")).unwrap_err().contains("is not Postgres"));
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
    fn a_method_that_the_dsn_does_not_permit_is_refused() {
        let login = model::LoginOptions { methods: vec![AuthMethod::Scram], ..Default::default() };
        let known = Endpoint { login, ..endpoint(Some("hush")) };
        let answered = |body: &[u8]| {
            let mut out = BytesMut::new();
            answer(body, &known, &mut Scram::default(), &mut out).map(|()| out.to_vec())
        };
        assert!(answered(b"\0\0\0\x0aSCRAM-SHA-256\0\0").is_ok());
        for (body, method) in
            [(&b"\0\0\0\0"[..], "none"), (b"\0\0\0\x03", "password"), (b"\0\0\0\x05abcd", "md5")]
        {
            let refused = answered(body).unwrap_err().to_string();
            let expected = format!("by the method {method}, and the dsn permits scram-sha-256");
            assert!(refused.contains(&expected), "{refused}");
        }
        // The end of an exchange by MD5 has no method of its own.
        let login = model::LoginOptions { methods: vec![AuthMethod::Md5], ..Default::default() };
        let (known, mut scram) = (Endpoint { login, ..known }, Scram::default());
        for body in [&b"\0\0\0\x05abcd"[..], b"\0\0\0\0"] {
            assert!(answer(body, &known, &mut scram, &mut BytesMut::new()).is_ok());
        }
    }

    #[test]
    fn a_login_without_the_proof_of_the_server_is_refused() {
        let (known, mut scram, mut out) =
            (endpoint(Some("hush")), Scram::default(), BytesMut::new());
        let mut answered = |body: &[u8]| answer(body, &known, &mut scram, &mut out);
        answered(b"\0\0\0\x0aSCRAM-SHA-256\0\0").unwrap();
        let refused = answered(b"\0\0\0\0").unwrap_err().to_string();
        assert!(refused.contains("without a proof"), "{refused}");
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
