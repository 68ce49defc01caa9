//! Histories as JSON, for programs.

use std::collections::BTreeSet;

use analysis::history::{ClassifiedChange, Event, Gathered, History, HostChange, Studied, Study};
use model::Better;
use serde::Serialize;
use stats::change::{Detectable, Drift, NoiseChange, Suspect};

use crate::figure::unit_name;

#[derive(Serialize)]
struct Document<'a> {
    metrics: Vec<Metric<'a>>,
    events: &'a [Event],
    regressions: usize,
    min_effect: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host_changes: Option<&'a [HostChange]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    experiments_on_other_hosts: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points_of_other_questions: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    setup_differences: Option<&'a BTreeSet<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    histories_too_short: Option<usize>,
    too_short: Vec<TooShort<'a>>,
    is_newest_unknown: bool,
}

#[derive(Serialize)]
struct TooShort<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    values: usize,
    points: usize,
}

#[derive(Serialize)]
struct Metric<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
    better: Option<&'static str>,
    is_order_checked: bool,
    points: usize,
    missing: usize,
    change_points: Vec<ChangePoint<'a>>,
    drift: Option<Ramp<'a>>,
    drifts: Vec<Ramp<'a>>,
    suspect: Option<Suspect>,
    spikes: &'a [usize],
    noise: f64,
    autocorrelation: f64,
    noise_changes: &'a [NoiseChange],
    is_short: bool,
    detectable: Option<Detectable>,
    regressions: usize,
    taken_back: usize,
}

#[derive(Serialize)]
struct ChangePoint<'a> {
    label: &'a str,
    #[serde(flatten)]
    classified: &'a ClassifiedChange,
}

#[derive(Serialize)]
struct Ramp<'a> {
    #[serde(flatten)]
    drift: &'a Drift,
    from_label: &'a str,
    to_label: &'a str,
}

/// Returns the study as one object.
pub(super) fn data<'a>(
    study: &'a Study,
    gathered: Option<&'a Gathered>,
) -> impl Serialize + use<'a> {
    let too_short = |one| {
        let one: &History = one;
        TooShort {
            name: &one.name,
            subject: one.subject.as_deref(),
            values: one.known(),
            points: one.values.len(),
        }
    };
    Document {
        metrics: study.histories.iter().map(metric).collect(),
        events: &study.events,
        regressions: study.regressions(),
        min_effect: study.min_effect,
        host: gathered.map(|gathered| gathered.host.as_str()),
        host_changes: gathered.map(|gathered| gathered.host_changes.as_slice()),
        experiments_on_other_hosts: gathered.map(|gathered| gathered.other_hosts),
        points_of_other_questions: gathered.map(|gathered| gathered.other_questions),
        setup_differences: gathered.map(|gathered| &gathered.differences),
        histories_too_short: gathered.map(|_| study.too_short.len()),
        too_short: study.too_short.iter().map(too_short).collect(),
        is_newest_unknown: study.is_newest_unknown(gathered),
    }
}

fn metric(one: &Studied) -> Metric<'_> {
    let (history, found) = (&one.history, &one.found);
    let label = |index: usize| history.labels[index].as_str();
    let ramp = |drift| {
        let drift: &Drift = drift;
        Ramp { drift, from_label: label(drift.from), to_label: label(drift.to) }
    };
    let change = |classified| {
        let classified: &ClassifiedChange = classified;
        ChangePoint { label: label(classified.change.index), classified }
    };
    Metric {
        name: &history.name,
        subject: history.subject.as_deref(),
        unit: history.unit.map(unit_name),
        better: history.better.map(|better| match better {
            Better::Higher => "higher",
            Better::Lower => "lower",
            Better::Neither => "neither",
        }),
        is_order_checked: history.is_order_checked,
        points: history.values.len(),
        missing: history.values.len() - found.values,
        change_points: one.changes.iter().map(change).collect(),
        drift: one.drift().map(ramp),
        drifts: found.drifts.iter().map(ramp).collect(),
        suspect: found.suspect,
        spikes: &found.spikes,
        noise: found.noise,
        autocorrelation: found.autocorrelation,
        noise_changes: &found.noise_changes,
        is_short: found.is_short,
        detectable: found.detectable,
        regressions: one.regressions,
        taken_back: one.taken_back,
    }
}
