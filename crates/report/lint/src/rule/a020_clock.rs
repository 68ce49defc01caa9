//! A020: a clock that drifts, or is slow to read.

use model::host::CHEAP_CLOCK_SOURCES;
use model::record::{ClockRecord, Severity};

use super::{Checks, Observation, Rule};
use crate::context::{PlanContext, RunContext};

pub(crate) static RULE: Rule = Rule {
    code: "A020",
    name: "clock",
    trigger: "Warning: the kernel's clock source is neither the CPU's counter nor a virtual clock \
              that is read from the CPU's counter. Blocking: the clock that times the operations \
              drifted from the kernel's clock by more than 0.1 %, or the clock that times the \
              operations is not reliable",
    why: "The time of an operation is the difference of two clock readings. A clock that needs a \
          system call costs more than an operation, and a clock that drifts makes every rate \
          wrong.",
    remedy: "boot with the clock source tsc if the CPU has a constant TSC",
    source: "our choice: 0.1 %",
    ..Rule::of(Checks { plan: Some(plan), run: Some(run), ..Checks::NONE })
};

/// Drift from which a rate is wrong, parts per million. Our choice.
const DRIFT_PPM: f64 = 1_000.0;

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let source = context.host.and_then(|host| host.clocksource.as_deref());
    let slow = source.filter(|name| !CHEAP_CLOCK_SOURCES.contains(name));
    slow.map(|name| Observation::new(format!("the kernel's clock source is `{name}`")))
        .into_iter()
        .collect()
}

fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let observe = |clock: &ClockRecord| {
        let drift = clock.drift_ppm.filter(|drift| drift.abs() > DRIFT_PPM);
        let evidence = match drift {
            Some(drift) => format!("the clock ({}) drifted by {drift:.0} ppm", clock.source),
            None if clock.is_sound => return None,
            None => format!("the clock ({}) is not reliable", clock.source),
        };
        let size = drift.unwrap_or_default().abs();
        Some(Observation::new(evidence).severity(Severity::Blocking).ranked("drift", size))
    };
    context.run.clock.iter().filter_map(observe).collect()
}

#[cfg(test)]
mod tests {
    use model::Host;

    use super::*;
    use crate::testing::{experiment, host, in_runs, on_hosts, runs};

    #[test]
    fn a_clock_that_needs_a_system_call_is_reported() {
        let with = |name: &str| {
            let host = Host { clocksource: Some(name.to_owned()), ..host() };
            on_hosts(&RULE, &experiment(&["a"]), &runs(&["a"]), &[&host])
        };
        assert_eq!(with("kvm-clock"), []);
        let evidence = "the kernel's clock source is `hpet`";
        assert_eq!(with("hpet"), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn a_clock_that_drifts_is_blocking() {
        let with = |drift_ppm| {
            let mut runs = runs(&["a"]);
            let is_sound = true;
            runs[1].clock = Some(ClockRecord { source: "tsc".to_owned(), drift_ppm, is_sound });
            in_runs(&RULE, &experiment(&["a"]), &runs)
        };
        assert_eq!(with(Some(20.0)), []);
        let evidence = "a: the clock (tsc) drifted by 2000 ppm (1 run)";
        assert_eq!(with(Some(2_000.0)), [(Severity::Blocking, evidence.to_owned())]);
    }
}
