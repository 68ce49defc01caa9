//! Setup of a point: what the points of one history share.

use std::collections::BTreeMap;
use std::rc::Rc;

use model::{Experiment, Host, Step, Variant};
use serde::Serialize;
use serde_json::Value;

/// Fields of an experiment that no run of a variant reads.
///
/// They state what is concluded from the figures, or which other runs there are. The steps are
/// compared apart, up to the point's.
const CONCLUSIONS: [&str; 11] = [
    "question",
    "base",
    "answer",
    "margin",
    "waivers",
    "published",
    "cuts",
    "clients",
    "repetitions",
    "variants",
    "steps",
];
/// Fields of a variant that may change within a history: its build, and names of it.
const BUILD: [&str; 3] = ["name", "build", "is_control"];
/// Checks of the doctor whose values limit a whole experiment.
const LIMITS: [&str; 2] = ["memory_limit", "cpu_limit"];

/// What points of one history share: everything that a run reads but its build.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    /// Fields of the experiment and of the variant, by name, as JSON: options have an order.
    fields: Rc<BTreeMap<String, String>>,
    /// Known limits of the host.
    limits: Rc<BTreeMap<String, String>>,
    steps: Vec<Step>,
}

impl Setup {
    /// Returns the setup of a variant, with all steps.
    pub(super) fn of(experiment: &Experiment, variant: &Variant, host: &Host) -> Self {
        let all = [fields(experiment, &CONCLUSIONS), fields(variant, &BUILD)].concat();
        let limits = host.settings().into_iter().filter(|(name, _)| LIMITS.contains(name));
        let limits = limits.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self {
            fields: Rc::new(all.into_iter().collect()),
            limits: Rc::new(limits.collect()),
            steps: experiment.steps.clone(),
        }
    }

    /// Returns the setup of the step of that index: later ones do not count.
    pub(super) fn upto(&self, index: u32) -> Self {
        let mut setup = self.clone();
        setup.steps.truncate(usize::try_from(index).map_or(usize::MAX, |index| index + 1));
        setup
    }

    /// Returns the names of the parts that differ.
    ///
    /// A limit that only one host reports is no difference.
    pub(super) fn differences(&self, other: &Self) -> Vec<String> {
        let (own, others) = (&*self.fields, &*other.fields);
        let names = own.keys().chain(others.keys());
        let fields = names.filter(|name| own.get(*name) != others.get(*name));
        let limits = self
            .limits
            .iter()
            .filter(|(name, value)| other.limits.get(*name).is_some_and(|limit| limit != *value));
        let steps = (self.steps != other.steps).then(|| "steps".to_owned());
        fields.chain(limits.map(|(name, _)| name)).cloned().chain(steps).collect()
    }
}

/// Returns whether two variants of an experiment differ in their build alone, if at all.
pub(super) fn is_same_but_build(one: &Variant, other: &Variant) -> bool {
    let (name, build) = (one.name.clone(), one.build.clone());
    one.build.engine == other.build.engine && Variant { name, build, ..other.clone() } == *one
}

