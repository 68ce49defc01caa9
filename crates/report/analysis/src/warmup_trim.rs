//! Warm-up trim: the common steady start of several runs.

use std::collections::{BTreeMap, BTreeSet};

use model::time_profile::TrendClass;
use model::{Nanos, RunRecord, StepRecord, StopRule};
use stats::time_profile::{MIN_STEADY_S, MIN_STEADY_SHARE};

/// Level of clients, index and name of a step.
type Key = (u32, u32, String);

/// Warm-up trim of each step, the same in all runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WarmupTrims(BTreeMap<Key, Nanos>);

/// Returns the warm-up trim of every step.
///
/// One trim for all runs and variants of a step and level: the latest start of a steady part, in
/// whole seconds, rounded up. Runs that drift, are not steady or are invalid do not contribute.
/// There is no trim where it would leave less than 40 % of a run's measured span, or less than 10
/// s; steps that end by count and searches have none.
///
/// Our choice: the maximum over all, so that every run is measured over the same span.
pub fn warmup_trims<'a>(runs: impl IntoIterator<Item = &'a RunRecord>) -> WarmupTrims {
    let runs: Vec<&RunRecord> = runs.into_iter().collect();
    let mut latest: BTreeMap<Key, Nanos> = BTreeMap::new();
    let mut too_short = BTreeSet::new();
    for (key, step) in steps(&runs) {
        if let Some(from) = steady_from(step) {
            let known = latest.entry(key).or_default();
            *known = (*known).max(from);
        }
    }
    for (key, step) in steps(&runs) {
        if latest.get(&key).is_some_and(|trim| !leaves_enough(step, *trim)) {
            too_short.insert(key);
        }
    }
    latest.retain(|key, trim| *trim > Nanos(0) && !too_short.contains(key));
    WarmupTrims(latest)
}

impl WarmupTrims {
    /// Returns whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the trims of a run's steps, by their index.
    pub fn of(&self, run: &RunRecord) -> BTreeMap<u32, Nanos> {
        let trim = |step: &StepRecord| Some((step.index, *self.0.get(&key(run, step))?));
        run.steps.iter().filter_map(trim).collect()
    }
}

/// Returns the trim of a step in words; `None` without one.
pub fn warmup_trim_phrase(step: &StepRecord) -> Option<String> {
    let trim = step.warmup_trim_ns.filter(|trim| *trim > Nanos(0))?;
    let class = step.time_profile.as_ref().map(|time_profile| time_profile.class);
    let why = match class {
        Some(TrendClass::WarmUp) => ": warm-up before",
        Some(TrendClass::SlowDown) => ": slow-down before",
        Some(
            TrendClass::Flat
            | TrendClass::Cyclic
            | TrendClass::Drift
            | TrendClass::NotSteady
            | TrendClass::TooShort,
        )
        | None => ", because some runs become steady only then",
    };
    Some(format!("measured after {}{why}", moment(trim)))
}

/// Returns a moment of a step in whole seconds: `12 s`, `2m10s`.
pub fn moment(at: Nanos) -> String {
    let seconds = (at.0 + Nanos::SECOND.0 / 2) / Nanos::SECOND.0;
    if seconds < 60 { format!("{seconds} s") } else { Nanos::from_secs(seconds).to_string() }
}

/// Returns the steps that may be trimmed, with their keys.
fn steps<'a>(runs: &[&'a RunRecord]) -> impl Iterator<Item = (Key, &'a StepRecord)> {
    let valid = runs.iter().copied().filter(|run| run.is_counted());
    let all = valid.flat_map(|run| run.steps.iter().map(move |step| (key(run, step), step)));
    all.filter(|(_, step)| matches!(step.step.stop, StopRule::Duration(_)) && step.search.is_none())
}

fn key(run: &RunRecord, step: &StepRecord) -> Key {
    (run.cell.clients, step.index, step.step.name.clone())
}

/// Returns the steady start of a step, in whole seconds, rounded up.
fn steady_from(step: &StepRecord) -> Option<Nanos> {
    let time_profile =
        step.time_profile.as_ref().filter(|time_profile| time_profile.class.is_steady())?;
    Some(Nanos::from_secs(time_profile.steady_from_ns.0.div_ceil(Nanos::SECOND.0)))
}

fn leaves_enough(step: &StepRecord, trim: Nanos) -> bool {
    let all_s = step.duration_ns.as_secs_f64();
    step.duration_ns.since(trim).as_secs_f64() >= MIN_STEADY_S.max(MIN_STEADY_SHARE * all_s)
}

