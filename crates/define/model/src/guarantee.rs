//! What the durability class of a run's writes rests on, as read back.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::capability::Durability;

/// A setting, a table or a file system, and the strongest durability class that it allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DurabilityBasis {
    /// The thing with its value: `fsync = on`.
    pub evidence: String,
    /// The strongest class that writes can have with it.
    pub class: Durability,
    /// Whether the class is assumed, because what lies below is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_assumed: bool,
}

impl fmt::Display for DurabilityBasis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { evidence, class, .. } = self;
        write!(f, "{evidence} allows class `{class}` at most ({})", class.guarantee())
    }
}

/// What the durability class of a run's writes rests on, read back from where they are executed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DurabilityRecord {
    /// Settings of sessions, tables and the file system, in the order they were read.
    pub bases: Vec<DurabilityBasis>,
    /// What no class depends on, and a reader should know: torn pages, overridden settings.
    pub notes: Vec<String>,
}

impl DurabilityRecord {
    /// Adds a thing with the strongest class that it allows.
    pub fn allow(&mut self, class: Durability, evidence: impl Into<String>) {
        self.bases.push(DurabilityBasis { evidence: evidence.into(), class, is_assumed: false });
    }

    /// Adds a note.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Adds everything of another record.
    pub fn extend(&mut self, other: Self) {
        self.bases.extend(other.bases);
        self.notes.extend(other.notes);
    }

    /// Returns the weakest thing that does not allow the class claimed; `None` when all do.
    pub fn violation(&self, claimed: Durability) -> Option<&DurabilityBasis> {
        self.bases.iter().filter(|basis| basis.class < claimed).min_by_key(|basis| basis.class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weakest_thing_below_the_class_violates_it() {
        let mut had = DurabilityRecord::default();
        assert_eq!(had.violation(Durability::Sync), None);
        had.allow(Durability::Sync, "fsync = on");
        had.allow(Durability::Os, "sync_binlog = 0");
        let mut other = DurabilityRecord::default();
        other.allow(Durability::None, "table `t` of engine memory");
        other.note("pages may be torn");
        assert_eq!(had.violation(Durability::Os), None, "a class is a floor");
        assert_eq!(had.violation(Durability::Sync), Some(&had.bases[1]));
        had.extend(other);
        let weakest = had.violation(Durability::Sync).unwrap().to_string();
        let text = "table `t` of engine memory allows class `none` at most (nothing survives before \
                    a clean close)";
        assert_eq!((weakest.as_str(), had.notes.len()), (text, 1));
        assert_eq!(had.violation(Durability::None), None);
    }
}
