//! Calls of an application's procedures.

use std::collections::BTreeSet;

use calls::Tables;
use load::HolderRun;
use model::record::ProcedureRecord;
use model::sql::{CallMix, TrafficSpec};
use model::{DataShape, Load, OpKind, Step, StepRole, StopRule};
use sql_run::Counted;
use workload::{Generator, Request, Stage, WorkloadError};

use crate::worker::operations::StepOperations;

/// Calls of one step of an application.
pub(super) struct Calls<'a> {
    pub(super) tables: &'a Tables,
    pub(super) spec: &'a TrafficSpec,
    pub(super) counted: &'a Counted<'a>,
}

impl StepOperations for Calls<'_> {
    fn generators(&self, request: &Request<'_>) -> Result<Vec<Box<dyn Generator>>, WorkloadError> {
        calls::generators(request, self.tables)
    }

    fn kinds(&self, request: &Request<'_>) -> Result<BTreeSet<OpKind>, WorkloadError> {
        Ok(calls::kinds(request, self.tables))
    }

    fn writer_load(&self, step: &Step, _data: &DataShape) -> Option<Load> {
        let application = &self.tables.setup().application;
        calls::background_load(application, self.spec, step.clients)
    }

    fn holders(&self, request: &Request<'_>) -> Result<HolderRun, WorkloadError> {
        let (generators, time) = calls::holders(request, self.tables)?;
        Ok(HolderRun { generators, time })
    }

    /// A step that settles does what `settle` does.
    fn stages(&self, _step: &Step) -> &'static [Stage] {
        if self.spec.settles { workload::stages(model::step::name::SETTLE) } else { &[] }
    }

    fn role(&self, _step: &Step) -> StepRole {
        self.spec.role
    }

    /// Calls once per table have their own end: tables may not divide by the clients.
    fn stop(&self, stop: StopRule) -> StopRule {
        match self.spec.clients {
            Some(CallMix::Once(_)) => StopRule::Operations(u64::MAX),
            Some(CallMix::Mix(_) | CallMix::InTurn(_)) | None => stop,
        }
    }

    fn begin_warmup(&self) {
        self.counted.begin_warmup();
    }

    fn begin_measuring(&self) {
        self.counted.begin_measuring();
    }

    fn procedures(&self) -> Vec<ProcedureRecord> {
        self.counted.procedures()
    }
}
