//! One client's thread, from opening its session to its last message.

use std::panic::{AssertUnwindSafe, catch_unwind};

use engine::{Engine, EngineError, Session};
use model::Nanos;
use nix::unistd::gettid;
use workload::Generator;

use super::barrier::StartBarrier;
use crate::client::{Drive, Meter, Role, Source, run_scheduled};
use crate::handoff::{ClientBuffers, ClientEnd, Message};
use crate::reopening::{Faults, Reopening, closed};
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
    pub(super) faults: &'r Faults<'r>,
    pub(super) generator: &'r mut dyn Generator,
    pub(super) barrier: &'r StartBarrier,
    pub(super) heartbeat: &'r Heartbeat,
}

/// State of a client: its buffers until the start, its meter until the end.
enum SlotState<'r> {
    Buffers(ClientBuffers),
    Meter(Box<Meter<'r>>),
    Empty,
}

impl<'r, C: Clock> ClientSlot<'r, C> {
    /// Runs the client; returns a failure after its last message, if any.
    ///
    /// Exactly one message reports the end, even after a panic.
    pub(super) fn run(mut self, buffers: ClientBuffers) -> Option<String> {
        let mut state = SlotState::Buffers(buffers);
        let caught = catch_unwind(AssertUnwindSafe(|| while self.work(&mut state) {}));
        // However it ended: others may wait for it.
        self.generator.end();
        let panic =
            caught.err().map(|payload| format!("panicked: {}", panic_message(&*payload)))?;
        if matches!(state, SlotState::Empty) {
            return Some(panic);
        }
        state.end(self.drive.clock.now(), self.index, ClientEnd::Failed(panic));
        None
    }

    /// Works on one session; returns whether the client goes on with another one.
    fn work(&mut self, state: &mut SlotState<'r>) -> bool {
        let reopening = self.faults.reopening.as_ref().map(|(reopening, _)| *reopening);
        let held = reopening.map(Reopening::hold);
        let is_paused = match &held {
            None => self.use_session(Ok(self.engine), state),
            Some(slot) => self.use_session(slot.as_deref().ok_or_else(closed), state),
        };
        drop(held);
        let Some(reopening) = reopening.filter(|_| is_paused) else { return false };
        let SlotState::Meter(meter) = state else { return false };
        let reopened =
            reopening.reopen(meter.paused(), self.faults.has_disk_faults, self.drive.clock);
        let now = self.drive.clock.now();
        meter.go_on(now);
        let end = match reopened {
            Err(error) => ClientEnd::Failed(error.to_string()),
            Ok(()) if now >= meter.deadline => ClientEnd::Finished,
            Ok(()) => return true,
        };
        state.end(now, self.index, end);
        false
    }

    /// Works on a new session, and ends the client unless it is paused; returns whether it is.
    fn use_session(
        &mut self,
        engine: Result<&dyn Engine, EngineError>,
        state: &mut SlotState<'r>,
    ) -> bool {
        let opened = engine.and_then(|engine| match self.drive.role {
            Role::Measured => engine.session(),
            Role::Background => engine.writer_session(),
        });
        let opened = opened.map(|session| match self.faults.writes {
            Some(writes) => writes.observe(session),
            None => session,
        });
        let mut session = None;
        let end = match opened {
            Err(error) => ClientEnd::Refused(error),
            Ok(opened) => match self.run_on(&mut **session.insert(opened), state) {
                Some(end) => end,
                None => return true,
            },
        };
        // Before the session is closed, which may take the engine long.
        state.end(self.drive.clock.now(), self.index, end);
        false
    }

    /// Executes operations; `None` when the client is paused.
    fn run_on(
        &mut self,
        session: &mut dyn Session,
        state: &mut SlotState<'r>,
    ) -> Option<ClientEnd> {
        if self.drive.depth > 1 && session.pipeline().is_none() {
            return Some(ClientEnd::Refused(no_pipeline()));
        }
        let Some(meter) = state.meter(self) else { return Some(ClientEnd::Stopped) };
        let source = Source { generator: &mut *self.generator, session };
        let end = run_scheduled(&self.drive, self.arrivals, source, meter);
        if !meter.is_paused || !matches!(end, ClientEnd::Finished) {
            return Some(end);
        }
        if self.arrivals.is_none()
            && let Some(gaps) = &mut meter.gaps
        {
            gaps.note_waiting(self.drive.clock.now());
        }
        None
    }
}

impl<'r> SlotState<'r> {
    /// Returns the meter; before the start it first waits for the other clients.
    fn meter<C: Clock>(&mut self, slot: &ClientSlot<'r, C>) -> Option<&mut Meter<'r>> {
        if let Self::Buffers(buffers) = self {
            buffers.sender.send(Message::Ready(slot.index, gettid()));
            let timeline = slot.barrier.wait()?;
            slot.drive.clock.wait_until(timeline.start);
            let Self::Buffers(buffers) = std::mem::replace(self, Self::Empty) else { return None };
            let role = slot.drive.role;
            let mut meter = Meter::new(slot.index, timeline, role, buffers, slot.heartbeat);
            if slot.faults.has_events {
                let pauses = slot.faults.reopening.as_ref().map(|(_, pauses)| &pauses[..]);
                meter.expect_faults(role, pauses.unwrap_or_default());
                meter.has_disk_faults = slot.faults.has_disk_faults;
            }
            *self = Self::Meter(Box::new(meter));
        }
        match self {
            Self::Meter(meter) => Some(meter),
            Self::Buffers(_) | Self::Empty => None,
        }
    }

    /// Sends the last message.
    fn end(&mut self, now: Nanos, index: usize, end: ClientEnd) {
        match std::mem::replace(self, Self::Empty) {
            Self::Buffers(buffers) => buffers.sender.send(Message::NotStarted(index, end)),
            Self::Meter(meter) => meter.finish(now, end),
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
