//! A078: clocks of client hosts that disagree with the server's clock.

use model::{Nanos, StepRecord};

use super::{Checks, Observation, Rule};
use crate::context::RunContext;

pub(crate) static RULE: Rule = Rule {
    code: "A078",
    name: "clocks of client hosts",
    trigger: "in a step, the clock of a client host is known relative to the clock of the server's \
              host with an error of more than 10 ms: the error of the comparison at the start of \
              the step, and the drift until its end",
    why: "An interval is one second on each machine, and the sums of all machines are set against \
          the counters of the server's host. With an error of more than 1 %, these are sums and \
          counters of different seconds. Response times are not affected: each is the difference \
          of two readings of one clock.",
    remedy: "use a network with a shorter round trip between the submitting host and the client \
             hosts, synchronise the clocks (chrony, ptp4l), or read means of whole steps only",
    source: "our choice: 1 % of an interval; [Mills 1991] (the error of an exchange is half of its \
             round trip)",
    ..Rule::of(Checks { measured: &[step], ..Checks::NONE })
};

/// Largest error of the times of a client host, ns. Our choice: 1 % of an interval of a second.
const ERROR_MAX_NS: u64 = 10_000_000;

fn step(context: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let errors = context.run.client_hosts.iter().flat_map(|host| {
        let own = host.clocks.iter().filter(|clock| clock.step_index == step.index);
        own.map(|clock| (clock.error_ns(), &host.name))
    });
    let (error_ns, name) = errors.max().filter(|(error_ns, _)| *error_ns > ERROR_MAX_NS)?;
    let evidence = format!("times of client host {name} have an error of {}", Nanos(error_ns));
    Some(Observation::new(evidence).ranked("error", model::float(error_ns)))
}

#[cfg(test)]
mod tests {
    use model::client_host::HostClock;
    use model::record::Severity;
    use model::{ClientHost, ClockOffset};

    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    /// Returns what is found in runs whose client host has a clock with this error and drift.
    fn found(error_ns: u64, drift_ns: i64) -> Vec<(Severity, String)> {
        let at = |offset_ns| ClockOffset { at_ns: 0, offset_ns, error_ns };
        let clock =
            HostClock { before: at(7), after: Some(at(7 + drift_ns)), ..HostClock::default() };
        let far = HostClock { step_index: 9, before: at(1), ..HostClock::default() };
        let host = |name: &str, clocks| ClientHost {
            name: name.to_owned(),
            clocks,
            ..ClientHost::default()
        };
        let mut runs = runs(&["a"]);
        for run in &mut runs {
            run.client_hosts = vec![host("c1", vec![far.clone()]), host("c2", vec![clock.clone()])];
        }
        in_runs(&RULE, &experiment(&["a"]), &runs)
    }

    #[test]
    fn error_beyond_a_percent_of_an_interval_is_a_warning() {
        assert_eq!(found(85_000, -30_000), []);
        let evidence = "readrandom of a: times of client host c2 have an error of 12.1 ms (3 runs)";
        let drifted = found(100_000, -12_000_000);
        assert_eq!(drifted, [(Severity::Warning, evidence.to_owned())]);
        assert_eq!(found(11_000_000, 0).len(), 1, "an error at the start");
    }
}
