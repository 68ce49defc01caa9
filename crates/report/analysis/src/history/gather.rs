//! Histories from the archive: one metric of one step, experiment after experiment.

use std::collections::{BTreeMap, BTreeSet};

use model::{BuildRef, Host, Manifest, StepClients, Variant, metric};
use serde::Serialize;

use super::means::StepMeans;
use super::order::check_order;
use super::problem::HistoryError;
use super::rank::version;
use super::series::{History, Origin};
use super::setup::{Setup, is_same_but_build};

/// One experiment of the archive with the means of its runs.
#[derive(Debug)]
pub struct Past {
    /// What belongs to it as a whole.
    pub manifest: Manifest,
    /// Means of its runs, as [`step_means`](super::step_means) returns them.
    pub means: Vec<StepMeans>,
}

impl Past {
    /// Returns the host of its runs: the first machine of a fleet, else the manifest's.
    pub fn host(&self) -> &Host {
        let of_machine = self.means.first().and_then(|first| first.host.as_deref());
        of_machine.unwrap_or(&self.manifest.host)
    }
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
    pub other_questions: usize,
    /// Parts of the setup by which they differ, by name.
    pub differences: BTreeSet<String>,
    /// Whether the newest experiment of every name has no valid value.
    pub lacks_newest: bool,
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
    level: u32,
    index: u32,
    step: String,
    /// Clients of the step.
    clients: u32,
}

/// One point: an experiment's runs of a variant.
struct Point {
    label: String,
    origin: Origin,
    setup: Setup,
    /// Mean of its runs.
    value: f64,
}

/// Collects histories from experiments, which are given oldest first.
///
/// A point is one variant in one experiment: the geometric mean of its runs. Where experiments of a
/// name hold several builds of an engine, each build has its own history; the builds of a single
/// experiment make one history, in the order of their versions. Invalid runs do not count.
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
        wanted.into_iter().partition(|one| one.host().is_same_machine(host));
    let host_changes = host_changes(&here);
    let mut by_name: BTreeMap<&str, Vec<&Past>> = BTreeMap::new();
    for &one in &here {
        by_name.entry(&one.manifest.plan.experiment.name).or_default().push(one);
    }
    let mut points: BTreeMap<(Key, String), Vec<Point>> = BTreeMap::new();
    let mut lacks_newest = true;
    for past in by_name.into_values() {
        let are_builds_apart = past.len() > 1 && past.iter().any(|one| query.builds(one) > 1);
        let add = |one: &&Past| query.add(one, are_builds_apart, &mut points);
        let added: Vec<usize> = past.iter().map(add).collect();
        let has_values = added.iter().any(|count| *count > 0);
        lacks_newest &= !has_values || added.last() == Some(&0);
    }
    let (mut other_questions, mut differences) = (0, BTreeSet::new());
    let mut histories = Vec::new();
    for ((key, name), mut points) in points {
        let newest = points.last().map(|point| point.setup.clone());
        points.retain(|point| {
            let found = newest.as_ref().map_or_else(Vec::new, |it| it.differences(&point.setup));
            let is_alike = found.is_empty();
            other_questions += usize::from(!is_alike);
            differences.extend(found);
            is_alike
        });
        histories.push(key.history(name, points));
    }
    if histories.is_empty() {
        return Err(query.nothing(past));
    }
    let order = |one: &History| query.metrics.iter().position(|name| *name == one.name);
    histories.sort_by_key(order);
    Ok(Gathered {
        histories,
        host: host.fingerprint.clone(),
        other_hosts: elsewhere.len(),
        other_questions,
        differences,
        lacks_newest,
        host_changes,
    })
}

