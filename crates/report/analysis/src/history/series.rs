//! History: labelled values of one metric, oldest first.

use jiff::Timestamp;
use model::{Better, Manifest, Unit, Variant};
use serde::Serialize;

/// A series of one metric's values, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub struct History {
    /// The metric, or the column's name.
    pub name: String,
    /// Step, variant and clients; `None` for a column from elsewhere.
    pub subject: Option<String>,
    /// Unit, for a metric of ours.
    pub unit: Option<Unit>,
    /// Better direction; `None` when unknown.
    pub better: Option<Better>,
    /// Label of each value: a time, a commit, an index.
    pub labels: Vec<String>,
    /// Whether the labels are known to be oldest first; commits and names have no order.
    pub is_order_checked: bool,
    /// The values, as many as labels; `None` where one is missing.
    pub values: Vec<Option<f64>>,
    /// Origin of each value; empty for a column from elsewhere.
    pub origins: Vec<Origin>,
}

/// Origin of a value: an experiment of the archive, and what it measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Name and identifier of the experiment, with a slash between them.
    pub experiment: String,
    /// The variant.
    pub variant: String,
    /// Engine and version, as the build reports them.
    pub build: String,
}

impl Origin {
    pub(super) fn of(manifest: &Manifest, variant: &Variant) -> Self {
        let reported = manifest.builds.get(&variant.name);
        Self {
            experiment: format!("{}/{}", manifest.plan.experiment.name, manifest.id),
            variant: variant.name.clone(),
            build: reported.map_or_else(
                || variant.build.to_string(),
                |build| format!("{} {}", build.engine, build.version),
            ),
        }
    }

    /// Returns whether a comparison of both experiments has each as a variant.
    ///
    /// It pools the runs of a variant that both experiments have.
    pub fn is_comparable(&self, other: &Self) -> bool {
        self.experiment != other.experiment && self.variant != other.variant
    }
}

impl History {
    /// Returns the metric, with the subject of the history if it has one.
    pub fn title(&self) -> String {
        let subject = self.subject.as_ref().map(|of| format!(": {of}")).unwrap_or_default();
        format!("{}{subject}", self.name)
    }

    /// Returns the labels in seconds since 1970; `None` unless they are ascending times.
    pub fn times_s(&self) -> Option<Vec<f64>> {
        let time =
            |label: &String| Some(label.parse::<Timestamp>().ok()?.as_duration().as_secs_f64());
        let times: Option<Vec<f64>> = self.labels.iter().map(time).collect();
        times.filter(|times| times.is_sorted())
    }

    /// Returns how many values there are.
    pub fn known(&self) -> usize {
        self.values.iter().flatten().count()
    }

    /// Returns whether growth by `effect` is a loss of at least `margin`.
    pub(super) fn is_worse_by(&self, effect: f64, margin: f64) -> bool {
        self.trend(effect) == Trend::Worse && effect.abs() >= margin
    }

    /// Returns whether growth by `effect` is good, bad or neither.
    pub fn trend(&self, effect: f64) -> Trend {
        let gain = match self.better {
            Some(Better::Higher) => effect,
            Some(Better::Lower) => -effect,
            Some(Better::Neither) | None => 0.0,
        };
        match gain {
            gain if gain > 0.0 => Trend::Better,
            gain if gain < 0.0 => Trend::Worse,
            _ => Trend::Neither,
        }
    }
}

/// Whether a change is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// It is an improvement.
    Better,
    /// It is a regression.
    Worse,
    /// Neither way is better, or the direction is unknown.
    Neither,
}
