//! Steps with a warm-up trim.

use std::collections::BTreeSet;

use analysis::{StepComparison, moment};
use model::StepRecord;
use model::time_profile::TrendClass;

use super::phrase::list;
use crate::input::Compared;
use crate::label::step_heading;

/// Returns a sentence for each trimmed step, with the reason.
pub(crate) fn warmup_trims(compared: &Compared<'_>) -> Vec<String> {
    let comparison = compared.comparison;
    let of_step = |step: &StepComparison| {
        let variants = comparison.variants.iter().map(|variant| variant.name.as_str());
        let records: Vec<(&str, &StepRecord)> = variants
            .flat_map(|name| compared.records(step, name).into_iter().map(move |it| (name, it)))
            .collect();
        let trim = records.iter().filter_map(|(_, record)| record.warmup_trim_ns).max()?;
        let of_class = |class: TrendClass, phrase: &str| {
            let is_it = |record: &StepRecord| {
                record.time_profile.as_ref().is_some_and(|time_profile| time_profile.class == class)
            };
            let own = records.iter().filter(|(_, record)| is_it(record)).map(|(name, _)| *name);
            let own: Vec<&str> = own.collect::<BTreeSet<_>>().into_iter().collect();
            (!own.is_empty()).then(|| format!("{phrase} in {}", list(&own)))
        };
        let warm_up = of_class(TrendClass::WarmUp, "warm-up");
        let slow_down = of_class(TrendClass::SlowDown, "slow-down");
        let why: Vec<String> = [warm_up, slow_down].into_iter().flatten().collect();
        Some(format!(
            "{}: measured from {} on in all runs; before: {} (--whole counts everything).",
            step_heading(comparison, step),
            moment(trim),
            why.join(", ")
        ))
    };
    comparison.steps.iter().filter_map(of_step).collect()
}
