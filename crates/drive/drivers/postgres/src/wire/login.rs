//! Logging in: who we are, what we know, and what the server says of itself.

use std::collections::BTreeMap;

use bytes::BytesMut;
use model::{Address, Endpoint};
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{
    AUTHENTICATION_TAG, ERROR_RESPONSE_TAG, PARAMETER_STATUS_TAG, READY_FOR_QUERY_TAG,
};
use postgres_protocol::message::frontend;

use super::complaint::{Complaint, Failure};
use super::inbox::Inbox;
use super::stream::Stream;

/// Most messages of a login: each of some 350 settings could be told, and no server does.
const MESSAGES_MAX: u32 = 1000;

/// What the server asks for, by its number.
///
/// Source: Postgres' documentation, "Message Formats", `Authentication...`.
mod ask {
    pub(super) const NOTHING: u32 = 0;
    pub(super) const CLEARTEXT: u32 = 3;
    pub(super) const MD5: u32 = 5;
    pub(super) const SASL: u32 = 10;
    pub(super) const SASL_CONTINUE: u32 = 11;
    pub(super) const SASL_FINAL: u32 = 12;
}

/// Settings of the server that it tells at login, by name.
pub(super) type Told = BTreeMap<String, String>;

/// Logs in with `settings` in force for the session; returns what the server tells of itself.
pub(super) fn log_in(
    stream: &mut Stream,
    inbox: &mut Inbox,
    endpoint: &Endpoint,
    settings: &[(String, String)],
) -> Result<Told, Failure> {
    let ours = [
        ("user", endpoint.user.as_str()),
        ("database", endpoint.database.as_str()),
        ("application_name", "assay"),
        ("client_encoding", "UTF8"),
    ];
    let theirs = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let mut out = BytesMut::new();
    frontend::startup_message(ours.into_iter().chain(theirs), &mut out)
        .map_err(|error| Failure::Impossible(format!("login: {error}")))?;
    stream.send(&out)?;
    let mut told = Told::new();
    let mut scram = None;
    for _ in 0..MESSAGES_MAX {
        let message = inbox.next(stream)?;
        match message.tag {
            AUTHENTICATION_TAG => {
                out.clear();
                answer(message.body, endpoint, &mut scram, &mut out)?;
                if !out.is_empty() {
                    stream.send(&out)?;
                }
            }
            PARAMETER_STATUS_TAG => {
                let mut words = message.body.split(|byte| *byte == 0).map(String::from_utf8_lossy);
                if let (Some(name), Some(value)) = (words.next(), words.next()) {
                    told.insert(name.into_owned(), value.into_owned());
                }
            }
            ERROR_RESPONSE_TAG => {
                return Err(refusal(Complaint::parse(message.body), &endpoint.address));
            }
            READY_FOR_QUERY_TAG => return Ok(told),
            _ => {}
        }
    }
    Err(Failure::Lost("the login does not end".to_owned()))
}

/// Writes to `out` what the server asks for; nothing when it asks for nothing more.
fn answer(
    body: &[u8],
    endpoint: &Endpoint,
    scram: &mut Option<ScramSha256>,
    out: &mut BytesMut,
) -> Result<(), Failure> {
    let Some((kind, asked)) = body.split_first_chunk::<4>() else {
        return Err(Failure::Lost("the login is no Postgres login".to_owned()));
    };
    match u32::from_be_bytes(*kind) {
        ask::NOTHING => Ok(()),
        ask::CLEARTEXT => Ok(frontend::password_message(password(endpoint)?, out)?),
        ask::MD5 => {
            let salt = asked.first_chunk::<4>().copied().unwrap_or_default();
            let hash = md5_hash(endpoint.user.as_bytes(), password(endpoint)?, salt);
            Ok(frontend::password_message(hash.as_bytes(), out)?)
        }
        ask::SASL => {
            let mut offered = asked.split(|byte| *byte == 0);
            if !offered.any(|name| name == SCRAM_SHA_256.as_bytes()) {
                let asked = asked.escape_ascii();
                return Err(impossible(&format!("the server asks for {asked}")));
            }
            let begun = ScramSha256::new(password(endpoint)?, ChannelBinding::unsupported());
            frontend::sasl_initial_response(SCRAM_SHA_256, begun.message(), out)?;
            *scram = Some(begun);
            Ok(())
        }
        ask::SASL_CONTINUE => {
            let begun = scram.as_mut().ok_or_else(|| impossible("SCRAM was not begun"))?;
            begun.update(asked)?;
            Ok(frontend::sasl_response(begun.message(), out)?)
        }
        ask::SASL_FINAL => {
            let begun = scram.as_mut().ok_or_else(|| impossible("SCRAM was not begun"))?;
            Ok(begun.finish(asked)?)
        }
        kind => Err(impossible(&format!("the server asks for login of kind {kind}"))),
    }
}

