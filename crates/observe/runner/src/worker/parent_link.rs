//! The worker's state, and its messages to and from the parent.

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use engine::{Engine, LockWaits};
use load::{Clock as _, SteadyClock, StopFlag};
use malloc::Heap;
use model::{EngineState, Nanos, OpKind};

use super::operations::StepContext;
use crate::connection::{MessageReader, MessageWriter};
use crate::message::{Command, Message, Order, SIGN_OF_LIFE};

/// Commands that may wait unread; the parent sends one at a time.
const COMMANDS_MAX: usize = 16;

/// Longest silence of the parent of a worker on a client host: it sends a command each second.
const PARENT_SILENT_MAX: Nanos = Nanos::from_secs(11);
/// Time between two checks for a silent parent.
const LIFE_EVERY: Nanos = Nanos::from_secs(2);

/// The state of one run in the child.
pub(crate) struct Worker<'a, W> {
    pub(super) output: &'a Mutex<MessageWriter<W>>,
    /// How long the engine waits for locks of others, and where it reports that.
    pub(super) lock_waits: LockWaits,
    /// What the parent answers at a boundary: `Go` or `Classified`.
    pub(super) replies: Receiver<Command>,
    pub(crate) stop: StopFlag,
    pub(crate) clock: &'a SteadyClock,
    /// The allocator of this process, client and engine alike.
    pub(crate) heap: Heap,
    /// Operations per second that the client can offer on schedule, once known.
    pub(crate) ceiling_ops_per_s: Option<f64>,
}

impl<W: Write + Send> Worker<'_, W> {
    /// Reports the engine's state at the start of the measured span and waits for the parent.
    pub(crate) fn begin_measuring(&self, context: &StepContext<'_>) {
        // The clients of a warm-up are running.
        let mut before = Box::new(self.sample(context.engine));
        Self::add_round_trip(&mut before, context.engine);
        let is_patient = context.kinds.contains(&OpKind::Define);
        self.send(&Message::MeasuringBegins { before, is_patient });
        self.wait_for_go();
        context.operations.begin_measuring();
    }

    /// Returns the state of engine and allocator while clients run; empty without an answer.
    pub(super) fn sample(&self, engine: &dyn Engine) -> EngineState {
        let mut state = engine.state().unwrap_or_default();
        state.readings.extend(self.heap.cheap_readings());
        state
    }

    /// Returns the state of engine and allocator when the clients have ended; without the engine's,
    /// which is reported, where it does not answer.
    pub(crate) fn final_state(&self, engine: &dyn Engine) -> EngineState {
        let mut state = engine.state().unwrap_or_else(|error| {
            self.lock_waits.report(&format!("the engine's state is not known: {error}"));
            EngineState::default()
        });
        state.readings.extend(self.heap.readings());
        Self::add_round_trip(&mut state, engine);
        state
    }

    /// Adds the round trip to the server, where there is one that answers.
    fn add_round_trip(state: &mut EngineState, engine: &dyn Engine) {
        let round_trip = engine.server().and_then(|server| server.round_trip().ok().flatten());
        let us = round_trip.map(model::Nanos::as_micros_f64);
        state.readings.set(model::metric::SERVER_ROUND_TRIP_US, us);
    }

    /// Waits until the parent has taken its readings.
    pub(super) fn wait_for_go(&self) {
        let Command::Go = self.reply() else { unreachable!("the parent lets a step go on") };
    }

    /// Reports that every client of a shared step has its session; returns the agreed start.
    ///
    /// # Errors
    /// When the order to start comes after the agreed time.
    pub(super) fn agree_start(&self) -> Result<Nanos, String> {
        self.send(&Message::Ready);
        let Command::Start { at } = self.reply() else { unreachable!("the parent starts a step") };
        let now = self.clock.now();
        if now > at {
            return Err(format!("the order to start came {} after the agreed time", now.since(at)));
        }
        Ok(at)
    }

    /// Waits for the parent's list of a probe's invalid intervals.
    pub(crate) fn wait_for_classification(&self) -> Vec<bool> {
        let Command::Classified { is_invalid } = self.reply() else {
            unreachable!("the parent classifies a probe")
        };
        is_invalid
    }

    fn reply(&self) -> Command {
        self.replies.recv().unwrap_or_else(|_hung_up| end())
    }

    /// Sends a message to the parent.
    pub(crate) fn send(&self, message: &Message) {
        send_to(self.output, message);
    }
}

