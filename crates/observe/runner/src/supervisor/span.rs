//! A measured span: its accounts and its fold.

use fold::Fold;
use model::{EngineState, Readings, Step};

use crate::account::Account;

/// A measured span, of a step or of a probe.
#[derive(Debug, Default)]
pub(crate) struct Span {
    pub(crate) account: Account,
    /// The engine's state when it began.
    pub(crate) before: EngineState,
    /// When it began, UTC, RFC 3339.
    pub(crate) since: String,
    pub(crate) fold: Fold,
    /// Valid intervals in which clients began late: the engine had the CPUs.
    pub(crate) engine_had_the_cpus: u32,
}

impl Span {
    /// Begins a span of a step with the readings of its first moment.
    pub(crate) fn begin(step: &Step, now: Readings, before: EngineState, since: String) -> Self {
        let (account, fold) = (Account::begin(now), Fold::new(step));
        Self { account, before, since, fold, engine_had_the_cpus: 0 }
    }
}
