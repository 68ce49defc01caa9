//! Checks that client and system can offer a run's load.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use load::{CalibrationRequest, Clock as _, SteadyClock, calibrate};
use model::units::per_second;
use model::{Experiment, Load, Nanos, OpenLoad, Pace, Step, metric, percent};
use sampler::host_readings;

use crate::error::RunnerError;
use crate::needs::has_clients;

/// Rate at which a search's start lag is calibrated, as it has no rate of its own before it has
/// found one: gaps of 100 us and more, in which clients sleep where they may.
const SEARCHED_OPS_PER_S: f64 = 10_000.0;

/// Returns the calibration for a run's steps; `None` without clients.
///
/// The most clients of any step, and the highest rate of any: one calibration bounds them all.
pub(crate) fn calibration_of(steps: &[Step]) -> Option<CalibrationRequest> {
    let clients = steps.iter().filter(|step| has_clients(step)).map(|step| step.clients).max()?;
    let highest = open_loads(steps).map(|(_, open)| open);
    let highest = highest.max_by(|a, b| peak(a).total_cmp(&peak(b)));
    let searched = steps.iter().find_map(|step| match &step.load {
        Load::FindRate(pace) => Some(*pace),
        Load::Closed | Load::Pipelined(_) | Load::Open(_) | Load::FindClients => None,
    });
    let pace = highest.map(|open| open.pace).or(searched).unwrap_or_else(Pace::default);
    let highest = highest.map(peak).or(searched.map(|_| SEARCHED_OPS_PER_S));
    Some(CalibrationRequest { clients, highest_ops_per_s: highest, pace })
}

/// Checks that the client can offer the experiment's load on this host.
///
/// Takes about half a second for each number of clients of an open loop.
///
/// # Errors
/// [`RunnerError::Clients`] or [`RunnerError::Load`], with the figures and the remedy.
pub(crate) fn check_demand(experiment: &Experiment) -> Result<(), RunnerError> {
    if experiment.hosts.is_some() {
        // The clients run on other hosts: each is calibrated there.
        return Ok(());
    }
    let (clock, mut ceilings) = (OnceCell::new(), BTreeMap::new());
    for clients in &experiment.clients {
        let steps = experiment.steps_for(*clients);
        for (step_index, open) in open_loads(&steps) {
            let clients = steps[step_index].clients;
            let ceiling = match ceilings.get(&clients) {
                Some(known) => *known,
                None => ceiling(clock.get_or_init(SteadyClock::calibrate), clients, open.pace)?,
            };
            ceilings.insert(clients, ceiling);
            if peak(open) > ceiling.ops_per_s {
                return Err(beyond(step_index, clients, &ceiling, peak(open)));
            }
        }
    }
    Ok(())
}

/// The highest rate a client can offer, and who else used the host while it was measured.
#[derive(Debug, Clone, Copy)]
struct Ceiling {
    ops_per_s: f64,
    /// CPUs that other guests took.
    stolen: f64,
    /// CPUs that other processes of the host used.
    others: f64,
}

/// CPUs in use by others from which they are the likely cause of a low ceiling.
///
/// Our choice: above the ticks of 10 ms in which the kernel accounts for half a second.
const BUSY_FROM: f64 = 0.1;

/// Measures the highest rate that so many clients can offer.
fn ceiling(clock: &SteadyClock, clients: u32, pace: Pace) -> Result<Ceiling, RunnerError> {
    let request = CalibrationRequest { clients, highest_ops_per_s: None, pace };
    let usage = || (clock.now(), own_cpu(), host_readings());
    let (began, own_before, before) = usage();
    let calibration = calibrate(clock, &request)
        .map_err(|error| RunnerError::Clients(error.to_string(), "use fewer clients".to_owned()))?;
    let (ended, own_after, after) = usage();
    let span_us = ended.since(began).as_micros_f64();
    let cpus = |metric| Some((after.value(metric)? - before.value(metric)?) / span_us);
    let own = own_after.since(own_before).as_micros_f64() / span_us;
    Ok(Ceiling {
        ops_per_s: calibration.ceiling_ops_per_s,
        stolen: cpus(metric::HOST_STEAL_US).unwrap_or(0.0),
        others: cpus(metric::HOST_CPU_BUSY_US).map_or(0.0, |busy| (busy - own).max(0.0)),
    })
}

