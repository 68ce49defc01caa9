//! A026: the file system is nearly full.

use model::{StepRecord, metric, percent};

use super::{Checks, Observation, Rule};
use crate::context::RunContext;
use crate::facts::bytes;

pub(crate) static RULE: Rule = Rule {
    code: "A026",
    name: "disk nearly full",
    trigger: "Warning: less than 10 % of the file system of the data is free. Blocking: less than \
              5 % of the file system of the data is free. If a record lacks the size of the file \
              system, the rule takes the sum of the free space and the run's own data as the size",
    why: "A file system and an SSD that are nearly full write more slowly, and an engine that \
          needs space for compaction fails.",
    remedy: "free space, or put the data on another file system (--data-dir)",
    source: "[Callaghan 2022-12-02] (unexpected disk full errors); [Callaghan 2022-08-23] (SSD \
             GC); our choice: the limits",
    ..Rule::of(Checks { steps: &[nearly_full], ..Checks::NONE })
};

/// Free share below which it is reported. Our choice.
const SHARE: f64 = 0.1;
/// Free share below which it blocks a verdict. Our choice.
const BLOCKING: f64 = 0.05;

fn nearly_full(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let gauges = step.final_gauges();
    let free = gauges.value(metric::DISK_FREE_BYTES)?;
    // A file system holds at least what is free and the run's own: without its size known, its
    // free share is this or less.
    let least = || Some((free + gauges.value(metric::DATA_DIR_BYTES)?, "at most "));
    let size = gauges.value(metric::DISK_SIZE_BYTES).map(|size| (size, ""));
    let (size, most) = size.or_else(least)?;
    let share = free / size.max(1.0);
    (share < SHARE).then(|| {
        let evidence = format!("{} are free, {most}{} of the disk", bytes(free), percent(share));
        Observation::new(evidence).blocking_if(share < BLOCKING).ranked("", -share)
    })
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{set, when};

    #[test]
    fn a_disk_that_is_nearly_full_is_reported() {
        let with = |free: f64| {
            when(&RULE, |step| {
                let of_disk = [(metric::DISK_FREE_BYTES, free), (metric::DISK_SIZE_BYTES, 1e12)];
                set(&mut step.gauges_end, &of_disk);
            })
        };
        assert_eq!(with(2e11), []);
        let evidence = "readrandom of b: 74.5 GiB are free, 8.0 % of the disk (3 runs)";
        assert_eq!(with(8e10), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(with(4e10)[0].0, Severity::Blocking);
    }

    #[test]
    fn a_disk_of_unknown_size_has_an_upper_bound_of_its_free_share() {
        let with = |free: f64| {
            when(&RULE, |step| {
                let of_disk = [(metric::DISK_FREE_BYTES, free), (metric::DATA_DIR_BYTES, 1e11)];
                set(&mut step.gauges_end, &of_disk);
            })
        };
        assert_eq!(with(2e10), []);
        let evidence = "readrandom of b: 7.45 GiB are free, at most 7.4 % of the disk (3 runs)";
        assert_eq!(with(8e9), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(with(3e9)[0].0, Severity::Blocking);
    }
}
