//! The end of what a process writes to standard output or error.

use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Bytes of a stream that are stored: its last lines, some hundreds of them.
const TAIL_MAX: usize = 32 << 10;
/// Bytes that are read at once.
const CHUNK: usize = 16 << 10;
/// Longest wait for a stream that another process holds open; it ends with its writers.
const END_GRACE: Duration = Duration::from_secs(1);

/// The last bytes of a stream, read on a thread.
pub(super) struct OutputTail {
    tail: Arc<Mutex<Vec<u8>>>,
    /// Disconnected when the stream has ended.
    end: Receiver<()>,
}

impl OutputTail {
    /// Reads a stream until it ends; its writer never waits for long.
    ///
    /// # Errors
    /// When no thread can be made.
    pub(super) fn of(stream: impl Read + Send + 'static) -> io::Result<Self> {
        let tail = Arc::<Mutex<Vec<u8>>>::default();
        let (until_end, end) = sync_channel(1);
        let shared = Arc::clone(&tail);
        thread::Builder::new().spawn(move || {
            keep_tail(stream, &shared);
            drop(until_end);
        })?;
        Ok(Self { tail, end })
    }

    /// Returns the last output of a process that has ended.
    pub(super) fn text(&self) -> String {
        // What it started may hold the stream; nothing of its own is missing then.
        self.end.recv_timeout(END_GRACE).ok();
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let start = tail.len().saturating_sub(TAIL_MAX);
        String::from_utf8_lossy(&tail[start..]).trim().to_owned()
    }
}

/// Adds a stream's bytes to `tail`, and removes the oldest beyond the limit.
fn keep_tail(mut stream: impl Read, tail: &Mutex<Vec<u8>>) {
    let mut chunk = [0; CHUNK];
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return,
            Ok(bytes) => {
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                tail.extend_from_slice(&chunk[..bytes]);
                if tail.len() > 2 * TAIL_MAX {
                    let excess = tail.len() - TAIL_MAX;
                    tail.drain(..excess);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_broken) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail_of(text: &str) -> String {
        OutputTail::of(io::Cursor::new(text.as_bytes().to_vec())).unwrap().text()
    }

    #[test]
    fn only_the_end_of_a_long_output_is_retained() {
        let output: String = (0..100_000).map(|line| format!("line {line}\n")).collect();
        let tail = tail_of(&output);
        assert!(tail.len() <= TAIL_MAX && tail.ends_with("line 99999"));
        assert_eq!(tail_of(" short\n"), "short");
    }

    /// Goal: an output without line ends takes no more memory than any other.
    #[test]
    fn a_line_without_an_end_is_shortened() {
        let tail = Mutex::default();
        keep_tail("x".repeat(1 << 20).as_bytes(), &tail);
        assert!(tail.lock().unwrap().capacity() <= 8 * TAIL_MAX);
    }
}
