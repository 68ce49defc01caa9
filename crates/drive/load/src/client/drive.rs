//! What both loops of a client share: parameters, checks, and when to give up.

use engine::{EngineError, Rows, Session};
use model::OpKind;
use model::record::FailureClass;
use workload::Generator;

use super::meter::{Meter, Role};
use crate::handoff::ClientEnd;
use crate::stop::Halt;

/// Failures in a row after which a client gives up.
///
/// Our choice: an engine that failed a thousand times will not recover within the step, and may
/// fail a million times per second. A server that is away for an event fails any number of times.
const FAILURES_IN_A_ROW_MAX: u32 = 1000;

/// How a free client waits for an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// It reads the clock until the arrival is due.
    Spinning,
    /// It sleeps, and spins the last part of the wait.
    Exact,
    /// It sleeps: late by a wake-up, but without taking CPU from others.
    Resting,
}

/// Parameters of a client's loop, next to its generator, session and meter.
#[derive(Clone, Copy)]
pub(crate) struct Drive<'r, C> {
    pub(crate) clock: &'r C,
    pub(crate) halt: &'r Halt,
    pub(crate) role: Role,
    pub(crate) waiting: Waiting,
    /// Operations after which the client ends.
    pub(crate) limit: u64,
    /// Operations that the client may have in flight; 1 but in a pipeline.
    pub(crate) depth: u32,
    /// Whether the answers that the generator samples are checked.
    pub(crate) is_checking: bool,
}

/// What a client executes.
pub(crate) struct Source<'a, G: ?Sized + 'a> {
    pub(crate) generator: &'a mut G,
    pub(crate) session: &'a mut dyn Session,
}

/// Checks an answer; returns the end of the client when it is wrong.
#[cold]
pub(super) fn verify(
    generator: &mut (impl Generator + ?Sized),
    rows: &Rows,
    kind: OpKind,
    meter: &mut Meter<'_>,
) -> Option<ClientEnd> {
    match generator.check(rows) {
        Ok(values) => {
            meter.tally.record_verified(kind, values);
            None
        }
        Err(wrong) => {
            meter.tally.record_failure(kind, FailureClass::Other);
            Some(ClientEnd::Wrong(wrong.to_string()))
        }
    }
}

/// Counts a failure; returns the end of the client when it is one too many.
///
/// None is too many where the disk has faults. `failures` are those in a row, and `depth` is how
/// many a single lost connection causes: all that the client may have in flight.
#[cold]
pub(super) fn fail(
    error: &EngineError,
    kind: OpKind,
    failures: u32,
    depth: u32,
    meter: &mut Meter<'_>,
) -> Option<ClientEnd> {
    meter.tally.record_failure(kind, error.class());
    if meter.has_disk_faults {
        return None;
    }
    if matches!(error, EngineError::Fatal(_)) {
        return Some(ClientEnd::Failed(error.to_string()));
    }
    let is_away = matches!(error, EngineError::Unavailable { .. });
    (failures >= FAILURES_IN_A_ROW_MAX + depth && !is_away).then(|| {
        ClientEnd::Failed(format!("{failures} operations in a row failed; the last error: {error}"))
    })
}
