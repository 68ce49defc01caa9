//! Calibration of the client on this host, over the null engine.
//!
//! It measures the cost of the loop, its clock, its histograms and the sharing of arrivals, and
//! the start lag at the run's highest rate with no engine in the way. An engine's own threads
//! compete for CPUs, its data for caches, and its calls decode rows: the ceiling is an upper
//! limit, and the start lag in a run's own records is the one that decides about the run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use engine::null::NullDriver;
use engine::{Driver, Engine, OpenSpec, Rows};
use model::validity::Calibration;
use model::{DataShape, Load, Nanos, Op, OpKind, OpenLoad, Pace, Pacing, Rate, Settings, StopRule};
use workload::{Generator, WrongAnswer};

use crate::client_pool::{GroupRun, HolderRun, StepRun, StepTotals, run_step};
use crate::error::LoadError;
use crate::reopening::Faults;
use crate::stop::StopFlag;
use crate::tally::percentiles;
use crate::traits::Clock;

/// Closed loops, of which the median counts, and the length of each: long against a stamp's
/// resolution, short enough to run before every run.
const CLOSED_RUNS: usize = 5;
const CLOSED: Nanos = Nanos::from_millis(20);

/// Rate that no clients can serve through one lock.
const OVERLOAD_OPS_PER_S: f64 = 5e7;

/// Length of the open loop whose start lag is recorded, and of the warm-up before it.
const LAG: Nanos = Nanos::from_millis(200);
const LAG_WARMUP: Nanos = Nanos::from_millis(20);

/// Share of the ceiling up to which clients can keep up with arrivals at random.
const SHARE_OF_CEILING: f64 = 0.8;

/// One interval for each loop: no interval is reported.
const INTERVAL: Nanos = Nanos::from_secs(10);

/// Seed of the arrivals: any will do.
const SEED: u64 = 0x00a5_5a17;

/// Options of a calibration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationRequest {
    /// Most measured clients of the run.
    pub clients: u32,
    /// Highest rate that the run offers; `None` without an open loop.
    pub highest_ops_per_s: Option<f64>,
    /// How the run's arrivals are spread and waited for.
    pub pace: Pace,
}

/// Measures the client's cost and ceiling, in about half a second.
///
/// Time per operation is of one client; the ceiling and the start lag are of
/// [`CalibrationRequest::clients`]. The rate of the start lag is the highest requested, or four
/// fifths of the ceiling where that is less.
///
/// # Errors
/// When there is no client, the rate is invalid, or the system gives a client no thread.
pub fn calibrate<C: Clock>(
    clock: &C,
    request: &CalibrationRequest,
) -> Result<Calibration, LoadError> {
    let engine = null()?;
    let run = |clients: u32, load: Load, warmup: Nanos, stop: StopRule| {
        let generators = (0..clients).map(|_| Box::new(Same) as Box<dyn Generator>).collect();
        let mut step = StepRun {
            engine: &*engine,
            clients: GroupRun { generators, load, kinds: BTreeSet::from([OpKind::Get]) },
            writers: GroupRun::empty(),
            holders: HolderRun::default(),
            stop,
            warmup,
            interval: INTERVAL,
            is_checking: false,
            arrival_seed: SEED,
            share: None,
            agree_start: None,
            faults: Faults::default(),
            stop_flag: StopFlag::default(),
        };
        run_step(clock, &mut step, &mut |_| {})
    };
    let mut costs = Vec::with_capacity(CLOSED_RUNS);
    let mut operations = 1;
    for _ in 0..CLOSED_RUNS {
        let totals = run(1, Load::Closed, Nanos(0), StopRule::Duration(CLOSED))?;
        operations = operations.max(served(&totals));
        costs.push(1e9 / served_per_second(&totals));
    }
    costs.sort_by(f64::total_cmp);
    let pace = Pace { pacing: Pacing::Spin, ..request.pace };
    let overload = OpenLoad { rate: Rate::constant(OVERLOAD_OPS_PER_S), pace };
    // It ends by count, so that no arrival is left to be walked over.
    let stop = StopRule::Operations(operations);
    let totals = run(request.clients, Load::Open(overload), Nanos(0), stop)?;
    let ceiling_ops_per_s = served_per_second(&totals);
    let mut calibration = Calibration {
        clients: request.clients,
        closed_ns_per_op: costs[CLOSED_RUNS / 2],
        ceiling_ops_per_s,
        start_lag: None,
        start_lag_ops_per_s: None,
    };
    if let Some(highest) = request.highest_ops_per_s {
        let ops_per_s = highest.min(SHARE_OF_CEILING * ceiling_ops_per_s);
        let load = OpenLoad { rate: Rate::constant(ops_per_s), pace: request.pace };
        let totals = run(request.clients, Load::Open(load), LAG_WARMUP, StopRule::Duration(LAG))?;
        calibration.start_lag = totals.arrivals.map(|arrivals| percentiles(&arrivals.start_lag));
        calibration.start_lag_ops_per_s = Some(ops_per_s);
    }
    Ok(calibration)
}

