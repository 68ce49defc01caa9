//! Numbered messages between parent and child, over a socket of their own.
//!
//! Engines and their libraries write to standard output and error as they like, and leave
//! half-written lines there. The messages share nothing with them, and one that is missing,
//! repeated, out of order or damaged ends the run.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::SendFlags;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Longest message, bytes: fifty times the largest known, an engine's statistics.
const MESSAGE_BYTES_MAX: u64 = 64 << 20;

/// A message with its position in the stream, from 0.
#[derive(Serialize, Deserialize)]
struct Numbered<M> {
    number: u64,
    message: M,
}

/// A reason to trust no further message of a connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// The connection ended, or failed, within the message of this number.
    #[error("message {0} breaks off")]
    BreaksOff(u64),
    /// The message of this number is too long.
    #[error("message {0} has more than {MESSAGE_BYTES_MAX} bytes")]
    TooLong(u64),
    /// The message of this number cannot be parsed.
    #[error("message {0} cannot be read: {1}")]
    Unreadable(u64, serde_json::Error),
    /// A message was expected, and a later one came.
    #[error("message {0} is missing: message {1} came instead")]
    Missing(u64, u64),
    /// A message was expected, and an earlier one came again.
    #[error("message {1} came again instead of message {0}")]
    Repeated(u64, u64),
}

/// Writes messages, each as one numbered line of JSON.
#[derive(Debug)]
pub struct MessageWriter<W> {
    output: W,
    next: u64,
}

impl<W: Write> MessageWriter<W> {
    /// Returns the writer of a new connection.
    pub const fn new(output: W) -> Self {
        Self { output, next: 0 }
    }

    /// Writes one message.
    ///
    /// # Errors
    /// When the other side has gone, or does not read, or the message has a path that is not UTF-8.
    pub fn send<M: Serialize>(&mut self, message: &M) -> io::Result<()> {
        let numbered = Numbered { number: self.next, message };
        let mut line = serde_json::to_vec(&numbered)?;
        line.push(b'\n');
        self.next += 1;
        self.output.write_all(&line)?;
        self.output.flush()
    }
}

/// Reads messages in the order in which they were written.
#[derive(Debug)]
pub struct MessageReader<R> {
    input: R,
    next: u64,
}

impl<R: BufRead> MessageReader<R> {
    /// Returns the reader of a new connection.
    pub const fn new(input: R) -> Self {
        Self { input, next: 0 }
    }

    /// Waits for the next message; `None` at the end of the connection.
    ///
    /// # Errors
    /// [`ConnectionError`], when it is not the next message; then there is no sense in going on.
    pub fn receive<M: DeserializeOwned>(&mut self) -> Result<Option<M>, ConnectionError> {
        let mut line = Vec::new();
        let read = self.input.by_ref().take(MESSAGE_BYTES_MAX).read_until(b'\n', &mut line);
        // The other side of a socket that ends with commands unread resets it: an end as any other.
        if line.is_empty() {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') {
            let is_full = read.is_ok() && line.len() as u64 == MESSAGE_BYTES_MAX;
            return Err(match is_full {
                true => ConnectionError::TooLong(self.next),
                false => ConnectionError::BreaksOff(self.next),
            });
        }
        let Numbered { number, message } = serde_json::from_slice(&line)
            .map_err(|error| ConnectionError::Unreadable(self.next, error))?;
        if number > self.next {
            return Err(ConnectionError::Missing(self.next, number));
        }
        if number < self.next {
            return Err(ConnectionError::Repeated(self.next, number));
        }
        self.next += 1;
        Ok(Some(message))
    }
}

impl MessageReader<VecDeque<u8>> {
    /// Takes a line, or a part of one; returns its message at the end of the line.
    pub(crate) fn take_line<M: DeserializeOwned>(
        &mut self,
        line: &str,
    ) -> Option<Result<M, ConnectionError>> {
        self.input.extend(line.as_bytes());
        line.ends_with('\n').then(|| self.receive()).and_then(Result::transpose)
    }
}

/// Writes to a socket by `send`, which the kernel does not count among a process's write calls.
///
/// So the worker's write calls are the engine's alone.
///
/// Source: Linux, fs/read_write.c (`add_wchar`), which net/socket.c does not call.
#[derive(Debug)]
pub struct SocketWriter(pub UnixStream);

