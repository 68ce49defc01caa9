//! The connection to a worker on a client host.

use std::io::{self, BufReader};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use load::{Clock as _, SteadyClock};
use model::Nanos;

use crate::connection::{ConnectionError, MessageReader, MessageWriter};
use crate::message::{Command, Message};

/// Longest wait for a worker to take a command.
const SEND_MAX: Duration = Duration::from_secs(10);

/// Time between two signs of life: a worker waits for several.
const LIFE_EVERY: Duration = Duration::from_secs(3);
/// Number of a ping that only shows life: its answer compares no clocks.
const SIGN_OF_LIFE: u64 = 0;

/// An event from a worker.
pub(super) struct Arrival {
    /// The worker's position among the client hosts.
    pub(super) worker: usize,
    /// When it came.
    pub(super) at: Nanos,
    /// The message; `None` at the end of the connection, an error if the next one is damaged.
    pub(super) message: Result<Option<Box<Message>>, ConnectionError>,
}

/// This side of a connection; the other side ends with it.
pub(super) struct Connection {
    socket: UnixStream,
    commands: Commands,
}

/// The commands of a connection; a thread of its own may send signs of life between them.
pub(super) type Commands = Arc<Mutex<MessageWriter<UnixStream>>>;

impl Connection {
    /// Reads a connection on a thread of its own.
    ///
    /// # Errors
    /// When no thread can be made.
    pub(super) fn open(
        socket: UnixStream,
        worker: usize,
        clock: SteadyClock,
        events: SyncSender<Arrival>,
    ) -> io::Result<Self> {
        socket.set_write_timeout(Some(SEND_MAX))?;
        let (input, output) = (socket.try_clone()?, socket.try_clone()?);
        thread::Builder::new().name("client host".to_owned()).spawn(move || {
            let mut reader = MessageReader::new(BufReader::new(input));
            loop {
                let message = match reader.receive() {
                    Err(ConnectionError::BreaksOff(_)) => Ok(None),
                    message => message,
                };
                let is_last = !matches!(message, Ok(Some(_)));
                let arrival = Arrival { worker, at: clock.now(), message };
                // The receiver may be gone already.
                if events.send(arrival).is_err() || is_last {
                    return;
                }
            }
        })?;
        Ok(Self { socket, commands: Arc::new(Mutex::new(MessageWriter::new(output))) })
    }

    /// Sends a command; a worker that does not read is noticed by the end of its connection.
    pub(super) fn send(&self, command: &Command) {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        if commands.send(command).is_err() {
            self.hang_up();
        }
    }

    /// Returns the commands, for signs of life.
    pub(super) fn commands(&self) -> Commands {
        Arc::clone(&self.commands)
    }

    /// Ends the connection, and with it the worker.
    pub(super) fn hang_up(&self) {
        // It fails only when the connection has ended.
        self.socket.shutdown(Shutdown::Both).ok();
    }
}

/// Sends signs of life to the workers on a thread of its own, until what it returns is dropped.
///
/// A worker ends itself without them, also while this process waits for its own disk.
///
/// # Errors
/// When no thread can be made.
pub(super) fn show_life(connections: &[Connection]) -> io::Result<SyncSender<()>> {
    let (life, ended) = sync_channel::<()>(0);
    let all: Vec<_> = connections.iter().map(Connection::commands).collect();
    let send = move || {
        while ended.recv_timeout(LIFE_EVERY) == Err(RecvTimeoutError::Timeout) {
            for commands in &all {
                let mut commands = commands.lock().unwrap_or_else(PoisonError::into_inner);
                // A worker that is gone is noticed by the end of its connection.
                commands.send(&Command::Ping { number: SIGN_OF_LIFE }).ok();
            }
        }
    };
    thread::Builder::new().name("signs of life".to_owned()).spawn(send)?;
    Ok(life)
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.hang_up();
    }
}
