//! Connections of a step's clients, and transactions held open.

use serde::{Deserialize, Serialize};

use crate::names::names;
use crate::units::Nanos;

/// Connections that the procedures of a list have for each client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Connections {
    /// One for all of them, which are called in turn.
    #[default]
    One,
    /// Each has its own; their calls are [`CALLS_APART_MAX`] apart at most.
    Own,
}

names!(Connections, "a choice of connections": One "one", Own "own");

/// Most calls by which procedures with connections of their own are apart.
///
/// Source: [Callaghan mytools], `iibench.py`: statements wait in queues of eight.
pub const CALLS_APART_MAX: u64 = 8;

impl Connections {
    /// Returns whether it is the default.
    pub fn is_one(&self) -> bool {
        *self == Self::One
    }
}

/// A transaction with a snapshot that a session of each client holds open, over and over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Position of the procedure that it calls once: a read.
    pub procedure: u16,
    /// How long each is held.
    pub time_ns: Nanos,
}

/// Transactions that a step's sessions held open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldsRecord {
    /// Transactions begun and held, those at the step's end included.
    pub held: u64,
    /// Transactions that could not be begun.
    pub failed: u64,
    /// Time held, all together.
    pub time_ns: Nanos,
    /// Longest time held.
    pub longest_ns: Nanos,
}

impl HoldsRecord {
    /// Adds a transaction that was held for `time`.
    pub fn add(&mut self, time: Nanos) {
        self.held += 1;
        self.time_ns = self.time_ns.after(time);
        self.longest_ns = self.longest_ns.max(time);
    }

    /// Adds those of another session.
    pub fn merge(&mut self, other: &Self) {
        self.held += other.held;
        self.failed += other.failed;
        self.time_ns = self.time_ns.after(other.time_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }
}
