//! Names what answers at an address in the place of the server that was expected.

use std::io::{self, Read, Write};
use std::time::Duration;

use engine::NO_ANSWER;
use model::{Address, Endpoint};

use crate::failure::Failure;
use crate::receive_buffer::ReceiveBuffer;
use crate::socket::Socket;
use crate::timed_stream::now;
use crate::tls;

/// Longest wait for the answer to each question.
const ANSWER_WITHIN: Duration = Duration::from_millis(400);
/// Most bytes of an answer that are read and shown.
const ANSWER_BYTES: usize = 256;
/// Most characters of an answer that are shown.
const SHOWN_CHARS: usize = 60;
/// A request for encryption, which Postgres answers by one byte, and few others at all.
///
/// Source: Postgres' documentation, "Message Formats", `SSLRequest`.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
/// An empty request of protocols of lines: HTTP and Redis answer that they do not know it.
const EMPTY_LINES: &[u8] = b"\r\n\r\n";

/// The protocol of a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerProtocol {
    /// Postgres'.
    Postgres,
    /// That of MySQL and MariaDB.
    Mysql,
}

/// What answers at an address.
enum Peer {
    Known(PeerProtocol),
    Other(String),
}

impl PeerProtocol {
    const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "a Postgres server",
            Self::Mysql => "a MySQL or MariaDB server",
        }
    }

    /// Reads the first `bytes` of a server to a buffer; on the first contact with an endpoint, the
    /// error names what answers in the place of the server.
    ///
    /// The wait is extended where the address states so and nothing of another protocol answers.
    ///
    /// # Errors
    /// When the bytes do not come in time.
    pub fn read_first<E>(
        self,
        socket: &mut Socket,
        received: &mut ReceiveBuffer,
        bytes: usize,
        first_contact: Option<&Endpoint>,
    ) -> Result<(), Failure<E>> {
        let mut read = received.fetch(socket, bytes);
        let Some(Endpoint { address, login, .. }) = first_contact else {
            return read.map_err(|error| Failure::Lost(error.to_string()));
        };
        if read.is_err() && socket.extend_first_wait(login) {
            let found = probe(address).as_deref().and_then(peer_of);
            if found.is_none_or(|peer| matches!(peer, Peer::Known(found) if found == self)) {
                read = received.fetch(socket, bytes);
            }
        }
        read.map_err(|error| {
            Failure::Unreachable(self.describe(address, received.unread(), Some(&error)))
        })
    }

    /// Describes why a first connection got no answer of this protocol.
    ///
    /// `received` is what was sent instead, and `error` why no more was read. Where neither shows
    /// what answers, it is questioned over connections of their own.
    pub fn describe(self, address: &Address, received: &[u8], error: Option<&io::Error>) -> String {
        let name = self.name();
        let found = peer_of(received).or_else(|| probe(address).as_deref().and_then(peer_of));
        // An error in words is the server's own answer.
        let stated = error.filter(|it| it.kind() == io::ErrorKind::Other);
        let stated = stated.map(ToString::to_string).unwrap_or_default();
        match found {
            Some(Peer::Known(found)) if found == self && !stated.is_empty() => {
                format!("{address} is {name} and ends the connection: {stated}")
            }
            Some(Peer::Known(found)) if found == self => format!(
                "{address} is {name}, but it did not answer the connection of Assay: see the log of \
                 the server"
            ),
            Some(Peer::Known(found)) => {
                let scheme = match found {
                    Self::Postgres => "postgres://",
                    Self::Mysql => "mysql://",
                };
                let found = found.name();
                format!(
                    "{address} is {found}, not {name}: write {scheme} in the dsn, or check the port"
                )
            }
            Some(Peer::Other(found)) => {
                format!("{address} is {found}, not {name}: check host and port of the dsn")
            }
            None if error.is_some_and(|it| it.kind() != io::ErrorKind::TimedOut) => format!(
                "{address} closes connections without an answer; {name} would answer: check \
                 host and port of the dsn, and the server's log"
            ),
            None => format!(
                "{address} accepts connections but {NO_ANSWER}; {name} would answer: check \
                 host and port of the dsn, and whether the server hangs; if the server wakes or \
                 resolves names slowly, add connect_timeout=30 to the dsn"
            ),
        }
    }
}

/// Returns what sends these bytes first, or in answer to a question; `None` when it sent none.
fn peer_of(bytes: &[u8]) -> Option<Peer> {
    let other = |text: &str| Some(Peer::Other(text.to_owned()));
    match bytes {
        [] => None,
        [0x15 | 0x16, 3, 0..=4, ..] => {
            other("a server that speaks TLS from the first byte, such as HTTPS")
        }
        // Length and number of the packet, and version 10 or 9 of the greeting, or an error.
        [_, _, _, 0, 10 | 9 | 0xff, ..] => Some(Peer::Known(PeerProtocol::Mysql)),
        b"S" | b"N" | [b'R' | b'E', 0, 0, ..] => Some(Peer::Known(PeerProtocol::Postgres)),
        // A notice. Source: MySQL's source documentation, "X Protocol", messages.
        [_, 0, 0, 0, 11, ..] => other(
            "the X protocol of a MySQL server (write the server's port of SQL, 3306 by \
                   default)",
        ),
        // Python's own answers a request that it cannot read by a page alone.
        _ if [&b"HTTP/"[..], b"<!DOCTYPE HTML", b"<html"]
            .iter()
            .any(|it| bytes.starts_with(it)) =>
        {
            other("a web server (HTTP)")
        }
        _ if bytes.starts_with(b"SSH-") => other("an SSH server"),
        _ if [&b"-ERR"[..], b"-NOAUTH", b"-DENIED"].iter().any(|it| bytes.starts_with(it)) => {
            other("a Redis server")
        }
        _ if bytes.starts_with(b"ERROR\r\n") => other("a memcached server"),
        _ => {
            let text = bytes.escape_ascii().to_string();
            let shown: String = text.chars().take(SHOWN_CHARS).collect();
            Some(Peer::Other(format!("a server that sends `{shown}`")))
        }
    }
}

