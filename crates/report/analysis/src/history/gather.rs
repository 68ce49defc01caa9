//! Histories from the archive: one metric of one step, experiment after experiment.

use std::collections::BTreeMap;

use model::{BuildRef, Experiment, Manifest, RunRecord, Variant, metric};
use serde::Serialize;
use stats::mean_of_runs;

use super::problem::HistoryError;
use super::series::History;
use super::study::MIN_VALUES;
use crate::metrics::{step_metrics, with_memory, with_writers};

/// One experiment of the archive with its runs.
#[derive(Debug)]
pub struct Past {
    /// What belongs to it as a whole.
    pub manifest: Manifest,
    /// Its runs.
    pub runs: Vec<RunRecord>,
}

/// Selection from the archive; absent fields do not restrict it.
#[derive(Debug, Clone, Default)]
pub struct HistoryQuery {
    /// Metrics, names of ours.
    pub metrics: Vec<String>,
    /// Engine, or one build of it.
    pub engine: Option<BuildRef>,
    /// Variant.
    pub variant: Option<String>,
    /// Step.
    pub step: Option<String>,
    /// Experiment.
    pub experiment: Option<String>,
    /// Part of the host's fingerprint; the newest experiment's when absent.
    pub host: Option<String>,
}

/// The histories, with counts of what was excluded.
#[derive(Debug, Clone, PartialEq)]
pub struct Gathered {
    /// The histories.
    pub histories: Vec<History>,
    /// Fingerprint of the host they are of.
    pub host: String,
    /// Experiments left out because they ran on another host.
    pub other_hosts: usize,
    /// Points left out because their setup is not the newest one's.
    ///
    /// The setup: rows, steps, memory and options.
    pub other_questions: usize,
    /// Histories left out because they have too few points.
    pub too_short: usize,
    /// Settings of the host that changed between two experiments, oldest first.
    pub host_changes: Vec<HostChange>,
}

/// A setting of the host that changed from one experiment to a later one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostChange {
    /// Name of the setting, as of a check of the doctor.
    pub setting: String,
    /// When the last experiment with the value before was begun.
    pub from: String,
    /// When the first with the value after was begun.
    pub to: String,
    /// Value before.
    pub before: String,
    /// Value after.
    pub after: String,
}

/// Identity of a history: experiment, variant, level and step.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    experiment: String,
    subject: String,
    clients: u32,
    index: u32,
    step: String,
}

/// One point: an experiment's runs of a variant.
struct Point {
    label: String,
    /// The variant's setup, in full.
    setup: String,
    /// Values of its runs.
    values: Vec<f64>,
}

/// Collects histories from experiments, which are given oldest first.
///
/// A point is one variant in one experiment: the geometric mean of its runs. Where experiments hold
/// several builds of an engine, each build has its own history; the builds of a single experiment
/// make one history, in the order of its file. Invalid runs do not count.
///
/// # Errors
/// When a metric is unknown, or no run matches the query.
pub fn gather(past: &[Past], query: &HistoryQuery) -> Result<Gathered, HistoryError> {
    for name in &query.metrics {
        if metric::find(name).is_none() {
            let known = metric::METRICS.iter().map(|metric| metric.name.to_owned()).collect();
            return Err(HistoryError::UnknownMetric { name: name.clone(), known });
        }
    }
    let wanted: Vec<&Past> = past.iter().filter(|one| query.has(&one.manifest)).collect();
    let host = query.host_of(&wanted).ok_or_else(|| query.nothing(past))?;
    let (here, elsewhere): (Vec<&Past>, Vec<&Past>) =
        wanted.into_iter().partition(|one| one.manifest.host.fingerprint == host);
    let host_changes = host_changes(&here);
    let are_builds_apart = here.len() > 1 && here.iter().any(|one| query.builds(one) > 1);
    let mut points: BTreeMap<(Key, String), Vec<Point>> = BTreeMap::new();
    for one in &here {
        query.add(one, are_builds_apart, &mut points);
    }
    let mut other_questions = 0;
    let mut histories = Vec::new();
    for ((key, name), mut points) in points {
        let newest = points.last().map(|point| point.setup.clone());
        let all = points.len();
        points.retain(|point| Some(&point.setup) == newest.as_ref());
        other_questions += all - points.len();
        histories.push(key.history(name, points));
    }
    if histories.is_empty() {
        return Err(query.nothing(past));
    }
    let order = |one: &History| query.metrics.iter().position(|name| *name == one.name);
    histories.sort_by_key(order);
    // Where all are short, they stay: the first one is reported.
    let all = histories.len();
    if histories.iter().any(|one| one.known() >= MIN_VALUES) {
        histories.retain(|one| one.known() >= MIN_VALUES);
    }
    let (other_hosts, too_short) = (elsewhere.len(), all - histories.len());
    Ok(Gathered { histories, host, other_hosts, other_questions, too_short, host_changes })
}

