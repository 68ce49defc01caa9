//! Changes as comma-separated values: one line per change or drift.

use analysis::history::{Studied, Study};

use super::sentence::{drift_trend, trend};
use crate::document::{Rows, number};

const HEADER: &str = "metric,subject,what,index,label,before,after,effect,low,high,p,q,points,trend,\
                      is_relevant";

/// Returns every change and drift.
pub(super) fn rows(study: &Study) -> Rows {
    Rows::new(HEADER.split(','), study.histories.iter().flat_map(history))
}

fn history(one: &Studied) -> impl Iterator<Item = Vec<String>> {
    let history = &one.history;
    let line = |what: &str, at: usize, levels: [f64; 2], rest: [String; 8]| {
        let subject = history.subject.clone().unwrap_or_default();
        let place = [history.name.clone(), subject, what.to_owned(), at.to_string()];
        let levels = levels.map(|level| level.to_string());
        let label = history.labels[at].clone();
        place.into_iter().chain([label]).chain(levels).chain(rest).collect()
    };
    let changes = one.changes.iter().map(move |classified| {
        let change = &classified.change;
        let [effect, low, high] = [change.effect, change.low, change.high].map(number);
        let [p, q] = [change.p, classified.q].map(|chance| format!("{chance:e}"));
        let (trend, is_relevant) = (trend(classified.trend), classified.is_relevant);
        let points = change.points.to_string();
        let rest = [effect, low, high, p, q, points, trend.to_owned(), is_relevant.to_string()];
        line("change", change.index, [change.before, change.after], rest)
    });
    let drifts = one.found.drifts.iter().map(move |drift| {
        let mut rest = [const { String::new() }; 8];
        rest[0] = number(drift.effect);
        rest[5] = (drift.to - drift.from).to_string();
        rest[6] = drift_trend(drift, history).to_owned();
        line("drift", drift.from, [drift.before, drift.after], rest)
    });
    changes.chain(drifts)
}
