//! Histories as JSON, for programs.

use analysis::history::{ClassifiedChange, Event, Gathered, HostChange, Studied, Study};
use model::Better;
use serde::Serialize;
use stats::change::{Detectable, Drift, NoiseChange, Suspect};

use crate::document::json;
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
    histories_too_short: Option<usize>,
}

#[derive(Serialize)]
struct Metric<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
    better: Option<&'static str>,
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

/// Returns the study as one JSON object.
pub(super) fn render(study: &Study, gathered: Option<&Gathered>) -> String {
    let document = Document {
        metrics: study.histories.iter().map(metric).collect(),
        events: &study.events,
        regressions: study.regressions(),
        min_effect: study.min_effect,
        host: gathered.map(|gathered| gathered.host.as_str()),
        host_changes: gathered.map(|gathered| gathered.host_changes.as_slice()),
        experiments_on_other_hosts: gathered.map(|gathered| gathered.other_hosts),
        points_of_other_questions: gathered.map(|gathered| gathered.other_questions),
        histories_too_short: gathered.map(|gathered| gathered.too_short),
    };
    json(&document)
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