/// Returns the settings that changed; a value that is unknown in between ends no comparison.
fn host_changes(past: &[&Past]) -> Vec<HostChange> {
    let mut last: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    let mut changes = Vec::new();
    for one in past {
        let manifest = &one.manifest;
        for (setting, after) in one.host().settings() {
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
    fn host_of<'a>(&self, wanted: &[&'a Past]) -> Option<&'a Host> {
        let mut hosts = wanted.iter().rev().map(|one| one.host());
        let word = self.host.as_ref();
        hosts.find(|host| word.is_none_or(|word| host.fingerprint.contains(word)))
    }

    /// Returns the most variants of an experiment that differ in their build alone.
    fn builds(&self, one: &Past) -> usize {
        let variants = || one.manifest.plan.experiment.variants.iter().filter(|it| self.wants(it));
        let alike =
            |one: &Variant| variants().filter(|other| is_same_but_build(one, other)).count();
        variants().map(alike).max().unwrap_or(0)
    }

    /// Adds the points of one experiment; returns how many.
    fn add(
        &self,
        one: &Past,
        are_builds_apart: bool,
        points: &mut BTreeMap<(Key, String), Vec<Point>>,
    ) -> usize {
        let experiment = &one.manifest.plan.experiment;
        let is_by_build = !are_builds_apart && self.builds(one) > 1;
        let wanted = experiment.variants.iter().filter(|variant| self.wants(variant));
        let mut variants: Vec<(&Variant, String)> =
            wanted.map(|variant| (variant, variant.build.to_string())).collect();
        // Where a build has no version, the file's order stays.
        if variants.iter().all(|(_, build)| version(build).is_some()) {
            variants.sort_by_cached_key(|(_, build)| version(build).map(|(_, rank)| rank));
        }
        let mut added = 0;
        for (variant, build) in &variants {
            let mut subject = if are_builds_apart { build.clone() } else { what(variant) };
            let is_other = |other: &Variant| {
                what(other) == what(variant) && !is_same_but_build(other, variant)
            };
            if variants.iter().any(|(other, _)| is_other(other)) {
                subject = format!("{subject}, {}", variant.name);
            }
            let label = if is_by_build { build } else { &one.manifest.created_at };
            let setup = Setup::of(experiment, variant, one.host());
            let origin = Origin::of(&one.manifest, variant);
            let values = self.values(one, variant, &subject);
            added += values.len();
            for (key, value) in values {
                let (label, setup) = (label.clone(), setup.upto(key.0.index));
                let origin = origin.clone();
                points.entry(key).or_default().push(Point { label, origin, setup, value });
            }
        }
        added
    }

    /// Returns the means of a variant's valid runs, by history and metric.
    fn values(&self, one: &Past, variant: &Variant, subject: &str) -> BTreeMap<(Key, String), f64> {
        let is_wanted = |means: &&StepMeans| {
            means.variant == variant.name
                && self.step.as_ref().is_none_or(|name| *name == means.step)
        };
        let mut values = BTreeMap::new();
        for means in one.means.iter().filter(is_wanted) {
            let key = Key {
                experiment: one.manifest.plan.experiment.name.clone(),
                subject: subject.to_owned(),
                level: means.level,
                index: means.index,
                step: means.step.clone(),
                clients: means.clients,
            };
            let known = self.metrics.iter().filter_map(|name| Some((name, means.mean(name)?)));
            values.extend(known.map(|(name, value)| ((key.clone(), name.clone()), value)));
        }
        values
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

impl Key {
    fn history(&self, name: String, points: Vec<Point>) -> History {
        let metric = metric::find(&name);
        let clients = StepClients { level: self.level, number: self.clients };
        let subject = format!("{} of {}, {clients} ({})", self.step, self.subject, self.experiment);
        let values = points.iter().map(|point| Some(point.value)).collect();
        let (labels, origins): (Vec<String>, _) =
            points.into_iter().map(|point| (point.label, point.origin)).unzip();
        // Identifiers and versions give the order, also where a clock was set back.
        let is_order_checked = check_order(&labels, |row| row.to_string()) != Ok(false);
        History {
            unit: metric.map(|metric| metric.unit),
            better: metric.map(|metric| metric.better),
            name,
            subject: Some(subject),
            values,
            is_order_checked,
            labels,
            origins,
        }
    }
}

#[cfg(test)]
mod tests {
    use model::record::SCHEMA;
    use model::{Bytes, Cell, Host, Nanos, Plan, RunRecord};

    use super::super::step_means;
    use super::*;
    use crate::testing;

    /// An experiment of a day in which each variant did some operations a second, once each.
    fn past(day: u32, variants: &[(&str, &str, u64)]) -> Past {
        let names: Vec<&str> = variants.iter().map(|one| one.0).collect();
        let mut experiment = testing::experiment(&names, 1);
        for (variant, (_, build, _)) in experiment.variants.iter_mut().zip(variants) {
            variant.build = build.parse().unwrap();
        }
        let runs = variants.iter().map(|(name, _, ops)| testing::run(name, 1, 2 * ops));
        let runs: Vec<RunRecord> = runs.collect();
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
        Past { means: step_means(&manifest, &runs), manifest }
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
        let mut set_back = all;
        set_back[4].manifest.created_at = "2026-10-31T00:00:00Z".to_owned();
        let found = gather(&set_back, &query("x")).unwrap();
        assert!(
            found.histories[0].is_order_checked
                && found.histories[0].labels[4] < found.histories[0].labels[0]
        );
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
    fn builds_of_a_single_experiment_are_a_history_by_version() {
        let builds = [("a", "x@10", 2), ("b", "x@12", 4), ("c", "x@9", 1), ("d", "x@11", 3)];
        let found = gather(&[past(1, &builds)], &query("x")).unwrap();
        assert_eq!(values(&found.histories[0]), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(found.histories[0].labels, ["x@9", "x@10", "x@11", "x@12"]);
        assert!(found.histories[0].is_order_checked);
        let named = [("a", "x@main", 2), ("b", "x@mine", 4)];
        let found = gather(&[past(1, &named)], &query("x")).unwrap();
        assert_eq!(values(&found.histories[0]), [2.0, 4.0]);
        assert!(!found.histories[0].is_order_checked);
    }

    #[test]
    fn comparison_of_builds_leaves_histories_of_other_names_whole() {
        let mut all: Vec<Past> =
            (1..=4).map(|day| past(day, &[("own", &format!("x@{day}"), 100)])).collect();
        for day in 5..=6 {
            let mut pair = past(day, &[("old", "x@1", 100), ("new", "x@2", 150)]);
            pair.manifest.plan.experiment.name = "pair".to_owned();
            all.push(pair);
        }
        let found = gather(&all, &query("x")).unwrap();
        let known: Vec<usize> = found.histories.iter().map(History::known).collect();
        assert_eq!(known, [2, 2, 4]);
    }

    #[test]
    fn variants_of_one_experiment_that_differ_in_more_than_their_build_are_not_joined() {
        let all: Vec<Past> = (1..=4)
            .map(|day| {
                let mut one = past(day, &[("small", "x@1", 100), ("large", "x@1", 150)]);
                let large = &mut one.manifest.plan.experiment.variants[1];
                large.settings.cache_bytes = Some(Bytes::GIB);
                one
            })
            .collect();
        let found = gather(&all, &query("x")).unwrap();
        let values: Vec<_> = found.histories.iter().map(values).collect();
        assert_eq!(values, [vec![150.0; 4], vec![100.0; 4]]);
        assert_eq!(found.other_questions, 0);
        let one = HistoryQuery { variant: Some("small".to_owned()), ..query("x") };
        assert_eq!(gather(&all, &one).unwrap().histories.len(), 1);
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
    fn what_differs_in_points_left_out_is_named() {
        let mut all: Vec<Past> = (1..=6).map(|day| past(day, &[("own", "x@1", 100)])).collect();
        all[0].manifest.plan.experiment.seed += 1;
        all[1].manifest.plan.experiment.memory_bytes = None;
        // A step after the history's own does not count.
        all[2].manifest.plan.experiment.steps.push(testing::step(1, "settle").step);
        let found = gather(&all, &query("x")).unwrap();
        assert_eq!((found.other_questions, found.histories[0].known()), (2, 4));
        assert_eq!(Vec::from_iter(found.differences), ["memory_bytes", "seed"]);
    }

    #[test]
    fn newest_experiment_without_a_valid_value_is_reported() {
        let mut all: Vec<Past> = (1..=5).map(|day| past(day, &[("own", "x", 100)])).collect();
        assert!(!gather(&all, &query("x")).unwrap().lacks_newest);
        all[4].means.clear();
        let found = gather(&all, &query("x")).unwrap();
        assert!(found.lacks_newest && found.histories[0].known() == 4);
    }

    #[test]
    fn history_of_a_fleet_is_of_the_class_of_its_machines() {
        let mut all: Vec<Past> = (1..=3).map(|day| past(day, &[("own", "x", 100)])).collect();
        let host = Host { fingerprint: "node".to_owned(), ..Host::default() };
        let machine = model::Machine { name: "n1".to_owned(), host };
        let runs: Vec<RunRecord> =
            vec![RunRecord { machine: Some(Box::new(machine)), ..testing::run("own", 1, 200) }];
        all[2].means = step_means(&all[2].manifest, &runs);
        let found = gather(&all, &query("x")).unwrap();
        assert_eq!((found.host.as_str(), found.other_hosts), ("node", 2));
        let here = HistoryQuery { host: Some("here".to_owned()), ..query("x") };
        assert_eq!(gather(&all, &here).unwrap().other_hosts, 1);
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
