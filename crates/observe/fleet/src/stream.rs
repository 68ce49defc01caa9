//! Messages between a submitter and a machine without a shared directory.
//!
//! A message is a line of JSON; the bytes that it announces follow it.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use model::Password;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::block::Outcome;
use crate::order::Order;

/// Line that a machine prints before its first message: what a shell prints before it is ignored.
pub const HELLO: &str = "assay-block 2";
/// Line that a worker prints before its first message.
pub const CLIENT_HELLO: &str = "assay-worker 1";
/// Longest message, bytes: a plan of 10,000 runs has 3 MiB.
const MESSAGE_BYTES_MAX: u64 = 64 << 20;
/// Longest part of a worker's output in one message, bytes, as JSON may write 6 bytes for one.
pub(crate) const LINE_BYTES_MAX: u64 = MESSAGE_BYTES_MAX / 8;

/// A message to a machine.
#[derive(Debug, Serialize, Deserialize)]
pub enum Request {
    /// Run a block of an experiment.
    Run {
        /// The experiment.
        order: Box<Order>,
        /// The block, from 1.
        block: u32,
        /// Name of the machine; empty if the scheduler gives it one.
        machine: String,
        /// Passwords of running servers, by variant. They are stored nowhere.
        passwords: BTreeMap<String, Password>,
    },
    /// The builds follow, with this number of bytes.
    Builds {
        /// Bytes of the file.
        bytes: u64,
    },
    /// A worker on a client host printed a line.
    FromClient {
        /// Number of the worker.
        worker: u32,
        /// The line, with its end.
        line: String,
    },
    /// A worker on a client host has ended, or did not begin.
    ClientEnded {
        /// Number of the worker.
        worker: u32,
        /// How it ended, with the last line of its log.
        reason: String,
    },
    /// The submitter is there: a sign of life, of a block with client hosts only.
    Lives,
}

/// A message from a machine.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// The builds are not here yet.
    NeedsBuilds,
    /// The machine begins the block.
    Begins {
        /// Name of the machine.
        machine: String,
        /// Class of the machine.
        fingerprint: String,
    },
    /// The machine runs the block: a sign of life.
    Lives,
    /// A run has ended. Its files follow, with this number of bytes.
    Run {
        /// Identifier of the cell.
        cell: String,
        /// Bytes of the stream of its files.
        bytes: u64,
    },
    /// Start a worker on a client host.
    StartClient {
        /// Position of the host in the experiment's list.
        host: usize,
        /// Number of the worker: a host has several, one after the other.
        worker: u32,
    },
    /// A line for a worker on a client host.
    ToClient {
        /// Number of the worker.
        worker: u32,
        /// The line, with its end.
        line: String,
    },
    /// The connection to a worker on a client host ends, and with it the worker.
    EndClient {
        /// Number of the worker.
        worker: u32,
    },
    /// The machine is done.
    Ends(Outcome),
}

/// Writes a message.
///
/// # Errors
/// When the other side has gone.
pub fn send_message<M: Serialize>(to: &mut impl Write, message: &M) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Reads a message; `None` at the end of the stream.
///
/// # Errors
/// When the stream breaks off, or the line cannot be parsed as a message.
pub fn read_message<M: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<M>> {
    let mut line = Vec::new();
    io::Read::take(&mut *from, MESSAGE_BYTES_MAX).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a message breaks off"));
    }
    Ok(Some(serde_json::from_slice(&line)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_as_sent_and_bytes_stay_for_their_reader() {
        let mut sent = Vec::new();
        send_message(&mut sent, &Answer::Run { cell: "a\n".to_owned(), bytes: 3 }).unwrap();
        sent.extend(b"abc");
        send_message(&mut sent, &Answer::Ends(Outcome::Stopped)).unwrap();
        let mut from = &sent[..];
        let Some(Answer::Run { bytes: 3, .. }) = read_message(&mut from).unwrap() else {
            panic!("a run")
        };
        let mut bytes = [0; 3];
        io::Read::read_exact(&mut from, &mut bytes).unwrap();
        assert!(matches!(read_message(&mut from).unwrap(), Some(Answer::Ends(Outcome::Stopped))));
        assert!(read_message::<Answer>(&mut from).unwrap().is_none());
        for broken in [&b"{\"Ends\""[..], b"hello\n"] {
            assert!(read_message::<Answer>(&mut &broken[..]).is_err());
        }
    }
}
