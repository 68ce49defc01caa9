//! Histories for programs: JSON and CSV.

use analysis::history::{ClassifiedChange, Gathered, History, Studied, Study};
use model::Better;
use serde_json::{Value, json};
use stats::change::Drift;

use super::sentence::{drift_trend, trend};
use crate::document::{Rows, merged};
use crate::figure::unit_name;

const CSV: &str = "metric,subject,what,index,label,before,after,effect,low,high,p,q,points,trend,\
                   is_relevant";

/// Returns a line per change or drift.
pub(super) fn rows(study: &Study) -> Rows {
    Rows::of(CSV.split(','), study.histories.iter().flat_map(lines))
}

fn lines(one: &Studied) -> Vec<Value> {
    let history = &one.history;
    let line = |at: usize, own: Value| {
        let place = json!({
            "metric": history.name,
            "subject": history.subject,
            "index": at,
            "label": history.labels[at],
        });
        merged([place, own])
    };
    let changes = one.changes.iter().map(|classified| {
        let change = &classified.change;
        let own = json!({
            "what": "change",
            "before": change.before,
            "after": change.after,
            "effect": change.effect,
            "low": change.low,
            "high": change.high,
            "p": format!("{:e}", change.p),
            "q": format!("{:e}", classified.q),
            "points": change.points,
            "trend": trend(classified.trend),
            "is_relevant": classified.is_relevant,
        });
        line(change.index, own)
    });
    let drifts = one.found.drifts.iter().map(|drift| {
        let own = json!({
            "what": "drift",
            "before": drift.before,
            "after": drift.after,
            "effect": drift.effect,
            "points": drift.to - drift.from,
            "trend": drift_trend(drift, history),
        });
        line(drift.from, own)
    });
    changes.chain(drifts).collect()
}

/// Returns the study as one object.
pub(super) fn data(study: &Study, gathered: Option<&Gathered>) -> Value {
    let too_short = |one: &History| {
        merged([subject(one), json!({ "values": one.known(), "points": one.values.len() })])
    };
    let found = json!({
        "metrics": study.histories.iter().map(metric).collect::<Vec<_>>(),
        "events": study.events,
        "regressions": study.regressions(),
        "min_effect": study.min_effect,
    });
    let left_out = gathered.map(|gathered| {
        json!({
            "host": gathered.host,
            "host_changes": gathered.host_changes,
            "experiments_on_other_hosts": gathered.other_hosts,
            "points_of_other_questions": gathered.other_questions,
            "setup_differences": gathered.differences,
            "histories_too_short": study.too_short.len(),
        })
    });
    let unknown = json!({
        "too_short": study.too_short.iter().map(too_short).collect::<Vec<_>>(),
        "is_newest_unknown": study.is_newest_unknown(gathered),
    });
    merged([found].into_iter().chain(left_out).chain([unknown]))
}

/// Returns the name of a history and, where it has one, its subject.
fn subject(history: &History) -> Value {
    let mut known = json!({ "name": history.name });
    if let Some(subject) = &history.subject {
        known["subject"] = json!(subject);
    }
    known
}

fn metric(one: &Studied) -> Value {
    let (history, found) = (&one.history, &one.found);
    let ramp = |drift: &Drift| {
        let [from, to] = [drift.from, drift.to].map(|at| &history.labels[at]);
        merged([json!(drift), json!({ "from_label": from, "to_label": to })])
    };
    let change = |one: &ClassifiedChange| {
        merged([json!({ "label": history.labels[one.change.index] }), json!(one)])
    };
    let mut known = subject(history);
    if let Some(unit) = history.unit {
        known["unit"] = json!(unit_name(unit));
    }
    let results = json!({
        "better": history.better.map(|better| match better {
            Better::Higher => "higher",
            Better::Lower => "lower",
            Better::Neither => "neither",
        }),
        "is_order_checked": history.is_order_checked,
        "points": history.values.len(),
        "missing": history.values.len() - found.values,
        "change_points": one.changes.iter().map(change).collect::<Vec<_>>(),
        "drift": one.drift().map(ramp),
        "drifts": found.drifts.iter().map(ramp).collect::<Vec<_>>(),
        "suspect": found.suspect,
        "spikes": found.spikes,
        "noise": found.noise,
        "autocorrelation": found.autocorrelation,
        "noise_changes": found.noise_changes,
        "is_short": found.is_short,
        "detectable": found.detectable,
        "regressions": one.regressions,
        "taken_back": one.taken_back,
    });
    merged([known, results])
}
