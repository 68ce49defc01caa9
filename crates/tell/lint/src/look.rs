//! What several rules look for in steps and runs.

use model::metric::Readings;
use model::{Bytes, Experiment, RunRecord, Step, StepRecord};

/// Steps that only read, by the names of the workload's registry.
const READING: &[&str] = &["readrandom", "readmissing", "multireadrandom", "fwdrange", "revrange"];
/// Steps without operations, by the names of the workload's registry.
const MAINTAINING: &[&str] = &["settle", "compact"];

/// Returns whether a step only reads.
pub(crate) fn only_reads(step: &Step) -> bool {
    READING.contains(&step.name.as_str())
}

/// Returns whether a step has no operations.
pub(crate) fn only_maintains(step: &Step) -> bool {
    MAINTAINING.contains(&step.name.as_str())
}

/// Returns whether a step writes, be it beside readers.
pub(crate) fn writes(step: &Step) -> bool {
    !only_reads(step) && !only_maintains(step)
}

/// Returns the memory that caches of any kind share: the cap, or the machine's.
pub(crate) fn memory(experiment: &Experiment, host: Option<&model::Host>) -> Option<Bytes> {
    experiment.memory_bytes.or_else(|| host.map(|host| host.memory_bytes))
}

/// Returns a reading, when it is known.
pub(crate) fn reading(readings: &Readings, name: &str) -> Option<f64> {
    readings.get(name).copied()
}

/// Returns the operations of the measured clients that were done.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
pub(crate) fn operations(step: &StepRecord) -> Option<f64> {
    Some(analysis::primary_operations(step) as f64).filter(|done| *done > 0.0)
}

/// Returns a counter's growth per operation of the measured clients, when both are known.
pub(crate) fn per_op(step: &StepRecord, counter: &str) -> Option<f64> {
    Some(reading(&step.counters, counter)? / operations(step)?)
}

/// Returns the measured span in microseconds; `None` for a step without one.
pub(crate) fn span_us(step: &StepRecord) -> Option<f64> {
    Some(step.duration_ns.as_secs_f64() * 1e6).filter(|us| *us > 0.0)
}

/// Returns the steps of a run in which operations were done.
pub(crate) fn measured(run: &RunRecord) -> impl Iterator<Item = &StepRecord> {
    run.steps.iter().filter(|step| operations(step).is_some())
}

/// Returns a share as a percentage: `1.2 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = if percent < 10.0 { 1 } else { 0 };
    format!("{percent:.digits$} %")
}

/// Returns a number of bytes, of a reading, in words.
#[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
#[expect(clippy::cast_sign_loss, reason = "the cast saturates")]
pub(crate) fn bytes(bytes: f64) -> Bytes {
    Bytes(bytes as u64)
}

#[cfg(test)]
mod tests {
    use model::StepRole;

    use super::*;
    use crate::testing;

    #[test]
    fn steps_are_told_apart_as_the_workload_tells_them() {
        for info in workload::catalog() {
            let step = testing::step(info.name).step;
            assert_eq!(only_reads(&step), info.role == StepRole::Read, "{}", info.name);
            assert_eq!(only_maintains(&step), info.role == StepRole::Maintain, "{}", info.name);
        }
    }

    #[test]
    fn shares_are_told_with_two_digits_or_whole() {
        assert_eq!(percent(0.0123), "1.2 %");
        assert_eq!(percent(0.523), "52 %");
    }
}
