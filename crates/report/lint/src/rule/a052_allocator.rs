//! A052: one allocator with different settings.

use std::collections::BTreeMap;

use model::{Allocator, MallocRecord, RunRecord};

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;
use crate::difference::{Config, differences};

pub(crate) static RULE: Rule = Rule {
    code: "A052",
    name: "allocator tuned",
    trigger: "runs with the same allocator differ in the version of the allocator or in a setting \
              that is in force, such as arenas, decay times or parts of the environment \
              (MALLOC_CONF)",
    why: "Arenas and decay times change memory by tens of percent, and they also change \
          throughput. The experiment does not declare that it compares settings of the allocator.",
    remedy: "make all runs in one environment, and do not resume an experiment in another \
             environment",
    source: "[Callaghan 2022-09-19] (320 arenas on 80 CPUs); jemalloc(3), \"TUNING\"",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let mut first: BTreeMap<Allocator, (&RunRecord, &MallocRecord)> = BTreeMap::new();
    let mut found = Vec::new();
    for run in context.valid() {
        let Some(own) = run.steps.iter().find_map(|step| step.malloc.as_ref()) else { continue };
        let (known, before) = *first.entry(own.allocator).or_insert((run, own));
        let configs = [config(before), config(own)];
        found.extend(differences(&[], &configs).first().map(|one| {
            let ((was, now), name) = (one.pair(), one.name);
            let subject =
                format!("the settings of {} differ from {}", own.allocator, known.cell.id);
            let evidence = Observation::new(format!("{subject}: {name} is {now}, and was {was}"));
            evidence.variant(&run.cell.variant).run(&run.id)
        }));
    }
    found
}

fn config(record: &MallocRecord) -> Config<'_> {
    let settings = record.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Config { owner: "", values: settings.chain([("version", record.version.as_str())]).collect() }
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    /// Two variants of three runs; the second's allocator has these arenas.
    fn with(allocator: Allocator, arenas: Option<&str>) -> Vec<(Severity, String)> {
        let mut all = runs(&["a", "b"]);
        for run in &mut all {
            let is_other = run.cell.variant == "b";
            let arenas = if is_other { arenas } else { Some("8") };
            let settings = arenas.map(|value| ("narenas".to_owned(), value.to_owned()));
            run.steps[0].malloc = Some(MallocRecord {
                allocator: if is_other { allocator } else { Allocator::Jemalloc },
                version: "5.3.0".to_owned(),
                settings: settings.into_iter().collect(),
                bins: Vec::new(),
            });
        }
        in_runs(&RULE, &experiment(&["a", "b"]), &all)
    }

    #[test]
    fn one_allocator_with_two_settings_is_a_warning() {
        let found = with(Allocator::Jemalloc, Some("2"));
        let evidence = "b: the settings of jemalloc differ from a.c1.r1: narenas is 2, and was 8 \
                        (3 runs)";
        assert_eq!(found[0], (Severity::Warning, evidence.to_owned()), "{found:?}");
        let found = with(Allocator::Jemalloc, None);
        assert!(found[0].1.contains("narenas is unset, and was 8"), "{found:?}");
    }

    #[test]
    fn two_allocators_or_equal_settings_are_no_warning() {
        assert_eq!(with(Allocator::Jemalloc, Some("8")), []);
        assert_eq!(with(Allocator::Tcmalloc, Some("2")), []);
        assert_eq!(in_runs(&RULE, &experiment(&["a", "b"]), &runs(&["a", "b"])), []);
    }
}
