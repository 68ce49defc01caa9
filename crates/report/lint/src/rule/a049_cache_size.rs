//! A049: a cache that does not fit the memory.

use model::Variant;
use model::record::Severity;

use super::{Rule, Seen};
use crate::context::PlanContext;
use crate::look::{memory, percent};

/// The engine's cache takes all of the memory, or more.
pub(crate) static RULE: Rule = Rule {
    code: "A049",
    name: "cache against memory",
    severity: Severity::Warning,
    trigger: "the cache asked for is more than 90 % of the memory cap, or of the machine's memory \
              where there is none; blocking when it is larger",
    why: "The engine needs memory beside its cache: it is killed, or the kernel swaps, and neither \
          is what was asked.",
    remedy: "leave at least a third of the memory beside the cache, as the presets do",
    source: "seed 003, \"Understanding some jemalloc stats for RocksDB\" (RSS larger than the cache \
             that was configured); reference, analysis, section 7, L24",
    plan: Some(plan),
    ..Rule::SILENT
};

/// Share of the memory that a cache may take.
const SHARE: f64 = 0.9;

#[expect(clippy::cast_precision_loss, reason = "bytes stay far below 2^53")]
fn plan(context: &PlanContext<'_>) -> Vec<Seen> {
    let memory = memory(context.experiment, context.host).filter(|memory| memory.0 > 0);
    let Some(memory) = memory else { return Vec::new() };
    let tell = |variant: &Variant| {
        let cache = variant.settings.cache_bytes?;
        let share = cache.0 as f64 / memory.0 as f64;
        let severity = if share > 1.0 { Severity::Blocking } else { Severity::Warning };
        (share > SHARE).then(|| {
            let evidence =
                format!("a cache of {cache} is {} of {memory} of memory", percent(share));
            Seen::new(evidence).variant(&variant.name).graded(severity).sized("", share)
        })
    };
    context.experiment.variants.iter().filter_map(tell).collect()
}

#[cfg(test)]
mod tests {
    use model::Bytes;

    use super::*;
    use crate::testing::{experiment, in_plan};

    #[test]
    fn a_cache_that_does_not_fit_is_told() {
        let with = |cache: u64| {
            let mut asked = experiment(&["a"]);
            asked.memory_bytes = Some(Bytes(1 << 30));
            asked.variants[0].settings.cache_bytes = Some(Bytes(cache << 20));
            in_plan(&RULE, &asked)
        };
        assert_eq!(with(700), []);
        let evidence = "a: a cache of 1000 MiB is 98 % of 1.00 GiB of memory";
        assert_eq!(with(1_000), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(with(2_048)[0].0, Severity::Blocking);
    }
}
