//! Transactions that a step's sessions held open.

use model::StepRecord;

use crate::document::Part;

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
    use model::record::HoldsRecord;
    use model::{Nanos, Step, StopRule};

    use super::*;
    use crate::document::Document;
    use crate::style::Style;

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
