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

impl Need {
    /// Returns what the user may set instead, as a further remedy; empty where there is nothing.
    pub fn or_instead(&self) -> String {
        let separator = if self.instead.is_empty() { "" } else { ", or " };
        format!("{separator}{}", self.instead)
    }
}

/// The account of a server, and the threads or processes that run under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountNeed {
    /// Number of the account.
    pub uid: u32,
    /// Threads and processes of the server.
    pub threads: u64,
}

/// What a client, an engine or a server needs of the system's limits; 0 and `None` for nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SystemNeeds {
    /// Clients of the largest step.
    pub clients: u32,
    /// Threads and processes, including the clients' threads.
    pub threads: u64,
    /// The account of the server, whose threads and processes the kernel counts apart.
    pub account: Option<AccountNeed>,
    /// Files that one process has open.
    pub open_files: u64,
    /// Files and directories of the data.
    pub files: u64,
    /// Events of the kernel's asynchronous I/O.
    pub aio_events: Need,
    /// Named shared memory, bytes.
    pub shared_memory: Need,
    /// `io_uring`: 1 where an option demands it.
    pub io_uring: Need,
    /// Files of the data that bypass the page cache: 1 where a setting or an option demands it.
    pub direct_io: Need,
    /// Memory of the engine and its client, bytes.
    pub memory: Need,
    /// Size of the largest file, bytes.
    pub file_bytes: u64,
    /// Address space of the largest process, bytes.
    pub address_bytes: Need,
    /// Private memory of the largest process, bytes.
    pub data_bytes: u64,
    /// CPU time of the busiest process, seconds.
    pub cpu_seconds: u64,
}

impl SystemNeeds {
    /// Returns the needs of a client and its server, which are separate processes.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let larger = |one: Need, two: Need| if one.amount > two.amount { one } else { two };
        Self {
            clients: self.clients.max(other.clients),
            threads: self.threads + other.threads,
            account: other.account.or(self.account),
            open_files: self.open_files.max(other.open_files),
            files: self.files.max(other.files),
            aio_events: larger(self.aio_events, other.aio_events),
            shared_memory: larger(self.shared_memory, other.shared_memory),
            io_uring: larger(self.io_uring, other.io_uring),
            direct_io: larger(self.direct_io, other.direct_io),
            memory: larger(self.memory, other.memory),
            file_bytes: self.file_bytes.max(other.file_bytes),
            address_bytes: larger(self.address_bytes, other.address_bytes),
            data_bytes: self.data_bytes.max(other.data_bytes),
            cpu_seconds: self.cpu_seconds.max(other.cpu_seconds),
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
    /// Size of the cache by the settings; `None` for the server's default.
    pub cache: Option<Bytes>,
    /// Whether tables have several indexes, as tables of applications have.
    pub has_indexes: bool,
}

impl ServerLoad {
    /// Returns how much of a cache of so many bytes the rows fill at most, with their indexes.
    pub fn cached(&self, cache: u64) -> u64 {
        let copies = if self.has_indexes { 4 } else { 2 };
        cache.min(self.data.0.saturating_mul(copies))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_two_processes_add_up_and_their_files_do_not() {
        let client = SystemNeeds { clients: 4, threads: 36, open_files: 80, ..Default::default() };
        let shared_memory = Need { amount: 1 << 20, instead: "leave it" };
        let account = Some(AccountNeed { uid: 7, threads: 40 });
        let server = SystemNeeds {
            threads: 40,
            account,
            open_files: 60,
            shared_memory,
            ..Default::default()
        };
        let both = client.and(server);
        assert_eq!((both.clients, both.threads, both.open_files), (4, 76, 80));
        assert_eq!((both.shared_memory, both.account), (shared_memory, account));
    }
}
