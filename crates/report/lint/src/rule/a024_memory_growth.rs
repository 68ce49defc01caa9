//! A024: memory that grows, or exceeds its plan.

use model::{StepRecord, metric, percent};

use super::{Checks, Observation, Rule};
use crate::context::RunContext;
use crate::facts::{bytes, memory};

pub(crate) static RULE: Rule = Rule {
    code: "A024",
    name: "memory growth",
    trigger: "resident memory grows by more than 1 % an hour over a minute or more, the growth is \
              statistically significant, and a cache that fills does not explain the growth; or \
              the engine reports its cache, and resident memory exceeds the sum of 1.265 times the \
              cache, the memtables and 64 MiB; or resident memory exceeds 90 % of the memory cap, \
              or of the machine's memory if there is no cap",
    why: "A process that keeps growing is killed in the end. Memory beyond the cache is memory \
          that other engines did not get.",
    remedy: "measure for longer to see where the growth ends, and compare at equal memory (memory \
             = ...)",
    source: "[Callaghan 2022-09-19], [Callaghan 2022-08-23] (watch RSS, it might lead to OOM); our \
             choice: the limits",
    ..Rule::of(Checks { measured: &[grows, beyond_cache, nearly_all], ..Checks::NONE })
};

/// Growth an hour. Our choice.
const PER_HOUR: f64 = 0.01;
/// Steady seconds from which growth is reported: below, it is the end of a warm-up.
const SECONDS: u32 = 60;
/// Times the cache that is explained. Our choice.
const EXPLAINED: f64 = 1.15 * 1.1;
/// Share of the memory that may be resident. Our choice.
const SHARE: f64 = 0.9;
/// Share of the memory that the allocator may have mapped beyond what is allocated. Our choice.
const UNUSED: f64 = 0.1;
/// What a worker holds besides cache and memtables: code, client buffers, histograms.
const OWN: f64 = 64.0 * 1_048_576.0;

fn grows(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let time_profile =
        step.time_profile.as_ref().filter(|time_profile| time_profile.seconds >= SECONDS)?;
    let drift = time_profile.drifts.get(metric::RSS_BYTES.name)?;
    // A cache that fills is no leak.
    let is_filling = context.run.variant.settings.cache_bytes.is_some_and(|cache| {
        step.gauges_max.value(metric::RSS_BYTES).is_some_and(|rss| rss < cache.0 as f64 * EXPLAINED)
    });
    (drift.is_real && drift.per_hour > PER_HOUR && !is_filling).then(|| {
        let evidence = format!("resident memory grew by {} an hour", percent(drift.per_hour));
        Observation::new(evidence).ranked("growth", drift.per_hour)
    })
}

fn beyond_cache(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let gauge = |name| step.gauges_max.value(name);
    // An engine that does not report its cache may have none, and map its files.
    gauge(metric::ENGINE_CACHE_BYTES)?;
    let (rss, cache) = (gauge(metric::RSS_BYTES)?, context.run.variant.settings.cache_bytes?);
    let explained =
        cache.0 as f64 * EXPLAINED + gauge(metric::ENGINE_MEMTABLE_BYTES).unwrap_or(0.0) + OWN;
    (rss > explained).then(|| {
        let evidence = format!("resident memory is {} with a cache of {cache}", bytes(rss));
        Observation::new(evidence).ranked("beyond", rss / explained)
    })
}

fn nearly_all(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let memory = memory(context.experiment, Some(context.host)).filter(|memory| memory.0 > 0)?;
    let gauge = |name| step.gauges_max.value(name);
    let share = gauge(metric::RSS_BYTES)? / memory.0 as f64;
    if share <= SHARE {
        return None;
    }
    let evidence = format!("resident memory is {} of {memory}", percent(share));
    let heap = gauge(metric::MALLOC_MAPPED_BYTES).zip(gauge(metric::MALLOC_ALLOCATED_BYTES));
    let unused = heap.filter(|(mapped, used)| mapped - used > UNUSED * memory.0 as f64);
    Some(match unused {
        Some((mapped, used)) => {
            let heap = format!(
                "the allocator has mapped {}, of which {} are in use",
                bytes(mapped),
                bytes(used)
            );
            let remedy = "try another allocator (allocator = \"jemalloc\"), or allow more memory";
            Observation::new(format!("{evidence}; {heap}")).ranked("unused", share).remedy(remedy)
        }
        None => Observation::new(evidence).ranked("all", share),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::record::Severity;
    use model::time_profile::Drift;
    use model::{Bytes, TimeProfile};

    use super::*;
    use crate::testing::{experiment, in_runs, runs, set, time_profile, when};

    #[test]
    fn growth_that_is_real_is_reported() {
        let with = |is_real| {
            when(&RULE, |step| {
                let drift = Drift { per_hour: 0.5, over_part: 0.01, is_real };
                let drifts = BTreeMap::from([(metric::RSS_BYTES.name.to_owned(), drift)]);
                step.time_profile = Some(TimeProfile { drifts, ..time_profile() });
            })
        };
        assert_eq!(with(false), []);
        let evidence = "readrandom of b: resident memory grew by 50 % an hour (3 runs)";
        assert_eq!(with(true), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn memory_beyond_the_cache_is_reported_where_the_engine_reports_its_cache() {
        let with = |rss: f64, has_cache: bool| {
            let mut runs = runs(&["a"]);
            for run in &mut runs {
                run.variant.settings.cache_bytes = Some(Bytes::GIB);
                let gauges = &mut run.steps[0].gauges_max;
                set(gauges, &[(metric::RSS_BYTES, rss)]);
                if has_cache {
                    set(
                        gauges,
                        &[(metric::ENGINE_CACHE_BYTES, 1e9), (metric::ENGINE_MEMTABLE_BYTES, 1e8)],
                    );
                }
            }
            in_runs(&RULE, &experiment(&["a"]), &runs)
        };
        assert_eq!(with(1.4e9, true), []);
        assert_eq!(with(3e9, false), []);
        let evidence =
            "readrandom of a: resident memory is 2.79 GiB with a cache of 1.00 GiB (3 runs)";
        assert_eq!(with(3e9, true), [(Severity::Warning, evidence.to_owned())]);
        let nearly = with(16e9, false);
        assert!(nearly[0].1.contains("93 % of 16.0 GiB"), "{nearly:?}");
    }

    #[test]
    fn memory_that_the_allocator_holds_unused_is_reported_with_what_nearly_all_is() {
        let with = |mapped: f64| {
            when(&RULE, |step| {
                let heap = [(metric::MALLOC_MAPPED_BYTES, mapped), (metric::RSS_BYTES, 16e9)];
                set(&mut step.gauges_max, &heap);
                set(&mut step.gauges_max, &[(metric::MALLOC_ALLOCATED_BYTES, 12e9)]);
            })
        };
        assert!(with(12.5e9)[0].1.ends_with("93 % of 16.0 GiB (3 runs)"), "{:?}", with(12.5e9));
        let evidence = "16.0 GiB; the allocator has mapped 14.4 GiB, of which 11.2 GiB are in use \
                        (3 runs)";
        assert!(with(15.5e9)[0].1.ends_with(evidence), "{:?}", with(15.5e9));
    }
}
