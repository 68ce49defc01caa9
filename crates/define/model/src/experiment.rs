//! An experiment and its plan of runs.

use serde::{Deserialize, Serialize};

use crate::build::BuildRef;
use crate::client_host::Hosts;
use crate::cuts::CutPlan;
use crate::device::{Access, DeviceSpec, FIO};
use crate::finding::Finding;
use crate::label::Waiver;
use crate::metric::{self, Metric};
use crate::options::Options;
use crate::published::Published;
use crate::setting::Settings;
use crate::shared_load::{LoadReuse, LoadSharing};
use crate::sql::Application;
use crate::sql::server::{Dsn, Placement};
use crate::step::{Step, StepClients, StepRole, StopRule};
use crate::step_event::EventKind;
use crate::units::{Bytes, Nanos};

/// The rows an experiment works on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DataShape {
    /// Rows of the key space.
    pub rows: u64,
    /// Bytes of a key, >= 8.
    pub key_bytes: u32,
    /// Bytes of a value.
    pub value_bytes: u32,
    /// Compressed size of a value as a share; db_bench's default is 0.5.
    pub compressible_to: f64,
}

impl DataShape {
    /// Returns the bytes of keys and values when every row is present.
    pub fn live_bytes(&self) -> Bytes {
        Bytes(self.rows.saturating_mul(self.row_bytes()))
    }

    /// Returns the bytes of one row's key and value.
    pub fn row_bytes(&self) -> u64 {
        u64::from(self.key_bytes) + u64::from(self.value_bytes)
    }
}

/// One thing compared: engine build, options and environment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Name in tables and file names.
    pub name: String,
    /// The engine build.
    pub build: BuildRef,
    /// Profile the options start from.
    pub profile: Option<String>,
    /// Engine options: the profile's, then the variant's own.
    pub options: Options,
    /// Settings common to all engines.
    pub settings: Settings,
    /// The running server to use, when Assay does not start one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dsn: Option<Dsn>,
    /// Whether it is an A/A control: the base again under another name.
    ///
    /// Any difference between the two is noise, and any verdict on it is false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_control: bool,
}

impl Variant {
    /// Returns its access to storage; `None` for an engine.
    pub fn access(&self) -> Option<Access> {
        self.options.get("access").filter(|_| self.build.engine == FIO)?.parse().ok()
    }
}

/// An experiment, checked and with every default resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Name, used for the results directory.
    pub name: String,
    /// The question in one sentence.
    pub question: String,
    /// Name of the size chosen from the file's; `None` when the file's own has no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// Name of the base case of every relative table.
    pub base: String,
    /// Workload preset the sizes were derived from.
    pub workload: Option<String>,
    /// The rows.
    pub data: DataShape,
    /// The SQL application; `None` for key-value workloads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<Application>,
    /// Memory cap of the worker, and of the server if any.
    pub memory_bytes: Option<Bytes>,
    /// Which CPUs the worker and its server get.
    #[serde(default, skip_serializing_if = "Placement::is_free")]
    pub placement: Placement,
    /// Machines of server and clients; `None` if one machine runs both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Hosts>,
    /// Simulated crashes of every variant; `None` without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cuts: Option<CutPlan>,
    /// Whether CPU profiles of the measured steps are taken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_profiled: bool,
    /// Which runs begin from one loaded database.
    #[serde(default, skip_serializing_if = "LoadSharing::is_fresh")]
    pub load: LoadSharing,
    /// Seed of everything random.
    pub seed: u64,
    /// Client counts, each a level of the factor.
    pub clients: Vec<u32>,
    /// Repetitions of every cell, >= 1.
    pub repetitions: u32,
    /// The steps in order; a step with 0 clients takes the cell's.
    pub steps: Vec<Step>,
    /// Names of the steps that the question is about; see [`Self::is_preparatory`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measure: Vec<String>,
    /// Names of the metrics that the question is about; the first decides.
    ///
    /// Without any, the analysis chooses by the step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answer: Vec<String>,
    /// Smallest difference that matters, as a share; declared before anything is run.
    #[serde(default = "default_margin")]
    pub margin: f64,
    /// Rules waived by the author.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waivers: Vec<Waiver>,
    /// Published results to compare with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
    /// What is measured of storage, when the variants are accesses to it and no engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceSpec>,
    /// The variants compared, in the file's order.
    pub variants: Vec<Variant>,
}

/// Name of the size at which shipped experiments take minutes, too few for some rules.
pub const MINUTES: &str = "minutes";

/// Default practical margin: the smallest difference that matters, as a share.
///
/// Our choice: a difference below 2 % rarely decides anything; an equivalence test needs a margin
/// declared beforehand [Schuirmann 1987].
pub const MARGIN_DEFAULT: f64 = 0.02;

const fn default_margin() -> f64 {
    MARGIN_DEFAULT
}

