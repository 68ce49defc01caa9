//! Runs a step: seats everybody, and lets the coordinator conduct.

use engine::Engine;
use model::{Load, Nanos, Pace, Pacing, StopRule};
use workload::random::Stream;

use super::conduct::{Conductor, Span};
use super::gate::Gate;
use super::pace::Room;
use super::seat::Seat;
use super::step::{Event, GroupRun, StepEnd, StepRun, StepTotals};
use crate::client::{Drive, Role, Waiting};
use crate::error::LoadError;
use crate::handoff::{Outlet, connect};
use crate::schedule::SharedArrivals;
use crate::stop::{Halt, Pulse};
use crate::sync::{JoinHandle, spawn_scoped, thread};
use crate::tally::ClientTally;
use crate::timeline::Timeline;
use crate::traits::Clock;

/// Purpose of the random words that decide the writers' arrivals.
const WRITERS: u64 = 1;

/// What coordinator and clients share: each part is written by one side only.
pub(super) struct Team {
    pub(super) clients: usize,
    pub(super) writers: usize,
    pub(super) gate: Gate,
    /// By position among the crew, clients before writers.
    pub(super) pulses: Vec<Pulse>,
    /// The measured clients' arrivals; `None` in a closed loop.
    pub(super) client_arrivals: Option<SharedArrivals>,
    writer_arrivals: Option<SharedArrivals>,
    /// How the measured clients' arrivals are spread and waited for; `None` in a closed loop.
    pub(super) pace: Option<Pace>,
    client_halt: Halt,
    writer_halt: Halt,
}

impl Team {
    fn new(step: &StepRun<'_>, margin: Nanos) -> Self {
        let (clients, writers) = (step.clients.generators.len(), step.writers.generators.len());
        let pace = match &step.clients.load {
            Load::Open(open) => {
                let pacing = Room::here(clients, margin).pacing(open);
                Some(Pace { pacing, ..open.pace })
            }
            Load::Closed | Load::Pipelined(_) | Load::FindRate(_) | Load::FindClients => None,
        };
        Self {
            clients,
            writers,
            gate: Gate::default(),
            pulses: (0..clients + writers).map(|_| Pulse::default()).collect(),
            client_arrivals: client_arrivals(step),
            writer_arrivals: writer_arrivals(step),
            pace,
            client_halt: Halt::default(),
            writer_halt: Halt::default(),
        }
    }

    /// Returns what a crew member is called in messages, from its position among the crew.
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

    /// Tells the measured clients to end; the writers follow when they have.
    pub(super) fn halt_clients(&self) {
        self.client_halt.halt();
    }

    /// Tells everybody to end.
    pub(super) fn halt_all(&self) {
        self.client_halt.halt();
        self.writer_halt.halt();
    }
}

/// Returns what the measured clients share in an open loop.
fn client_arrivals(step: &StepRun<'_>) -> Option<SharedArrivals> {
    let Load::Open(open) = &step.clients.load else { return None };
    let (limit, deadline) = match step.stop {
        StopRule::Operations(total) => (total, None),
        StopRule::Duration(span) => (u64::MAX, Some(step.warmup.after(span))),
    };
    let timeline = Timeline { deadline, ..timeline(step) };
    Some(SharedArrivals::counted(open, step.arrival_seed, timeline, limit))
}

/// Returns what the background writers share in an open loop: they have no end of their own.
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

/// Sends everybody home when the coordinator leaves, even by a panic.
struct Leash<'r>(&'r Team);

impl Drop for Leash<'_> {
    fn drop(&mut self) {
        self.0.gate.cancel();
        self.0.halt_all();
    }
}

/// Runs one step; `on_event` is called on this thread, while the clients run on theirs.
///
/// A callback that takes longer than two intervals makes intervals coarser, and loses nothing.
///
/// # Errors
/// When the step cannot be begun. What goes wrong after the start is in [`StepTotals::end`], with
/// what was measured until then.
///
/// # Panics
/// When `on_event` does; the clients are stopped first.
pub fn run_step<C: Clock>(
    clock: &C,
    step: &mut StepRun<'_>,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<StepTotals, LoadError> {
    step.validate()?;
    let team = &Team::new(step, clock.margin());
    let (inlet, kits) = connect(team.clients + team.writers, |index| {
        let group = if index < team.clients { &step.clients } else { &step.writers };
        let tally = ClientTally::new(group.kinds.iter().copied());
        if index < team.clients && team.pace.is_some() { tally.with_lags() } else { tally }
    });
    let span = Span {
        stop: step.stop,
        warmup: step.warmup,
        interval: step.interval,
        kind: step.clients.kinds.first().copied(),
        stop_flag: step.stop_flag.clone(),
    };
    let (engine, stop, is_checking) = (step.engine, step.stop, step.is_checking);
    let call = Call { clock, team, engine, stop, is_checking };
    let groups = [(&mut step.clients, Role::Measured), (&mut step.writers, Role::Background)];
    thread::scope(|scope| {
        let leash = Leash(team);
        let mut seated = Seated { kits: kits.into_iter(), handles: Vec::new() };
        for (group, role) in groups {
            seated.seat_group(scope, &call, group, role)?;
        }
        let mut totals = Conductor::begin(clock, team, inlet, span, on_event)?.conduct();
        drop(leash);
        for (index, handle) in seated.handles.into_iter().enumerate() {
            let words = handle.join().unwrap_or_else(|_| Some("panicked".to_owned()));
            if let (Some(words), StepEnd::Finished | StepEnd::Stopped) = (words, &totals.end) {
                let reason = format!("{}: {words}, after its last operation", team.name(index));
                totals.end = StepEnd::Failed { reason };
            }
        }
        Ok(totals)
    })
}

/// What is the same for everybody.
struct Call<'env, C> {
    clock: &'env C,
    team: &'env Team,
    engine: &'env dyn Engine,
    stop: StopRule,
    is_checking: bool,
}

/// The threads started so far, and the kits of those that are not.
struct Seated<'scope> {
    kits: std::vec::IntoIter<(Outlet, Box<ClientTally>)>,
    handles: Vec<JoinHandle<'scope, Option<String>>>,
}

impl<'scope> Seated<'scope> {
    /// Starts one thread per generator of the group.
    fn seat_group<'env: 'scope, C: Clock>(
        &mut self,
        scope: &'scope thread::Scope<'scope, 'env>,
        call: &Call<'env, C>,
        group: &'env mut GroupRun<'_>,
        role: Role,
    ) -> Result<(), LoadError> {
        let size = group.generators.len() as u64;
        let (halt, arrivals, waiting) = call.team.of(role);
        let depth = if let Load::Pipelined(depth) = group.load { depth } else { 1 };
        for (position, generator) in (0..).zip(&mut group.generators) {
            let index = self.handles.len();
            // Shared arrivals have their own end.
            let limit = match arrivals {
                Some(_) => u64::MAX,
                None => limit(call.stop, role, position, size),
            };
            let seat = Seat {
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
                gate: &call.team.gate,
                pulse: &call.team.pulses[index],
                kit: self.kits.next().expect("a kit was made for each generator"),
            };
            let who = call.team.name(index);
            match spawn_scoped(scope, &who, move || seat.occupy()) {
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
            cut(total, position + 1, size) - cut(total, position, size)
        }
        (StopRule::Duration(_), Role::Measured) | (_, Role::Background) => u64::MAX,
    }
}

/// Returns how many of `total` fall to the first `clients` of `size`, as workloads divide them.
#[expect(clippy::cast_possible_truncation, reason = "a part of a u64 fits a u64")]
const fn cut(total: u64, clients: u64, size: u64) -> u64 {
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
