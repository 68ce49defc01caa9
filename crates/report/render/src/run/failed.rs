//! Failed operations of each step, by class, and transactions that its sessions held open.

use model::StepRecord;
use model::record::{FailureClass, total_counts};

use crate::document::{Part, Table, known};
use crate::figure::count;

/// Returns a row per step and group with failed operations; nothing where none failed.
pub(super) fn failed(steps: &[&StepRecord]) -> Vec<Part> {
    let groups = steps.iter().flat_map(|step| {
        [("clients", &step.clients), ("writers", &step.writers)]
            .map(|(by, of)| (step.step.name.as_str(), by, total_counts(of)))
    });
    let groups: Vec<_> = groups.collect();
    let has = |class| groups.iter().any(|(_, _, counts)| counts.failures.of(class) > 0);
    let is_shown = |class: &FailureClass| !class.is_of_outage() || has(*class);
    let classes: Vec<_> = FailureClass::ALL.into_iter().filter(is_shown).collect();
    let names = classes.iter().map(|class| class.name());
    let mut table =
        Table::new(["step", "<by", "failed"].into_iter().chain(names).chain(["replaced"]));
    for (step, by, counts) in groups.iter().filter(|(_, _, counts)| counts.failed > 0) {
        // Classes are unknown in records of earlier versions.
        let known = |number| known((!counts.failures.is_empty()).then(|| count(number)));
        let classes = classes.iter().map(|class| known(counts.failures.of(*class)));
        let row = [(*step).to_owned(), (*by).to_owned(), count(counts.failed)].into_iter();
        table.push(row.chain(classes).chain([known(counts.replacing)]));
    }
    let title = "Failed operations by class. For each replaced operation the client did another \
                 operation, whose time includes the failed operation";
    Part::Text(title.to_owned()).above([Part::Table(table)])
}

/// Returns a sentence with the transactions that each step held open; `None` where none did.
pub(super) fn holds(steps: &[&StepRecord]) -> Option<Part> {
    let one = |step: &&StepRecord| {
        let holds = step.holds?;
        let failed = match holds.failed {
            0 => String::new(),
            failed => format!(", {failed} failed"),
        };
        Some(format!(
            "{} {} for {} in all, the longest {}{failed}",
            step.step.name, holds.held, holds.time_ns, holds.longest_ns
        ))
    };
    let steps: Vec<_> = steps.iter().filter_map(one).collect();
    let text = format!("Transactions held open next to the clients: {}.", steps.join("; "));
    (!steps.is_empty()).then_some(Part::Text(text))
}

#[cfg(test)]
mod tests {
    use model::record::{HoldsRecord, OpCounts, OpSummary};
    use model::{Nanos, OpKind, Step, StopRule};

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

    #[test]
    fn held_transactions_are_shown_with_their_time() {
        let mut step = StepRecord::new(0, Step::new("qr100", StopRule::Operations(9)));
        let text = |step: &StepRecord| {
            let parts: Vec<Part> = holds(&[step]).into_iter().collect();
            Document::from([parts]).text(Style::default()).replace('\n', " ")
        };
        assert_eq!(text(&step).trim(), "");
        let seconds = Nanos::from_secs;
        let held =
            HoldsRecord { held: 3, failed: 1, time_ns: seconds(25), longest_ns: seconds(10) };
        step.holds = Some(held);
        let shown = text(&step);
        let expected = "qr100 3 for 25.0 s in all, the longest 10.0 s, 1 failed.";
        assert!(shown.contains(expected), "{shown}");
    }
}
