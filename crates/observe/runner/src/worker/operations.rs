//! One step of a run with its inputs, and what its clients execute.

use std::collections::BTreeSet;

use engine::Engine;
use load::{Faults, HolderRun, Reopening, Share, WriteLog};
use model::record::ProcedureRecord;
use model::{DataShape, Load, OpKind, Step, StepRole, StopRule};
use workload::{Generator, Presence, Request, Stage, WorkloadError};

/// One step of a run with its inputs.
pub(crate) struct StepContext<'a> {
    pub(crate) engine: &'a dyn Engine,
    /// The same engine, where clients open it again.
    pub(crate) reopening: Option<&'a Reopening<'a>>,
    pub(crate) data: &'a DataShape,
    pub(crate) index: u32,
    pub(crate) step: &'a Step,
    pub(crate) presence: Presence,
    pub(crate) is_checking: bool,
    pub(crate) kinds: BTreeSet<OpKind>,
    pub(crate) seed: u64,
    pub(crate) operations: &'a dyn StepOperations,
    /// This worker's clients, in a step that several workers run.
    pub(crate) share: Option<Share>,
    /// Notes the clients' writes, in a step with events whose writes are all of this worker.
    pub(crate) writes: Option<&'a WriteLog>,
}

impl<'a> StepContext<'a> {
    /// Returns what the clients do at the events of the step.
    pub(crate) fn faults(&self) -> Faults<'a> {
        let own = self.step.events.iter().filter(|event| event.kind.is_of_embedded());
        let times: Vec<_> = own.map(|event| event.at).collect();
        let reopening = self.reopening.map(|it| (it, times));
        Faults {
            has_events: !self.step.events.is_empty(),
            has_disk_faults: self.step.events.iter().any(|event| event.kind.is_of_disk()),
            reopening,
            writes: self.writes,
        }
    }

    /// Returns whether the step has events that the parent executes.
    pub(crate) fn has_server_events(&self) -> bool {
        self.step.events.iter().any(|event| !event.kind.is_of_embedded())
    }

    /// Returns whether this worker does what is done once in a step: it is the only one, or the
    /// first.
    pub(crate) fn is_first(&self) -> bool {
        self.share.is_none_or(|share| share.first == 0)
    }
}

/// What the clients of a step execute, and what belongs to it.
pub(crate) trait StepOperations: Sync {
    /// Returns the generators of a group, one for each client.
    fn generators(&self, request: &Request<'_>) -> Result<Vec<Box<dyn Generator>>, WorkloadError>;

    /// Returns the kinds of operation of a group.
    fn kinds(&self, request: &Request<'_>) -> Result<BTreeSet<OpKind>, WorkloadError>;

    /// Returns the load of background writers; `None` without any.
    fn writer_load(&self, step: &Step, data: &DataShape) -> Option<Load>;

    /// Returns the sessions that hold transactions open.
    fn holders(&self, _request: &Request<'_>) -> Result<HolderRun, WorkloadError> {
        Ok(HolderRun::default())
    }

    /// Returns the stages after the clients.
    fn stages(&self, step: &Step) -> &'static [Stage];

    /// Returns what the step does.
    fn role(&self, step: &Step) -> StepRole;

    /// Returns the stop rule of a load, given the step's.
    fn stop(&self, stop: StopRule) -> StopRule {
        stop
    }

    /// Begins a warm-up, of a step or of a search's next probe.
    fn begin_warmup(&self) {}

    /// Begins the measured span.
    fn begin_measuring(&self) {}

    /// Returns the calls of procedures that began in the measured span.
    fn procedures(&self) -> Vec<ProcedureRecord> {
        Vec::new()
    }
}

/// Operations on keys and values.
pub(crate) struct KeyValues;

impl StepOperations for KeyValues {
    fn generators(&self, request: &Request<'_>) -> Result<Vec<Box<dyn Generator>>, WorkloadError> {
        workload::generators(request)
    }

    fn kinds(&self, request: &Request<'_>) -> Result<BTreeSet<OpKind>, WorkloadError> {
        workload::kinds(request)
    }

    fn writer_load(&self, step: &Step, data: &DataShape) -> Option<Load> {
        workload::writer_load(step, data)
    }

    fn stages(&self, step: &Step) -> &'static [Stage] {
        workload::stages(&step.name)
    }

    fn role(&self, step: &Step) -> StepRole {
        step.role(None)
    }
}
