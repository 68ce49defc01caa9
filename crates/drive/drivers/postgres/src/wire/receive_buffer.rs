//! Receive buffer: splits the server's bytes into messages.

use std::io::{self, Read};

use postgres_protocol::message::backend::Header;

/// Bytes per read: most answers are one read, and a scan few.
const READ_BYTES: usize = 64 << 10;
/// Bytes of a message's tag and length.
const HEADER_BYTES: usize = 5;
/// Longest message accepted, bytes: the server's own limit.
///
/// Source: Postgres' documentation, "Limits", field size.
const MESSAGE_BYTES_MAX: usize = 1 << 30;

/// Unread messages; the buffer grows to the longest and stays.
#[derive(Debug)]
pub(super) struct ReceiveBuffer {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

/// One message, still in the buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a> {
    /// Its tag.
    pub(super) tag: u8,
    /// The payload after tag and length.
    pub(super) body: &'a [u8],
}

impl ReceiveBuffer {
    pub(super) fn new() -> Self {
        Self { buffer: vec![0; READ_BYTES], start: 0, end: 0 }
    }

    /// Returns the next message, reading from `stream` as needed.
    #[inline]
    pub(super) fn next(&mut self, stream: &mut impl Read) -> io::Result<Message<'_>> {
        let length = loop {
            match self.length()? {
                Some(length) if self.end - self.start >= length => break length,
                wanted => self.fill(stream, wanted.unwrap_or(HEADER_BYTES))?,
            }
        };
        let start = self.start;
        self.start += length;
        let message = &self.buffer[start..start + length];
        Ok(Message { tag: message[0], body: &message[HEADER_BYTES..] })
    }

    /// Returns whether no bytes are unread.
    #[inline]
    pub(super) const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Reads once, appending to the unread bytes.
    pub(super) fn read_once(&mut self, stream: &mut impl Read) -> io::Result<()> {
        self.fill(stream, self.end - self.start + 1)
    }

    /// Returns the length of the next message with its header; `None` while unknown.
    #[inline]
    fn length(&self) -> io::Result<Option<usize>> {
        let Some(header) = Header::parse(&self.buffer[self.start..self.end])? else {
            return Ok(None);
        };
        let length = usize::try_from(header.len()).unwrap_or(usize::MAX);
        if length >= MESSAGE_BYTES_MAX {
            let reason = "the message is too long: not a Postgres server?";
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        Ok(Some(1 + length))
    }

    /// Reads once, after making room for a message of `wanted` bytes.
    fn fill(&mut self, stream: &mut impl Read, wanted: usize) -> io::Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.start + wanted > self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if wanted > self.buffer.len() {
                self.buffer.resize(wanted.next_multiple_of(READ_BYTES), 0);
            }
        }
        let read = loop {
            match stream.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if read == 0 {
            let reason = "the server closed the connection";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, reason));
        }
        self.end += read;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader of at most `step` bytes at a time.
    struct Slow<'a> {
        bytes: &'a [u8],
        step: usize,
    }

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let step = self.step.min(buffer.len()).min(self.bytes.len());
            let (now, later) = self.bytes.split_at(step);
            buffer[..step].copy_from_slice(now);
            self.bytes = later;
            Ok(step)
        }
    }

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[tag], &length.to_be_bytes()[..], body].concat()
    }

    #[test]
    fn messages_are_reassembled_from_any_reads() {
        let long = vec![7; 3 * READ_BYTES + 11];
        let bytes =
            [message(b'2', b""), message(b'D', &long), message(b'Z', b"I"), message(b'D', &long)]
                .concat();
        for step in [1, 3, 4096, READ_BYTES, usize::MAX] {
            let mut stream = Slow { bytes: &bytes, step };
            let mut receive_buffer = ReceiveBuffer::new();
            for expected in [(b'2', &b""[..]), (b'D', &long), (b'Z', b"I"), (b'D', &long)] {
                let found = receive_buffer.next(&mut stream).unwrap();
                assert_eq!((found.tag, found.body.len()), (expected.0, expected.1.len()));
                assert!(found.body == expected.1);
            }
            let end = receive_buffer.next(&mut stream).unwrap_err();
            assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
        }
    }

    #[test]
    fn foreign_protocol_is_rejected() {
        let mut receive_buffer = ReceiveBuffer::new();
        let error = receive_buffer.next(&mut &b"HTTP/1.1 400 Bad Request"[..]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let error = receive_buffer.next(&mut &b"E\0\0\0\x01"[..]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