/// Returns the settings that changed; a value that is unknown in between ends no comparison.
fn host_changes(past: &[&Past]) -> Vec<HostChange> {
    let mut last: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    let mut changes = Vec::new();
    for Past { manifest, .. } in past {
        for (setting, after) in manifest.host.settings() {
            let known = last.insert(setting, (after, &manifest.created_at));
            let Some((before, from)) = known.filter(|(before, _)| *before != after) else {
                continue;
            };
            changes.push(HostChange {
                setting: setting.to_owned(),
                from: from.to_owned(),
                to: manifest.created_at.clone(),
                before: before.to_owned(),
                after: after.to_owned(),
            });
        }
    }
    changes
}

impl HistoryQuery {
    /// Returns whether an experiment has a matching variant: of others no runs are needed.
    pub fn has(&self, manifest: &Manifest) -> bool {
        let experiment = &manifest.plan.experiment;
        self.experiment.as_ref().is_none_or(|name| *name == experiment.name)
            && experiment.variants.iter().any(|variant| self.wants(variant))
    }

    fn wants(&self, variant: &Variant) -> bool {
        let is_build = |query: &BuildRef| {
            query.engine == variant.build.engine
                && (query.version.is_none() || query.version == variant.build.version)
        };
        self.engine.as_ref().is_none_or(is_build)
            && self.variant.as_ref().is_none_or(|name| *name == variant.name)
            && !variant.is_control
    }

    /// Returns the newest host that matches the query.
    fn host_of(&self, wanted: &[&Past]) -> Option<String> {
        let hosts = wanted.iter().rev().map(|one| &one.manifest.host.fingerprint);
        let fits = |print: &&String| self.host.as_ref().is_none_or(|word| print.contains(word));
        hosts.into_iter().find(fits).cloned()
    }

    /// Returns the most variants of an experiment that differ in their build alone.
    fn builds(&self, one: &Past) -> usize {
        let variants = || one.manifest.plan.experiment.variants.iter().filter(|it| self.wants(it));
        let alike = |one: &Variant| variants().filter(|other| what(one) == what(other)).count();
        variants().map(alike).max().unwrap_or(0)
    }

    /// Adds the points of one experiment.
    fn add(
        &self,
        one: &Past,
        are_builds_apart: bool,
        points: &mut BTreeMap<(Key, String), Vec<Point>>,
    ) {
        let experiment = &one.manifest.plan.experiment;
        for variant in experiment.variants.iter().filter(|variant| self.wants(variant)) {
            let is_alone = are_builds_apart || self.variant.is_some();
            let subject = if is_alone { variant.build.to_string() } else { what(variant) };
            let mut label = one.manifest.created_at.clone();
            if !is_alone && self.builds(one) > 1 {
                label = variant.build.to_string();
            }
            let own =
                one.runs.iter().filter(|run| run.cell.variant == variant.name && run.is_counted());
            let mut values: BTreeMap<(Key, String), Vec<f64>> = BTreeMap::new();
            for (run, step) in own.flat_map(|run| run.steps.iter().map(move |step| (run, step))) {
                if self.step.as_ref().is_some_and(|name| *name != step.step.name) {
                    continue;
                }
                let key = Key {
                    experiment: experiment.name.clone(),
                    subject: subject.clone(),
                    clients: run.cell.clients,
                    index: step.index,
                    step: step.step.name.clone(),
                };
                let known = step_metrics(step, &experiment.data);
                let known = with_memory(known, &variant.settings);
                let known = with_writers(known, step, experiment.application.as_ref());
                for name in &self.metrics {
                    let known = known.get(name).or_else(|| step.counters.get(name));
                    if let Some(value) = known.or_else(|| step.gauges_max.get(name)) {
                        values.entry((key.clone(), name.clone())).or_default().push(*value);
                    }
                }
            }
            for (key, values) in values {
                let setup = setup(experiment, variant, key.0.index);
                points.entry(key).or_default().push(Point { label: label.clone(), setup, values });
            }
        }
    }

