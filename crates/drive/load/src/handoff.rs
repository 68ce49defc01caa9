//! How a client's tallies reach the coordinator, and come back empty.
//!
//! A client owns one tally, and finds its next one among the spares when it cuts. Tallies go
//! round: nothing is allocated after the start, and the number of tallies bounds every queue.

use model::Nanos;
use nix::unistd::Pid;

use crate::client::ClientEnd;
use crate::sync::{Receiver, SyncSender, TrySendError, sync_channel};
use crate::tally::ClientTally;
use crate::usage::Usage;

/// Tallies of one client: one in use, one on its way, one for when the coordinator is late.
const TALLIES: usize = 3;

/// What one client did from the start of one interval until it cut.
#[derive(Debug)]
pub(crate) struct Delivery {
    /// Position among the crew, clients before writers.
    pub(crate) client: usize,
    /// The interval the tally was begun in.
    pub(crate) from: u64,
    /// The first interval of which more may come; `u64::MAX` when none will.
    pub(crate) next: u64,
    pub(crate) tally: Box<ClientTally>,
    /// What the client's thread used meanwhile.
    pub(crate) usage: Usage,
    /// Time it waited with nothing due; `None` where that is not counted.
    pub(crate) idle: Option<Nanos>,
}

/// The last that a client has to say.
#[derive(Debug)]
pub(crate) struct Farewell {
    /// What it did since its last cut.
    pub(crate) rest: Delivery,
    /// When it ended.
    pub(crate) at: Nanos,
    pub(crate) end: ClientEnd,
    /// The arrival it had taken and not served, since the step's start.
    pub(crate) kept: Option<Nanos>,
    /// Time its thread was ready to run and had no CPU, in all; `None` when the kernel does not
    /// tell.
    pub(crate) queued: Option<Nanos>,
}

/// What a client tells the coordinator.
#[derive(Debug)]
pub(crate) enum Message {
    /// The client at that position has its session and waits at the gate, on that thread.
    Ready(usize, Pid),
    /// The client at that position ended before the start.
    Absent(usize, ClientEnd),
    /// It has cut.
    Cut(Delivery),
    /// It has ended.
    Ended(Box<Farewell>),
}

/// A client's end of the hand-off.
pub(crate) struct Outlet {
    messages: SyncSender<Message>,
    spares: Receiver<Box<ClientTally>>,
}

/// The coordinator's end of the hand-off.
pub(crate) struct Inlet {
    pub(crate) messages: Receiver<Message>,
    spares: Vec<SyncSender<Box<ClientTally>>>,
}

/// Connects `clients` clients; every tally is made by `new_tally`, now.
pub(crate) fn connect(
    clients: usize,
    mut new_tally: impl FnMut(usize) -> ClientTally,
) -> (Inlet, Vec<(Outlet, Box<ClientTally>)>) {
    // Each client sends `Ready` or `Absent`, or each of its tallies once at a time.
    let (sender, messages) = sync_channel(clients * (TALLIES + 2));
    let mut spares = Vec::with_capacity(clients);
    let mut outlets = Vec::with_capacity(clients);
    for client in 0..clients {
        let (give_back, client_spares) = sync_channel(TALLIES);
        for _ in 1..TALLIES {
            give_back.try_send(Box::new(new_tally(client))).expect("there is room for all");
        }
        spares.push(give_back);
        let outlet = Outlet { messages: sender.clone(), spares: client_spares };
        outlets.push((outlet, Box::new(new_tally(client))));
    }
    (Inlet { messages, spares }, outlets)
}

impl Outlet {
    /// Sends a message; never waits, for the queue has room for all there can be.
    pub(crate) fn send(&self, message: Message) {
        match self.messages.try_send(message) {
            Ok(()) => {}
            // The coordinator panicked: the step is lost, and the scope will say so.
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

impl Inlet {
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
