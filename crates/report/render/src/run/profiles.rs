//! How the processes of a run were profiled, by step.

use model::{ProfileRecord, StepRecord};

use crate::document::{Part, Table};
use crate::figure::{count, percent};

/// Returns a row per step and process, and the reasons for steps without a profile.
///
/// A settle has no row: it has no clients. A search has one, though it may have confirmed nothing.
pub(super) fn profiles(steps: &[StepRecord]) -> Vec<Part> {
    let all: Vec<(&str, &ProfileRecord)> = steps
        .iter()
        .filter(|step| !step.clients.is_empty() || step.search.is_some())
        .flat_map(|step| step.profiles.iter().map(|one| (step.step.name.as_str(), one)))
        .collect();
    let Some((_, first)) = all.first() else { return Vec::new() };
    let mut table = Table::new([
        "step",
        "<process",
        "<callers by",
        "samples",
        "of the\nexpected",
        "reach\nthe root",
        "lost",
    ]);
    let share = |share: Option<f64>| share.map(percent).unwrap_or_default();
    for (step, one) in &all {
        table.push([
            (*step).to_owned(),
            one.target.name().to_owned(),
            one.unwinder.phrase().to_owned(),
            count(one.samples),
            share(one.counted_share()),
            share(one.rooted_share),
            count(one.lost),
        ]);
    }
    let reasons = all.iter().filter_map(|(step, one)| {
        let reason = one.refusal.as_ref()?;
        Some(Part::Text(format!("{step}: no profile of the {}: {reason}", one.target.name())))
    });
    let note = all.iter().find_map(|(_, one)| one.kernel_note.clone()).map(Part::Text);
    let below: Vec<Part> = [Part::Table(table)].into_iter().chain(reasons).chain(note).collect();
    Part::Text(cost(first)).above(below)
}

/// Returns what sampling takes of a CPU.
fn cost(one: &ProfileRecord) -> String {
    let share = one.sample_cost_ns.as_micros_f64() / 1e6 * f64::from(one.hz);
    format!(
        "CPU profiles: {} samples per second of CPU time (event {}); one sample costs {}, so \
         sampling takes {} of the CPU time",
        one.hz,
        one.event,
        one.sample_cost_ns,
        percent(share)
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use model::validity::SearchRecord;
    use model::{Nanos, OpKind, Step, StopRule};

    use super::*;
    use crate::document::Document;
    use crate::style::Style;

    #[test]
    fn a_refused_profile_has_its_reason() {
        let mut step = StepRecord::new(0, Step::new("readrandom", StopRule::Operations(9)));
        let text = |step: &StepRecord| {
            Document::from([profiles(std::slice::from_ref(step))]).text(Style::default())
        };
        assert_eq!(text(&step).trim(), "");
        step.clients = BTreeMap::from([(OpKind::Get, model::record::OpSummary::default())]);
        step.profiles = vec![ProfileRecord {
            event: "cpu-clock".to_owned(),
            hz: 160,
            sample_cost_ns: Nanos(31_000),
            samples: 800,
            expected: Some(1_000.0),
            rooted_share: Some(0.973),
            refusal: Some("perf took 80 % of the samples".to_owned()),
            ..ProfileRecord::default()
        }];
        let shown = text(&step);
        assert!(shown.contains("sampling takes 0.5 %"), "{shown}");
        let row = shown.lines().find(|line| line.contains("worker")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        let expected =
            ["readrandom", "worker", "frame", "pointers", "800", "80", "%", "97", "%", "0"];
        assert_eq!(cells, expected, "{shown}");
        assert!(shown.contains("no profile of the worker: perf took 80 %"), "{shown}");
        // A settle has no clients; a search has none where it confirmed nothing.
        step.clients.clear();
        assert_eq!(text(&step).trim(), "");
        let (limit, probes, found) = (None, Vec::new(), None);
        let (ended, is_path_dependent) = (String::new(), false);
        step.search = Some(SearchRecord { limit, probes, found, ended, is_path_dependent });
        step.profiles[0].refusal = Some("the search confirmed no load".to_owned());
        let shown = text(&step);
        assert!(shown.contains("worker: the search confirmed no load"), "{shown}");
    }
}
