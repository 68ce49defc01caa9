//! The first answer of a server: whether it is of this protocol.

use std::io::{Read, Write};

use bytes::BytesMut;
use driver_sql::{Contact, PeerProtocol, ReceiveBuffer, Socket};
use model::{Address, Endpoint};
use postgres_protocol::message::backend::{
    AUTHENTICATION_TAG, ERROR_RESPONSE_TAG, NOTICE_RESPONSE_TAG,
};
use postgres_protocol::message::frontend;

use super::failure::{ErrorResponse, Failure};
use super::message::HEADER_BYTES;

/// Port in a socket's name when only its directory is given.
///
/// Source: Postgres' documentation, "Connections and Authentication", `port`.
const DEFAULT_PORT: u16 = 5432;
/// Tag of a server that speaks an older version of the protocol.
const NEGOTIATE_TAG: u8 = b'v';
/// Longest first message, bytes; an error that is longer is text without a length.
///
/// Source: Postgres' source, `MAX_ERRLEN` in `fe-connect.c`.
const FIRST_BYTES_MAX: u32 = 30_000;
/// Most bytes of an error without a length that are read.
const TEXT_BYTES_MAX: usize = 1024;

/// Returns the address with the socket's file, also for its directory.
fn with_socket_file(address: &Address) -> Address {
    match address {
        Address::Socket(path) if path.is_dir() => {
            Address::Socket(path.join(format!(".s.PGSQL.{DEFAULT_PORT}")))
        }
        Address::Socket(_) | Address::Tcp { .. } => address.clone(),
    }
}

/// Connects, and encrypts the connection if its address demands it.
pub(super) fn connect(endpoint: &Endpoint, contact: Contact) -> Result<Socket, Failure> {
    let address = with_socket_file(&endpoint.address);
    let mut stream = Socket::connect(&address, &endpoint.login, contact)
        .map_err(|error| Failure::Lost(format!("no server answers at {address}: {error}")))?;
    encrypt(&mut stream, endpoint, contact)?;
    Ok(stream)
}

/// Encrypts the connection, if its address demands it.
///
/// One byte is read, and not into the buffer: what follows it unencrypted is never taken for an
/// answer of the server.
///
/// Source: Postgres' documentation, "Message Flow", "SSL Session Encryption".
fn encrypt(stream: &mut Socket, endpoint: &Endpoint, contact: Contact) -> Result<(), Failure> {
    let Endpoint { address, login, .. } = endpoint;
    if !address.is_encrypted() {
        return Ok(());
    }
    let mut out = BytesMut::new();
    frontend::ssl_request(&mut out);
    stream.write_all(&out)?;
    let mut answer = [0];
    let read = stream.read_exact(&mut answer);
    match (read, &answer) {
        (Ok(()), b"S") => {}
        (Ok(()), b"N") => {
            let text = format!("the server at {address} has no TLS (ssl = off)");
            return Err(Failure::Rejected(text));
        }
        (Ok(()), b"E") => {
            let mut text = [0; TEXT_BYTES_MAX];
            let bytes = stream.read(&mut text).unwrap_or_default();
            return Err(match &text[..bytes] {
                // With a length, as later errors.
                [0, 0, _, _, fields @ ..] => {
                    Failure::Refused(Box::new(ErrorResponse::parse(fields)))
                }
                text => failed_to_start(address, text),
            });
        }
        (Ok(()), first) => {
            let mut more = [0; TEXT_BYTES_MAX];
            let bytes = stream.read(&mut more).unwrap_or_default();
            let received = [&first[..], &more[..bytes]].concat();
            return Err(Failure::Rejected(
                PeerProtocol::Postgres.describe(address, &received, None),
            ));
        }
        (Err(error), _) => return Err(unanswered(address, &[], &error, contact)),
    }
    stream.expect_slow_steps(login)?;
    let failed = |error| Failure::Rejected(format!("TLS with {address}: {error}"));
    stream.encrypt(address, login).map_err(failed)
}

