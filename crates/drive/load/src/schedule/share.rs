//! The part of a step's clients that one process runs, of those that several processes run.

use serde::{Deserialize, Serialize};
use workload::Part;

/// Clients of one process, among all clients of a step.
///
/// Each process generates all arrivals and takes those of its clients: arrival `n` is due to
/// client `n` modulo the number of all clients, so the processes' parts are disjoint, and together
/// they are the whole schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The first client, from 0.
    pub first: u32,
    /// Clients of this process.
    pub clients: u32,
    /// Clients of all processes.
    pub all: u32,
}

impl Share {
    /// Returns the share of a process that runs every client.
    pub const fn whole(clients: u32) -> Self {
        Self { first: 0, clients, all: clients }
    }

    /// Returns the part of one of this process's clients among all clients.
    pub(crate) const fn part(self, client: u32) -> Part {
        Part { client: self.first + client, clients: self.all }
    }

    /// Returns whether an arrival is due to a client of this process.
    #[inline(always)]
    pub(crate) const fn has(self, arrival: u64) -> bool {
        if self.clients == self.all {
            return true;
        }
        let client = arrival % self.all as u64;
        client >= self.first as u64 && client < self.first as u64 + self.clients as u64
    }
}
