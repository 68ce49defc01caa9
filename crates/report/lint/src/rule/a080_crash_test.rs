//! A080: crashes lost writes that survive in the claimed durability class.

use model::record::Severity;
use model::{RunRecord, StepRecord};

use super::{Checks, Observation, Rule};
use crate::context::ComparisonContext;

pub(crate) static RULE: Rule = Rule {
    code: "A080",
    name: "durability class not had",
    severity: Severity::Blocking,
    trigger: "simulated crashes of a variant, or the events of a step, lost acknowledged writes \
              that survive them in the durability class that the variant claims, or a crash left \
              a store that does not open",
    why: "The variant guarantees less than the others: its writes are cheaper because a crash loses \
          them. Engines are compared within one durability class.",
    remedy: "claim the class that the variant has (durability), or change the option, the file \
             system or the build whose sync is missing: `assay durability` names it",
    source: "[Zheng et al. 2014] (engines lose acknowledged transactions at power failures)",
    ..Rule::of(Checks { comparison: Some(comparison), ..Checks::NONE })
};

fn comparison(context: &ComparisonContext<'_>) -> Vec<Observation> {
    let broken = context.comparison.cuts.iter().filter(|cuts| cuts.breaks_claim);
    let observe = broken.map(|cuts| {
        let evidence = format!(
            "durability class {} ({}) is claimed, and {} of {} {} lost acknowledged writes",
            cuts.claimed,
            cuts.claimed.guarantee(),
            cuts.losing,
            cuts.cuts,
            cuts.kind.level.imitates()
        );
        Observation::new(evidence).variant(&cuts.variant)
    });
    let lost = context.runs.iter().flat_map(|run| run.steps.iter().map(move |step| (run, step)));
    let lost = lost.filter_map(|(run, step)| lost_at_events(run, step));
    observe.chain(lost).collect()
}

/// Returns the writes that a step has lost although its events spare the class of the variant.
fn lost_at_events(run: &RunRecord, step: &StepRecord) -> Option<Observation> {
    let writes = step.writes.filter(|writes| writes.lost > 0)?;
    let class = run.variant.settings.durability;
    let are_spared = step.events.iter().all(|event| event.planned.kind.spares(class));
    are_spared.then(|| {
        let evidence = format!(
            "durability class {class} ({}) is claimed, and {} of {} acknowledged writes were lost \
             after the events",
            class.guarantee(),
            writes.lost,
            writes.acknowledged
        );
        Observation::new(evidence).variant(&run.variant.name).step(&step.step.name).run(&run.id)
    })
}

#[cfg(test)]
mod tests {
    use analysis::cut_summary;
    use model::{
        AfterCut, CutCampaign, CutKind, CutLevel, CutRecord, Durability, EventKind, EventRecord,
        Losses, Nanos, StepEvent, WriteCheck,
    };

    use super::*;
    use crate::testing::{experiment, runs};

    #[test]
    fn writes_lost_at_an_event_that_spares_their_class_block() {
        let found = |class, kind| {
            let mut run = runs(&["a"]).remove(0);
            run.variant.settings.durability = class;
            let planned = StepEvent { at: Nanos(1), kind };
            run.steps[0].events = vec![EventRecord { planned, ..EventRecord::default() }];
            let check = WriteCheck { acknowledged: 9, lost: 2, ..WriteCheck::default() };
            run.steps[0].writes = Some(check);
            lost_at_events(&run, &run.steps[0]).map(|found| found.evidence)
        };
        let evidence = found(Durability::Os, EventKind::Kill).unwrap();
        let expected = "durability class os (survives a process crash) is claimed, and 2 of 9 \
                        acknowledged writes were lost after the events";
        assert_eq!(evidence, expected);
        assert_eq!(found(Durability::None, EventKind::Kill), None);
        assert_eq!(found(Durability::Sync, EventKind::Failover), None);
        assert_eq!(found(Durability::Os, EventKind::FsyncFails), None);
    }

    /// Returns the findings of a cut that lost so many writes of a store with this class.
    fn found(claimed: Durability, level: CutLevel, lost: u64) -> Vec<Observation> {
        let losses = Losses { lost, window: Some(Nanos(lost)), ..Losses::default() };
        let campaign = CutCampaign {
            variant: "a".to_owned(),
            engine: "a 1".to_owned(),
            claimed,
            kind: CutKind::at(level),
            clients: 1,
            seed: 1,
            cuts: vec![CutRecord {
                number: 0,
                load: Nanos(9),
                acknowledged: 9,
                syncs: None,
                after: AfterCut::Opened { recovery: Nanos(1), losses },
                is_after_recovery: false,
                forgotten: Vec::new(),
            }],
            calibrators: Vec::new(),
        };
        let (experiment, runs) = (experiment(&["a"]), runs(&["a"]));
        let noise = analysis::NoiseHistory::default();
        let mut compared = analysis::compare(&runs, &experiment, "a", &noise).unwrap();
        compared.cuts = vec![cut_summary(&campaign)];
        comparison(&ComparisonContext::of(&experiment, &[], &runs, &compared))
    }

    #[test]
    fn a_loss_within_the_claimed_class_blocks_and_one_beyond_it_does_not() {
        let [only] = &found(Durability::Sync, CutLevel::File, 3)[..] else { panic!("one") };
        let text = "durability class sync (survives a machine crash) is claimed, and 1 of 1 power \
                    cuts lost acknowledged writes";
        assert_eq!(only.evidence, text);
        assert_eq!(found(Durability::Os, CutLevel::Process, 1).len(), 1);
        assert!(found(Durability::Os, CutLevel::File, 3).is_empty());
        assert!(found(Durability::None, CutLevel::Process, 3).is_empty());
        assert!(found(Durability::Sync, CutLevel::File, 0).is_empty());
    }
}
