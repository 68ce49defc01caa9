//! Failed operations of each step, by class.

use model::StepRecord;
use model::record::{FailureClass, OpCounts, total_counts};

use crate::document::{Part, Table};
use crate::figure::count;

/// Returns a row per step and group with failed operations; nothing where none failed.
pub(super) fn failed(steps: &[&StepRecord]) -> Vec<Part> {
    let groups = steps.iter().flat_map(|step| {
        [("clients", &step.clients), ("writers", &step.writers)]
            .map(|(by, of)| (step.step.name.as_str(), by, total_counts(of)))
    });
    let failing: Vec<_> = groups.filter(|(_, _, counts)| counts.failed > 0).collect();
    if failing.is_empty() {
        return Vec::new();
    }
    let classes = FailureClass::ALL.map(FailureClass::name);
    let mut table =
        Table::new(["step", "<by", "failed"].into_iter().chain(classes).chain(["replaced"]));
    for (step, by, counts) in failing {
        table.push([step.to_owned(), by.to_owned()].into_iter().chain(figures(&counts)));
    }
    let title = "Failed operations by class. For each replaced operation another operation was \
                 done, whose time includes the failed one";
    vec![Part::Text(title.to_owned()), Part::Table(table)]
}

/// Returns the counts of one group; classes are unknown in records of earlier versions.
fn figures(counts: &OpCounts) -> Vec<String> {
    let known = |number: u64| {
        if counts.failures.is_empty() { crate::figure::MISSING.to_owned() } else { count(number) }
    };
    let classes = FailureClass::ALL.map(|class| known(counts.failures.of(class)));
    [vec![count(counts.failed)], classes.to_vec(), vec![known(counts.replacing)]].concat()
}

#[cfg(test)]
mod tests {
    use model::record::OpSummary;
    use model::{OpKind, Step, StopRule};

    use super::*;
    use crate::document::Document;
    use crate::style::Style;

    fn text(counts: OpCounts) -> String {
        let mut step = StepRecord::new(0, Step::new("l.i1", StopRule::Operations(9)));
        let summary = OpSummary { counts, ..OpSummary::default() };
        step.clients = [(OpKind::Insert, summary)].into();
        Document::from([failed(&[&step])]).text(Style::default())
    }

    #[test]
    fn failures_are_shown_by_class_and_only_where_there_are_any() {
        let mut counts = OpCounts { done: 9, ..OpCounts::default() };
        assert_eq!(text(counts).trim(), "");
        counts.failed = 2;
        let unknown = text(counts);
        assert!(unknown.contains("failed") && unknown.contains('2'), "{unknown}");
        counts.failures.add(FailureClass::LostConnection);
        counts.failures.add(FailureClass::Deadlock);
        counts.replacing = 1;
        let shown = text(counts);
        let last = shown.trim_end().lines().last().unwrap();
        let cells: Vec<&str> = last.split_whitespace().collect();
        assert_eq!(cells, ["l.i1", "clients", "2", "1", "1", "0", "0", "0", "0", "1"], "{shown}");
        assert!(shown.contains("lost connection"), "{shown}");
    }
}
