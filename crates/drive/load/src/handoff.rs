//! Hand-over of the clients' parts to the collector, and messages to the coordinator.
//!
//! A client merges what it counted itself, and with it the parts that wait in a queue: with more
//! clients than CPUs the coordinator runs too rarely. Where another thread has the lock of the
//! collector, and may have been put off its CPU, the client puts its part in the queue and goes on.
//! Only a client that finds the queue full waits for the lock.

use engine::EngineError;
use model::Nanos;
use nix::unistd::Pid;

use crate::availability::Gap;
use crate::collector::{Collector, Delivery};
use crate::sync::{Arc, Mutex, Receiver, SyncSender, TrySendError, sync_channel};
use crate::tally::{ClientTally, GroupSum};

/// Parts that may wait in the queue, per client: a client that finds no room merges them itself.
const WAITING_PER_CLIENT: usize = 2;

/// Nothing that can panic happens under the lock.
const UNPOISONED: &str = "no panic while merging";

/// How a client ended.
pub(crate) enum ClientEnd {
    /// It reached its limit or deadline.
    Finished,
    /// It was halted.
    Stopped,
    /// It never ran: the engine gave it no session.
    Refused(EngineError),
    /// The engine failed, or the thread panicked.
    Failed(String),
    /// An answer was wrong.
    Wrong(String),
}

/// A client's last message, after its last part.
pub(crate) struct ClientExit {
    /// Position in the client pool, clients before writers.
    pub(crate) client: usize,
    /// When it ended.
    pub(crate) at: Nanos,
    pub(crate) end: ClientEnd,
    /// The arrival it had taken and not served, since the step's start.
    pub(crate) unserved_taken: Option<Nanos>,
    /// Time its thread was ready to run and had no CPU, in all; `None` when the kernel does not
    /// report it.
    pub(crate) queued: Option<Nanos>,
    /// Its gaps; `None` without events.
    pub(crate) gaps: Option<Vec<Gap>>,
}

/// A message from a client to the coordinator.
pub(crate) enum Message {
    /// The client at that position has its session and waits at the barrier, on that thread.
    Ready(usize, Pid),
    /// The client at that position ended before the start.
    NotStarted(usize, ClientEnd),
    /// It has ended.
    Ended(ClientExit),
}

/// A client's part that waits, with what the client counted.
struct WaitingPart {
    delivery: Delivery,
    counted: GroupSum,
}

/// The collector, and the parts that wait for it.
struct Merging {
    waiting: Receiver<Box<WaitingPart>>,
    collector: Collector,
}

impl Merging {
    /// Merges all parts that wait: few, as a client that gets the lock puts none in.
    fn merge_waiting(&mut self) {
        while let Ok(part) = self.waiting.try_recv() {
            self.merge(*part);
        }
    }

    fn merge(&mut self, WaitingPart { delivery, counted }: WaitingPart) {
        self.collector.deliver(delivery, |sum| sum.merge(&counted));
    }
}

/// A client's end of the hand-off.
pub(crate) struct ClientSender {
    messages: SyncSender<Message>,
    parts: SyncSender<Box<WaitingPart>>,
    merging: Arc<Mutex<Merging>>,
}

/// What a client counts in, and how it hands that over.
pub(crate) struct ClientBuffers {
    pub(crate) sender: ClientSender,
    pub(crate) tally: Box<ClientTally>,
}

/// The coordinator's end of the hand-off.
pub(crate) struct CoordinatorInbox {
    pub(crate) messages: Receiver<Message>,
    merging: Arc<Mutex<Merging>>,
}

/// Connects `clients` clients; every tally is made by `new_tally`, now.
pub(crate) fn connect(
    clients: usize,
    collector: Collector,
    new_tally: impl Fn(usize) -> ClientTally,
) -> (CoordinatorInbox, Vec<ClientBuffers>) {
    // Each client sends `Ready` or `NotStarted`, and how it ended.
    let (to_coordinator, messages) = sync_channel(clients * 2);
    let (parts, waiting) = sync_channel(clients * WAITING_PER_CLIENT);
    let merging = Arc::new(Mutex::new(Merging { waiting, collector }));
    let buffers = (0..clients).map(|client| {
        let (messages, parts) = (to_coordinator.clone(), parts.clone());
        let sender = ClientSender { messages, parts, merging: Arc::clone(&merging) };
        ClientBuffers { sender, tally: Box::new(new_tally(client)) }
    });
    let buffers = buffers.collect();
    (CoordinatorInbox { messages, merging }, buffers)
}

impl ClientSender {
    /// Sends a message; never waits, for the queue has room for all there can be.
    pub(crate) fn send(&self, message: Message) {
        match self.messages.try_send(message) {
            Ok(()) => {}
            // The coordinator panicked: the step is lost, and the scope propagates the panic.
            Err(TrySendError::Disconnected(_)) => {}
            Err(TrySendError::Full(_)) => unreachable!("every message has its place in the queue"),
        }
    }

    /// Hands over what a client counted, and empties its tally.
    pub(crate) fn hand_over(&self, delivery: Delivery, tally: &mut ClientTally) {
        if let Ok(mut merging) = self.merging.try_lock() {
            // Its own parts of earlier intervals come first.
            merging.merge_waiting();
            merging.collector.deliver(delivery, |sum| tally.move_to(sum));
            return;
        }
        let mut counted = GroupSum::default();
        tally.move_to(&mut counted);
        match self.parts.try_send(Box::new(WaitingPart { delivery, counted })) {
            // Merged by the next thread that gets the lock: the coordinator, if no other.
            Ok(()) => {}
            // The thread that has the lock was put off its CPU for longer than an interval.
            Err(TrySendError::Full(part)) => {
                let mut merging = self.merging.lock().expect(UNPOISONED);
                merging.merge_waiting();
                merging.merge(*part);
            }
            Err(TrySendError::Disconnected(_)) => unreachable!("this side has the receiver too"),
        }
    }
}

impl CoordinatorInbox {
    /// Calls `with` on the collector, when the parts handed over so far are merged.
    pub(crate) fn collector<T>(&self, with: impl FnOnce(&mut Collector) -> T) -> T {
        let mut merging = self.merging.lock().expect(UNPOISONED);
        merging.merge_waiting();
        with(&mut merging.collector)
    }
}
