//! State that the coordinator and the clients of a step share.

use std::thread::available_parallelism;

use model::{Load, Nanos, OpenLoad, Pace, Pacing, StopRule};
use workload::random::Stream;

use super::barrier::StartBarrier;
use super::step::StepRun;
use crate::client::{Role, Waiting};
use crate::schedule::SharedArrivals;
use crate::stop::{Halt, Heartbeat};
use crate::timeline::Timeline;

/// CPUs that spinning clients leave alone: one for the engine's own threads and the harness.
const SPARE_CPUS: usize = 1;
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
    /// Returns the state of a step before its clients start.
    pub(super) fn new(step: &StepRun<'_>, margin: Nanos) -> Self {
        let (clients, writers) = (step.clients.generators.len(), step.writers.generators.len());
        let pace = match &step.clients.load {
            Load::Open(open) => {
                // Where the system does not report the CPUs, no client spins.
                let cpus = available_parallelism().map_or(1, usize::from);
                let pacing = pacing(open, clients, cpus, margin);
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

    /// Returns what halts the clients of a role, their arrivals, and how they wait.
    pub(super) const fn of(&self, role: Role) -> (&Halt, Option<&SharedArrivals>, Waiting) {
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
    let limit = match step.stop {
        StopRule::Operations(total) => total,
        StopRule::Duration(_) => u64::MAX,
    };
    Some(SharedArrivals::counted(open, step.arrival_seed, timeline(step), step.share(), limit))
}

/// Returns the writers' shared arrivals in an open loop: they have no end of their own.
fn writer_arrivals(step: &StepRun<'_>) -> Option<SharedArrivals> {
    let Load::Open(open) = &step.writers.load else { return None };
    let seed = Stream::fixed(step.arrival_seed).branch(WRITERS).word(0);
    let timeline = Timeline { deadline: None, ..timeline(step) };
    Some(SharedArrivals::endless(open, seed, timeline))
}

/// Returns the step's timeline, from 0 on.
pub(super) const fn timeline(step: &StepRun<'_>) -> Timeline {
    let (start, measured_from, interval) = (Nanos(0), step.warmup, step.interval);
    let deadline = match step.stop {
        StopRule::Operations(_) => None,
        StopRule::Duration(span) => Some(step.warmup.after(span)),
    };
    Timeline { start, measured_from, interval, deadline }
}

/// Returns how free clients wait: never [`Pacing::Auto`].
///
/// They spin where each has one of the `cpus` to itself and one is left, or where the mean gap
/// between two arrivals of a client, at the highest rate, is too short to sleep in: a wait shorter
/// than `margin` is spun from the start.
fn pacing(load: &OpenLoad, clients: usize, cpus: usize, margin: Nanos) -> Pacing {
    if load.pace.pacing != Pacing::Auto {
        return load.pace.pacing;
    }
    let gap_ns = clients as f64 / load.rate.peak_ops_per_s() * 1e9;
    let has_room = clients + SPARE_CPUS <= cpus;
    if has_room || gap_ns < margin.0 as f64 { Pacing::Spin } else { Pacing::Hybrid }
}

#[cfg(test)]
mod tests {
    use model::{Arrivals, Rate};

    use super::*;

    #[test]
    fn clients_spin_where_a_cpu_is_free() {
        let load = |ops_per_s, pacing| OpenLoad {
            rate: Rate::constant(ops_per_s),
            pace: Pace { arrivals: Arrivals::Poisson, pacing },
        };
        let chosen = |clients, cpus, ops_per_s, requested| {
            pacing(&load(ops_per_s, requested), clients, cpus, Nanos(50_000))
        };
        assert_eq!(chosen(1, 2, 1000.0, Pacing::Auto), Pacing::Spin);
        assert_eq!(chosen(2, 2, 1000.0, Pacing::Auto), Pacing::Hybrid);
        // A gap of 20 us per client: no sleep is that short.
        assert_eq!(chosen(2, 2, 100_000.0, Pacing::Auto), Pacing::Spin);
        assert_eq!(chosen(4, 1, 1000.0, Pacing::Spin), Pacing::Spin);
        assert_eq!(chosen(4, 1, 1e6, Pacing::Hybrid), Pacing::Hybrid);
    }
}
