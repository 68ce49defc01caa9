//! Throughput: operations and rows per second.

use model::StepRecord;

use super::derived::{Derived, float, ratio};
use super::part::{valid_clients, valid_length};

/// Sets throughput over the intervals that count, and over single seconds.
///
/// The record's statistics of single seconds hold void seconds too: then they are left out.
pub(super) fn set(step: &StepRecord, metrics: &mut Derived) {
    if step.clients.is_empty() {
        return;
    }
    let seconds = Some(valid_length(step).as_secs_f64());
    let (mut done, mut rows) = (0, 0);
    for summary in valid_clients(step).values() {
        done += summary.counts.done;
        rows += summary.counts.rows;
    }
    metrics.set("throughput_ops_per_s", ratio(Some(float(done)), seconds));
    metrics.set("throughput_rows_per_s", ratio(Some(float(rows)), seconds));
    if step.seconds.seconds > 0 && step.voided.is_none() {
        metrics.set("throughput_p50_ops_per_s", Some(step.seconds.p50_ops));
        metrics.set("throughput_p1_ops_per_s", Some(step.seconds.p1_ops));
    }
}