/// Returns the CPU that this process has used.
fn own_cpu() -> Nanos {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Nanos(u64::try_from(used.tv_sec * 1_000_000_000 + used.tv_nsec).unwrap_or(0))
}

/// Returns the refusal of a rate beyond the ceiling, in operations per second.
fn beyond(step_index: usize, clients: u32, measured: &Ceiling, requested: f64) -> RunnerError {
    // Two digits: another measurement would agree in no more.
    let digits = 10_f64.powf(measured.ops_per_s.log10().floor() - 1.0);
    let ceiling = per_second((measured.ops_per_s / digits).floor() * digits);
    let message = format!(
        "client ceiling: {ceiling} with {} on this host; the experiment requests {}",
        model::units::clients(clients),
        per_second(requested)
    );
    let Ceiling { stolen, others, .. } = *measured;
    let remedy = if stolen + others < BUSY_FROM {
        format!("request less than {ceiling}")
    } else {
        format!(
            "the host was busy, which is the likely cause: while the ceiling was measured, other \
             guests took {} of one CPU (steal) and other processes {}; stop the processes and \
             repeat, or request less than {ceiling}",
            percent(stolen),
            percent(others)
        )
    };
    RunnerError::Load(step_index, message, remedy)
}

/// Returns the open loops among the steps, each with its step's position.
fn open_loads(steps: &[Step]) -> impl Iterator<Item = (usize, &OpenLoad)> {
    steps.iter().enumerate().filter_map(|(at, step)| match &step.load {
        Load::Open(open) => Some((at, open)),
        Load::Closed | Load::Pipelined(_) | Load::FindRate(_) | Load::FindClients => None,
    })
}

fn peak(open: &OpenLoad) -> f64 {
    open.rate.peak_ops_per_s()
}

#[cfg(test)]
mod tests {
    use model::{Pacing, Rate, StopRule};

    use super::*;

    fn step(clients: u32, load: Load) -> Step {
        Step { clients, load, ..Step::new("readrandom", StopRule::Duration(Nanos::SECOND)) }
    }

    fn open(ops_per_s: f64, pacing: Pacing) -> Load {
        let pace = Pace { pacing, ..Pace::default() };
        Load::Open(OpenLoad { rate: Rate::constant(ops_per_s), pace })
    }

    #[test]
    fn a_run_is_calibrated_for_its_most_clients_and_its_highest_rate() {
        let steps = [
            step(8, Load::Closed),
            step(2, open(5e3, Pacing::Spin)),
            step(4, open(7e3, Pacing::Hybrid)),
            step(1, Load::FindRate(Pace::default())),
        ];
        let request = calibration_of(&steps).unwrap();
        assert_eq!((request.clients, request.highest_ops_per_s), (8, Some(7e3)));
        assert_eq!(request.pace.pacing, Pacing::Hybrid);
        let searched = calibration_of(&steps[3..]).unwrap();
        assert_eq!(searched.highest_ops_per_s, Some(SEARCHED_OPS_PER_S));
        let closed = calibration_of(&steps[..1]).unwrap();
        assert_eq!((closed.clients, closed.highest_ops_per_s), (8, None));
        let settle = Step { stop: StopRule::Operations(0), ..step(1, Load::Closed) };
        assert_eq!(calibration_of(&[settle]), None);
    }

    #[test]
    fn a_rate_beyond_the_ceiling_is_refused_with_the_figures() {
        let quiet = Ceiling { ops_per_s: 3.149e6, stolen: 0.0, others: 0.02 };
        let error = beyond(3, 2, &quiet, 5e6);
        assert!(matches!(error, RunnerError::Load(3, ..)));
        let text = error.to_string();
        assert_eq!(
            text,
            "client ceiling: 3,100,000/s with 2 clients on this host; the experiment requests \
             5,000,000/s: request less than 3,100,000/s"
        );
    }

    #[test]
    fn a_busy_host_is_named_as_the_likely_cause_of_a_low_ceiling() {
        let busy = Ceiling { ops_per_s: 14.3, stolen: 0.31, others: 1.6 };
        let text = beyond(0, 2, &busy, 5e6).to_string();
        let cause = "other guests took 31 % of one CPU (steal) and other processes 160 %; stop";
        assert!(text.contains(cause) && text.ends_with("less than 14/s"), "{text}");
    }
}
