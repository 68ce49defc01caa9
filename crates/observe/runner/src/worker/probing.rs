//! Runs a search's probes on the open engine.

use std::io::Write;

use load::{Interval, StepEnd, StepTotals};
use model::{EngineState, Load, Nanos, OpenLoad, Pace, Rate, Readings, Step, StopRule, metric};
use search::{
    ClientSearch, ClientSpec, Next, Probe, ProbeLoad, ProbeObservation, RateSearch, RateSpec,
    Search, Second,
};

use super::operations::StepContext;
use super::parent_link::Worker;
use super::pending_work::{PendingWorkMonitor, WorkSources};
use super::trial::Trial;
use crate::account::{gauges, growth};
use crate::message::{Message, ProbeBegins, StepEnds};

impl<W: Write + Send> Worker<'_, W> {
    /// Runs a step's search; the confirming probe's result is the step's own.
    pub(crate) fn search(&self, context: &StepContext<'_>) -> StepEnds {
        let mut own = StepEnds::without_clients(context.index, StepEnd::Finished);
        let mut search = match self.search_of(context.step) {
            Ok(search) => search,
            Err(reason) => return StepEnds { end: StepEnd::Failed { reason }, ..own },
        };
        let mut monitor = PendingWorkMonitor::new();
        while let Next::Probe(probe) = search.next() {
            let (observation, ends) = self.probe(context, &probe, &mut monitor);
            search.observe(&observation);
            self.send(&Message::ProbeEnds { search: Box::new(search.record().clone()) });
            if ends.end != StepEnd::Finished {
                own.end = ends.end;
                break;
            }
            if search.record().confirmed().is_some_and(|probed| probed.number == probe.number) {
                own = ends;
            }
        }
        own.search = Some(search.record().clone());
        own
    }

    /// Returns the search of a step.
    fn search_of(&self, step: &Step) -> Result<Box<dyn Search>, String> {
        let StopRule::Duration(probe) = step.stop else {
            return Err("a search needs a step that ends by duration".to_owned());
        };
        let (limit, warmup) = (step.limit, step.warmup);
        match (&step.load, limit) {
            (Load::FindRate(_), Some(limit)) => {
                let ceiling = self.ceiling_ops_per_s.ok_or("the client was not calibrated")?;
                Ok(Box::new(RateSearch::new(RateSpec {
                    limit,
                    clients: step.clients,
                    ceiling_ops_per_s: ceiling,
                    probe,
                    warmup,
                    precision: RateSpec::precision_for(probe),
                })))
            }
            (Load::FindRate(_), None) => Err("a search for a rate needs a limit".to_owned()),
            (Load::FindClients | Load::Closed | Load::Pipelined(_) | Load::Open(_), limit) => {
                let max_clients = step.clients;
                Ok(Box::new(ClientSearch::new(ClientSpec { limit, max_clients, probe, warmup })))
            }
        }
    }

    /// Runs one probe; returns its result as a step, too.
    fn probe(
        &self,
        context: &StepContext<'_>,
        probe: &Probe,
        monitor: &mut PendingWorkMonitor,
    ) -> (ProbeObservation, StepEnds) {
        let waited = match probe.settles_first {
            true => self.wait_for_pending_work(context, monitor),
            false => Nanos(0),
        };
        let trial = trial_of(context, probe);
        self.send(&Message::ProbeBegins(ProbeBegins {
            number: probe.number,
            purpose: probe.purpose,
            clients: trial.clients,
            offered_ops_per_s: match probe.load {
                ProbeLoad::Rate { ops_per_s } => Some(ops_per_s),
                ProbeLoad::Closed { .. } => None,
            },
            length: probe.warmup.after(probe.measure),
        }));
        let mut watcher = Watcher::new(context.step, context.engine.state().unwrap_or_default());
        context.operations.begin_warmup();
        let tried = self.try_load(context, &trial, &mut |interval, engine| {
            watcher.add(interval, engine);
        });
        let after = self.final_state(context.engine);
        self.send(&Message::ProbeMeasured { after: Box::new(after.clone()) });
        let is_invalid = self.wait_for_classification();
        let totals = tried.as_ref().ok().map(|tried| &tried.totals);
        let mut observation = watcher.observation(totals, &after, &is_invalid);
        let mut ends = match tried {
            Ok(tried) => tried.step_ends(context.index),
            Err(end) => StepEnds::without_clients(context.index, end),
        };
        ends.procedures = context.operations.procedures();
        observation.settle_time = waited;
        observation.stop = match &ends.end {
            StepEnd::Finished => None,
            StepEnd::Stopped => Some("the user stopped it".to_owned()),
            StepEnd::Failed { reason } | StepEnd::Wrong { reason } => Some(reason.clone()),
        };
        (observation, ends)
    }

    /// Waits for the pending work of earlier probes; an engine error is left to the probe.
    fn wait_for_pending_work(
        &self,
        context: &StepContext<'_>,
        monitor: &mut PendingWorkMonitor,
    ) -> Nanos {
        self.send(&Message::stage("pending_work"));
        let sources = WorkSources {
            engine: context.engine,
            clock: self.clock,
            cap: context.step.settle_cap,
            dirty_bytes: &dirty_bytes,
        };
        let waited = monitor.wait(&sources, &mut || {
            self.send(&Message::Heartbeat { operations: 0 });
            !self.stop.is_set()
        });
        waited.unwrap_or_default()
    }
}