impl Write for SocketWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(&self.0, bytes, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Takes the connection to the parent from standard input, see [`take_input`].
///
/// # Errors
/// When standard input is not a socket, as Assay passes it to its children.
pub fn connect() -> io::Result<UnixStream> {
    let parent = UnixStream::from(take_input()?);
    parent
        .peer_addr()
        .map_err(|error| io::Error::new(error.kind(), "only Assay itself starts this command"))?;
    Ok(parent)
}

/// Takes standard input, which is empty from then on. A crash writes no core file.
///
/// To be called before a library is loaded: what it starts does not inherit the connection.
///
/// # Errors
/// When standard input is closed.
pub fn take_input() -> io::Result<OwnedFd> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    // The core of an engine that crashes may be as large as its cache, and would stay for ever.
    setrlimit(Resource::Core, Rlimit { current: Some(0), ..getrlimit(Resource::Core) })?;
    Ok(input)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns messages as lines.
    fn lines(messages: &[&str]) -> Vec<Vec<u8>> {
        let mut writer = MessageWriter::new(Vec::new());
        messages.iter().for_each(|message| writer.send(message).unwrap());
        writer.output.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
    }

    /// Goal: messages are no write calls of the process that the kernel counts.
    #[test]
    fn sent_messages_are_not_in_the_count_of_write_calls() {
        let wchar = || {
            let text = std::fs::read_to_string("/proc/thread-self/io").unwrap();
            let line = text.lines().find_map(|line| line.strip_prefix("wchar: "));
            line.unwrap().parse::<u64>().unwrap()
        };
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut writer, before) = (MessageWriter::new(SocketWriter(ours)), wchar());
        writer.send(&"x".repeat(10_000)).unwrap();
        drop(writer);
        let mut reader = MessageReader::new(io::BufReader::new(theirs));
        assert_eq!(reader.receive::<String>().unwrap().map(|text| text.len()), Some(10_000));
        assert_eq!(wchar(), before);
    }

    /// Reads all messages; the reason when one is not the next.
    fn read(input: &[u8]) -> (Vec<String>, Option<String>) {
        let (mut reader, mut all) = (MessageReader::new(input), Vec::new());
        loop {
            match reader.receive() {
                Ok(Some(message)) => all.push(message),
                Ok(None) => return (all, None),
                Err(error) => return (all, Some(error.to_string())),
            }
        }
    }

    fn fault_of(lines: &[&[u8]]) -> String {
        read(&lines.concat()).1.unwrap_or_default()
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let sent = ["one", "a\nline \"quoted\"", ""];
        assert_eq!(read(&lines(&sent).concat()), (sent.map(str::to_owned).to_vec(), None));
        assert_eq!(read(b""), (Vec::new(), None));
    }

    #[test]
    fn a_message_that_is_not_the_next_is_a_fault() {
        let all = lines(&["a", "b", "c"]);
        let [a, b, c] = [&*all[0], &*all[1], &*all[2]];
        assert_eq!(fault_of(&[a, c]), "message 1 is missing: message 2 came instead");
        assert_eq!(fault_of(&[b, c]), "message 0 is missing: message 1 came instead");
        assert_eq!(fault_of(&[a, b, b, c]), "message 1 came again instead of message 2");
        assert_eq!(fault_of(&[a, c, b]), "message 1 is missing: message 2 came instead");
        assert_eq!(fault_of(&[a, b, &c[..c.len() - 1]]), "message 2 breaks off");
    }

    #[test]
    fn a_line_that_is_no_message_is_a_fault() {
        let all = lines(&["a", "b"]);
        for foreign in ["\n", "hello\n", "{}\n", "{\"number\":1}\n", "engine: {\"number\":1,"] {
            let fault = fault_of(&[&all[0], foreign.as_bytes(), &all[1]]);
            assert!(fault.starts_with("message 1 cannot be read: "), "{foreign}: {fault}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        /// Goal: whatever order messages come in, what is read is a beginning of what was sent,
        /// and anything else is a fault.
        #[test]
        fn only_an_unbroken_beginning_is_read(
            order in prop::collection::vec(0usize..6, 0..8),
            length in 0usize..400,
        ) {
            let texts = ["a", "b", "c", "d", "e", "f"];
            let sent = lines(&texts);
            let in_order = order.iter().zip(0..).take_while(|(came, next)| *came == next).count();
            let came: Vec<&[u8]> = order.iter().map(|number| &*sent[*number]).collect();
            let (all, fault) = read(&came.concat());
            prop_assert_eq!(all, &texts[..in_order]);
            prop_assert_eq!(fault.is_some(), in_order < order.len());
            let whole = sent.concat();
            let begun = &whole[..length.min(whole.len())];
            let ended = begun.iter().filter(|byte| **byte == b'\n').count();
            let (all, fault) = read(begun);
            prop_assert_eq!(all, &texts[..ended]);
            prop_assert_eq!(fault.is_some(), begun.last().is_some_and(|last| *last != b'\n'));
        }
    }
}
