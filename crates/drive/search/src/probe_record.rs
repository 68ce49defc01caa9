//! Builds the record of a probe.

use model::validity::{Outcome, ProbeRecord};

use crate::outcome::ProbeOutcome;
use crate::probe::{Probe, ProbeLoad, ProbeObservation};
use crate::window::Window;

/// Returns the record of a probe; `clients` applies to an open loop.
pub(crate) fn probe_record(
    probe: &Probe,
    clients: u32,
    observation: &ProbeObservation,
    outcome: Outcome,
    tested: ProbeOutcome,
) -> ProbeRecord {
    let window = Window::of(observation);
    let (clients, offered_ops_per_s) = match probe.load {
        ProbeLoad::Rate { ops_per_s } => (clients, Some(ops_per_s)),
        ProbeLoad::Closed { clients } => (clients, None),
    };
    // An interrupted probe is undecided, whatever its figures.
    let (outcome, reason) = match &observation.stop {
        Some(why) => (Outcome::Undecided, format!("stopped: {why}")),
        None => (outcome, tested.reason),
    };
    ProbeRecord {
        number: probe.number,
        purpose: probe.purpose,
        clients,
        offered_ops_per_s,
        throughput_ops_per_s: window.throughput_ops_per_s(),
        goodput_ops_per_s: window.goodput_ops_per_s(),
        late_share: tested.late.value,
        late_interval: (tested.late.low, tested.late.high),
        response: observation.response,
        service: observation.service,
        duration_ns: observation.duration,
        debt_bytes: observation.debt_bytes,
        settle_time_ns: observation.settle_time,
        outcome,
        reason,
    }
}
