//! A049: a cache that does not fit the memory.

use model::{Bytes, Variant, percent};

use super::{Checks, Observation, Rule};
use crate::context::PlanContext;
use crate::facts::memory;

pub(crate) static RULE: Rule = Rule {
    code: "A049",
    name: "cache against memory",
    trigger: "Warning: the requested cache is more than 90 % of the memory cap, or of the \
              machine's memory if there is no cap. Blocking: the requested cache is larger than \
              the memory cap, or than the machine's memory if there is no cap. Warning: the \
              requested cache of a MySQL server plus 480 MiB for the rest of the server exceeds \
              the memory cap, or the machine's memory if there is no cap",
    why: "The engine needs memory besides its cache. Without this memory the engine is killed, or \
          the kernel swaps.",
    remedy: "leave at least a third of the memory free besides the cache, as the presets do",
    source: "[Callaghan 2022-09-19] (RSS larger than the cache that was configured); our choice: \
             the limit of 90 %; our own measurement: mysqld 8.0.31 with its performance schema \
             takes 480 MiB besides its buffer pool, and the kernel kills mysqld if it gets less",
    ..Rule::of(Checks { variant: Some(too_large), ..Checks::NONE })
};

/// Share of the memory that a cache may take.
const SHARE: f64 = 0.9;

/// Memory of a mysqld besides its buffer pool, with its performance schema.
const MYSQLD: Bytes = Bytes(480 << 20);

fn too_large(context: &PlanContext<'_>, variant: &Variant) -> Option<Observation> {
    let memory = memory(context.experiment, context.host).filter(|memory| memory.0 > 0)?;
    let cache = variant.settings.cache_bytes?;
    let share = cache.0 as f64 / memory.0 as f64;
    if share > SHARE {
        let evidence = format!("a cache of {cache} is {} of the memory, {memory}", percent(share));
        return Some(Observation::new(evidence).blocking_if(share > 1.0).ranked("", share));
    }
    let is_mysqld = variant.build.engine == "mysql" && variant.dsn.is_none();
    (is_mysqld && cache.0 + MYSQLD.0 > memory.0).then(|| {
        let evidence =
            format!("a cache of {cache} and {MYSQLD} for mysqld exceed the memory, {memory}");
        Observation::new(evidence).ranked("server", share)
    })
}

#[cfg(test)]
mod tests {
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
        let evidence = "a: a cache of 1000 MiB is 98 % of the memory, 1.00 GiB";
        assert_eq!(with(1_000), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(with(2_048)[0].0, Severity::Blocking);
    }

    #[test]
    fn a_cap_that_leaves_mysqld_too_little_is_reported() {
        let with = |engine: &str| {
            let mut spec = experiment(&["a"]);
            spec.memory_bytes = Some(Bytes(400 << 20));
            spec.variants[0].build.engine = engine.to_owned();
            spec.variants[0].settings.cache_bytes = Some(Bytes(64 << 20));
            in_plan(&RULE, &spec)
        };
        let evidence = "a: a cache of 64.0 MiB and 480 MiB for mysqld exceed the memory, 400 MiB";
        assert_eq!(with("mysql"), [(Severity::Warning, evidence.to_owned())]);
        assert_eq!((with("mariadb"), with("rocksdb")), (vec![], vec![]));
    }
}
