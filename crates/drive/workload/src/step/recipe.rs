//! What a step is made of.

use engine::Maintenance;
use model::{StepInfo, StepRole};

use crate::request::Presence;
use crate::stream::Action;

/// One thing a step has the engine do after its clients have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Start this work.
    Do(Maintenance),
    /// Wait until no background work runs or waits, or until the step's cap.
    WaitIdle,
}

impl Stage {
    /// Returns the stage's name as written in records.
    #[must_use]
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
    AsAsked,
    /// Uniformly with replacement, whatever the step's key distribution.
    Uniform,
    /// Every row once, in key order.
    Ascending,
    /// Every row once, in an order the seed chooses.
    Shuffled,
}

/// What a group of clients does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrafficSpec {
    /// The operation.
    pub(crate) action: Action,
    /// The rows.
    pub(crate) order: Order,
}

/// One step as it is declared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe {
    /// Name, as written in experiment files.
    pub(crate) name: &'static str,
    /// What it does, in one sentence without a full stop.
    pub(crate) about: &'static str,
    /// What it does to the data.
    pub(crate) role: StepRole,
    /// What its clients do; `None` when it has none.
    pub(crate) clients: Option<TrafficSpec>,
    /// Operations as a share of the rows, when it ends by count.
    pub(crate) share_of_rows: Option<f64>,
    /// Whether a background writer runs beside the clients.
    pub(crate) has_writer: bool,
    /// Whether one client does all the work.
    pub(crate) is_single_client: bool,
    /// What the engine is told to do afterwards.
    pub(crate) stages: &'static [Stage],
    /// What is known of the rows afterwards; `None` when it is what was known before.
    pub(crate) leaves: Option<Presence>,
}

impl Recipe {
    /// A step with nothing in it, which every recipe starts from.
    pub(super) const EMPTY: Self = Self {
        name: "",
        about: "",
        role: StepRole::Maintain,
        clients: None,
        share_of_rows: None,
        has_writer: false,
        is_single_client: false,
        stages: &[],
        leaves: None,
    };

    /// Returns what the planner must know of the step.
    pub(super) fn info(&self) -> StepInfo {
        let writer = self.has_writer.then_some(super::WRITER);
        let groups = [self.clients, writer];
        StepInfo {
            name: self.name.into(),
            about: self.about.into(),
            needs: groups.iter().flatten().map(|traffic_spec| traffic_spec.action.kind()).collect(),
            role: self.role,
            share_of_rows: self.share_of_rows,
            has_writer: self.has_writer,
            is_single_client: self.is_single_client,
        }
    }
}
