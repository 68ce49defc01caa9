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
/// Lengths that no first message has: they are versions in the greeting of MySQL, whose first byte,
/// its own length, may be any tag.
///
/// Source: MySQL's source documentation, "Protocol::Handshake".
const MYSQL_VERSIONS: [u32; 2] = [9, 10];
/// Bytes of a message's length.
const LENGTH_BYTES: usize = 4;
/// Most bytes of an error without a length that are read.
const TEXT_BYTES_MAX: usize = 1024;

/// Returns the endpoint with the socket's file, also for its directory.
pub(super) fn with_socket_file(endpoint: &Endpoint) -> Endpoint {
    let mut endpoint = endpoint.clone();
    if let Address::Socket(path) = &mut endpoint.address
        && path.is_dir()
    {
        path.push(format!(".s.PGSQL.{DEFAULT_PORT}"));
    }
    endpoint
}

/// Connects, and encrypts the connection if its address demands it.
pub(super) fn connect(endpoint: &Endpoint, contact: Contact) -> Result<Socket, Failure> {
    let Endpoint { address, login, .. } = endpoint;
    let mut stream = Socket::connect(address, login, contact).map_err(Failure::Unreachable)?;
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
    let mut answer = ReceiveBuffer::new(1);
    PeerProtocol::Postgres.read_first::<Box<ErrorResponse>>(
        stream,
        &mut answer,
        1,
        contact.first(endpoint),
    )?;
    let answer = answer.unread();
    let mut more = [0; TEXT_BYTES_MAX];
    let bytes = match answer {
        // A server sends nothing else before the encryption; the greeting of MySQL goes on.
        b"S" | b"N" => stream.read_received(&mut more),
        _ => stream.read(&mut more).unwrap_or_default(),
    };
    match (answer, &more[..bytes]) {
        (b"S", []) => {}
        (b"N", []) => {
            let text = format!(
                "the server at {address} has no TLS (ssl = off): switch ssl on at the server, or \
                 leave encryption (sslmode, ssl) out of the dsn"
            );
            return Err(Failure::Rejected(text));
        }
        // With a length, as later errors.
        (b"E", more) if has_length(more) => {
            return Err(Failure::Refused(Box::new(ErrorResponse::parse(&more[LENGTH_BYTES..]))));
        }
        (b"E", text @ [1..=u8::MAX, ..]) => return Err(failed_to_start(address, text)),
        (first, more) => {
            let received = [first, more].concat();
            let text = PeerProtocol::Postgres.describe(address, &received, None);
            return Err(Failure::Unreachable(text));
        }
    }
    stream.expect_slow_steps();
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
    let address = &endpoint.address;
    PeerProtocol::Postgres.read_first::<Box<ErrorResponse>>(
        stream,
        receive_buffer,
        HEADER_BYTES,
        contact.first(endpoint),
    )?;
    let received = receive_buffer.unread();
    if is_message(received) {
        stream.expect_slow_steps();
        return Ok(());
    }
    if !matches!(received, [ERROR_RESPONSE_TAG, 1..=u8::MAX, ..]) {
        let text = PeerProtocol::Postgres.describe(address, received, None);
        return Err(Failure::Unreachable(text));
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
    let may_be_first =
        [AUTHENTICATION_TAG, ERROR_RESPONSE_TAG, NOTICE_RESPONSE_TAG, NEGOTIATE_TAG].contains(&tag);
    may_be_first && has_length(length)
}

/// Returns whether bytes begin with the length of a first message.
fn has_length(bytes: &[u8]) -> bool {
    let length = bytes.first_chunk::<LENGTH_BYTES>().map(|bytes| u32::from_be_bytes(*bytes));
    length.is_some_and(|it| (4..FIRST_BYTES_MAX).contains(&it) && !MYSQL_VERSIONS.contains(&it))
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
    Failure::Unreachable(format!(
        "the server at {address} answers `{}`: raise the number of processes that the server's \
         account may have (ulimit -u, the pids limit of the container), or use fewer clients",
        text.trim()
    ))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::thread;

    use model::Tls;

    use super::*;

    fn endpoint(address: Address) -> Endpoint {
        Endpoint {
            address,
            user: "u".to_owned(),
            password: None,
            database: "d".to_owned(),
            is_foreign: true,
            login: model::LoginOptions::default(),
        }
    }

    /// Awaits the answer of a server that sends these bytes in parts, and closes.
    fn awaited(parts: &'static [&'static [u8]]) -> Result<(), Failure> {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let server =
            thread::spawn(move || parts.iter().for_each(|it| theirs.write_all(it).unwrap()));
        let mut buffer = ReceiveBuffer::new(64);
        let endpoint = endpoint(Address::Socket("/dev/null/none".into()));
        let done = await_answer(&mut Socket::unix(ours), &mut buffer, &endpoint, Contact::First);
        server.join().unwrap();
        done
    }

    /// Requests encryption of a server that answers by these bytes.
    fn encrypted(answer: &'static [&'static [u8]]) -> Result<(), Failure> {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        answer.iter().for_each(|it| theirs.write_all(it).unwrap());
        let (host, tls) = ("127.0.0.1".to_owned(), Tls::Unverified);
        let address = Address::Tcp { host, port: 1, tls };
        encrypt(&mut Socket::unix(ours), &endpoint(address), Contact::First)
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
            let Err(Failure::Unreachable(error)) = awaited(parts) else { panic!("no process") };
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
        assert!(awaited(&[b"R\0\0\0\x08\0\0\0\0"]).is_ok());
    }

    /// Greetings of MySQL, whose length is that of their version: any byte, also a tag.
    const GREETINGS: [&[&[u8]]; 5] = [
        &[b"\x4a\0\0\0\x0a8.0.31\0"],
        &[b"N\0\0\0\x0a5.7.44-log\0"],
        &[b"R\0\0\0\x0a11.4.2-MariaDB\0"],
        &[b"S\0\0\0\x0a11.4.10-MariaDB\0"],
        &[b"E\0\0\0\x0a8\0"],
    ];

    #[test]
    fn a_greeting_of_mysql_is_named_whatever_its_length() {
        for greeting in GREETINGS {
            for error in [awaited(greeting).unwrap_err(), encrypted(greeting).unwrap_err()] {
                let Failure::Unreachable(text) = error else { panic!("{error:?}") };
                assert!(text.contains("is a MySQL or MariaDB server, not a Postgres"), "{text}");
            }
        }
        let refused = |answer| encrypted(answer).unwrap_err();
        assert!(matches!(refused(&[b"N"]), Failure::Rejected(_)));
        assert!(matches!(refused(&[b"E\0\0\0\x20SFATAL\0Mno room\0\0"]), Failure::Refused(_)));
        assert!(matches!(refused(&[b"Ecould not fork"]), Failure::Unreachable(_)));
    }
}
