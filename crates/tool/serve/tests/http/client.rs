//! Requests as texts, and replies in parts.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rustix::net::sockopt::set_socket_recv_buffer_size;

/// Time after which a reply is missing.
const LIMIT: Duration = Duration::from_secs(20);

/// A reply to a request.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    /// Returns the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut pairs = self.head.lines().filter_map(|line| line.split_once(": "));
        pairs.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// Connects to a server.
pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    stream
}

/// Returns a request with these lines of headers, after which the server closes the connection.
pub(crate) fn request(line: &str, headers: &[&str], body: &str) -> String {
    let is_host = |line: &&str| line.starts_with("Host:");
    let host = if headers.iter().any(is_host) { "" } else { "Host: localhost\r\n" };
    let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    let bytes = body.len();
    format!(
        "{line} HTTP/1.1\r\n{host}{headers}Connection: close\r\nContent-Length: {bytes}\r\n\r\n\
         {body}"
    )
}

/// Sends a request over a connection and reads the reply.
pub(crate) fn exchange(mut stream: impl Read + Write, request: &str) -> Reply {
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = Vec::new();
    // A server that refuses a body closes the connection before it has read the body.
    let read = stream.read_to_end(&mut text);
    let text = String::from_utf8(text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{read:?} {text}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Reply { status, head: head.to_owned(), body: body.to_owned() }
}

/// Requests an address with these lines of headers.
pub(crate) fn get(address: SocketAddr, target: &str, headers: &[&str]) -> Reply {
    exchange(connect(address), &request(&format!("GET {target}"), headers, ""))
}

/// Sends a text to an address with these lines of headers.
pub(crate) fn post(address: SocketAddr, target: &str, headers: &[&str], body: &str) -> Reply {
    exchange(connect(address), &request(&format!("POST {target}"), headers, body))
}

/// A stream of events, read as HTTP/1.0, which has no chunks.
pub(crate) struct EventStream(BufReader<TcpStream>);

impl EventStream {
    /// Opens a stream; its head must have status 200.
    pub(crate) fn open(address: SocketAddr, target: &str) -> Self {
        let mut stream = connect(address);
        let request = format!("GET {target} HTTP/1.0\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        Self(BufReader::new(stream))
    }

    /// Limits how much the kernel receives for it.
    pub(crate) fn limit_buffer(&self, bytes: usize) {
        set_socket_recv_buffer_size(self.0.get_ref(), bytes).unwrap();
    }

    /// Reads the head of the reply.
    pub(crate) fn head(&mut self) -> String {
        let head = self.block();
        assert!(head.starts_with("HTTP/1.0 200 "), "{head}");
        head
    }

    /// Reads the next event as `kind data`, without comments; empty at the end.
    pub(crate) fn event(&mut self) -> String {
        let mut block = self.block();
        while block.starts_with(':') {
            block = self.block();
        }
        let parts = block.split('\n').filter_map(|line| Some(line.split_once(": ")?.1));
        parts.collect::<Vec<_>>().join(" ")
    }

    fn block(&mut self) -> String {
        let mut block = String::new();
        while !block.ends_with("\n\n") && !block.ends_with("\r\n\r\n") {
            if self.0.read_line(&mut block).unwrap() == 0 {
                break;
            }
        }
        block
    }
}