    /// Returns the error for an empty result.
    fn nothing(&self, past: &[Past]) -> HistoryError {
        let quoted = |what: &str, name: &Option<String>| {
            name.as_ref().map(|name| format!("{what} `{name}`"))
        };
        let engine = self.engine.as_ref().map(|build| format!("engine `{build}`"));
        let filters = [
            (!self.metrics.is_empty()).then(|| format!("`{}`", self.metrics.join("`, `"))),
            engine,
            quoted("variant", &self.variant),
            quoted("step", &self.step),
            quoted("experiment", &self.experiment),
            quoted("host", &self.host),
        ];
        let what: Vec<String> = filters.into_iter().flatten().collect();
        let mut known: Vec<String> = Vec::new();
        for one in past {
            let experiment = &one.manifest.plan.experiment;
            for variant in &experiment.variants {
                let steps: Vec<&str> =
                    experiment.steps.iter().map(|step| step.name.as_str()).collect();
                let builds =
                    format!("{} ({}: {})", variant.build, experiment.name, steps.join(", "));
                if !known.contains(&builds) {
                    known.push(builds);
                }
            }
        }
        HistoryError::Nothing { what: what.join(" of "), known }
    }
}

/// Returns a variant's engine and profile, without version.
fn what(variant: &Variant) -> String {
    let engine = &variant.build.engine;
    variant.profile.as_ref().map_or_else(|| engine.clone(), |name| format!("{engine} ({name})"))
}

/// Returns the setup that two comparable points share.
fn setup(experiment: &Experiment, variant: &Variant, index: u32) -> String {
    let upto = usize::try_from(index).map_or(usize::MAX, |index| index + 1);
    let steps: Vec<_> = experiment.steps.iter().take(upto).collect();
    let (data, memory) = (&experiment.data, &experiment.memory_bytes);
    format!("{data:?} {memory:?} {steps:?} {:?} {:?}", variant.options, variant.settings)
}

