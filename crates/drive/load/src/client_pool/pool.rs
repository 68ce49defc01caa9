//! Runs a step: starts the client threads and the coordinator.

use engine::Engine;
use model::{Load, Nanos, Pace, Pacing, StopRule};
use workload::random::Stream;

use super::barrier::StartBarrier;
use super::client_slot::ClientSlot;
use super::coordinator::{Coordinator, Span};
use super::pacing::PacingInputs;
use super::step::{Event, GroupRun, StepEnd, StepRun, StepTotals};
use crate::client::{Drive, Role, Waiting};
use crate::error::LoadError;
use crate::handoff::{ClientSender, connect};
use crate::schedule::SharedArrivals;
use crate::stop::{Halt, Heartbeat};
use crate::sync::{JoinHandle, spawn_scoped, thread};
use crate::tally::ClientTally;
use crate::timeline::Timeline;
use crate::traits::Clock;

/// Branch of the random stream that decides the writers' arrivals.
const WRITERS: u64 = 1;

/// State shared by coordinator and clients; each part has one writer.
pub(super) struct ClientPool {
    pub(super) clients: usize,
    pub(super) writers: usize,
    pub(super) barrier: StartBarrier,
    /// By position in the client pool, clients before writers.
    pub(super) heartbeats: Vec<Heartbeat>,
    /// The measured clients' arrivals; `None` in a closed loop.
    pub(super) client_arrivals: Option<SharedArrivals>,
    writer_arrivals: Option<SharedArrivals>,
    /// How the measured clients' arrivals are spread and waited for; `None` in a closed loop.
    pub(super) pace: Option<Pace>,
    client_halt: Halt,
    writer_halt: Halt,
}

impl ClientPool {
    fn new(step: &StepRun<'_>, margin: Nanos) -> Self {
        let (clients, writers) = (step.clients.generators.len(), step.writers.generators.len());
        let pace = match &step.clients.load {
            Load::Open(open) => {
                let pacing = PacingInputs::here(clients, margin).pacing(open);
                Some(Pace { pacing, ..open.pace })
            }
            Load::Closed | Load::Pipelined(_) | Load::FindRate(_) | Load::FindClients => None,
        };
        Self {
            clients,
            writers,
            barrier: StartBarrier::default(),
            heartbeats: (0..clients + writers).map(|_| Heartbeat::default()).collect(),
            client_arrivals: client_arrivals(step),
            writer_arrivals: writer_arrivals(step),
            pace,
            client_halt: Halt::default(),
            writer_halt: Halt::default(),
        }
    }

    /// Returns a client's name in messages, from its position in the pool.
    pub(super) fn name(&self, index: usize) -> String {
        match index.checked_sub(self.clients) {
            None => format!("client {index}"),
            Some(writer) => format!("writer {writer}"),
        }
    }

    const fn of(&self, role: Role) -> (&Halt, Option<&SharedArrivals>, Waiting) {
        match role {
            Role::Measured => {
                let waiting = match self.pace {
                    Some(Pace { pacing: Pacing::Spin, .. }) => Waiting::Spinning,
                    Some(_) | None => Waiting::Exact,
                };
                (&self.client_halt, self.client_arrivals.as_ref(), waiting)
            }
            Role::Background => {
                (&self.writer_halt, self.writer_arrivals.as_ref(), Waiting::Resting)
            }
        }
    }

    /// Halts the measured clients; the writers follow when they have ended.
    pub(super) fn halt_clients(&self) {
        self.client_halt.halt();
    }

    /// Halts all clients and writers.
    pub(super) fn halt_all(&self) {
        self.client_halt.halt();
        self.writer_halt.halt();
    }
}

/// Returns the arrivals that the measured clients share in an open loop.
fn client_arrivals(step: &StepRun<'_>) -> Option<SharedArrivals> {
    let Load::Open(open) = &step.clients.load else { return None };
    let (limit, deadline) = match step.stop {
        StopRule::Operations(total) => (total, None),
        StopRule::Duration(span) => (u64::MAX, Some(step.warmup.after(span))),
    };
    let timeline = Timeline { deadline, ..timeline(step) };
    Some(SharedArrivals::counted(open, step.arrival_seed, timeline, limit))
}

/// Returns the writers' shared arrivals in an open loop: they have no end of their own.
fn writer_arrivals(step: &StepRun<'_>) -> Option<SharedArrivals> {
    let Load::Open(open) = &step.writers.load else { return None };
    let seed = Stream::fixed(step.arrival_seed).branch(WRITERS).word(0);
    Some(SharedArrivals::endless(open, seed, timeline(step)))
}

/// Returns the step's timeline, from 0 on and without an end.
const fn timeline(step: &StepRun<'_>) -> Timeline {
    let (start, measured_from, interval) = (Nanos(0), step.warmup, step.interval);
    Timeline { start, measured_from, interval, deadline: None }
}

/// Stops all clients when the coordinator exits or panics.
struct StopOnDrop<'r>(&'r ClientPool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.barrier.cancel();
        self.0.halt_all();
    }
}

