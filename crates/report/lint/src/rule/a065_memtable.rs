//! A065: reads that the memtable answers.

use model::{StepRecord, StepRole, metric, percent};

use super::{Checks, Observation, Rule};
use crate::context::RunContext;
use crate::facts::requests;

pub(crate) static RULE: Rule = Rule {
    code: "A065",
    name: "reads served by the memtable",
    trigger: "a memtable answered more than half of the point reads of a reading step. The rule \
              checks steps in which at least every second operation is a point read, on engines \
              that count the reads that a memtable answers (RocksDB with assay.statistics = \
              \"on\", MyRocks)",
    why: "A read from a memtable touches neither the block cache nor a file. The step shows \
          nothing of caches, filters, block formats or storage, even if its name suggests it.",
    remedy: "flush before reading (`settle`), read rows that the writer does not write, or read \
             without a skew that writer and readers share",
    source: "[Callaghan 2022-10-19] (results of reads next to a writer are bogus if the few rows \
             that are read are in the memtable); our choice: the limit of half of the point reads",
    ..Rule::of(Checks { measured: &[answered], ..Checks::NONE })
};

/// Share from which a step is about the memtable. Our choice.
const SHARE: f64 = 0.5;
/// Point reads per operation from which a step is one of them. Our choice: MyRocks reads rows of
/// its own dictionary next to every range.
const PER_OPERATION: f64 = 0.5;

fn answered(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let is_reading = matches!(step.role(), StepRole::Read | StepRole::ReadWrite);
    let metrics = analysis::step_metrics(step, &context.experiment.data);
    let share = metrics.value(metric::MEMTABLE_HIT_SHARE)?;
    let counted = [metric::ENGINE_MEMTABLE_HITS, metric::ENGINE_MEMTABLE_MISSES];
    let is_of_points = step.counters.sum(&counted)? >= PER_OPERATION * requests(step)?;
    (is_reading && is_of_points && share > SHARE).then(|| {
        let evidence = format!("the memtable answered {} of the point reads", percent(share));
        Observation::new(evidence).ranked("share", share)
    })
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{set, when};

    fn with(hits: f64, misses: f64) -> Vec<(Severity, String)> {
        let counted =
            [(metric::ENGINE_MEMTABLE_HITS, hits), (metric::ENGINE_MEMTABLE_MISSES, misses)];
        when(&RULE, |step| set(&mut step.counters, &counted))
    }

    #[test]
    fn reads_mostly_answered_by_the_memtable_are_reported() {
        let evidence = "readrandom of b: the memtable answered 90 % of the point reads (3 runs)";
        assert_eq!(with(540_000.0, 60_000.0), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn reads_of_files_and_uncounted_reads_are_silent() {
        assert_eq!(with(60_000.0, 540_000.0), []);
        assert_eq!(with(90_000.0, 10_000.0), [], "600,000 operations read something else");
        assert_eq!(when(&RULE, |_| {}), []);
    }
}