#[cfg(test)]
mod tests {
    use model::Load;
    use model::time_profile::{Stalls, TimeProfile};

    use super::*;
    use crate::testing::run;

    /// A run of a minute that is steady from there on.
    fn steady(variant: &str, repetition: u32, class: TrendClass, from_ms: u64) -> RunRecord {
        let mut run = run(variant, repetition, 1_000);
        let step = &mut run.steps[0];
        step.step.stop = StopRule::Duration(Nanos::from_secs(60));
        step.duration_ns = Nanos::from_secs(60);
        step.time_profile = Some(TimeProfile {
            class,
            steady_from_ns: Nanos::from_millis(from_ms),
            drifts: BTreeMap::new(),
            cycle: None,
            stalls: Stalls::default(),
            seconds: 60,
            long_run_variance: 0.001,
            effective_seconds: 60.0,
        });
        run
    }

    fn trim_of(runs: &[RunRecord]) -> Option<Nanos> {
        warmup_trims(runs).of(&runs[0]).get(&0).copied()
    }

    #[test]
    fn latest_steady_start_applies_to_all_runs() {
        let runs = [
            steady("base", 1, TrendClass::Flat, 0),
            steady("base", 2, TrendClass::WarmUp, 8_000),
            steady("other", 1, TrendClass::SlowDown, 12_001),
            steady("other", 2, TrendClass::Drift, 20_000),
        ];
        assert_eq!(trim_of(&runs), Some(Nanos::from_secs(13)));
        assert!(warmup_trims(&runs[..1]).is_empty());
        assert!(warmup_trims([]).is_empty());
    }

    #[test]
    fn unsteady_runs_are_trimmed_like_the_others() {
        let mut runs = [
            steady("base", 1, TrendClass::NotSteady, 0),
            steady("base", 2, TrendClass::WarmUp, 8_000),
            steady("other", 1, TrendClass::WarmUp, 30_000),
        ];
        runs[2].invalid = Some("invalid".to_owned());
        assert_eq!(trim_of(&runs), Some(Nanos::from_secs(8)));
    }

    #[test]
    fn trim_leaves_a_minimum_length() {
        let mut runs = [
            steady("base", 1, TrendClass::Flat, 0),
            steady("other", 1, TrendClass::WarmUp, 36_000),
        ];
        assert_eq!(trim_of(&runs), Some(Nanos::from_secs(36)));
        runs[0].steps[0].duration_ns = Nanos::from_secs(59);
        assert_eq!(trim_of(&runs), None, "40 % of 59 s are more than 23 s");
        runs[0].steps[0].duration_ns = Nanos::from_secs(45);
        assert_eq!(trim_of(&runs), None, "9 s are too short");
    }

    #[test]
    fn levels_counts_and_searches_are_apart() {
        let mut runs =
            [steady("base", 1, TrendClass::Flat, 0), steady("base", 1, TrendClass::WarmUp, 9_000)];
        runs[1].cell.clients = 4;
        assert_eq!(trim_of(&runs), None, "another level of clients");
        runs[1].cell.clients = runs[0].cell.clients;
        runs[1].steps[0].step.stop = StopRule::Operations(1_000);
        assert_eq!(trim_of(&runs), None);
        runs[1].steps[0].step.stop = StopRule::Duration(Nanos::from_secs(60));
        runs[1].steps[0].step.load = Load::Closed;
        assert_eq!(trim_of(&runs), Some(Nanos::from_secs(9)));
    }

    #[test]
    fn phrase_has_start_and_reason() {
        let phrase = |class: TrendClass, warmup_trim_s: u64| {
            let mut step = steady("base", 1, class, 0).steps.remove(0);
            step.warmup_trim_ns = Some(Nanos::from_secs(warmup_trim_s));
            warmup_trim_phrase(&step)
        };
        let warm_up = phrase(TrendClass::WarmUp, 12);
        assert_eq!(warm_up.as_deref(), Some("measured after 12 s: warm-up before"));
        let slow_down = phrase(TrendClass::SlowDown, 12);
        assert_eq!(slow_down.as_deref(), Some("measured after 12 s: slow-down before"));
        let flat = phrase(TrendClass::Flat, 12);
        let with_others = "measured after 12 s, because some runs become steady only then";
        assert_eq!(flat.as_deref(), Some(with_others));
        assert_eq!(phrase(TrendClass::Flat, 0), None);
    }
}
