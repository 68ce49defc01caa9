//! Packets over a socket: one write per request, few reads.

use std::io::{self, Read, Write};

use driver_sql::{ReceiveBuffer, Socket};

use super::typed::ColumnType;

/// Bytes of a packet's header: three of its length, one of its number.
pub(super) const HEADER_BYTES: usize = 4;
/// Payload length of a packet that is continued in the next, which none here is.
pub(super) const WHOLE_BYTES: usize = 0x00ff_ffff;
/// Initial buffer for answers: most point reads and short ranges fit.
const BUFFER_BYTES: usize = 16 << 10;

/// Packets over a connection `S`, a socket or, in tests, bytes.
#[derive(Debug)]
pub(super) struct Packets<S> {
    pub(super) socket: S,
    /// Unsent requests: each a header and its payload.
    request: Vec<u8>,
    /// Start of the current request.
    start: usize,
    pub(super) received: ReceiveBuffer,
    /// Sequence number of the next packet of this exchange.
    number: u8,
    /// Whether an OK packet ends rows, and columns have no end packet.
    pub(super) deprecates_eof: bool,
    /// Whether the types of the next result's columns are stored.
    pub(super) stores_types: bool,
    /// Types of the columns of the last result for which they were stored.
    pub(super) types: Vec<ColumnType>,
}

impl Packets<Socket> {
    /// Sends queued requests, unless an answer is already received.
    #[inline]
    pub(super) fn send_queued(&mut self) -> io::Result<()> {
        if !self.request.is_empty() && self.received.is_empty() {
            let Self { socket, request, received, .. } = self;
            socket.write_and_take(request, |socket| received.read_once(socket))?;
            request.clear();
        }
        Ok(())
    }
}

impl<S: Read + Write> Packets<S> {
    pub(super) fn new(socket: S) -> Self {
        Self {
            socket,
            request: Vec::with_capacity(1024),
            start: 0,
            received: ReceiveBuffer::new(BUFFER_BYTES),
            number: 0,
            deprecates_eof: false,
            stores_types: false,
            types: Vec::new(),
        }
    }

    /// Begins the first request of an exchange; its payload is appended to the result.
    #[inline]
    pub(super) fn request(&mut self) -> &mut Vec<u8> {
        self.number = 0;
        self.reply()
    }

    /// Begins a request within an exchange.
    #[inline]
    pub(super) fn reply(&mut self) -> &mut Vec<u8> {
        self.start = self.request.len();
        self.request.extend_from_slice(&[0; HEADER_BYTES]);
        &mut self.request
    }

    /// Discards the current request.
    #[cold]
    pub(super) fn discard_request(&mut self) {
        self.request.truncate(self.start);
    }

    /// Queues the current request.
    #[inline]
    pub(super) fn enqueue(&mut self) -> io::Result<()> {
        let bytes = self.request.len() - self.start - HEADER_BYTES;
        if bytes >= WHOLE_BYTES {
            return Err(too_long());
        }
        self.request[self.start..][..HEADER_BYTES].copy_from_slice(&header(bytes, self.number));
        Ok(())
    }

    /// Sends the current request in one write.
    #[inline]
    pub(super) fn send(&mut self) -> io::Result<()> {
        self.enqueue()?;
        self.number = self.number.wrapping_add(1);
        self.socket.write_all(&self.request)?;
        self.request.clear();
        Ok(())
    }

    /// Returns the payload of the next packet.
    #[inline]
    pub(super) fn next(&mut self) -> io::Result<&[u8]> {
        let bytes = self.fetch()?;
        Ok(self.received.take(bytes))
    }

    #[inline]
    pub(super) fn skip(&mut self, packets: u64) -> io::Result<()> {
        for _ in 0..packets {
            let bytes = self.fetch()?;
            self.received.take(bytes);
        }
        Ok(())
    }

