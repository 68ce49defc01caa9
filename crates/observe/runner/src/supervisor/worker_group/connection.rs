//! The connection to a worker on a client host.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use load::{Clock as _, SteadyClock};
use model::Nanos;

use crate::connection::{ConnectionError, MessageReader, MessageWriter};
use crate::message::{Command, Message, SIGN_OF_LIFE};
use crate::supervisor::workbench::{ClientHosts, WorkerInput};

/// Time between two signs of life: a worker waits for several.
const LIFE_EVERY: Duration = Duration::from_secs(3);

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
    commands: Commands,
}

/// The commands of a connection that has not ended; a thread of its own may send signs of life
/// between them.
pub(super) type Commands = Arc<Mutex<Option<MessageWriter<WorkerInput>>>>;

impl Connection {
    /// Starts a worker, whose messages are sent to `events` by the thread that reads them.
    ///
    /// # Errors
    /// When the worker cannot be requested.
    pub(super) fn open(
        hosts: &dyn ClientHosts,
        worker: usize,
        clock: SteadyClock,
        events: SyncSender<Arrival>,
    ) -> io::Result<Self> {
        let mut messages = Some(MessageReader::new(VecDeque::new()));
        let take = move |line: Option<&str>| {
            let Some(reader) = &mut messages else { return };
            let message = match line.map(|line| reader.take_line(line)) {
                Some(None) => return,
                Some(Some(message)) => message.map(Some),
                None => Ok(None),
            };
            let is_last = !matches!(message, Ok(Some(_)));
            // The receiver may be gone already.
            events.send(Arrival { worker, at: clock.now(), message }).ok();
            messages.take_if(|_| is_last);
        };
        let input = hosts.start(worker, Box::new(take))?;
        Ok(Self { commands: Arc::new(Mutex::new(Some(MessageWriter::new(input)))) })
    }

    /// Sends a command; a worker that is gone is noticed by the end of its connection.
    pub(super) fn send(&self, command: &Command) {
        send(&self.commands, command);
    }

    /// Returns the commands, for signs of life.
    pub(super) fn commands(&self) -> Commands {
        Arc::clone(&self.commands)
    }

    /// Ends the connection, and with it the worker.
    pub(super) fn hang_up(&self) {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

fn send(commands: &Commands, command: &Command) {
    let mut commands = commands.lock().unwrap_or_else(PoisonError::into_inner);
    commands.take_if(|commands| commands.send(command).is_err());
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
            all.iter().for_each(|it| send(it, &Command::Ping { number: SIGN_OF_LIFE }));
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
