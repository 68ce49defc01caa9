//! Published results that an experiment is compared with.

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

/// One published result for one metric in one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishedFinding {
    /// The claim, paraphrased in one sentence.
    pub claim: String,
    /// The variant here that stands for the publication's.
    pub variant: String,
    /// The variant it was compared with.
    pub base: String,
    /// The step that stands for the publication's.
    pub step: String,
    /// Key distribution of that step; `None` when its name is unique.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
    /// Which of the steps of that name and distribution, from 1; `None` when it is the only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occurrence: Option<u32>,
    /// Client threads here; `None` when the experiment has one level.
    pub clients: Option<u32>,
    /// Client threads of `base`, where its level is another; then `base` may be the variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_clients: Option<u32>,
    /// Metric, by its name in [`crate::metric::METRICS`].
    pub metric: String,
    /// Published value of `variant`; `None` when only a ratio was.
    pub value: Option<f64>,
    /// Published value of `base`.
    pub base_value: Option<f64>,
    /// Published relation, `variant` over `base`.
    pub expected: Expected,
    /// Sizes of the file at which the experiment can decide it; empty: at any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// Why it may not reproduce here, likeliest first.
    pub reasons: Vec<String>,
}

impl PublishedFinding {
    /// Returns whether an experiment of this size tests it; one without a named size tests all.
    pub fn is_at_size(&self, size: Option<&str>) -> bool {
        self.sizes.is_empty() || size.is_none_or(|size| self.sizes.iter().any(|it| it == size))
    }

    /// Returns whether the finding is about a step of this name and distribution.
    pub fn is_about(&self, step: &Step) -> bool {
        let is_distribution = |named: &String| *named == step.distribution;
        step.name == self.step && self.distribution.as_ref().is_none_or(is_distribution)
    }
}

/// Published relation of two variants.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// Their ratio.
    Ratio(f64),
    /// The variant's value was larger, by an unstated factor.
    Higher,
    /// The variant's value was smaller, by an unstated factor.
    Lower,
    /// No notable difference.
    Same,
    /// The variant's value was not larger: no regression of a cost.
    NotHigher,
    /// The variant's value was not smaller: no regression of a rate.
    NotLower,
}
