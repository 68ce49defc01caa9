//! One client's thread, from opening its session to its last message.

use std::panic::{AssertUnwindSafe, catch_unwind};

use engine::{Engine, EngineError};
use nix::unistd::gettid;
use workload::Generator;

use super::barrier::StartBarrier;
use crate::client::{Drive, Meter, Role, Source, run_scheduled};
use crate::handoff::{ClientBuffers, ClientEnd, Message};
use crate::schedule::SharedArrivals;
use crate::stop::Heartbeat;
use crate::traits::Clock;

/// Inputs of one client's thread.
pub(super) struct ClientSlot<'r, C> {
    /// Position in the client pool, clients before writers.
    pub(super) index: usize,
    /// Arrivals that the group's clients share; `None` in a closed loop.
    pub(super) arrivals: Option<&'r SharedArrivals>,
    pub(super) drive: Drive<'r, C>,
    pub(super) engine: &'r dyn Engine,
    pub(super) generator: &'r mut dyn Generator,
    pub(super) barrier: &'r StartBarrier,
    pub(super) heartbeat: &'r Heartbeat,
    pub(super) buffers: ClientBuffers,
}

/// State of a client: its buffers until the start, its meter until the end.
enum SlotState<'r> {
    Buffers(ClientBuffers),
    Meter(Box<Meter<'r>>),
    Empty,
}

impl<C: Clock> ClientSlot<'_, C> {
    /// Runs the client; returns a failure after its last message, if any.
    ///
    /// Exactly one message reports the end, even after a panic.
    pub(super) fn run(self) -> Option<String> {
        let Self { index, arrivals, drive, engine, generator, barrier, heartbeat, buffers } = self;
        let clock = drive.clock;
        let mut state = SlotState::Buffers(buffers);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let opened = match drive.role {
                Role::Measured => engine.session(),
                Role::Background => engine.writer_session(),
            };
            let mut session = match opened {
                Ok(session) => session,
                Err(error) => return state.end(clock, index, ClientEnd::Refused(error)),
            };
            if drive.depth > 1 && session.pipeline().is_none() {
                return state.end(clock, index, ClientEnd::Refused(no_pipeline()));
            }
            let Some(timeline) = state.wait_at(barrier, index) else {
                return state.end(clock, index, ClientEnd::Stopped);
            };
            clock.wait_until(timeline.start);
            let meter = |buffers| Meter::new(index, timeline, drive.role, buffers, heartbeat);
            let end = match state.begin(meter) {
                Some(meter) => {
                    let source = Source { generator: &mut *generator, session: &mut *session };
                    run_scheduled(&drive, arrivals, source, meter)
                }
                None => ClientEnd::Stopped,
            };
            // Before the session is closed, which may take the engine long.
            state.end(clock, index, end);
        }));
        // However it ended: others may wait for it.
        generator.end();
        let panic =
            caught.err().map(|payload| format!("panicked: {}", panic_message(&*payload)))?;
        if matches!(state, SlotState::Empty) {
            return Some(panic);
        }
        state.end(clock, index, ClientEnd::Failed(panic));
        None
    }
}

impl<'r> SlotState<'r> {
    /// Reports that the client is ready, and waits.
    fn wait_at(&self, barrier: &StartBarrier, index: usize) -> Option<crate::timeline::Timeline> {
        if let Self::Buffers(buffers) = self {
            buffers.sender.send(Message::Ready(index, gettid()));
        }
        barrier.wait()
    }

    /// Turns the buffers into a meter.
    fn begin(&mut self, meter: impl FnOnce(ClientBuffers) -> Meter<'r>) -> Option<&mut Meter<'r>> {
        if let Self::Buffers(buffers) = std::mem::replace(self, Self::Empty) {
            *self = Self::Meter(Box::new(meter(buffers)));
        }
        match self {
            Self::Meter(meter) => Some(meter),
            Self::Buffers(_) | Self::Empty => None,
        }
    }

    /// Sends the last message.
    fn end<C: Clock>(&mut self, clock: &C, index: usize, end: ClientEnd) {
        match std::mem::replace(self, Self::Empty) {
            Self::Buffers(buffers) => buffers.sender.send(Message::NotStarted(index, end)),
            Self::Meter(meter) => meter.finish(clock.now(), end),
            Self::Empty => {}
        }
    }
}

/// Returns the refusal of an engine that must answer each operation before the next.
fn no_pipeline() -> EngineError {
    EngineError::Unsupported("it takes no operation before the last is answered".to_owned())
}

/// Returns a panic's message.
pub(super) fn panic_message(payload: &(dyn std::any::Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}