/// Returns the fields of a noun but for some, each as JSON.
fn fields(noun: &impl Serialize, without: &[&str]) -> Vec<(String, String)> {
    let Ok(Value::Object(fields)) = serde_json::to_value(noun) else { return Vec::new() };
    let fields = fields.into_iter().filter(|(name, _)| !without.contains(&name.as_str()));
    fields.map(|(name, value)| (name, value.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use model::sql::Application;
    use model::{
        Address, Bytes, CheckState, CutFileSystem, CutPlan, DeviceSpec, Dsn, HostCheck, Hosts,
        LoadReuse, Placement, Published, Survivors, Waiver,
    };

    use super::*;
    use crate::testing;

    /// Whether a history goes on when a field changes.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Effect {
        Shared,
        Split,
    }

    use Effect::{Shared, Split};

    /// A field by its name, with a change of it.
    type Change<T> = (&'static str, Effect, fn(&mut T));

    fn cut_plan() -> CutPlan {
        CutPlan {
            cuts: 1,
            levels: Vec::new(),
            survivors: Survivors::Nothing,
            is_strict: false,
            fault: None,
            file_system: CutFileSystem::Ext4,
            clients: 1,
        }
    }

    /// Returns a change of every field of an experiment.
    fn experiment_changes() -> [Change<Experiment>; 24] {
        // A new field does not compile here: classify it below.
        let Experiment {
            name: _,
            question: _,
            size: _,
            base: _,
            workload: _,
            data: _,
            application: _,
            memory_bytes: _,
            is_profiled: _,
            placement: _,
            hosts: _,
            cuts: _,
            load: _,
            seed: _,
            clients: _,
            repetitions: _,
            steps: _,
            measure: _,
            answer: _,
            margin: _,
            waivers: _,
            published: _,
            device: _,
            variants: _,
        } = testing::experiment(&["own"], 1);
        [
            ("name", Split, |it| it.name.push('2')),
            ("question", Shared, |it| it.question.push('?')),
            ("size", Split, |it| it.size = Some("night".to_owned())),
            ("base", Shared, |it| it.base.push('2')),
            ("workload", Split, |it| it.workload = Some("ycsb-a".to_owned())),
            ("data", Split, |it| it.data.value_bytes += 1),
            ("application", Split, |it| it.application = Some(application("other"))),
            ("memory_bytes", Split, |it| it.memory_bytes = Some(Bytes(Bytes::GIB.0 + 4096))),
            ("is_profiled", Split, |it| it.is_profiled = true),
            ("placement", Split, |it| it.placement = Placement::SameCpu),
            ("hosts", Split, |it| it.hosts = Some(Hosts::default())),
            ("cuts", Shared, |it| it.cuts = Some(cut_plan())),
            ("load", Split, |it| it.load.reuse = LoadReuse::PerVariant),
            ("seed", Split, |it| it.seed += 1),
            ("clients", Shared, |it| it.clients.push(2)),
            ("repetitions", Shared, |it| it.repetitions += 1),
            ("steps", Split, |it| it.steps[0].clients += 1),
            ("measure", Split, |it| it.measure.push("readrandom".to_owned())),
            ("answer", Shared, |it| it.answer.push("cpu_us_per_op".to_owned())),
            ("margin", Shared, |it| it.margin *= 2.0),
            ("waivers", Shared, |it| {
                let (code, reason) = ("A001".to_owned(), "so".to_owned());
                it.waivers.push(Waiver { code, reason });
            }),
            ("published", Shared, |it| {
                let text = String::new;
                let (source, setup, scaled) = (text(), text(), text());
                it.published.push(Published { source, setup, scaled, findings: Vec::new() });
            }),
            ("device", Split, |it| {
                it.device = Some(DeviceSpec { raw: None, size_bytes: None, is_filled: true });
            }),
            ("variants", Shared, |it| it.variants.clear()),
        ]
    }

    /// Returns a change of every field of a variant.
    fn variant_changes() -> [Change<Variant>; 7] {
        let Variant {
            name: _,
            build: _,
            profile: _,
            options: _,
            settings: _,
            dsn: _,
            is_control: _,
        } = testing::experiment(&["own"], 1).variants.remove(0);
        [
            ("name", Shared, |it| it.name.push('2')),
            ("build", Shared, |it| it.build = "null@2".parse().unwrap()),
            ("profile", Split, |it| it.profile = Some("leveled".to_owned())),
            ("options", Split, |it| it.options = [("b", "2"), ("a", "1")].into_iter().collect()),
            ("settings", Split, |it| it.settings.direct_io = true),
            ("dsn", Split, |it| it.dsn = Some(dsn("db2"))),
            // Controls are in no history.
            ("is_control", Shared, |it| it.is_control = true),
        ]
    }

    fn application(about: &str) -> Application {
        Application {
            name: "mine".to_owned(),
            about: about.to_owned(),
            row_bytes: 1,
            tables: Vec::new(),
            procedures: Vec::new(),
            steps: Vec::new(),
            order: Vec::new(),
            checks: Vec::new(),
            disclaimer: None,
        }
    }

    fn dsn(host: &str) -> Dsn {
        Dsn {
            address: Address::tcp(host, 5432),
            user: "bench".to_owned(),
            database: "test".to_owned(),
            password: None,
            password_from: None,
            has_password: false,
            login: model::LoginOptions::default(),
            notes: Vec::new(),
        }
    }

    /// Returns an experiment on a server, with options.
    fn sample() -> Experiment {
        let mut experiment = testing::experiment(&["own"], 1);
        experiment.application = Some(application("mine"));
        experiment.variants[0].dsn = Some(dsn("db1"));
        experiment.variants[0].options = [("a", "1"), ("b", "2")].into_iter().collect();
        experiment
    }

    /// Goal: only the build, time, and what no run reads may change within a history.
    #[test]
    fn every_field_that_a_run_reads_begins_a_history() {
        let experiment = sample();
        let (variant, host) = (&experiment.variants[0], Host::default());
        let before = Setup::of(&experiment, variant, &host);
        let check = |name: &str, effect: Effect, after: &Setup| {
            let expected = if effect == Split { vec![name] } else { Vec::new() };
            let mut found = after.differences(&before);
            found.dedup();
            assert_eq!(found, expected, "{name}");
        };
        for (name, effect, change) in experiment_changes() {
            let mut changed = experiment.clone();
            change(&mut changed);
            check(name, effect, &Setup::of(&changed, variant, &host));
        }
        for (name, effect, change) in variant_changes() {
            let mut changed = variant.clone();
            change(&mut changed);
            check(name, effect, &Setup::of(&experiment, &changed, &host));
        }
    }

    #[test]
    fn limit_of_a_whole_experiment_begins_a_history_where_it_is_known() {
        let setup = |limit: Option<&str>| {
            let mut host = Host::default();
            host.doctor.extend(limit.map(|limit| HostCheck {
                check: "memory_limit".to_owned(),
                state: CheckState::Fine,
                value: Some(limit.to_owned()),
            }));
            let experiment = sample();
            Setup::of(&experiment, &experiment.variants[0], &host)
        };
        let differs = |one, other| !setup(one).differences(&setup(other)).is_empty();
        assert!(differs(Some("none"), Some("1.00 GiB")));
        assert!(!differs(None, Some("1.00 GiB")) && !differs(Some("none"), Some("none")));
    }
}
