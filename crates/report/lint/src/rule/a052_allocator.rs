//! A052: one allocator, tuned in two ways.

use std::collections::BTreeMap;

use model::record::Severity;
use model::{Allocator, MallocRecord, RunRecord};

use super::{Rule, Seen};
use crate::context::ComparisonContext;

/// Runs on one allocator had another version of it, or other settings.
pub(crate) static RULE: Rule = Rule {
    code: "A052",
    name: "allocator tuned",
    severity: Severity::Warning,
    trigger: "among runs on one allocator its version differs, or a setting in force, such as the \
              arenas, decay times or words of the environment (MALLOC_CONF)",
    why: "Arenas and decay times move memory by tens of percent and throughput with it; nobody \
          declared them to be what is compared.",
    remedy: "make all runs under one environment, and complete none under another",
    source: "seed 003, \"Understanding some jemalloc stats for RocksDB\" (320 arenas on 80 CPUs); \
             jemalloc(3), \"TUNING\"",
    comparison: Some(comparison),
    ..Rule::SILENT
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Seen> {
    let mut first: BTreeMap<Allocator, (&RunRecord, &MallocRecord)> = BTreeMap::new();
    let mut evidence = Vec::new();
    for run in context.valid() {
        let Some(told) = run.steps.iter().find_map(|step| step.malloc.as_ref()) else { continue };
        let (known, before) = *first.entry(told.allocator).or_insert((run, told));
        let Some(other) = difference(before, told) else { continue };
        let told = format!("{} differs from that of {}: {other}", told.allocator, known.cell.id);
        evidence.push(Seen::new(told).variant(&run.cell.variant).run(&run.id).sized("tuned", 0.0));
    }
    evidence
}

/// Returns the first thing in which two accounts of one allocator differ, in words.
fn difference(before: &MallocRecord, now: &MallocRecord) -> Option<String> {
    let words = |told: &MallocRecord| -> BTreeMap<String, String> {
        let version = ("version".to_owned(), told.version.clone());
        told.settings.iter().cloned().chain([version]).collect()
    };
    let (before, now) = (words(before), words(now));
    let mut names = before.keys().chain(now.keys());
    let name = names.find(|name| before.get(*name) != now.get(*name))?;
    let value = |of: &BTreeMap<String, String>| of.get(name).cloned();
    let [before, now] = [value(&before), value(&now)].map(|value| value.unwrap_or("unset".into()));
    Some(format!("{name} is {now}, and was {before}"))
}

#[cfg(test)]
mod tests {
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
    fn an_allocator_that_is_tuned_in_two_ways_is_a_doubt() {
        let found = with(Allocator::Jemalloc, Some("2"));
        let evidence = "b: jemalloc differs from that of a.c1.r1: narenas is 2, and was 8 (3 runs)";
        assert_eq!(found[0], (Severity::Warning, evidence.to_owned()), "{found:?}");
        let found = with(Allocator::Jemalloc, None);
        assert!(found[0].1.contains("narenas is unset, and was 8"), "{found:?}");
    }

    #[test]
    fn two_allocators_or_one_tuned_alike_are_none() {
        assert_eq!(with(Allocator::Jemalloc, Some("8")), []);
        assert_eq!(with(Allocator::Tcmalloc, Some("2")), []);
        assert_eq!(in_runs(&RULE, &experiment(&["a", "b"]), &runs(&["a", "b"])), []);
    }
}