/// Returns what answers questions that its kind is known by; `None` when none is answered.
fn probe(address: &Address) -> Option<Vec<u8>> {
    let plain = address.without_tls();
    let questioned = |questions: &[&[u8]]| {
        let mut socket = Socket::connect_until(&plain, now() + ANSWER_WITHIN).ok()?;
        socket.limit_answers(Some(ANSWER_WITHIN)).ok()?;
        let mut answer = vec![0; ANSWER_BYTES];
        questions.iter().find_map(|question| {
            socket.write_all(question).ok()?;
            let bytes = socket.read(&mut answer).ok().filter(|bytes| *bytes > 0)?;
            Some(answer[..bytes].to_vec())
        })
    };
    questioned(&[&SSL_REQUEST, EMPTY_LINES]).or_else(|| questioned(&[&tls::client_hello()?]))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    use super::*;
    use crate::socket::FIRST_WITHIN;

    const _: () = assert!(
        FIRST_WITHIN.as_millis() + 3 * ANSWER_WITHIN.as_millis() < 4_500,
        "a wrong port is named within 5 s"
    );

    /// Describes a peer that treats each connection so, to a driver of that protocol.
    fn described(expected: PeerProtocol, serve: fn(TcpStream)) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::tcp("127.0.0.1", listener.local_addr().unwrap().port());
        thread::spawn(move || listener.incoming().flatten().for_each(serve));
        expected.describe(&address, &[], None)
    }

    /// Reads until what was read ends so; the peer may close before.
    fn until(stream: &mut TcpStream, end: &[u8]) -> Vec<u8> {
        let mut read = Vec::new();
        let mut byte = [0];
        while !read.ends_with(end) && stream.read(&mut byte).is_ok_and(|bytes| bytes > 0) {
            read.push(byte[0]);
        }
        read
    }

    #[test]
    fn what_answers_on_a_wrong_port_is_named() {
        use PeerProtocol::{Mysql, Postgres};
        let http = |mut stream: TcpStream| {
            if until(&mut stream, b"\r\n\r\n").ends_with(b"\r\n\r\n") {
                stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
            }
        };
        assert!(described(Mysql, http).contains("is a web server (HTTP), not a MySQL or MariaDB"));
        let redis = |mut stream: TcpStream| {
            until(&mut stream, b"\n");
            stream.write_all(b"-ERR unknown command\r\n").unwrap();
        };
        assert!(described(Postgres, redis).contains("is a Redis server, not a Postgres server"));
        let postgres = |mut stream: TcpStream| {
            until(&mut stream, &SSL_REQUEST);
            stream.write_all(b"N").unwrap();
        };
        let text = described(Mysql, postgres);
        assert!(text.contains("is a Postgres server, not a MySQL or MariaDB server"), "{text}");
        assert!(text.contains("write postgres:// in the dsn"), "{text}");
        // It answers a greeting of TLS alone.
        let tls_only = |mut stream: TcpStream| {
            let mut first = [0];
            if stream.read_exact(&mut first).is_ok() && first == [0x16] {
                stream.write_all(&[0x16, 3, 3, 0, 1, 2]).unwrap();
            }
        };
        assert!(described(Postgres, tls_only).contains("speaks TLS from the first byte"));
    }

    #[test]
    fn what_is_sent_first_names_its_protocol() {
        let address = Address::tcp("h", 1);
        let text = |bytes: &[u8]| PeerProtocol::Postgres.describe(&address, bytes, None);
        for (bytes, name) in [
            (&b"\x4a\0\0\0\x0a8.0.31\0"[..], "is a MySQL or MariaDB server"),
            (b"\x10\0\0\0\xff\x69\x04Host", "is a MySQL or MariaDB server"),
            (b"\x05\0\0\0\x0b\x08\x05\x1a\0", "the X protocol of a MySQL server"),
            (b"SSH-2.0-OpenSSH_9.2\r\n", "an SSH server"),
            (b"<!DOCTYPE HTML>\n<html", "a web server"),
            (b"\x15\x03\x01\0\x02\x02\x28", "speaks TLS"),
            (b"220 mail ready\r\n\x1b[2J", "a server that sends `220 mail ready\\r\\n\\x1b[2J`"),
        ] {
            let text = text(bytes);
            assert!(text.contains(name) && text.contains("not a Postgres server"), "{text}");
        }
    }

    #[test]
    fn silence_and_a_closed_connection_are_distinguished() {
        let silent = |mut stream: TcpStream| drop(until(&mut stream, b"never"));
        let text = described(PeerProtocol::Mysql, silent);
        assert!(text.contains("accepts connections but does not answer; a MySQL "), "{text}");
        let nowhere = Address::Socket("/dev/null/none".into());
        for closed in [io::ErrorKind::UnexpectedEof, io::ErrorKind::ConnectionReset] {
            let text = PeerProtocol::Postgres.describe(&nowhere, &[], Some(&closed.into()));
            assert!(text.contains("closes connections without an answer"), "{text}");
        }
    }
}