/// What the thread needs that reads the parent's commands.
pub(super) struct Parent<W> {
    pub(super) output: Arc<Mutex<MessageWriter<W>>>,
    pub(super) clock: SteadyClock,
    pub(super) stop: StopFlag,
}

/// The parent's order, and its replies.
type Commands = (Receiver<Box<Order>>, Receiver<Command>);

impl<W: Write + Send + 'static> Parent<W> {
    /// Reads commands on a thread of its own, so that a stop works while the engine is busy.
    ///
    /// The end of the input ends this process, and so does a silent parent on another host.
    ///
    /// # Errors
    /// When no thread can be made.
    pub(super) fn listen(
        self,
        input: impl BufRead + Send + 'static,
        is_elsewhere: bool,
    ) -> io::Result<Commands> {
        let (send_order, orders) = sync_channel(1);
        let (send_reply, replies) = sync_channel(COMMANDS_MAX);
        let last_command = Arc::new(AtomicU64::new(self.clock.now().0));
        if is_elsewhere {
            let (clock, last_command) = (self.clock.clone(), last_command.clone());
            thread::Builder::new().spawn(move || end_without_parent(&clock, &last_command))?;
        }
        thread::Builder::new().spawn(move || {
            let mut commands = MessageReader::new(input);
            // The parent sends what can be read, or is gone.
            while let Ok(Some(command)) = commands.receive() {
                let now = self.clock.now();
                last_command.store(now.0, Ordering::Relaxed);
                // A send fails only when the worker is ending.
                match command {
                    Command::Run(order) => drop(send_order.send(order)),
                    Command::Stop => self.stop.set(),
                    Command::Ping { number: SIGN_OF_LIFE } => {}
                    Command::Ping { number } => {
                        send_to(&self.output, &Message::Pong { number, now });
                    }
                    reply @ (Command::Go | Command::Start { .. } | Command::Classified { .. }) => {
                        drop(send_reply.send(reply));
                    }
                }
            }
            end();
        })?;
        Ok((orders, replies))
    }
}

/// Ends this process once the parent, which sends a command each second, has been silent.
fn end_without_parent(clock: &SteadyClock, last_command: &AtomicU64) {
    loop {
        let last = Nanos(last_command.load(Ordering::Relaxed));
        if clock.rest_until(clock.now().after(LIFE_EVERY)).since(last) > PARENT_SILENT_MAX {
            end();
        }
    }
}

/// Sends one message.
pub(super) fn send_to(output: &Mutex<MessageWriter<impl Write>>, message: &Message) {
    let mut output = output.lock().expect("no thread panics while it writes");
    if output.send(message).is_err() {
        end();
    }
}

/// Ends this process, whose parent is gone: no run outlives its record.
fn end() -> ! {
    let me = rustix::process::getpid();
    rustix::process::kill_process(me, rustix::process::Signal::KILL)
        .expect("a process may kill itself");
    loop {
        thread::park();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use malloc::Tunables;
    use model::Allocator;

    use super::*;

    /// Goal: an order to start that comes late is no shorter step, but none.
    #[test]
    fn an_order_to_start_that_comes_late_is_refused() {
        let clock = SteadyClock::calibrate();
        let output = Mutex::new(MessageWriter::new(Vec::new()));
        let (send, replies) = sync_channel(1);
        let worker = Worker {
            output: &output,
            lock_waits: LockWaits::within(Duration::from_secs(1), sync_channel(1).0),
            replies,
            stop: StopFlag::default(),
            clock: &clock,
            heap: Heap::expect(Allocator::System, None, &Tunables::default()).unwrap(),
            ceiling_ops_per_s: None,
        };
        let later = clock.now().after(Nanos::from_secs(3_600));
        send.send(Command::Start { at: later }).unwrap();
        assert_eq!(worker.agree_start(), Ok(later));
        send.send(Command::Start { at: Nanos(1) }).unwrap();
        let late = worker.agree_start().unwrap_err();
        assert!(late.starts_with("the order to start came "), "{late}");
        assert!(late.ends_with(" after the agreed time"), "{late}");
    }
}
