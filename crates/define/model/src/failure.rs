//! Failed operations, by class.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::names::names;

/// Class of a failed operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The connection was lost: whether the operation was applied is unknown.
    LostConnection,
    /// Two transactions waited for each other.
    Deadlock,
    /// Another client changed the same data first.
    Serialisation,
    /// A timeout of the engine expired: of a lock, or of a statement.
    Timeout,
    /// A constraint rejected it: a duplicate key.
    Constraint,
    /// No server listens.
    Refused,
    /// The server did not answer within the client's time limit: the effect is unknown.
    NoAnswer,
    /// The server starts, or recovers.
    StartingUp,
    /// The server shuts down.
    ShuttingDown,
    /// The disk of the engine has no space left.
    DiskFull,
    /// Anything else.
    Other,
}

names!(FailureClass, "a class of failures":
    LostConnection "lost connection", Deadlock "deadlock", Serialisation "serialisation",
    Timeout "timeout", Constraint "constraint", Refused "refused", NoAnswer "no answer",
    StartingUp "starting up", ShuttingDown "shutting down", DiskFull "disk full",
    Other "other");

impl FailureClass {
    /// Returns whether it occurs only in steps with events.
    pub const fn is_of_outage(self) -> bool {
        matches!(self, Self::Refused | Self::NoAnswer | Self::StartingUp)
            || matches!(self, Self::ShuttingDown | Self::DiskFull)
    }
}

/// Failed operations by class; records of earlier versions have none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<FailureClass, u64>", into = "BTreeMap<FailureClass, u64>")]
pub struct FailureCounts([u64; FailureClass::ALL.len()]);

impl FailureCounts {
    /// Counts one failure.
    pub const fn add(&mut self, class: FailureClass) {
        self.0[class as usize] += 1;
    }

    /// Returns the failures of a class.
    pub const fn of(&self, class: FailureClass) -> u64 {
        self.0[class as usize]
    }

    /// Returns whether nothing is counted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds `other` to these counts.
    pub const fn merge(&mut self, other: &Self) {
        let mut at = 0;
        while at < self.0.len() {
            self.0[at] = self.0[at].saturating_add(other.0[at]);
            at += 1;
        }
    }

    /// Iterates over the classes that occurred.
    pub fn iter(&self) -> impl Iterator<Item = (FailureClass, u64)> {
        let counts = *self;
        let all = FailureClass::ALL.into_iter().map(move |class| (class, counts.of(class)));
        all.filter(|(_, count)| *count > 0)
    }

    /// Describes the classes that occurred, of a table: `0` without a failure.
    pub fn cell(&self) -> String {
        Some(self.phrase()).filter(|it| !it.is_empty()).unwrap_or_else(|| "0".to_owned())
    }

    /// Describes the classes that occurred: `2 lost connection, 1 deadlock`.
    pub fn phrase(&self) -> String {
        let all: Vec<_> =
            self.iter().map(|(class, count)| format!("{count} {}", class.name())).collect();
        all.join(", ")
    }
}

impl From<BTreeMap<FailureClass, u64>> for FailureCounts {
    fn from(counts: BTreeMap<FailureClass, u64>) -> Self {
        let of = |class| counts.get(&class).copied().unwrap_or_default();
        Self(FailureClass::ALL.map(of))
    }
}

impl From<FailureCounts> for BTreeMap<FailureClass, u64> {
    fn from(counts: FailureCounts) -> Self {
        counts.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::OpCounts;

    #[test]
    fn classes_are_counted_merged_and_stored_by_name() {
        for (position, class) in FailureClass::ALL.into_iter().enumerate() {
            assert_eq!(class as usize, position);
        }
        let mut counts = FailureCounts::default();
        assert!(counts.is_empty() && counts.phrase().is_empty());
        counts.add(FailureClass::Deadlock);
        counts.add(FailureClass::LostConnection);
        counts.merge(&counts.clone());
        assert_eq!(counts.phrase(), "2 lost connection, 2 deadlock");
        let text = serde_json::to_string(&counts).unwrap();
        assert_eq!(text, r#"{"lost_connection":2,"deadlock":2}"#);
        assert_eq!(serde_json::from_str::<FailureCounts>(&text).unwrap(), counts);
    }

    #[test]
    fn counts_of_earlier_records_have_no_classes() {
        let text = r#"{"done":9,"not_found":0,"failed":2,"rows":9,"bytes":90,"verified":0}"#;
        let counts: OpCounts = serde_json::from_str(text).unwrap();
        assert!((counts.failed, counts.replacing) == (2, 0) && counts.failures.is_empty());
        assert_eq!(serde_json::to_string(&counts).unwrap(), text, "nothing is added");
    }
}
