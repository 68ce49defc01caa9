//! Choice of pacing: spin or sleep, from arrival gaps and free CPUs.

use std::thread::available_parallelism;

use model::{Nanos, OpenLoad, Pacing};

/// CPUs that spinning clients leave alone: one for the engine's own threads and the harness.
const SPARE_CPUS: usize = 1;

/// Inputs of the choice.
#[derive(Debug, Clone, Copy)]
pub(super) struct PacingInputs {
    /// Clients of the group.
    pub(super) clients: usize,
    /// CPUs this process may use, a control group's cap included.
    pub(super) cpus: usize,
    /// A shorter wait is spun from the start, whatever the pacing.
    pub(super) margin: Nanos,
}

impl PacingInputs {
    /// Returns the inputs on this host for `clients` clients.
    pub(super) fn here(clients: usize, margin: Nanos) -> Self {
        // Where the system does not report the CPUs, no client spins.
        Self { clients, cpus: available_parallelism().map_or(1, usize::from), margin }
    }

    /// Returns how free clients wait: never [`Pacing::Auto`].
    ///
    /// They spin where each has a CPU to itself and one is left, or where the mean gap between
    /// two arrivals of a client, at the highest rate, is too short to sleep in.
    pub(super) fn pacing(self, load: &OpenLoad) -> Pacing {
        if load.pace.pacing != Pacing::Auto {
            return load.pace.pacing;
        }
        let gap_ns = self.clients as f64 / load.rate.peak_ops_per_s() * 1e9;
        let has_room = self.clients + SPARE_CPUS <= self.cpus;
        if has_room || gap_ns < self.margin.0 as f64 { Pacing::Spin } else { Pacing::Hybrid }
    }
}

#[cfg(test)]
mod tests {
    use model::{Arrivals, Pace, Rate};

    use super::*;

    #[test]
    fn clients_spin_where_a_cpu_is_free() {
        let load = |ops_per_s, pacing| OpenLoad {
            rate: Rate::constant(ops_per_s),
            pace: Pace { arrivals: Arrivals::Poisson, pacing },
        };
        let chosen = |clients, cpus, ops_per_s| {
            let room = PacingInputs { clients, cpus, margin: Nanos(50_000) };
            room.pacing(&load(ops_per_s, Pacing::Auto))
        };
        assert_eq!(chosen(1, 2, 1000.0), Pacing::Spin);
        assert_eq!(chosen(2, 2, 1000.0), Pacing::Hybrid);
        // A gap of 20 us per client: no sleep is that short.
        assert_eq!(chosen(2, 2, 100_000.0), Pacing::Spin);
        let room = PacingInputs { clients: 4, cpus: 1, margin: Nanos(50_000) };
        assert_eq!(room.pacing(&load(1000.0, Pacing::Spin)), Pacing::Spin);
        assert_eq!(room.pacing(&load(1e6, Pacing::Hybrid)), Pacing::Hybrid);
        assert!(PacingInputs::here(1, Nanos(0)).cpus >= 1);
    }
}
