//! History: labelled values of one metric, oldest first.

use model::{Better, Unit};
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
}

impl History {
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