/// Returns the load of a probe.
///
/// Each probe has keys and arrivals of its own: none reads the keys that the one before it has
/// just brought into the cache.
fn trial_of(context: &StepContext<'_>, probe: &Probe) -> Trial {
    let (load, clients) = match probe.load {
        ProbeLoad::Rate { ops_per_s } => {
            let pace = match &context.step.load {
                Load::FindRate(pace) => *pace,
                Load::Open(_) | Load::Closed | Load::Pipelined(_) | Load::FindClients => {
                    Pace::default()
                }
            };
            (Load::Open(OpenLoad { rate: Rate::constant(ops_per_s), pace }), context.step.clients)
        }
        ProbeLoad::Closed { clients } => (Load::Closed, clients),
    };
    Trial {
        load,
        clients,
        stop: StopRule::Duration(probe.measure),
        warmup: probe.warmup,
        seed: mixed(context.seed, probe.number),
        probe: Some(probe.number),
    }
}

/// Returns the seed of a probe.
///
/// Source: [Steele Lea Flood 2014] (SplitMix64, its increment).
const fn mixed(seed: u64, probe: u32) -> u64 {
    seed.wrapping_add((probe as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Returns the host's dirty pages, bytes; `None` when unknown.
fn dirty_bytes() -> Option<f64> {
    sampler::dirty_bytes().map(|bytes| bytes as f64)
}

/// Collects a probe's intervals.
struct Watcher {
    limit: Option<Nanos>,
    before: EngineState,
    /// The engine's readings at the end of the last interval.
    last: Readings,
    seconds: Vec<Second>,
}

impl Watcher {
    fn new(step: &Step, before: EngineState) -> Self {
        let limit = step.limit.map(|limit| limit.within);
        Self { limit, last: before.readings.clone(), before, seconds: Vec::new() }
    }

    /// Adds one interval, and the engine's readings at its end.
    fn add(&mut self, interval: &Interval, engine: &Readings) {
        let mut readings = growth(&self.last, engine);
        self.last.clone_from(engine);
        if interval.is_warmup {
            return;
        }
        readings.extend(gauges(engine));
        readings.extend(dirty_bytes().map(|bytes| (metric::DIRTY_BYTES.name.to_owned(), bytes)));
        let mut second = Second {
            length: interval.length,
            backlog: interval.backlog,
            readings,
            ..Second::default()
        };
        for tally in interval.clients.values() {
            let failed = tally.counts.failed;
            second.ended += tally.counts.done + failed;
            second.failed += failed;
            second.late += self.limit.map_or(0, |limit| {
                tally.response.len() - fold::count_within(&tally.response, limit) + failed
            });
        }
        self.seconds.push(second);
    }

    /// Returns the observation; `totals` is absent when the load could not be run.
    fn observation(
        self,
        totals: Option<&StepTotals>,
        after: &EngineState,
        is_invalid: &[bool],
    ) -> ProbeObservation {
        let mut seconds = self.seconds;
        for (second, is_invalid) in seconds.iter_mut().zip(is_invalid) {
            second.is_invalid = *is_invalid;
        }
        let debt = |state: &EngineState| state.readings.value(metric::ENGINE_DEBT_BYTES);
        let (mut response, mut service) = (fold::empty_histogram(), fold::empty_histogram());
        for tally in totals.into_iter().flat_map(|totals| totals.clients.values()) {
            for (all, of_kind) in [(&mut response, &tally.response), (&mut service, &tally.service)]
            {
                all.add(of_kind).expect("all tallies have one layout");
            }
        }
        let arrivals = totals.and_then(|totals| totals.arrivals.as_ref());
        let censored = arrivals.map_or(0, |arrivals| arrivals.censored.len());
        let in_time = |limit| arrivals.map_or(0, |all| fold::count_within(&all.censored, limit));
        ProbeObservation {
            seconds,
            censored_late: self.limit.map_or(0, |limit| censored - in_time(limit)),
            censored,
            response: fold::percentiles(&response),
            service: fold::percentiles(&service),
            duration: totals.map_or(Nanos(0), |totals| totals.duration),
            settle_time: Nanos(0),
            debt_bytes: debt(&self.before).zip(debt(after)),
            stop: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use fold::KindTally;
    use load::ArrivalTotals;
    use model::validity::Purpose;
    use model::{DataShape, Limit, OpKind, Pacing};
    use workload::Presence;

    use super::*;
    use crate::worker::operations::KeyValues;
    use crate::worker::tests::scripted::Scripted;

    const DATA: DataShape =
        DataShape { rows: 10, key_bytes: 20, value_bytes: 1, compressible_to: 1.0 };

    fn step(load: Load) -> Step {
        Step {
            clients: 6,
            load,
            limit: Limit::parse("p99 < 2ms").ok(),
            ..Step::new("readrandom", StopRule::Duration(Nanos::SECOND))
        }
    }

    /// Gets that took `ns` each; as many failed.
    fn gets(counts: &[(u64, u64)], failed: u64) -> KindTally {
        let mut tally = KindTally::default();
        for (ns, count) in counts {
            tally.response.record_n(*ns, *count).unwrap();
            tally.service.record_n(*ns, *count).unwrap();
            tally.counts.done += count;
        }
        tally.counts.failed = failed;
        tally
    }

    fn interval(counts: &[(u64, u64)], failed: u64, is_warmup: bool) -> Interval {
        let clients = [(OpKind::Get, gets(counts, failed))].into();
        Interval { is_warmup, length: Nanos::SECOND, clients, ..Interval::default() }
    }

    fn state(debt: f64, stall_us: f64) -> EngineState {
        let readings = [(metric::ENGINE_DEBT_BYTES, debt), (metric::ENGINE_STALL_US, stall_us)];
        let readings = readings.map(|(name, value)| (name.to_owned(), value)).into();
        EngineState { readings, ..EngineState::default() }
    }

    #[test]
    fn a_probe_offers_its_own_rate_to_all_clients_or_closes_the_loop() {
        let engine = Scripted::new(&[]);
        let pace = Pace { pacing: Pacing::Spin, ..Pace::default() };
        let step = step(Load::FindRate(pace));
        let context = StepContext {
            engine: &engine,
            reopening: None,
            data: &DATA,
            index: 0,
            step: &step,
            presence: Presence::All,
            is_checking: false,
            kinds: std::collections::BTreeSet::new(),
            seed: 7,
            operations: &KeyValues,
            share: None,
            writes: None,
        };
        let probe = |number, load| Probe {
            number,
            purpose: Purpose::Bracket,
            load,
            settles_first: false,
            warmup: Nanos(5),
            measure: Nanos(9),
        };
        let open = trial_of(&context, &probe(3, ProbeLoad::Rate { ops_per_s: 50.0 }));
        let rate = Rate::constant(50.0);
        assert_eq!((open.load, open.clients), (Load::Open(OpenLoad { rate, pace }), 6));
        assert_eq!(
            (open.stop, open.warmup, open.probe),
            (StopRule::Duration(Nanos(9)), Nanos(5), Some(3))
        );
        let closed = trial_of(&context, &probe(4, ProbeLoad::Closed { clients: 2 }));
        assert_eq!((closed.load, closed.clients), (Load::Closed, 2));
        assert_ne!(open.seed, closed.seed, "keys of its own");
        assert_eq!(
            closed.seed,
            trial_of(&context, &probe(4, ProbeLoad::Closed { clients: 1 })).seed
        );
    }

    #[test]
    fn failed_operations_and_those_over_the_limit_are_late() {
        let mut watcher = Watcher::new(&step(Load::FindClients), state(5.0, 100.0));
        watcher.add(&interval(&[(9_000_000, 90)], 9, true), &state(5.0, 400.0).readings);
        watcher.add(
            &interval(&[(1_000_000, 90), (3_000_000, 7)], 2, false),
            &state(8.0, 450.0).readings,
        );
        watcher.add(&interval(&[(1_000_000, 50)], 0, false), &state(6.0, 450.0).readings);
        let clients = [(OpKind::Get, gets(&[(1_000_000, 140), (3_000_000, 7)], 2))].into();
        let mut censored = fold::empty_histogram();
        censored.record_n(1_500_000, 4).unwrap();
        censored.record_n(2_500_000, 3).unwrap();
        let totals = StepTotals {
            duration: Nanos::from_secs(2),
            clients,
            writers: load::GroupTally::new(),
            readings: Readings::new(),
            arrivals: Some(ArrivalTotals {
                pace: Pace::default(),
                offered: 156,
                censored,
                start_lag: fold::empty_histogram(),
                backlog: Nanos(0),
            }),
            holds: None,
            begun: Nanos(0),
            outages: Vec::new(),
            end: StepEnd::Finished,
        };
        let observation = watcher.observation(Some(&totals), &state(7.0, 450.0), &[true, false]);
        let seconds: Vec<_> = observation
            .seconds
            .iter()
            .map(|second| (second.ended, second.failed, second.late, second.is_invalid))
            .collect();
        assert_eq!(seconds, [(99, 2, 9, true), (50, 0, 0, false)], "the warm-up is left out");
        let stalls: Vec<_> = observation
            .seconds
            .iter()
            .map(|second| second.readings[metric::ENGINE_STALL_US])
            .collect();
        assert_eq!(stalls, [50.0, 0.0], "growth, not totals");
        assert!(
            (observation.seconds[0].readings[metric::ENGINE_DEBT_BYTES] - 8.0).abs() < 1e-9,
            "a gauge"
        );
        assert_eq!((observation.censored, observation.censored_late), (7, 3));
        assert_eq!((observation.response.count, observation.duration), (147, Nanos::from_secs(2)));
        assert_eq!(observation.debt_bytes, Some((5.0, 7.0)));
    }

    #[test]
    fn a_load_that_could_not_be_run_has_an_empty_observation() {
        let watcher = Watcher::new(&step(Load::FindClients), EngineState::default());
        let observation = watcher.observation(None, &EngineState::default(), &[]);
        assert_eq!(
            (observation.seconds.len(), observation.censored, observation.debt_bytes),
            (0, 0, None)
        );
        assert_eq!(observation.response.count, 0);
    }
}