/// Awaits the first message, and names what sends something else or nothing on a first contact.
pub(super) fn await_answer(
    stream: &mut Socket,
    receive_buffer: &mut ReceiveBuffer,
    endpoint: &Endpoint,
    contact: Contact,
) -> Result<(), Failure> {
    let address = &with_socket_file(&endpoint.address);
    let awaited = receive_buffer.fetch(stream, HEADER_BYTES);
    if let Err(error) = awaited {
        return Err(unanswered(address, receive_buffer.unread(), &error, contact));
    }
    let received = receive_buffer.unread();
    if is_message(received) {
        return Ok(stream.expect_slow_steps(&endpoint.login)?);
    }
    if received.first() != Some(&ERROR_RESPONSE_TAG) {
        let text = PeerProtocol::Postgres.describe(address, received, None);
        return Err(Failure::Rejected(text));
    }
    // Text up to a zero or the end of the connection.
    while !receive_buffer.unread().contains(&0)
        && receive_buffer.unread().len() < TEXT_BYTES_MAX
        && receive_buffer.read_once(stream).is_ok()
    {}
    Err(failed_to_start(address, &receive_buffer.unread()[1..]))
}

/// Returns whether bytes begin a message that may be the first of a server.
fn is_message(bytes: &[u8]) -> bool {
    let Some((&[tag], length)) = bytes.split_first_chunk::<1>() else { return false };
    let length = length.first_chunk::<4>().map(|bytes| u32::from_be_bytes(*bytes));
    let may_be_first =
        [AUTHENTICATION_TAG, ERROR_RESPONSE_TAG, NOTICE_RESPONSE_TAG, NEGOTIATE_TAG].contains(&tag);
    may_be_first && length.is_some_and(|length| (4..FIRST_BYTES_MAX).contains(&length))
}

/// Returns the failure of a connection without a first answer.
#[cold]
fn unanswered(
    address: &Address,
    received: &[u8],
    error: &std::io::Error,
    contact: Contact,
) -> Failure {
    match contact {
        Contact::Known => Failure::Lost(format!("no answer of {address}: {error}")),
        Contact::First => {
            Failure::Rejected(PeerProtocol::Postgres.describe(address, received, Some(error)))
        }
    }
}

/// Returns the failure of a server that could start no process for the connection.
///
/// It sends text without a length, as all errors were in version 2 of the protocol.
///
/// Source: Postgres' source, `report_fork_failure_to_client` in `postmaster.c`.
#[cold]
fn failed_to_start(address: &Address, text: &[u8]) -> Failure {
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    Failure::Lost(format!(
        "the server at {address} answers `{}`: raise the number of processes that its account may \
         have (ulimit -u, the pids limit of its container), or use fewer clients",
        text.trim()
    ))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::*;

    /// Awaits the answer of a server that sends these bytes in parts, and closes.
    fn awaited(parts: &'static [&'static [u8]]) -> Result<(), Failure> {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let server =
            thread::spawn(move || parts.iter().for_each(|it| theirs.write_all(it).unwrap()));
        let mut buffer = ReceiveBuffer::new(64);
        let endpoint = Endpoint {
            address: Address::Socket("/dev/null/none".into()),
            user: "u".to_owned(),
            password: None,
            database: "d".to_owned(),
            is_foreign: true,
            login: model::LoginOptions::default(),
        };
        let done = await_answer(&mut Socket::Unix(ours), &mut buffer, &endpoint, Contact::First);
        server.join().unwrap();
        done
    }

    /// What a server sends that could start no process, at once and in parts.
    const WHOLE: &[&[u8]] =
        &[b"Ecould not fork new process for connection: Resource temporarily unavailable\n\0"];
    const IN_PARTS: &[&[u8]] = &[
        b"E",
        b"could not fork new process for",
        b" connection: Resource temporarily unavailable",
    ];

    #[test]
    fn an_error_without_a_length_is_shown_as_it_is() {
        let text = "could not fork new process for connection: Resource temporarily unavailable";
        for parts in [WHOLE, IN_PARTS] {
            let Err(Failure::Lost(error)) = awaited(parts) else { panic!("it is lost") };
            assert!(error.contains(&format!("`{text}`: raise the number of processes")), "{error}");
        }
    }

    #[test]
    fn the_first_message_is_one_of_a_login() {
        for first in [&b"R\0\0\0\x08\0\0\0\0"[..], b"E\0\0\0\x20SFATAL\0", b"v\0\0\0\x0c"] {
            assert!(is_message(first), "{first:?}");
        }
        for other in [&b"\x4a\0\0\0\x0a8"[..], b"HTTP/1.1", b"R\xff\xff\xff\xff", b"E\0\0\0\x01"] {
            assert!(!is_message(other), "{other:?}");
        }
        let Err(Failure::Rejected(text)) = awaited(&[b"\x4a\0\0\0\x0a8.0.31\0"]) else {
            panic!("it is refused")
        };
        assert!(text.contains("is a MySQL or MariaDB server, not a Postgres server"), "{text}");
        assert!(awaited(&[b"R\0\0\0\x08\0\0\0\0"]).is_ok());
    }
}