/// Returns the null engine, which uses no directory.
pub(crate) fn null() -> Result<Box<dyn Engine>, LoadError> {
    let data = DataShape { rows: 0, key_bytes: 20, value_bytes: 0, compressible_to: 1.0 };
    let spec = OpenSpec::embedded(PathBuf::from("/"), Settings::default(), data);
    let refused = |source| LoadError::Session("the calibration".to_owned(), source);
    NullDriver.open(&spec).map_err(refused)
}

/// A generator without cost: gets of one key.
struct Same;

impl Generator for Same {
    fn next(&mut self) -> Option<Op<'_>> {
        Some(Op::Get { key: b"00000000000000000000" })
    }

    fn unchecked(&self) -> u64 {
        u64::MAX
    }

    fn check(&mut self, _rows: &Rows) -> Result<u64, WrongAnswer> {
        Ok(0)
    }
}

/// Returns the operations done, 1 where there was none: such a host is slower than one in the span.
fn served(totals: &StepTotals) -> u64 {
    totals.clients.values().map(|tally| tally.counts.done).sum::<u64>().max(1)
}

/// Returns the operations done per second.
fn served_per_second(totals: &StepTotals) -> f64 {
    served(totals) as f64 / totals.duration.as_secs_f64()
}

#[cfg(test)]
#[cfg(not(feature = "model-check"))]
mod tests {
    use super::*;
    use crate::clock::SteadyClock;

    #[test]
    fn a_calibration_measures_cost_ceiling_and_start_lag() {
        let clock = SteadyClock::calibrate();
        let request = CalibrationRequest {
            clients: 2,
            highest_ops_per_s: Some(5_000.0),
            pace: Pace::default(),
        };
        let found = calibrate(&clock, &request).unwrap();
        assert_eq!(found.clients, 2);
        // Anything a computer can be, however busy: from a tenth of a nanosecond to a second.
        assert!((0.1..1e9).contains(&found.closed_ns_per_op), "{found:?}");
        assert!((1e3..OVERLOAD_OPS_PER_S).contains(&found.ceiling_ops_per_s), "{found:?}");
        let rate = found.start_lag_ops_per_s.unwrap();
        assert!(rate <= 5_000.0 && rate <= found.ceiling_ops_per_s, "{found:?}");
        let lag = found.start_lag.unwrap();
        assert!(lag.count > 0 && lag.p50_ns <= lag.p999_ns, "{lag:?}");
    }

    #[test]
    fn a_run_without_an_open_loop_has_no_start_lag_and_no_clients_no_calibration() {
        let clock = SteadyClock::kernel();
        let mut request =
            CalibrationRequest { clients: 1, highest_ops_per_s: None, pace: Pace::default() };
        let found = calibrate(&clock, &request).unwrap();
        assert_eq!((found.start_lag, found.start_lag_ops_per_s), (None, None));
        request.clients = 0;
        assert!(matches!(calibrate(&clock, &request), Err(LoadError::NoClients)));
    }
}