fn password(endpoint: &Endpoint) -> Result<&[u8], Failure> {
    endpoint.password.as_ref().map(|password| password.0.as_bytes()).ok_or_else(|| {
        let user = &endpoint.user;
        Failure::Impossible(format!("the server asks for the password of `{user}`: give one"))
    })
}

#[cold]
fn impossible(what: &str) -> Failure {
    Failure::Impossible(format!(
        "{what}: Assay logs in by trust, password, md5 or SCRAM-SHA-256 without TLS"
    ))
}

/// Adds to a refusal what to do where only TLS would help; on a unix socket it never would.
fn refusal(mut complaint: Complaint, address: &Address) -> Failure {
    let words = complaint.message.to_ascii_lowercase();
    let wants_tls = ["no encryption", "ssl off", "ssl connection is required", "ssl is required"];
    let is_tcp = matches!(address, Address::Tcp { .. });
    if is_tcp && wants_tls.iter().any(|want| words.contains(want)) {
        "Assay speaks no TLS: let this login in without it (`host`, not `hostssl`), or use a unix \
         socket"
            .clone_into(&mut complaint.hint);
    }
    Failure::Told(Box::new(complaint))
}

#[cfg(test)]
mod tests {
    use model::Password;

    use super::*;

    fn endpoint(password: Option<&str>) -> Endpoint {
        Endpoint {
            address: Address::Tcp { host: "h".to_owned(), port: 1 },
            user: "postgres".to_owned(),
            password: password.map(|password| Password(password.to_owned())),
            database: "d".to_owned(),
            is_foreign: true,
        }
    }

    fn answered(body: &[u8], password: Option<&str>) -> Result<Vec<u8>, String> {
        let mut out = BytesMut::new();
        answer(body, &endpoint(password), &mut None, &mut out)
            .map(|()| out.to_vec())
            .map_err(|failure| failure.to_string())
    }

    #[test]
    fn each_kind_of_login_is_answered_or_refused_in_words() {
        assert_eq!(answered(b"\0\0\0\0", None), Ok(vec![]));
        assert_eq!(answered(b"\0\0\0\x03", Some("hush")), Ok(b"p\0\0\0\x09hush\0".to_vec()));
        let md5 = answered(b"\0\0\0\x05abcd", Some("hush")).unwrap();
        assert_eq!((md5.len(), &md5[5..8]), (41, &b"md5"[..]));
        let scram = answered(b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0", Some("h"));
        assert!(scram.unwrap().starts_with(b"p\0\0\0"), "begun");
        let refused = answered(b"\0\0\0\x03", None).unwrap_err();
        assert_eq!(refused, "the server asks for the password of `postgres`: give one");
        for body in [&b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0\0"[..], b"\0\0\0\x07", b"\0\0\0\x0b"] {
            let refused = answered(body, Some("h")).unwrap_err();
            assert!(refused.contains("without TLS"), "{refused}");
        }
    }

    #[test]
    fn a_server_that_demands_tls_is_refused_with_the_remedy() {
        let words = "no pg_hba.conf entry for host \"::1\", user \"u\", no encryption";
        let complaint = Complaint { message: words.to_owned(), ..Complaint::default() };
        let address = endpoint(None).address;
        assert!(refusal(complaint, &address).to_string().contains("Assay speaks no TLS"));
    }
}
