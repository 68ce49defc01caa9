//! A049: a cache that does not fit the memory.

use model::{Variant, percent};

use super::{Observation, Rule, code};
use crate::context::PlanContext;
use crate::facts::memory;

pub(crate) static RULE: Rule = Rule {
    code: code::A049,
    name: "cache against memory",
    trigger: "the requested cache is more than 90 % of the memory cap, or of the machine's memory \
              where there is none; blocking when it is larger",
    why: "The engine needs memory besides its cache: it is killed, or the kernel swaps.",
    remedy: "leave at least a third of the memory besides the cache, as the presets do",
    source: "[Callaghan 2022-09-19] (RSS larger than the cache that was configured); our choice: \
             90 %",
    variant: Some(too_large),
    ..Rule::EMPTY
};

/// Share of the memory that a cache may take.
const SHARE: f64 = 0.9;

fn too_large(context: &PlanContext<'_>, variant: &Variant) -> Option<Observation> {
    let memory = memory(context.experiment, context.host).filter(|memory| memory.0 > 0)?;
    let cache = variant.settings.cache_bytes?;
    let share = cache.0 as f64 / memory.0 as f64;
    (share > SHARE).then(|| {
        let evidence = format!("a cache of {cache} is {} of {memory} of memory", percent(share));
        Observation::new(evidence).blocking_if(share > 1.0).ranked("", share)
    })
}

#[cfg(test)]
mod tests {
    use model::Bytes;
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_plan};

    #[test]
    fn a_cache_that_does_not_fit_is_reported() {
        let with = |cache: u64| {
            let mut spec = experiment(&["a"]);
            spec.memory_bytes = Some(Bytes(1 << 30));
            spec.variants[0].settings.cache_bytes = Some(Bytes(cache << 20));
            in_plan(&RULE, &spec)
        };
        assert_eq!(with(700), []);
        let evidence = "a: a cache of 1000 MiB is 98 % of 1.00 GiB of memory";
        assert_eq!(with(1_000), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(with(2_048)[0].0, Severity::Blocking);
    }
}
