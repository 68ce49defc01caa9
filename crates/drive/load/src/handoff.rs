//! Hand-over of tallies between clients and coordinator.
//!
//! A client owns one tally, and takes its next one from the spares when an interval ends. Tallies
//! are reused: nothing is allocated after the start, and their number bounds every queue.

use model::Nanos;
use nix::unistd::Pid;

use crate::client::ClientEnd;
use crate::sync::{Receiver, SyncSender, TrySendError, sync_channel};
use crate::tally::ClientTally;
use crate::usage::Usage;

/// Tallies of one client: one in use, one on its way, one for when the coordinator is late.
const TALLIES: usize = 3;

/// One client's part of an interval.
#[derive(Debug)]
pub(crate) struct Delivery {
    /// Position in the client pool, clients before writers.
    pub(crate) client: usize,
    /// The interval the tally was begun in.
    pub(crate) from: u64,
    /// The first interval of which more may come; `u64::MAX` when none will.
    pub(crate) next: u64,
    pub(crate) tally: Box<ClientTally>,
    /// Usage of the client's thread meanwhile.
    pub(crate) usage: Usage,
    /// Time it waited with nothing due; `None` where that is not counted.
    pub(crate) idle: Option<Nanos>,
}

/// A client's last message.
#[derive(Debug)]
pub(crate) struct ClientExit {
    /// Its part since the last delivery.
    pub(crate) rest: Delivery,
    /// When it ended.
    pub(crate) at: Nanos,
    pub(crate) end: ClientEnd,
    /// The arrival it had taken and not served, since the step's start.
    pub(crate) unserved_taken: Option<Nanos>,
    /// Time its thread was ready to run and had no CPU, in all; `None` when the kernel does not
    /// report it.
    pub(crate) queued: Option<Nanos>,
}

/// A message from a client to the coordinator.
#[derive(Debug)]
pub(crate) enum Message {
    /// The client at that position has its session and waits at the barrier, on that thread.
    Ready(usize, Pid),
    /// The client at that position ended before the start.
    NotStarted(usize, ClientEnd),
    /// Its part of an interval.
    Interval(Delivery),
    /// It has ended.
    Ended(Box<ClientExit>),
}

/// A client's end of the hand-off.
pub(crate) struct ClientSender {
    messages: SyncSender<Message>,
    spares: Receiver<Box<ClientTally>>,
}

/// The coordinator's end of the hand-off.
pub(crate) struct CoordinatorInbox {
    pub(crate) messages: Receiver<Message>,
    spares: Vec<SyncSender<Box<ClientTally>>>,
}

/// Connects `clients` clients; every tally is made by `new_tally`, now.
pub(crate) fn connect(
    clients: usize,
    mut new_tally: impl FnMut(usize) -> ClientTally,
) -> (CoordinatorInbox, Vec<(ClientSender, Box<ClientTally>)>) {
    // Each client sends `Ready` or `NotStarted`, or each of its tallies once at a time.
    let (to_coordinator, messages) = sync_channel(clients * (TALLIES + 2));
    let mut spares = Vec::with_capacity(clients);
    let mut senders = Vec::with_capacity(clients);
    for client in 0..clients {
        let (give_back, client_spares) = sync_channel(TALLIES);
        for _ in 1..TALLIES {
            give_back.try_send(Box::new(new_tally(client))).expect("there is room for all");
        }
        spares.push(give_back);
        let sender = ClientSender { messages: to_coordinator.clone(), spares: client_spares };
        senders.push((sender, Box::new(new_tally(client))));
    }
    (CoordinatorInbox { messages, spares }, senders)
}

impl ClientSender {
    /// Sends a message; never waits, for the queue has room for all there can be.
    pub(crate) fn send(&self, message: Message) {
        match self.messages.try_send(message) {
            Ok(()) => {}
            // The coordinator panicked: the step is lost, and the scope propagates the panic.
            Err(TrySendError::Disconnected(_)) => {}
            Err(TrySendError::Full(_)) => unreachable!("every tally has its place in the queue"),
        }
    }

    /// Returns an empty tally; `None` when the coordinator has all others.
    pub(crate) fn spare(&self) -> Option<Box<ClientTally>> {
        self.spares.try_recv().ok()
    }

    /// Waits for an empty tally; `None` when the coordinator is gone.
    pub(crate) fn wait_for_spare(&self) -> Option<Box<ClientTally>> {
        self.spares.recv().ok()
    }
}

impl CoordinatorInbox {
    /// Gives a tally back to its client, empty.
    pub(crate) fn give_back(&self, client: usize, mut tally: Box<ClientTally>) {
        tally.clear();
        match self.spares[client].try_send(tally) {
            // The client may have ended.
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            Err(TrySendError::Full(_)) => unreachable!("every tally has its place in the queue"),
        }
    }
}