/// One combination of variant, factor levels and repetition: one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Identifier, unique in the plan and fit for a directory name: `rocksdb-11.8.c1.r2`.
    pub id: String,
    /// The variant's name.
    pub variant: String,
    /// Client threads of the steps that follow the factor.
    pub clients: u32,
    /// Repetition, 1-based; also the block the run belongs to.
    pub repetition: u32,
    /// Seed of the run: the same for all variants of one block.
    pub seed: u64,
}

/// An experiment with its runs in order and their estimated cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The experiment.
    pub experiment: Experiment,
    /// The runs in order of execution, laid out from the seed.
    pub cells: Vec<Cell>,
    /// Estimated machine time of all runs.
    pub estimated_ns: Nanos,
    /// Estimated largest space one run takes on storage.
    pub estimated_disk_bytes: Bytes,
    /// Repetitions of the pilot, when the plan was extended.
    ///
    /// The number that follows was computed once, from the pilot's variance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pilot_repetitions: Option<u32>,
    /// Findings about the plan.
    pub findings: Vec<Finding>,
}

impl Experiment {
    /// Returns name, size and question in one line.
    pub fn title(&self) -> String {
        let size = self.size.as_ref().map(|size| format!(" (size {size})")).unwrap_or_default();
        format!("{}{size}: {}", self.name, self.question)
    }

    /// Returns the variant of that name.
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// Returns whether a variant has no runs: a raw device is read only where it is named.
    pub fn is_left_out(&self, variant: &str) -> bool {
        let lacks_device = self.device.as_ref().is_some_and(|device| device.raw.is_none());
        let access = self.variant(variant).and_then(Variant::access);
        lacks_device && access == Some(Access::Raw)
    }

    /// Returns whether a step only prepares those that the question is about.
    ///
    /// All but the steps of [`Self::measure`]; without that list the loading steps, unless nothing
    /// but loading and maintenance follows.
    pub fn is_preparatory(&self, step: &str) -> bool {
        if !self.measure.is_empty() {
            return !self.measure.iter().any(|name| name == step);
        }
        self.has_role(step, StepRole::Load) && self.has_operations_after_load()
    }

    /// Returns whether a step's result answers the question.
    ///
    /// A step that only prepares does not, nor does maintenance between other steps.
    pub fn answers_question(&self, step: &str) -> bool {
        let is_between = self.measure.is_empty()
            && self.has_role(step, StepRole::Maintain)
            && self.has_operations_after_load();
        !is_between && !self.is_preparatory(step)
    }

    fn has_role(&self, step: &str, role: StepRole) -> bool {
        let own = |one: &Step| one.name == step && one.role(self.application.as_ref()) == role;
        self.steps.iter().any(own)
    }

    /// Returns whether more than loading and maintenance is done.
    fn has_operations_after_load(&self) -> bool {
        let mut roles = self.steps.iter().map(|step| step.role(self.application.as_ref()));
        roles.any(|role| !matches!(role, StepRole::Load | StepRole::Maintain))
    }

    /// Returns how many steps, from the first, make the database that runs can share.
    ///
    /// The load and the maintenance after it, and the writing steps after those that only prepare
    /// ([`Self::measure`] names the others). 0 when nothing is loaded or nothing follows.
    pub fn loading_steps(&self) -> usize {
        let role = |step: &Step| step.role(self.application.as_ref());
        if self.steps.first().map(role) != Some(StepRole::Load) || self.device.is_some() {
            return 0;
        }
        let prepares = |step: &&Step| match role(step) {
            StepRole::Maintain => true,
            StepRole::Load | StepRole::Write => {
                !self.measure.is_empty() && self.is_preparatory(&step.name)
            }
            StepRole::Read | StepRole::ReadWrite => false,
        };
        let count = 1 + self.steps[1..].iter().take_while(prepares).count();
        if count == self.steps.len() { 0 } else { count }
    }

    /// Returns the kinds of the events of all steps.
    fn events(&self) -> impl Iterator<Item = EventKind> {
        self.steps.iter().flat_map(|step| &step.events).map(|event| event.kind)
    }

    /// Returns whether a step has an event of this kind.
    pub fn has_event(&self, kind: EventKind) -> bool {
        self.events().any(|event| event == kind)
    }

    /// Returns the load, 1-based, that the runs of a repetition begin from.
    ///
    /// `None` when each run has a separate load. Runs of a variant with the same number and the
    /// same loading steps share one.
    pub fn load_number(&self, repetition: u32) -> Option<u32> {
        if self.loading_steps() == 0 || self.has_disk_events() {
            return None;
        }
        match self.load.reuse {
            LoadReuse::Fresh => None,
            LoadReuse::PerBlock => Some(repetition),
            LoadReuse::PerVariant => {
                let runs = self.load.runs_per_load.unwrap_or(u32::MAX).max(1);
                Some((repetition.max(1) - 1) / runs + 1)
            }
        }
    }

