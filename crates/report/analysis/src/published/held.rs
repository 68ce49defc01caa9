//! A publication beside what was found here: the nouns.

use model::PublishedFinding;
use serde::Serialize;
use stats::{Effect, Spread};

use super::reproduction::Reproduction;

/// A publication whose findings were looked for here.
#[derive(Debug, Clone, PartialEq)]
pub struct Held {
    /// Author, date and title.
    pub source: String,
    /// Hardware, engine builds and sizes of the publication.
    pub setup: String,
    /// What differs here on purpose; empty when nothing does.
    pub scaled: String,
    /// Its findings, in its order.
    pub findings: Vec<HeldFinding>,
}

/// A published finding and what became of it here.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldFinding {
    /// What was published.
    pub published: PublishedFinding,
    /// What was found here, or why nothing was.
    pub here: Result<Here, Unmeasured>,
    /// Whether the one agrees with the other.
    pub reproduction: Reproduction,
}

/// The same two variants here.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Here {
    /// Position of the step in the run, 0-based.
    pub step_index: u32,
    /// Level of the clients factor.
    pub clients: u32,
    /// Median and range of the base.
    pub base: Spread,
    /// Median and range of the variant.
    pub variant: Spread,
    /// Their ratio, variant over base.
    pub effect: Effect,
}

impl Here {
    /// Returns whether a side has one run alone: then nothing is told, whatever is known of noise.
    #[must_use]
    pub const fn is_of_one_run(&self) -> bool {
        self.base.n < 2 || self.variant.n < 2
    }
}

/// Why a finding was not tried.
#[derive(Debug, Clone, PartialEq)]
pub enum Unmeasured {
    /// This variant is not in the experiment as it was run.
    NoVariant(String),
    /// The step is not in the experiment as it was run.
    NoStep,
    /// Its number of clients is not among those that were run.
    NoLevel,
    /// The experiment gives the rate of operations: their throughput tells nothing of the engine.
    IsGiven,
    /// No run of this variant finished the step.
    NoRun(String),
    /// No run of this variant knows the metric there.
    NoMetric(String),
    /// A run of one of the two gave zero: there is no ratio.
    NoRatio {
        /// Median and range of the base.
        base: Spread,
        /// Median and range of the variant.
        variant: Spread,
    },
}
