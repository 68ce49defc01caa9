//! One step of a run with its inputs.

use std::collections::BTreeSet;

use engine::Engine;
use model::sql::CallMix;
use model::{Application, DataShape, OpKind, Step, StopRule};
use sql_run::Counted;
use workload::{Presence, Tables};

/// One step of a run with its inputs.
pub(crate) struct StepContext<'a> {
    pub(crate) engine: &'a dyn Engine,
    pub(crate) data: &'a DataShape,
    pub(crate) index: u32,
    pub(crate) step: &'a Step,
    pub(crate) presence: Presence,
    pub(crate) is_checking: bool,
    pub(crate) kinds: BTreeSet<OpKind>,
    pub(crate) seed: u64,
    /// What counts the application's calls, in a step of its own.
    pub(crate) counted: Option<&'a Counted<'a>>,
    /// The application's tables, in a step of its own.
    pub(crate) tables: Option<&'a Tables>,
}

impl StepContext<'_> {
    /// Returns the application, in a step of its own.
    pub(crate) fn application(&self) -> Option<&Application> {
        self.tables.map(|tables| &*tables.setup().application)
    }

    /// Returns the clients' calls, in a step of the application.
    fn call_mix(&self) -> Option<&CallMix> {
        self.tables?.traffic_spec(&self.step.name)?.clients.as_ref()
    }

    /// Returns the stop rule of a load, given the step's.
    ///
    /// Calls once per table have their own end: tables may not divide by the clients.
    pub(crate) fn stop(&self, stop: StopRule) -> StopRule {
        match self.call_mix() {
            Some(CallMix::Once(_)) => StopRule::Operations(u64::MAX),
            Some(CallMix::Mix(_) | CallMix::InTurn(_)) | None => stop,
        }
    }
}
