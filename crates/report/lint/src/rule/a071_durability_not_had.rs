//! A071: the durability class claimed is not the class that writes had.

use model::record::Severity;
use model::{Durability, DurabilityBasis, Variant};

use super::{Checks, Observation, Rule};
use crate::context::{PlanContext, RunContext};

pub(crate) static RULE: Rule = Rule {
    code: "A071",
    name: "durability not provided",
    severity: Severity::Blocking,
    trigger: "Blocking: the file system of the data, or a setting that a run read back from the \
              file system, a session or the tables, does not provide the variant's durability \
              class. Warning: the durability class is sync, and the upper directory of the overlay \
              that has the data is not visible, as in a container. Note: the durability class is \
              os, and the upper directory of the overlay is not visible. Note: pages lack \
              protection against torn writes, sessions override a setting of a foreign server, or \
              a setting is not known",
    why: "Writes that a crash loses are cheaper than writes of the durability class that the \
          report names: syncs do not reach the drive, or commits do not wait for a sync.",
    remedy: "put the data on a drive (--data-dir DIR), or claim the durability class that the \
             writes have: --durability none",
    source: "[Callaghan 2022-12-02] (write throughput will be over-stated)",
    ..Rule::of(Checks { variant: Some(plan), run: Some(run), ..Checks::NONE })
};

/// Predicts what a run would read back: of servers that Assay does not start nothing is known.
fn plan(context: &PlanContext<'_>, variant: &Variant) -> Option<Observation> {
    let is_predicted = context.is_before_runs() && context.experiment.device.is_none();
    let storage = context.host?.storage.as_ref().filter(|_| is_predicted)?;
    let is_ours = variant.dsn.is_none();
    let claimed = variant.settings.durability;
    let found = (storage.class < claimed).then(|| violation(claimed, storage));
    found.or_else(|| assumption(claimed, storage)).filter(|_| is_ours)
}

fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let Some(had) = &context.run.durability else { return Vec::new() };
    let claimed = context.run.variant.settings.durability;
    let mut found: Vec<_> =
        had.violation(claimed).map(|basis| violation(claimed, basis)).into_iter().collect();
    if found.is_empty() {
        found.extend(had.bases.iter().find_map(|basis| assumption(claimed, basis)));
    }
    if !had.notes.is_empty() {
        let note = Observation::new(had.notes.join("; ")).severity(Severity::Note);
        let remedy = "read the durability class together with this finding, or change the setting";
        found.push(note.remedy(remedy).ranked("notes", 0.0));
    }
    found
}

/// Returns that a class rests on something that is not known.
///
/// If the overlay of a container is in memory, class sync is lost: a warning. Class os survives the
/// crash of a process there too, and only its writes cost less: a note.
fn assumption(claimed: Durability, basis: &DurabilityBasis) -> Option<Observation> {
    let severity = match claimed {
        Durability::None => return None,
        Durability::Os => Severity::Note,
        Durability::Sync => Severity::Warning,
    };
    let text =
        format!("durability class {claimed} is claimed, and {} may be in memory", basis.evidence);
    basis.is_assumed.then(|| Observation::new(text).severity(severity))
}

fn violation(claimed: Durability, basis: &DurabilityBasis) -> Observation {
    let found = Observation::new(format!("durability class {claimed} is claimed, but {basis}"));
    let remedy = "compare unavailability and failures, and measure throughput on a drive";
    if basis.evidence.contains("crashfs") { found.remedy(remedy) } else { found }
}

#[cfg(test)]
mod tests {
    use model::{DurabilityRecord, Host};

    use super::*;
    use crate::testing::{experiment, host, in_runs, runs};

    #[test]
    fn data_in_memory_are_blocking_for_what_assay_stores() {
        let mut experiment = experiment(&["a"]);
        let cells = [model::Cell {
            id: "a".to_owned(),
            variant: "a".to_owned(),
            clients: 1,
            repetition: 1,
            seed: 0,
        }];
        let evidence = "data on tmpfs (in memory)".to_owned();
        let basis = DurabilityBasis { evidence, class: Durability::None, is_assumed: false };
        let with = |basis: DurabilityBasis, experiment: &model::Experiment| {
            let host = Host { storage: Some(basis), ..host() };
            let context =
                PlanContext { experiment, cells: &cells, host: Some(&host), has_rule: |_| true };
            plan(&context, &experiment.variants[0])
        };
        let found = |experiment: &_| with(basis.clone(), experiment).map(|one| one.evidence);
        let assumed =
            DurabilityBasis { class: Durability::Sync, is_assumed: true, ..basis.clone() };
        let note = with(assumed.clone(), &experiment).unwrap();
        assert_eq!(note.severity, Some(Severity::Note));
        assert!(note.evidence.contains("class os is claimed, and data on tmpfs"));
        let text = "durability class os is claimed, but data on tmpfs (in memory) allows class \
                    `none` at most (nothing survives before a clean close)";
        assert_eq!(found(&experiment).as_deref(), Some(text));
        experiment.variants[0].settings.durability = Durability::Sync;
        let warning = with(assumed.clone(), &experiment).unwrap();
        assert_eq!(warning.severity, Some(Severity::Warning));
        assert!(warning.evidence.contains("class sync is claimed, and data on tmpfs"));
        let evidence = "data on crashfs (simulated)".to_owned();
        let simulated = with(DurabilityBasis { evidence, ..basis.clone() }, &experiment).unwrap();
        assert!(simulated.remedy.unwrap().contains("unavailability"));
        experiment.variants[0].settings.durability = Durability::None;
        assert_eq!(found(&experiment), None);
        assert!(with(assumed, &experiment).is_none());
    }

    #[test]
    fn what_a_run_reads_back_is_compared_with_its_class() {
        let with = |had: Option<DurabilityRecord>| {
            let mut runs = runs(&["a"]);
            runs.truncate(1);
            runs[0].durability = had.map(Box::new);
            in_runs(&RULE, &experiment(&["a"]), &runs)
        };
        assert_eq!(with(None), [], "an older record");
        let mut had = DurabilityRecord::default();
        had.allow(Durability::Os, "sync_binlog = 0");
        assert_eq!(with(Some(had.clone())), [], "class os is claimed");
        had.note("full_page_writes = off: torn");
        let [(severity, evidence)] = &with(Some(had.clone()))[..] else { panic!("a note") };
        assert_eq!(
            (*severity, evidence.as_str()),
            (Severity::Note, "a: full_page_writes = off: torn (1 run)")
        );
        had.allow(Durability::None, "table `t1`, which is unlogged,");
        let [(severity, evidence), _] = &with(Some(had))[..] else { panic!("two") };
        assert_eq!(*severity, Severity::Blocking);
        assert!(
            evidence.contains("class os is claimed, but table `t1`, which is unlogged, allows")
        );
    }
}
