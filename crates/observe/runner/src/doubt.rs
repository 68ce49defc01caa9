//! What should be doubted about a step, found from its record alone.

use model::StepRecord;
use model::record::{Finding, Severity};

/// Share of the wanted rate below which a background writer counts as not sustained.
/// Source: Callaghan, insert benchmark reports (the 95 % rule).
const SUSTAINED_SHARE: f64 = 0.95;

/// Returns what should be doubted about a step.
pub(crate) fn doubts(step: &StepRecord) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut doubt = |code: &str, seen: String, remedy: &str| {
        findings.push(Finding {
            code: code.to_owned(),
            severity: Severity::Doubt,
            seen,
            remedy: remedy.to_owned(),
        });
    };
    if let (Some(reached), Some(wanted)) = (step.writer_bytes_per_s, step.step.writer_bytes_per_s) {
        #[expect(clippy::cast_precision_loss, reason = "rates stay far below 2^53")]
        let share = reached / wanted.0 as f64;
        if share < SUSTAINED_SHARE {
            doubt(
                "A030",
                format!("writer not sustained: it reached {:.0} % of its rate", share * 100.0),
                "lower the writer's rate, or read the step as overloaded",
            );
        }
    }
    if step.settle.as_ref().is_some_and(|settle| settle.is_capped) {
        doubt(
            "A031",
            "the engine was not idle when the settle's cap was reached".to_owned(),
            "raise settle_cap; the following steps pay for the debt left",
        );
    }
    let failed: u64 = step.clients.values().map(|summary| summary.counts.failed).sum();
    if failed > 0 {
        doubt(
            "A032",
            format!("{failed} operations failed; they are not counted as done"),
            "look into the run's engine/ directory for the engine's own log",
        );
    }
    findings
}
