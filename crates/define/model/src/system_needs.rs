//! What a run needs of the system's limits.

use crate::units::Bytes;

/// An amount that a server needs, and the option with which it does without.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Need {
    /// The amount; 0 for none.
    pub amount: u64,
    /// What the user may set instead, as the end of a sentence.
    pub instead: &'static str,
}

/// What a client, an engine or a server needs of the system's limits; 0 and `false` for nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SystemNeeds {
    /// Clients of the largest step.
    pub clients: u32,
    /// Threads and processes, those of the clients included.
    pub threads: u64,
    /// Files that one process has open.
    pub open_files: u64,
    /// Events of the kernel's asynchronous I/O.
    pub aio_events: Need,
    /// Named shared memory, bytes.
    pub shared_memory: Need,
    /// `io_uring`: 1 where an option demands it.
    pub io_uring: Need,
    /// Files of the data that bypass the page cache: 1 where a setting or an option demands it.
    pub direct_io: Need,
}

impl SystemNeeds {
    /// Returns the needs of a client and its server, which are processes of their own.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let larger = |one: Need, two: Need| if one.amount > two.amount { one } else { two };
        Self {
            clients: self.clients.max(other.clients),
            threads: self.threads + other.threads,
            open_files: self.open_files.max(other.open_files),
            aio_events: larger(self.aio_events, other.aio_events),
            shared_memory: larger(self.shared_memory, other.shared_memory),
            io_uring: larger(self.io_uring, other.io_uring),
            direct_io: larger(self.direct_io, other.direct_io),
        }
    }
}

/// The load of a server, by which its needs grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerLoad {
    /// Connections of the largest step.
    pub connections: u64,
    /// Bytes of the rows.
    pub data: Bytes,
    /// Whether tables have several indexes, as those of applications.
    pub has_indexes: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_two_processes_add_up_and_their_files_do_not() {
        let client = SystemNeeds { clients: 4, threads: 36, open_files: 80, ..Default::default() };
        let shared_memory = Need { amount: 1 << 20, instead: "leave it" };
        let server =
            SystemNeeds { threads: 40, open_files: 60, shared_memory, ..Default::default() };
        let both = client.and(server);
        assert_eq!((both.clients, both.threads, both.open_files), (4, 76, 80));
        assert_eq!(both.shared_memory, shared_memory);
    }
}
