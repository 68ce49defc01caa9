//! Changes, drifts and remarks of a history as sentences.

use analysis::history::{ClassifiedChange, History, MIN_VALUES, Studied, Study, Trend};
use model::{Unit, times};
use stats::change::{Confidence, Drift};

use crate::figure::{digits, figure};
use model::units::many;

/// Returns the value in its unit; a column from elsewhere has none.
pub(super) fn value(history: &History, value: f64) -> String {
    figure(history.unit.unwrap_or(Unit::Count), value)
}

/// Returns a growth in per cent with its sign: `+3.10 %`.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "from 0".to_owned(), |share| format!("{} %", signed(share)))
}

fn signed(share: f64) -> String {
    let text = digits(100.0 * share);
    if share > 0.0 && !text.starts_with('<') { format!("+{text}") } else { text }
}

/// Returns the sign of a change: its direction, not whether that is good.
pub(crate) const fn arrow(is_growth: bool) -> &'static str {
    if is_growth { "\u{25b2}" } else { "\u{25bc}" }
}

/// Returns whether a change is good, in a word.
pub(super) const fn trend(trend: Trend) -> &'static str {
    match trend {
        Trend::Better => "better",
        Trend::Worse => "worse",
        Trend::Neither => "neither",
    }
}

/// Returns whether a drift is good, in a word; nothing where it began at 0.
pub(super) fn drift_trend(drift: &Drift, history: &History) -> &'static str {
    drift.effect.map_or("", |effect| trend(history.trend(effect)))
}

/// Returns the answer in one line: how many regressions count.
pub(crate) fn answer(study: &Study) -> String {
    let metrics = histories(study.histories.len());
    let changes: usize = study.histories.iter().map(|one| one.changes.len()).sum();
    let drifts: usize = study.histories.iter().map(|one| one.found.drifts.len()).sum();
    let margin = digits(100.0 * study.min_effect);
    let margin = margin.strip_suffix(".00").unwrap_or(&margin);
    let found = match (changes, drifts) {
        _ if study.histories.is_empty() => {
            return format!(
                "Too few values: a change needs {MIN_VALUES} values, two before it and two after \
                 it."
            );
        }
        (0, 0) if study.has_decided_nothing() => {
            return format!("No decision on {metrics}: even a lasting doubling may be missed.");
        }
        (0, 0) => return format!("No change in {metrics}."),
        (changes, 0) => many(changes, "change"),
        (0, drifts) => many(drifts, "drift"),
        (changes, drifts) => format!("{} and {}", many(changes, "change"), many(drifts, "drift")),
    };
    let regressions = match study.regressions() {
        0 => format!("no regression of {margin} % or more"),
        some => format!("{} of {margin} % or more", many(some, "regression")),
    };
    let unknown: Vec<&str> = study
        .histories
        .iter()
        .filter(|one| one.history.better.is_none())
        .map(|one| one.history.name.as_str())
        .collect();
    let unknown = match unknown[..] {
        [] => String::new(),
        ref names => format!(
            " Not classified, direction unknown: {} (set --higher-is-better or \
             --lower-is-better).",
            names.join(", ")
        ),
    };
    format!("{found} in {metrics}: {regressions}.{unknown}")
}

/// Returns a number of histories.
pub(super) fn histories(count: usize) -> String {
    if count == 1 { "1 history".to_owned() } else { format!("{count} histories") }
}

/// Returns a history with too few values, by its name: `p99_ms (3 values)`.
pub(super) fn too_short(history: &History) -> String {
    let whose = history.subject.as_ref().map(|of| format!("{of}: ")).unwrap_or_default();
    format!("{} ({whose}{})", history.name, many(history.known(), "value"))
}

