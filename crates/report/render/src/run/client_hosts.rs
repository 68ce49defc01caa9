//! The machines of a run's clients: facts, and clocks by step.

use model::client_host::{ClockDrift, HostClock};
use model::{Manifest, Nanos, Readings, RunRecord, metric};

use crate::document::Part;
use crate::figure::{digits, percent};
use crate::meta::host_line;

/// Returns the client hosts of a run; nothing if its clients ran on the server's machine.
pub(super) fn client_hosts(manifest: &Manifest, run: &RunRecord) -> Vec<Part> {
    let mut lines = Vec::new();
    for host in &run.client_hosts {
        lines.push(format!("{}: {}", host.name, host_line(&host.host)));
        let named = |clock: &HostClock| {
            let step = run.steps.iter().find(|step| step.index == clock.step_index);
            let step = step.map_or("a step that was not finished", |step| &step.step.name);
            format!("{}, {step}: {}", host.name, agreement(clock))
        };
        lines.extend(host.clocks.iter().map(named));
    }
    let hosts = manifest.plan.experiment.hosts.as_ref();
    let cost = hosts.and_then(|hosts| Some(format!("Assay on {} {}", hosts.server, cost(run)?)));
    lines.extend(cost);
    Part::title("Client hosts").above([Part::Items(lines)])
}

/// Returns what Assay used on the server's host while steps were measured.
fn cost(run: &RunRecord) -> Option<String> {
    let sum = |metric| {
        let known = run.steps.iter().filter_map(|step| Readings::value(&step.counters, metric));
        known.reduce(|sum, one| sum + one)
    };
    let us = sum(metric::HOST_SAMPLED_US).filter(|us| *us > 0.0)?;
    let cpus = percent(sum(metric::OBSERVER_CPU_US)? / us);
    let switches = digits(sum(metric::OBSERVER_CONTEXT_SWITCHES)? / us * 1e6);
    Some(format!("used {cpus} of a CPU, {switches} context switches per second"))
}

/// Returns how well a client host's clock is known, against the clock of the server's host.
fn agreement(clock: &HostClock) -> String {
    let error = Nanos(clock.before.error_ns);
    let drift = clock.drift().map_or_else(
        || "drift not known".to_owned(),
        |ClockDrift { ns, error_ns, span_ns }| {
            let sign = if ns < 0 { "-" } else { "" };
            let (size, error, span) = (Nanos(ns.unsigned_abs()), Nanos(error_ns), Nanos(span_ns));
            format!("drift {sign}{size} \u{b1} {error} in {span}")
        },
    );
    format!("clocks agree within {error} at the start; {drift}")
}

#[cfg(test)]
mod tests {
    use model::ClockOffset;

    use super::*;

    #[test]
    fn error_of_a_clock_is_that_of_the_start_and_the_drift() {
        let at = |at_ns, offset_ns| ClockOffset { at_ns, offset_ns, error_ns: 85_000 };
        let mut clock = HostClock { before: at(1_000, 70), ..HostClock::default() };
        assert_eq!(agreement(&clock), "clocks agree within 85.0 us at the start; drift not known");
        clock.after = Some(at(30_000_001_000, -11_930));
        assert_eq!(
            agreement(&clock),
            "clocks agree within 85.0 us at the start; drift -12.0 us \u{b1} 170 us in 30.0 s"
        );
    }
}