/// Runs one step; `on_event` is called on the caller's thread.
///
/// A callback that takes longer than two intervals makes intervals coarser, and loses nothing.
///
/// # Errors
/// When the step cannot begin. Failures after the start are in [`StepTotals::end`], with the
/// measurements until then.
///
/// # Panics
/// When `on_event` does; the clients are stopped first.
pub fn run_step<C: Clock>(
    clock: &C,
    step: &mut StepRun<'_>,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<StepTotals, LoadError> {
    step.validate()?;
    let pool = &ClientPool::new(step, clock.margin());
    let (inbox, buffers) = connect(pool.clients + pool.writers, |index| {
        let group = if index < pool.clients { &step.clients } else { &step.writers };
        let tally = ClientTally::new(group.kinds.iter().copied());
        if index < pool.clients && pool.pace.is_some() { tally.with_lags() } else { tally }
    });
    let span = Span {
        stop: step.stop,
        warmup: step.warmup,
        interval: step.interval,
        kind: step.clients.kinds.first().copied(),
        stop_flag: step.stop_flag.clone(),
    };
    let (engine, stop, is_checking) = (step.engine, step.stop, step.is_checking);
    let call = Call { clock, pool, engine, stop, is_checking };
    let groups = [(&mut step.clients, Role::Measured), (&mut step.writers, Role::Background)];
    thread::scope(|scope| {
        let stop_on_drop = StopOnDrop(pool);
        let mut started = StartedClients { buffers: buffers.into_iter(), handles: Vec::new() };
        for (group, role) in groups {
            started.start_group(scope, &call, group, role)?;
        }
        let mut totals = Coordinator::begin(clock, pool, inbox, span, on_event)?.run();
        drop(stop_on_drop);
        for (index, handle) in started.handles.into_iter().enumerate() {
            let failure = handle.join().unwrap_or_else(|_| Some("panicked".to_owned()));
            if let (Some(failure), StepEnd::Finished | StepEnd::Stopped) = (failure, &totals.end) {
                let reason = format!("{}: {failure}, after its last operation", pool.name(index));
                totals.end = StepEnd::Failed { reason };
            }
        }
        Ok(totals)
    })
}

/// Parameters that all clients share.
struct Call<'env, C> {
    clock: &'env C,
    pool: &'env ClientPool,
    engine: &'env dyn Engine,
    stop: StopRule,
    is_checking: bool,
}

/// The threads started so far, and the buffers of the others.
struct StartedClients<'scope> {
    buffers: std::vec::IntoIter<(ClientSender, Box<ClientTally>)>,
    handles: Vec<JoinHandle<'scope, Option<String>>>,
}

impl<'scope> StartedClients<'scope> {
    /// Starts one thread per generator of the group.
    fn start_group<'env: 'scope, C: Clock>(
        &mut self,
        scope: &'scope thread::Scope<'scope, 'env>,
        call: &Call<'env, C>,
        group: &'env mut GroupRun<'_>,
        role: Role,
    ) -> Result<(), LoadError> {
        let size = group.generators.len() as u64;
        let (halt, arrivals, waiting) = call.pool.of(role);
        let depth = if let Load::Pipelined(depth) = group.load { depth } else { 1 };
        for (position, generator) in (0..).zip(&mut group.generators) {
            let index = self.handles.len();
            // Shared arrivals have their own end.
            let limit = match arrivals {
                Some(_) => u64::MAX,
                None => limit(call.stop, role, position, size),
            };
            let client_slot = ClientSlot {
                index,
                arrivals,
                drive: Drive {
                    clock: call.clock,
                    halt,
                    role,
                    waiting,
                    limit,
                    depth,
                    is_checking: call.is_checking,
                },
                engine: call.engine,
                generator: &mut **generator,
                barrier: &call.pool.barrier,
                heartbeat: &call.pool.heartbeats[index],
                buffers: self.buffers.next().expect("each generator has its buffers"),
            };
            let who = call.pool.name(index);
            match spawn_scoped(scope, &who, move || client_slot.run()) {
                Ok(handle) => self.handles.push(handle),
                Err(source) => return Err(LoadError::Thread { who, source }),
            }
        }
        Ok(())
    }
}

/// Returns the operations that client `position` of `size` may do.
const fn limit(stop: StopRule, role: Role, position: u64, size: u64) -> u64 {
    match (stop, role) {
        (StopRule::Operations(total), Role::Measured) => {
            first_share(total, position + 1, size) - first_share(total, position, size)
        }
        (StopRule::Duration(_), Role::Measured) | (_, Role::Background) => u64::MAX,
    }
}

/// Returns how many of `total` fall to the first `clients` of `size`, as workloads divide them.
#[expect(clippy::cast_possible_truncation, reason = "a part of a u64 fits a u64")]
const fn first_share(total: u64, clients: u64, size: u64) -> u64 {
    (total as u128 * clients as u128 / size as u128) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_share_all_operations() {
        let share = |position| limit(StopRule::Operations(10), Role::Measured, position, 4);
        assert_eq!([share(0), share(1), share(2), share(3)], [2, 3, 2, 3]);
        assert_eq!(limit(StopRule::Operations(10), Role::Background, 0, 1), u64::MAX);
    }
}
