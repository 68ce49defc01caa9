//! Specifications of groups of generators.

use model::{DataShape, Step};

use crate::generator::Group;

/// Which rows of the key space are known to be present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Every one.
    All,
    /// Unknown which: the engine is empty, or rows were written or deleted at random.
    Some,
}

/// The specification of a group of generators.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The step, with its client count filled in.
    pub step: &'a Step,
    /// The rows.
    pub data: &'a DataShape,
    /// Seed of the run.
    ///
    /// A step that occurs twice in a run needs two seeds, or it repeats its
    /// keys; steps of different names may share one.
    pub seed: u64,
    /// Which rows are there when the step begins.
    pub presence: Presence,
    /// The group of clients.
    pub group: Group,
}

/// One client among those that share the work.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Its number, from 0.
    pub client: u32,
    /// How many there are.
    pub clients: u32,
}

impl Part {
    /// Returns the first of `count` that falls to this client.
    #[expect(clippy::cast_possible_truncation, reason = "a part of a u64 fits a u64")]
    pub fn first(self, count: u64) -> u64 {
        (u128::from(count) * u128::from(self.client) / u128::from(self.clients)) as u64
    }

    /// Returns how many of `count` fall to this client.
    pub fn share(self, count: u64) -> u64 {
        Self { client: self.client + 1, ..self }.first(count) - self.first(count)
    }
}