/// Returns one change with its levels, size and confidence.
pub(crate) fn change(one: &ClassifiedChange, history: &History) -> String {
    let change = &one.change;
    let effect = change.effect;
    let interval = match (change.low, change.high) {
        (Some(low), Some(high)) => format!(" [{}, {}]", signed(low), signed(high)),
        _ => String::new(),
    };
    let mut notes = vec![match one.trend {
        Trend::Neither => "neither better nor worse".to_owned(),
        Trend::Better | Trend::Worse => trend(one.trend).to_owned(),
    }];
    if !one.is_relevant {
        notes.push("small".to_owned());
    }
    if one.is_made_good {
        notes.push("recovered since".to_owned());
    }
    let evidence = many(change.points, "point");
    notes.push(match change.confidence {
        Confidence::Confirmed => format!("confirmed by {evidence}"),
        Confidence::New => format!("new: {evidence} so far"),
    });
    if change.earliest < change.latest {
        let (from, to) = (&history.labels[change.earliest], &history.labels[change.latest]);
        notes.push(format!("between {from} and {to}"));
    }
    format!(
        "{} {}  {} -> {}  {}{interval}  {}",
        arrow(change.after > change.before),
        history.labels[change.index],
        value(history, change.before),
        value(history, change.after),
        percent(effect),
        notes.join(", ")
    )
}

/// Returns one drift: a slow ramp.
pub(crate) fn drift(drift: &Drift, history: &History) -> String {
    let is_good = drift.effect.map_or(Trend::Neither, |effect| history.trend(effect));
    let good = match is_good {
        Trend::Better | Trend::Worse => format!(", {}", trend(is_good)),
        Trend::Neither => String::new(),
    };
    format!(
        "{} drift from {} to {}: {} -> {}  {}, {} a point{good}",
        arrow(drift.after > drift.before),
        history.labels[drift.from],
        history.labels[drift.to],
        value(history, drift.before),
        value(history, drift.after),
        percent(drift.effect),
        percent(drift.slope_per_point),
    )
}

/// Returns the remarks: detectable change, withdrawn changes, suspects, spikes, noise.
pub(crate) fn remarks(one: &Studied) -> Vec<String> {
    let (history, found) = (&one.history, &one.found);
    let mut remarks = Vec::new();
    if one.changes.is_empty() && found.drifts.is_empty() {
        remarks.push(no_change(one));
    }
    if one.taken_back > 0 {
        let taken = many(one.taken_back, "change");
        remarks.push(format!("{taken} withdrawn: not significant among all histories tested"));
    }
    if let Some(suspect) = found.suspect {
        remarks.push(format!(
            "suspect: the last point, {}, is at {} ({} of the level before): the next points will \
             show whether it is a change or a spike; compare it with the previous build",
            history.labels[suspect.index],
            value(history, suspect.value),
            percent(suspect.effect),
        ));
    }
    if !found.spikes.is_empty() {
        let named: Vec<&str> =
            found.spikes.iter().take(5).map(|at| history.labels[*at].as_str()).collect();
        let more = if found.spikes.len() > 5 { ", ..." } else { "" };
        let spikes = many(found.spikes.len(), "spike");
        remarks.push(format!("{spikes}, no change: {}{more}", named.join(", ")));
    }
    for change in &found.noise_changes {
        let label = &history.labels[change.index];
        remarks.push(format!("noise: {}x since {label}", digits(change.ratio)));
    }
    let missing = history.values.len() - found.values;
    if missing > 0 {
        let all = history.values.len();
        remarks.push(format!(
            "{missing} of {all} values are missing; they are left out and not \
                              filled in"
        ));
    }
    if found.is_short {
        remarks.push(format!(
            "short history ({}): autocorrelation is unknown below 25 points and may pass for a \
             change",
            many(found.values, "value")
        ));
    }
    remarks
}

fn no_change(one: &Studied) -> String {
    let Some(detectable) = one.found.detectable else {
        return "no change found; with so few values only very large changes are \
                detectable"
            .to_owned();
    };
    // One notation in one sentence: both are factors where one is.
    let is_large = detectable.halfway.max(detectable.recent) >= 1.0;
    let step = |share: f64| match is_large {
        true => times(1.0 + share),
        false => format!("{} %", digits(100.0 * share)),
    };
    format!(
        "no change found; detectable (80 % power): a lasting step of {} half-way, of {} at the \
         last points",
        step(detectable.halfway),
        step(detectable.recent)
    )
}
