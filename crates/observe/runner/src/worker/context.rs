//! One step of a run with its inputs.

use std::collections::BTreeSet;

use engine::Engine;
use model::{DataShape, OpKind, Step};
use workload::Presence;

use super::operations::StepOperations;

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
    pub(crate) operations: &'a dyn StepOperations,
}
