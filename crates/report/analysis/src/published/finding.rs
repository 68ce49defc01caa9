//! Data types of checked publications.

use model::{PublishedFinding, StepClients};
use serde::Serialize;
use stats::{Effect, Spread};

use super::reproduction::Reproduction;

/// A publication with its checked findings.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// Author, date and title.
    pub source: String,
    /// Hardware, engine builds and sizes of the publication.
    pub setup: String,
    /// Intended differences here, or empty.
    pub scaled: String,
    /// Its findings, in its order.
    pub findings: Vec<HeldFinding>,
}

/// A published finding and its result here.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldFinding {
    /// What was published.
    pub published: PublishedFinding,
    /// The result, or why there is none.
    pub here: Result<Here, Unmeasured>,
    /// Whether both agree.
    pub reproduction: Reproduction,
}

/// The same two variants here.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Here {
    /// Position of the step in the run, 0-based.
    pub step_index: u32,
    /// Level of the clients factor, and the step's clients.
    #[serde(flatten)]
    pub clients: StepClients,
    /// Mean and range of the base.
    pub base: Spread,
    /// Mean and range of the variant.
    pub variant: Spread,
    /// Their ratio, variant over base.
    pub effect: Effect,
    /// Runs of each that would decide it, about; `None` where more runs are not what it lacks.
    pub runs_needed: Option<u32>,
}

impl Here {
    /// Returns whether a side has one run, so that nothing is decided.
    pub const fn is_of_one_run(&self) -> bool {
        self.base.n < 2 || self.variant.n < 2
    }
}

/// Why a finding was not measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Unmeasured {
    /// The experiment was run at this size, which cannot decide it.
    NotAtSize(String),
    /// This variant is not in the experiment as it was run.
    NoVariant(String),
    /// The step is not in the experiment as it was run.
    NoStep,
    /// Its number of clients is not among those that were run; `None` where it names none of
    /// several.
    NoLevel(Option<u32>),
    /// The experiment gives the rate of operations, so throughput is no result.
    IsGiven,
    /// No run of this variant finished the step.
    NoRun(String),
    /// No run of this variant has the metric there.
    NoMetric(String),
    /// Background writers of this variant missed their rate: its readers had less load.
    MissedRate(String),
    /// A run of one of the two gave zero: there is no ratio.
    NoRatio {
        /// Mean and range of the base.
        base: Spread,
        /// Mean and range of the variant.
        variant: Spread,
    },
}