    /// Returns the metrics that the question is about in a step.
    ///
    /// None in a preparatory one.
    pub fn answers(&self, step: &str) -> impl Iterator<Item = &'static Metric> {
        let named = if self.is_preparatory(step) { &[][..] } else { &self.answer[..] };
        named.iter().filter_map(|name| metric::find(name))
    }

    /// Returns whether a step runs on all client hosts; the others run on the first.
    ///
    /// Shared are the steps of clients that end by duration and search no load.
    pub fn is_shared(&self, step: &Step) -> bool {
        let role = step.role(self.application.as_ref());
        matches!(step.stop, StopRule::Duration(_))
            && !matches!(role, StepRole::Load | StepRole::Maintain)
            && !step.load.is_search()
    }

    /// Returns the clients of the step at a position, in runs of a level.
    pub fn clients_of(&self, index: u32, level: u32) -> StepClients {
        let step = self.steps.get(index as usize);
        step.map_or(StepClients { level, number: level }, |step| step.clients_at(level))
    }

    /// Returns whether events act on the disk: the data of its runs are on a simulated one.
    pub fn has_disk_events(&self) -> bool {
        self.events().any(EventKind::is_of_disk)
    }

    /// Returns the steps as a cell with `clients` clients executes them.
    pub fn steps_for(&self, clients: u32) -> Vec<Step> {
        let follow = |step: &Step| {
            let clients = step.clients_at(clients).number;
            Step { clients, stop: self.stop_for(step, clients), ..step.clone() }
        };
        self.steps.iter().map(follow).collect()
    }

    /// Returns when a step stops: how many calls an application's rows take depends on how many
    /// clients share them.
    fn stop_for(&self, step: &Step, clients: u32) -> StopRule {
        let calls = self.application.as_ref().and_then(|application| {
            application.calls(application.step(&step.name)?, self.data.rows, clients)
        });
        calls.map_or(step.stop, StopRule::Operations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Load, Pace};

    /// Returns an experiment without steps.
    fn sample() -> Experiment {
        let text = serde_json::json!({
            "name": "sample", "question": "Which?", "base": "a", "workload": null,
            "data": { "rows": 1, "key_bytes": 8, "value_bytes": 8, "compressible_to": 0.5 },
            "memory_bytes": null, "seed": 1, "clients": [1], "repetitions": 1, "steps": [],
            "variants": [],
        });
        serde_json::from_value(text).expect("an experiment")
    }

    /// Returns those of these steps for which `is` holds, in an experiment with this `measure`.
    fn steps_that(
        is: fn(&Experiment, &str) -> bool,
        steps: &[&str],
        measure: &[&str],
    ) -> Vec<String> {
        let mut experiment = sample();
        experiment.steps =
            steps.iter().map(|name| Step::new(*name, StopRule::Operations(1))).collect();
        experiment.measure = measure.iter().map(|name| (*name).to_owned()).collect();
        let those = steps.iter().filter(|name| is(&experiment, name));
        those.map(|name| (*name).to_owned()).collect()
    }

    fn preparatory(steps: &[&str], measure: &[&str]) -> Vec<String> {
        steps_that(Experiment::is_preparatory, steps, measure)
    }

    #[test]
    fn maintenance_between_other_steps_answers_nothing() {
        let answering = |steps: &[&str], measure: &[&str]| {
            steps_that(Experiment::answers_question, steps, measure)
        };
        assert_eq!(answering(&["fillseq", "settle", "readrandom"], &[]), ["readrandom"]);
        assert_eq!(answering(&["fillseq", "settle"], &[]), ["fillseq", "settle"]);
        assert_eq!(answering(&["fillseq", "settle", "readrandom"], &["settle"]), ["settle"]);
    }

    #[test]
    fn loading_prepares_what_follows_unless_the_question_is_about_it() {
        assert_eq!(preparatory(&["fillseq", "readrandom", "overwrite"], &[]), ["fillseq"]);
        assert!(preparatory(&["fillseq"], &[]).is_empty());
        assert!(preparatory(&["fillseq", "settle"], &[]).is_empty());
        assert_eq!(preparatory(&["fillseq", "readrandom"], &["fillseq"]), ["readrandom"]);
    }

    #[test]
    fn steps_of_clients_that_end_by_duration_without_search_are_shared() {
        let timed = |name: &str| Step::new(name, StopRule::Duration(Nanos::SECOND));
        let search = Step { load: Load::FindRate(Pace::default()), ..timed("readrandom") };
        let counted = Step::new("readrandom", StopRule::Operations(9));
        assert!(sample().is_shared(&timed("readrandom")));
        for step in [timed("settle"), timed("fillseq"), search, counted] {
            assert!(!sample().is_shared(&step), "{step:?}");
        }
    }
}