    /// Reads until the next packet is complete; returns the length of its payload, which is
    /// unread.
    #[inline]
    fn fetch(&mut self) -> io::Result<usize> {
        let Self { socket, received, .. } = self;
        received.fetch(socket, HEADER_BYTES)?;
        let (&[low, middle, high, number], _) =
            received.unread().split_first_chunk().expect("a header was fetched");
        let bytes = usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16;
        if bytes == WHOLE_BYTES {
            return Err(too_long());
        }
        self.number = number.wrapping_add(1);
        received.fetch(socket, HEADER_BYTES + bytes)?;
        received.take(HEADER_BYTES);
        Ok(bytes)
    }
}

/// Returns the error of a payload that needs several packets.
#[cold]
fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a statement or a row of 16 MiB or more")
}

#[inline]
fn header(bytes: usize, number: u8) -> [u8; HEADER_BYTES] {
    let [low, middle, high, ..] = bytes.to_le_bytes();
    [low, middle, high, number]
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A scripted server: its output, and the requests written to it.
    #[derive(Debug, Default)]
    pub(in super::super) struct Script {
        pub(in super::super) input: Vec<u8>,
        pub(in super::super) at: usize,
        pub(in super::super) written: Vec<u8>,
        pub(in super::super) writes: usize,
        /// Most bytes of one read; 0 is no limit.
        pub(in super::super) most: usize,
    }

    impl Read for Script {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = if self.most == 0 { usize::MAX } else { self.most };
            let bytes = buffer.len().min(self.input.len() - self.at).min(most);
            buffer[..bytes].copy_from_slice(&self.input[self.at..self.at + bytes]);
            self.at += bytes;
            Ok(bytes)
        }
    }

    impl Write for Script {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.written.extend_from_slice(bytes);
            self.writes += 1;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns a connection to a server that sends these payloads, each in a packet.
    pub(in super::super) fn scripted(payloads: &[&[u8]]) -> Packets<Script> {
        let mut input = Vec::new();
        for (number, payload) in (1u8..).zip(payloads) {
            input.extend_from_slice(&header(payload.len(), number));
            input.extend_from_slice(payload);
        }
        Packets::new(Script { input, ..Script::default() })
    }

    #[test]
    fn request_is_one_write_with_length_and_sequence() {
        let mut packets = scripted(&[]);
        packets.request().extend_from_slice(b"\x03SELECT 1");
        packets.send().unwrap();
        assert_eq!(packets.socket.written, b"\x09\0\0\0\x03SELECT 1");
        packets.reply().push(b'x');
        packets.send().unwrap();
        assert_eq!(packets.socket.written[13..], *b"\x01\0\0\x01x");
        assert_eq!(packets.socket.writes, 2);
    }

    #[test]
    fn queued_requests_are_contiguous() {
        let mut packets = scripted(&[]);
        packets.request().extend_from_slice(b"\x03one");
        packets.enqueue().unwrap();
        packets.request().extend_from_slice(b"\x03discarded");
        packets.discard_request();
        packets.request().extend_from_slice(b"\x03two");
        packets.enqueue().unwrap();
        assert_eq!(packets.request, b"\x04\0\0\0\x03one\x04\0\0\0\x03two");
    }

    #[test]
    fn packets_are_read_whole_however_they_arrive() {
        let long = vec![7u8; 40_000];
        for most in [1, 3, 5_000, 0] {
            let mut packets = scripted(&[b"a", &long, b"", b"end"]);
            packets.socket.most = most;
            assert_eq!(packets.next().unwrap(), b"a");
            assert_eq!(packets.next().unwrap(), long);
            packets.skip(1).unwrap();
            assert_eq!(packets.next().unwrap(), b"end");
            assert_eq!(packets.next().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        }
    }

    #[test]
    fn payload_of_16_mib_is_rejected() {
        let mut packets = scripted(&[&vec![7; WHOLE_BYTES - 1]]);
        assert_eq!(packets.next().unwrap().len(), WHOLE_BYTES - 1);
        let long = packets.request();
        long.resize(long.len() + WHOLE_BYTES - 1, 0);
        packets.send().unwrap();
        packets.request().resize(HEADER_BYTES + WHOLE_BYTES, 0);
        assert!(packets.send().unwrap_err().to_string().contains("16 MiB"));
        let mut packets = Packets::new(Script { input: vec![0xff; 8], ..Script::default() });
        assert!(packets.next().unwrap_err().to_string().contains("16 MiB"));
    }
}
