//! Receive buffer: bytes of a server that are not yet parsed.

use std::io::{self, Read};

/// Received bytes; the buffer grows to the longest message, as its bytes arrive.
#[derive(Debug)]
pub struct ReceiveBuffer {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl ReceiveBuffer {
    /// Returns an empty buffer of `bytes`, a power of two.
    pub fn new(bytes: usize) -> Self {
        Self { buffer: vec![0; bytes], start: 0, end: 0 }
    }

    /// Returns whether no bytes are unread.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Returns the unread bytes.
    #[inline]
    pub fn unread(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Returns the next bytes, fetched before, as read.
    #[inline]
    pub fn take(&mut self, bytes: usize) -> &[u8] {
        let start = self.start;
        self.start += bytes;
        &self.buffer[start..self.start]
    }

    /// Reads until `bytes` are unread.
    ///
    /// # Errors
    /// When the connection ends or fails.
    #[inline]
    pub fn fetch(&mut self, stream: &mut impl Read, bytes: usize) -> io::Result<()> {
        while self.end - self.start < bytes {
            self.fill(stream, bytes)?;
        }
        Ok(())
    }

    /// Reads once, appending to the unread bytes.
    ///
    /// # Errors
    /// As [`ReceiveBuffer::fetch`].
    pub fn read_once(&mut self, stream: &mut impl Read) -> io::Result<()> {
        self.fill(stream, self.end - self.start + 1)
    }

    /// Reads once, where `wanted` bytes are to be unread.
    ///
    /// A server states any length before it is logged in to: the buffer is at most doubled, and
    /// only when it is full.
    fn fill(&mut self, stream: &mut impl Read, wanted: usize) -> io::Result<()> {
        if self.is_empty() {
            (self.start, self.end) = (0, 0);
        }
        if self.start > 0 && self.start + wanted > self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        let read = loop {
            match stream.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.end += read;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a length that a server states takes no memory before its bytes arrive.
    #[test]
    fn the_buffer_grows_as_bytes_arrive() {
        const STATED: usize = 1 << 40;
        let sent = [7; 100];
        let mut received = ReceiveBuffer::new(16);
        let error = received.fetch(&mut &sent[..], STATED).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!((received.unread(), received.buffer.len()), (&sent[..], 128));
    }
}
