//! What somebody published before: the numbers an experiment is held against.

use serde::{Deserialize, Serialize};

use crate::step::Step;

/// A publication's findings, as an experiment file states them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Author, date and title.
    pub source: String,
    /// Hardware, engine builds and sizes of the publication.
    pub setup: String,
    /// What differs here on purpose: rows, durations, clients.
    pub scaled: String,
    /// Its findings, in its order.
    pub findings: Vec<PublishedFinding>,
}

/// One published finding: a value, or a ratio of two variants, of one metric in one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedFinding {
    /// What was claimed, in one sentence of ours.
    pub claim: String,
    /// The variant here that stands for the publication's.
    pub variant: String,
    /// The variant it was compared with.
    pub base: String,
    /// The step that stands for the publication's.
    pub step: String,
    /// Key distribution of that step; `None` when its name tells it from the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
    /// Client threads here; `None` when the experiment has one level.
    pub clients: Option<u32>,
    /// Metric, by its name in [`crate::metric::METRICS`].
    pub metric: String,
    /// What was published of `variant`, in the metric's unit; `None` when only the ratio was.
    pub value: Option<f64>,
    /// What was published of `base`.
    pub base_value: Option<f64>,
    /// What was published of the two, `variant` over `base`.
    pub expected: Expected,
    /// Why it may not be seen here, likeliest first.
    pub reasons: Vec<String>,
}

impl PublishedFinding {
    /// Returns whether the finding is about this step.
    #[must_use]
    pub fn is_about(&self, step: &Step) -> bool {
        let is_distribution = |named: &String| *named == step.distribution;
        step.name == self.step && self.distribution.as_ref().is_none_or(is_distribution)
    }
}

/// What was published of two variants.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// Their ratio.
    Ratio(f64),
    /// That the variant's was larger; graphs and words tell no more.
    Higher,
    /// That it was smaller.
    Lower,
    /// That there was no difference worth mentioning.
    Same,
}
