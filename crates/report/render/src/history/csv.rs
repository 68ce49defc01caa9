//! Changes as comma-separated values: one line per change or drift.

use analysis::history::Studied;

use super::input::HistoryInput;
use super::sentence::trend;
use crate::comparison::field;

const HEADER: &str = "metric,subject,what,index,label,before,after,effect,low,high,p,q,points,trend,\
                      is_relevant";

/// Returns every change and drift; what is not known is an empty field.
pub(super) fn render(input: &HistoryInput<'_>) -> String {
    let lines = input.study.histories.iter().flat_map(history);
    std::iter::once(HEADER.to_owned()).chain(lines).collect::<Vec<_>>().join("\n") + "\n"
}

fn history(one: &Studied) -> Vec<String> {
    let history = &one.history;
    let known = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let name = field(&history.name);
    let subject = field(history.subject.as_deref().unwrap_or_default());
    let changes = one.changes.iter().map(|classified| {
        let change = &classified.change;
        let label = field(&history.labels[change.index]);
        let (effect, low, high) = (known(change.effect), known(change.low), known(change.high));
        format!(
            "{name},{subject},change,{},{label},{},{},{effect},{low},{high},{:e},{:e},{},{},{}",
            change.index,
            change.before,
            change.after,
            change.p,
            classified.q,
            change.points,
            trend(classified.trend),
            classified.is_relevant
        )
    });
    let drifts = one.found.drifts.iter().map(|drift| {
        let label = field(&history.labels[drift.from]);
        let effect = known(drift.effect);
        let is_good = drift.effect.map(|effect| trend(history.trend(effect))).unwrap_or_default();
        let points = drift.to - drift.from;
        format!(
            "{name},{subject},drift,{},{label},{},{},{effect},,,,,{points},{is_good},",
            drift.from, drift.before, drift.after
        )
    });
    changes.chain(drifts).collect()
}
