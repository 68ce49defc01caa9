//! The declaration of a step.

use std::collections::BTreeSet;

use engine::Maintenance;
use model::{OpKind, StepInfo, StepRole};

use super::mix::Mix;
use crate::generator::Group;
use crate::request::Presence;
use crate::stream::Action;

/// One stage of work of the engine after the clients end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Start this work.
    Do(Maintenance),
    /// Wait until no background work runs or waits, or until the step's cap.
    WaitIdle,
}

impl Stage {
    /// Returns the stage's name as written in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Do(Maintenance::Flush) => "flush",
            Self::Do(Maintenance::CompactLevel0) => "compact_level0",
            Self::Do(Maintenance::CompactAll) => "compact_all",
            Self::Do(Maintenance::Clean) => "clean",
            Self::WaitIdle => "wait_idle",
        }
    }
}

/// Which rows a group of clients picks, in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// By the step's key distribution.
    ByDistribution,
    /// Uniformly with replacement, whatever the step's key distribution.
    Uniform,
    /// Every row once, in key order.
    Ascending,
    /// Every row once, in an order the seed chooses.
    Shuffled,
}

/// The operation of a group of clients, and its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AccessPattern {
    /// The operation.
    pub(crate) action: Action,
    /// The rows.
    pub(crate) order: Order,
}

/// The operation of the background writer.
pub(crate) const WRITER: AccessPattern =
    AccessPattern { action: Action::Put, order: Order::Uniform };

/// One declared step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe {
    /// Name, as written in experiment files.
    pub(crate) name: &'static str,
    /// What it does, in one sentence without a full stop.
    pub(crate) about: &'static str,
    /// Its effect on the data.
    pub(crate) role: StepRole,
    /// The operation of its clients; `None` without clients.
    pub(crate) clients: Option<AccessPattern>,
    /// The mix of operations of its clients, in the place of one.
    pub(crate) mix: Option<Mix>,
    /// Operations as a share of the rows, when it ends by count.
    pub(crate) share_of_rows: Option<f64>,
    /// Whether a background writer runs with the clients.
    pub(crate) has_writer: bool,
    /// Whether one client does all the work.
    pub(crate) is_single_client: bool,
    /// The stages after its clients.
    pub(crate) stages: &'static [Stage],
    /// The rows present afterwards; `None` for no change.
    pub(crate) leaves: Option<Presence>,
}

impl Recipe {
    /// The defaults of a recipe's fields.
    pub(super) const EMPTY: Self = Self {
        name: "",
        about: "",
        role: StepRole::Maintain,
        clients: None,
        mix: None,
        share_of_rows: None,
        has_writer: false,
        is_single_client: false,
        stages: &[],
        leaves: None,
    };

    /// Returns the kinds of operation of a group.
    pub(crate) fn kinds(&self, group: Group) -> BTreeSet<OpKind> {
        let (pattern, mix) = match group {
            Group::Clients => (self.clients, self.mix),
            Group::Writers => (self.has_writer.then_some(WRITER), None),
        };
        let kind = pattern.map(|pattern| pattern.action.kind());
        kind.into_iter().chain(mix.into_iter().flat_map(Mix::kinds)).collect()
    }

    /// Returns the step as the planner needs it.
    pub(super) fn info(&self) -> StepInfo {
        let groups = [Group::Clients, Group::Writers];
        StepInfo {
            name: self.name.into(),
            about: self.about.into(),
            needs: groups.into_iter().flat_map(|group| self.kinds(group)).collect(),
            role: self.role,
            share_of_rows: self.share_of_rows,
            has_writer: self.has_writer,
            is_single_client: self.is_single_client,
        }
    }
}