impl Key {
    fn history(&self, name: String, points: Vec<Point>) -> History {
        let metric = metric::find(&name);
        let clients = model::units::clients(self.clients);
        let subject = format!("{} of {}, {clients} ({})", self.step, self.subject, self.experiment);
        History {
            unit: metric.map(|metric| metric.unit),
            better: metric.map(|metric| metric.better),
            name,
            subject: Some(subject),
            values: points.iter().map(|point| mean_of_runs(&point.values)).collect(),
            labels: points.into_iter().map(|point| point.label).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::record::SCHEMA;
    use model::{Bytes, Cell, Host, Nanos, Plan};

    use super::*;
    use crate::testing;

    /// An experiment of a day in which each variant did some operations a second, once each.
    fn past(day: u32, variants: &[(&str, &str, u64)]) -> Past {
        let names: Vec<&str> = variants.iter().map(|one| one.0).collect();
        let mut experiment = testing::experiment(&names, 1);
        for (variant, (_, build, _)) in experiment.variants.iter_mut().zip(variants) {
            variant.build = build.parse().unwrap();
        }
        let runs = variants.iter().map(|(name, _, ops)| testing::run(name, 1, 2 * ops)).collect();
        let cells: Vec<Cell> = Vec::new();
        let plan = Plan {
            experiment,
            cells,
            pilot_repetitions: None,
            estimated_ns: Nanos(0),
            estimated_disk_bytes: Bytes(0),
            findings: Vec::new(),
        };
        let manifest = Manifest {
            schema: SCHEMA,
            id: format!("{day}"),
            created_at: format!("2026-11-{day:02}T00:00:00Z"),
            assay_version: String::new(),
            command_line: Vec::new(),
            plan,
            host: Host { fingerprint: "here".to_owned(), ..Host::default() },
            builds: BTreeMap::new(),
        };
        Past { manifest, runs }
    }

    fn query(engine: &str) -> HistoryQuery {
        let metrics = vec![metric::THROUGHPUT_OPS_PER_S.name.to_owned()];
        HistoryQuery { metrics, engine: Some(engine.parse().unwrap()), ..HistoryQuery::default() }
    }

    fn values(one: &History) -> Vec<f64> {
        one.values.iter().flatten().map(|value| value.round()).collect()
    }

    #[test]
    fn successive_builds_are_one_history() {
        let all: Vec<Past> = (1..=5)
            .map(|day| past(day, &[("own", &format!("x@{day}"), 100 * u64::from(day))]))
            .collect();
        let found = gather(&all, &query("x")).unwrap();
        assert_eq!(found.histories.len(), 1, "{found:?}");
        assert_eq!(values(&found.histories[0]), [100.0, 200.0, 300.0, 400.0, 500.0]);
        assert_eq!(found.histories[0].labels[0], "2026-11-01T00:00:00Z");
        assert_eq!(gather(&all, &query("x@3")).unwrap().histories[0].known(), 1);
    }

    #[test]
    fn compared_builds_have_a_history_each() {
        let all: Vec<Past> =
            (1..=4).map(|day| past(day, &[("old", "x@1", 100), ("new", "x@2", 150)])).collect();
        let found = gather(&all, &query("x")).unwrap();
        let builds: Vec<_> = found.histories.iter().map(values).collect();
        assert_eq!(builds, [vec![100.0; 4], vec![150.0; 4]]);
    }

    #[test]
    fn the_builds_of_a_single_experiment_are_a_history_in_its_order() {
        let all =
            [past(1, &[("a", "x@9", 1), ("b", "x@10", 2), ("c", "x@11", 3), ("d", "x@12", 4)])];
        let found = gather(&all, &query("x")).unwrap();
        assert_eq!(values(&found.histories[0]), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(found.histories[0].labels, ["x@9", "x@10", "x@11", "x@12"]);
    }

    #[test]
    fn other_hosts_and_setups_are_excluded_and_counted() {
        let mut all: Vec<Past> = (1..=6).map(|day| past(day, &[("own", "x", 100)])).collect();
        all[0].manifest.host.fingerprint = "elsewhere".to_owned();
        all[1].manifest.plan.experiment.data.rows = 7;
        let found = gather(&all, &query("x")).unwrap();
        assert_eq!((found.host.as_str(), found.other_hosts, found.other_questions), ("here", 1, 1));
        assert_eq!(found.histories[0].known(), 4);
        let elsewhere = HistoryQuery { host: Some("else".to_owned()), ..query("x") };
        assert_eq!(gather(&all, &elsewhere).unwrap().other_hosts, 5);
    }

    #[test]
    fn settings_of_the_host_that_changed_are_named_with_their_points() {
        let mut all: Vec<Past> = (1..=5).map(|day| past(day, &[("own", "x", 100)])).collect();
        let governors = [Some("performance"), Some("performance"), None, Some("powersave"), None];
        for (one, governor) in all.iter_mut().zip(governors) {
            one.manifest.host.governor = governor.map(str::to_owned);
        }
        let change = HostChange {
            setting: "governor".to_owned(),
            from: "2026-11-02T00:00:00Z".to_owned(),
            to: "2026-11-04T00:00:00Z".to_owned(),
            before: "performance".to_owned(),
            after: "powersave".to_owned(),
        };
        assert_eq!(gather(&all, &query("x")).unwrap().host_changes, [change]);
    }

    #[test]
    fn what_is_not_there_is_named_with_what_is() {
        let all = [past(1, &[("own", "x@1", 100)])];
        let error = |query: &HistoryQuery| gather(&all, query).unwrap_err();
        assert!(matches!(error(&query("y")), HistoryError::Nothing { known, .. }
            if known == ["x@1 (sample: readrandom)"]));
        let unknown = HistoryQuery { metrics: vec!["speed".to_owned()], ..query("x") };
        assert!(matches!(error(&unknown), HistoryError::UnknownMetric { .. }));
    }
}
