//! A005: a cache that fills or empties during the measurement.

use model::{StepRecord, metric};

use super::{Checks, Observation, Rule};
use crate::context::RunContext;

pub(crate) static RULE: Rule = Rule {
    code: "A005",
    name: "cache carried over",
    trigger: "over the steady part of a step, the cache hit share rose or fell by more than 5 \
              percentage points, and by more than three standard errors of the share's slope",
    why: "The cache still holds entries of the previous step, or is not full yet. The figures then \
          depend on how long the step was measured.",
    remedy: "warm up for longer, or measure for longer (`warmup` and `duration`)",
    source: "[Callaghan 2022-11-18] (buffered reads benefit from hits in the page cache); our \
             choice: the limit of 5 points",
    ..Rule::of(Checks { measured: &[moved], ..Checks::NONE })
};

/// Points by which the share may move. Our choice.
const POINTS: f64 = 0.05;

fn moved(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let drift = step.time_profile.as_ref()?.drifts.get(metric::CACHE_HIT_SHARE.name)?;
    let level =
        analysis::step_metrics(step, &context.experiment.data).value(metric::CACHE_HIT_SHARE)?;
    // The slope is a share of the level.
    let points = drift.over_part * level;
    (drift.is_real && points.abs() > POINTS).then(|| {
        let way = if points > 0.0 { "rose" } else { "fell" };
        let (level, by) = (level * 100.0, points.abs() * 100.0);
        let evidence =
            format!("the cache hit share, {level:.0} % on average, {way} by {by:.0} points");
        Observation::new(evidence).ranked(way, by)
    })
}

#[cfg(test)]
mod tests {
    use model::record::Severity;
    use std::collections::BTreeMap;

    use model::TimeProfile;
    use model::time_profile::Drift;

    use super::*;
    use crate::testing::{set, time_profile, when};

    /// What is found when 80 % of lookups hit, and the share grew by so much of its level.
    fn with(over_part: f64, is_real: bool) -> Vec<(Severity, String)> {
        when(&RULE, |step| {
            set(
                &mut step.counters,
                &[(metric::ENGINE_CACHE_HITS, 8e5), (metric::ENGINE_CACHE_MISSES, 2e5)],
            );
            let drift = Drift { per_hour: over_part * 60.0, over_part, is_real };
            let drifts = BTreeMap::from([(metric::CACHE_HIT_SHARE.name.to_owned(), drift)]);
            step.time_profile = Some(TimeProfile { drifts, ..time_profile() });
        })
    }

    #[test]
    fn a_share_of_hits_that_moves_is_reported() {
        assert_eq!(with(0.05, true), []);
        assert_eq!(with(0.2, false), []);
        let evidence = "readrandom of b: the cache hit share, 80 % on average, rose by 16 points \
                        (3 runs)";
        assert_eq!(with(0.2, true), [(Severity::Warning, evidence.to_owned())]);
        assert!(with(-0.1, true)[0].1.contains("fell by 8 points"));
    }
}
