//! One doubt, and all of them in order.

use std::cmp::Reverse;

use model::record::Severity;
use model::{Experiment, RunRecord};
use serde::Serialize;

use super::{client, engine, record, search};

/// One doubt.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Doubt {
    /// How grave it is.
    pub severity: Severity,
    /// What was seen, with the figures.
    pub seen: String,
    /// What to do about it.
    pub remedy: String,
}

/// Returns every doubt about the runs, the gravest first, in a fixed order.
///
/// Of a run that is invalid only this is told: what else was seen in it was not the engine's doing.
#[must_use]
pub fn all(runs: &[RunRecord], experiment: &Experiment) -> Vec<Doubt> {
    let counted: Vec<&RunRecord> = runs.iter().filter(|run| run.invalid.is_none()).collect();
    let mut doubts = client::invalid(runs);
    doubts.extend(engine::failures(&counted));
    doubts.extend(record::missing(runs, experiment));
    doubts.extend(search::not_failed_above(&counted));
    doubts.extend(search::undecided(&counted));
    doubts.extend(engine::stalled(&counted));
    doubts.extend(record::findings(&counted));
    doubts.extend(client::omission(&counted));
    doubts.sort_by_key(|doubt| Reverse(doubt.severity));
    doubts
}

/// Returns a doubt of the usual gravity.
pub(super) fn doubt(seen: String, remedy: &str) -> Doubt {
    graded(Severity::Doubt, seen, remedy)
}

pub(super) fn graded(severity: Severity, seen: String, remedy: &str) -> Doubt {
    Doubt { severity, seen, remedy: remedy.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{experiment, run};

    #[test]
    fn runs_without_trouble_give_no_doubt() {
        let runs = [run("a", 1, 5), run("a", 2, 5)];
        assert_eq!(all(&runs, &experiment(&["a"], 2)), []);
    }
}
