//! A probe's line in the record.

use model::validity::{Outcome, ProbeRecord};

use crate::probe::{Probe, ProbeLoad, ProbeObservation};
use crate::ruling::Ruling;
use crate::window::Window;

/// Returns the record of a probe; `clients` is how many an open loop has.
pub(crate) fn entry(
    probe: &Probe,
    clients: u32,
    seen: &ProbeObservation,
    (outcome, ruling): (Outcome, Ruling),
) -> ProbeRecord {
    let window = Window::of(seen);
    let (clients, offered_ops_per_s) = match probe.load {
        ProbeLoad::Rate { ops_per_s } => (clients, Some(ops_per_s)),
        ProbeLoad::Closed { clients } => (clients, None),
    };
    // What was cut short says nothing, however it looks.
    let (outcome, reason) = match &seen.stop {
        Some(why) => (Outcome::Undecided, format!("it was stopped: {why}")),
        None => (outcome, ruling.reason),
    };
    ProbeRecord {
        number: probe.number,
        purpose: probe.purpose,
        clients,
        offered_ops_per_s,
        throughput_ops_per_s: window.throughput_ops_per_s(),
        goodput_ops_per_s: window.goodput_ops_per_s(),
        late_share: ruling.late.value,
        late_interval: (ruling.late.low, ruling.late.high),
        response: seen.response,
        service: seen.service,
        duration_ns: seen.duration,
        debt_bytes: seen.debt_bytes,
        drained_ns: seen.drained,
        outcome,
        reason,
    }
}
