//! A006: data of another size than the workload is about.

use analysis::per_op;
use model::record::Severity;
use model::{Experiment, StepRecord, StepRole, Variant, metric, percent};

use super::{Checks, Observation, Rule};
use crate::context::{PlanContext, RunContext};
use crate::facts::{bytes, memory};

pub(crate) static RULE: Rule = Rule {
    code: "A006",
    name: "size against intent",
    severity: Severity::Blocking,
    trigger: "Blocking: the rows of a cached workload do not fit the engine's cache (byrx) or the \
              memory (byos). Warning: the rows of a cached workload fill more than 90 % of this \
              cache or memory. Blocking: a read of a cached workload causes more than 0.01 device \
              reads. Blocking: the rows of an IO-bound workload (iobuf, iodir) fit the memory. \
              Warning: the rows of an IO-bound workload are less than 1.9 times the memory. \
              Blocking: a read of an IO-bound workload causes fewer than 0.05 device reads",
    why: "The workload measures memory where it is meant to measure storage, or storage where it \
          is meant to measure memory.",
    remedy: "use the preset's values of `rows` and `cache`, or choose another preset",
    source: "[Callaghan 2022-08-18] (byrx, byos, iobuf, iodir); [Callaghan 2023-01-02] (the \
             database was larger than memory by mistake); our choice: the limits",
    ..Rule::of(Checks { variant: Some(misfit), measured: &[read], ..Checks::NONE })
};

/// Share of the cache that rows of a cached workload may fill. Our choice.
const CACHED_SHARE: f64 = 0.9;
/// How often the rows of an IO-bound workload must hold the memory. Our choice: 2, less
/// the preset's rounding.
const IO_BOUND_RATIO: f64 = 1.9;
/// Device reads of an operation, at most, in a cached workload. Our choice.
const CACHED_READS: f64 = 0.01;
/// Device reads of an operation, at least, in an IO-bound workload. Our choice.
const IO_BOUND_READS: f64 = 0.05;

/// The intended place of a workload's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    /// In the engine's cache.
    Engine,
    /// In the page cache.
    System,
    /// On storage.
    Storage,
}

pub(super) fn intent(experiment: &Experiment) -> Option<Intent> {
    match experiment.workload.as_deref()? {
        "byrx" => Some(Intent::Engine),
        "byos" => Some(Intent::System),
        "iobuf" | "iodir" => Some(Intent::Storage),
        _ => None,
    }
}

/// Returns what the rows take when stored: caches of pages hold them compressed.
fn stored(experiment: &Experiment, variant: &Variant) -> f64 {
    let live = experiment.data.live_bytes().0 as f64;
    match variant.settings.compression.as_deref() {
        None | Some("none") => live,
        Some(_) => live * experiment.data.compressible_to,
    }
}

fn misfit(context: &PlanContext<'_>, variant: &Variant) -> Option<Observation> {
    let intent = intent(context.experiment)?;
    let (room, what) = match intent {
        Intent::Engine => (variant.settings.cache_bytes?, "cache"),
        Intent::System | Intent::Storage => (memory(context.experiment, context.host)?, "memory"),
    };
    let stored = stored(context.experiment, variant);
    let (share, rows) = (stored / room.0 as f64, bytes(stored));
    let (is_wrong, is_severe, evidence) = match intent {
        Intent::Storage => {
            let evidence = format!(
                "the workload is meant to be IO-bound, but has {rows} of rows and {room} of {what}"
            );
            (share < IO_BOUND_RATIO, share < 1.0, evidence)
        }
        Intent::Engine | Intent::System => {
            let evidence = format!(
                "the workload is meant to be cached, but has {rows} of rows and {room} of {what}"
            );
            (share > CACHED_SHARE, share > 1.0, evidence)
        }
    };
    is_wrong.then(|| Observation::new(evidence).blocking_if(is_severe).ranked("size", 0.0))
}

fn read(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let reads = per_op(step, metric::DEVICE_READS).filter(|_| step.role() == StepRole::Read)?;
    // The device is shared: reads count only where the worker itself read.
    let own = per_op(step, metric::PROCESS_READ_BYTES);
    let (is_wrong, is) = match intent(context.experiment)? {
        Intent::Engine | Intent::System => {
            (reads > CACHED_READS && own.is_none_or(|own| own > 0.0), "cached")
        }
        Intent::Storage => (reads < IO_BOUND_READS, "IO-bound"),
    };
    is_wrong.then(|| {
        let evidence = format!(
            "the workload is meant to be {is}, but {} of the operations read the device",
            percent(reads)
        );
        Observation::new(evidence).ranked("reads", reads)
    })
}

#[cfg(test)]
mod tests {
    use model::Bytes;
    use model::record::Severity;

    use super::*;
    use crate::testing::{in_plan, in_runs, runs, set};

    fn experiment(workload: &str) -> Experiment {
        let workload = Some(workload.to_owned());
        Experiment { workload, ..crate::testing::experiment(&["a"]) }
    }

    #[test]
    fn rows_must_fit_a_cached_workload_and_overflow_an_io_bound_one() {
        // 400 MiB of rows.
        let with = |workload: &str, mib: u64| {
            let mut spec = experiment(workload);
            spec.memory_bytes = Some(Bytes(mib << 20));
            spec.variants[0].settings.cache_bytes = Some(Bytes(mib << 20));
            in_plan(&RULE, &spec)
        };
        assert_eq!(with("byrx", 500), []);
        let evidence = "a: the workload is meant to be cached, but has 401 MiB of rows and 300 MiB \
                        of cache";
        assert_eq!(with("byrx", 300), [(Severity::Blocking, evidence.to_owned())]);
        assert_eq!(with("byos", 410)[0].0, Severity::Warning);
        assert_eq!(with("iobuf", 200), []);
        assert_eq!(with("iodir", 300)[0].0, Severity::Warning);
        assert_eq!(with("iobuf", 500)[0].0, Severity::Blocking);
    }

    #[test]
    fn device_reads_must_fit_the_workload() {
        let with = |workload: &str, reads: f64| {
            let mut runs = runs(&["a"]);
            for run in &mut runs {
                set(&mut run.steps[0].counters, &[(metric::DEVICE_READS, reads * 600_000.0)]);
            }
            in_runs(&RULE, &experiment(workload), &runs)
        };
        assert_eq!(with("byrx", 0.005), []);
        let evidence = "readrandom of a: the workload is meant to be cached, but 2.0 % of the \
                        operations read the device (3 runs)";
        assert_eq!(with("byrx", 0.02), [(Severity::Blocking, evidence.to_owned())]);
        let reads = with("iobuf", 0.02);
        assert!(
            reads.iter().any(|(_, evidence)| evidence.contains("IO-bound, but 2.0 %")),
            "{reads:?}"
        );
    }
}
