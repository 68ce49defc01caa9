//! One client's thread, from its session to its last message.

use std::panic::{AssertUnwindSafe, catch_unwind};

use engine::{Engine, EngineError};
use nix::unistd::gettid;
use workload::Generator;

use super::gate::Gate;
use crate::client::{ClientEnd, Drive, Meter, run_scheduled};
use crate::handoff::{Message, Outlet};
use crate::schedule::SharedArrivals;
use crate::stop::Pulse;
use crate::tally::ClientTally;
use crate::traits::Clock;

/// What one client gets from the crew.
pub(super) struct Seat<'r, C> {
    /// Position among the crew, clients before writers.
    pub(super) index: usize,
    /// What the group's clients share; `None` in a closed loop.
    pub(super) arrivals: Option<&'r SharedArrivals>,
    pub(super) drive: Drive<'r, C>,
    pub(super) engine: &'r dyn Engine,
    pub(super) generator: &'r mut dyn Generator,
    pub(super) gate: &'r Gate,
    pub(super) pulse: &'r Pulse,
    pub(super) kit: (Outlet, Box<ClientTally>),
}

/// What a client has in hand: its kit until the start, its meter until the end.
enum Hand<'r> {
    Kit(Outlet, Box<ClientTally>),
    Meter(Meter<'r>),
    Empty,
}

impl<C: Clock> Seat<'_, C> {
    /// Runs the client; returns what went wrong after its last message, if anything.
    ///
    /// Whatever happens, exactly one message says that the client ended.
    pub(super) fn occupy(self) -> Option<String> {
        let Self { index, arrivals, drive, engine, generator, gate, pulse, kit } = self;
        let clock = drive.clock;
        let mut hand = Hand::Kit(kit.0, kit.1);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let mut session = match engine.session() {
                Ok(session) => session,
                Err(error) => return hand.put_down(clock, index, ClientEnd::Refused(error)),
            };
            if drive.depth > 1 && session.pipeline().is_none() {
                return hand.put_down(clock, index, ClientEnd::Refused(no_pipeline()));
            }
            let Some(timeline) = hand.wait_at(gate, index) else {
                return hand.put_down(clock, index, ClientEnd::Stopped);
            };
            clock.wait_until(timeline.start);
            let end = match hand.begin(|kit| Meter::new(index, (timeline, drive.role), kit, pulse))
            {
                Some(meter) => run_scheduled(&drive, arrivals, (generator, &mut *session), meter),
                None => ClientEnd::Stopped,
            };
            // Before the session is closed, which may take the engine long.
            hand.put_down(clock, index, end);
        }));
        let panic = caught.err().map(|payload| format!("panicked: {}", words(&*payload)))?;
        if matches!(hand, Hand::Empty) {
            return Some(panic);
        }
        hand.put_down(clock, index, ClientEnd::Failed(panic));
        None
    }
}

impl<'r> Hand<'r> {
    /// Says that the client is ready, and waits.
    fn wait_at(&self, gate: &Gate, index: usize) -> Option<crate::timeline::Timeline> {
        if let Self::Kit(outlet, _) = self {
            outlet.send(Message::Ready(index, gettid()));
        }
        gate.wait()
    }

    /// Turns the kit into a meter.
    fn begin(
        &mut self,
        meter: impl FnOnce((Outlet, Box<ClientTally>)) -> Meter<'r>,
    ) -> Option<&mut Meter<'r>> {
        if let Self::Kit(outlet, tally) = std::mem::replace(self, Self::Empty) {
            *self = Self::Meter(meter((outlet, tally)));
        }
        match self {
            Self::Meter(meter) => Some(meter),
            Self::Kit(..) | Self::Empty => None,
        }
    }

    /// Sends the last message.
    fn put_down<C: Clock>(&mut self, clock: &C, index: usize, end: ClientEnd) {
        match std::mem::replace(self, Self::Empty) {
            Self::Kit(outlet, _) => outlet.send(Message::Absent(index, end)),
            Self::Meter(meter) => meter.finish(clock.now(), end),
            Self::Empty => {}
        }
    }
}

/// Returns the refusal of an engine that must answer each operation before the next.
fn no_pipeline() -> EngineError {
    EngineError::Unsupported("it takes no operation before the last is answered".to_owned())
}

/// Returns what a panic said.
fn words(payload: &(dyn std::any::Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a word")
}
