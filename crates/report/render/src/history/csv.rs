//! Changes as comma-separated values: one line per change or drift.

use analysis::history::{Studied, Study};
use serde_json::{Value, json};

use super::sentence::{drift_trend, trend};
use crate::document::{Rows, merged};

const CSV: &str = "metric,subject,what,index,label,before,after,effect,low,high,p,q,points,trend,\
                   is_relevant";

/// Returns every change and drift.
pub(super) fn rows(study: &Study) -> Rows {
    Rows::of(CSV.split(','), study.histories.iter().flat_map(history))
}

fn history(one: &Studied) -> Vec<Value> {
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
