//! Receive buffer: bytes of a server that are not yet parsed.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use crate::timed_stream::now;

/// Begin of the error of an answer that does not come in time.
const NO_ANSWER: &str = "the server has not answered a query for ";

/// Received bytes; the buffer grows to the longest message, as its bytes arrive.
#[derive(Debug)]
pub struct ReceiveBuffer {
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Longest time of an answer; `None` for any.
    limit: Option<Duration>,
    /// When the expected answer must be complete.
    deadline: Option<Instant>,
}

/// Returns whether an error is that of an answer that did not come in time.
pub(crate) fn is_silence(reason: &str) -> bool {
    reason.starts_with(NO_ANSWER)
}

impl ReceiveBuffer {
    /// Returns an empty buffer of `bytes`, a power of two.
    pub fn new(bytes: usize) -> Self {
        Self { buffer: vec![0; bytes], start: 0, end: 0, limit: None, deadline: None }
    }

    /// Limits the time of each answer from its request; the socket limits that of each read.
    pub const fn limit_answers(&mut self, limit: Option<Duration>) {
        (self.limit, self.deadline) = (limit, None);
    }

    /// Notes that a request is sent.
    #[inline]
    pub fn expect_answer(&mut self) {
        if let Some(limit) = self.limit {
            self.deadline = now().checked_add(limit);
        }
    }

    /// Returns the error of a read; names one that has timed out.
    #[cold]
    fn failed(&self, error: io::Error) -> io::Error {
        match self.limit.filter(|_| error.kind() == io::ErrorKind::TimedOut) {
            Some(limit) => no_answer(limit),
            None => error,
        }
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
                other => break other.map_err(|error| self.failed(error))?,
            }
        };
        if let (Some(limit), Some(deadline)) = (self.limit, self.deadline)
            && now() > deadline
        {
            return Err(no_answer(limit));
        }
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.end += read;
        Ok(())
    }
}

#[cold]
fn no_answer(limit: Duration) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("{NO_ANSWER}{} s", limit.as_secs_f64()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a server that sends an answer byte by byte has no more time than any other.
    #[test]
    fn an_answer_in_drips_has_the_limit_of_a_whole_one() {
        let mut received = ReceiveBuffer::new(16);
        received.limit_answers(Some(Duration::from_millis(1)));
        received.expect_answer();
        std::thread::park_timeout(Duration::from_millis(2));
        let error = received.fetch(&mut &b"drip"[..], 4).unwrap_err();
        assert!(is_silence(&error.to_string()), "{error}");
        received.limit_answers(None);
        received.expect_answer();
        received.fetch(&mut &b"drip"[..], 4).unwrap();
    }

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
