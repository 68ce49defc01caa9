//! Time profile of a measured span, from its whole seconds.

use std::collections::BTreeMap;

use model::experiment::MARGIN_DEFAULT;
use model::time_profile::TimeProfile;
use model::waits::{BLOCK_S, rests_in};
use model::{
    IntervalRecord, Load, Metric, Nanos, OpUnit, SamplingEffect, Step, StopRule, float, metric,
};
use stats::geometric_mean;
use stats::rank::centre_of_many;
use stats::time_profile::{Second, Series, time_profile};

/// Metrics of the profile next to throughput, in the order of [`SecondSample::others`].
const OTHERS: [Metric; 6] = [
    metric::RSS_BYTES,
    metric::DATA_DIR_BYTES,
    metric::ENGINE_DEBT_BYTES,
    metric::CPU_US_PER_OP,
    metric::RESPONSE_NS_P99,
    metric::CACHE_HIT_SHARE,
];
/// Operations per second from which the 99th percentile is not the maximum.
const LEAST_OF_P99: u64 = 100;
/// Blocks from which the effect of sampling is estimated: eight have an interval of 99 %.
const LEAST_BLOCKS: usize = 10;
/// Level of that interval: steps are many, and hardly one is to be called slowed by chance.
const LEVEL: f64 = 0.99;

/// The whole seconds of a span; about 100 bytes each.
#[derive(Debug, Default)]
pub(crate) struct Seconds {
    /// When the span began, since the start of the step.
    begun: Option<Nanos>,
    samples: Vec<SecondSample>,
}

/// One second of a span.
#[derive(Debug)]
struct SecondSample {
    second: Second,
    is_invalid: bool,
    /// Operations due, in an open loop.
    offered_per_s: Option<f64>,
    others: [Option<f64>; OTHERS.len()],
}

impl Seconds {
    /// Adds the next interval of the span; only whole seconds are in the profile.
    ///
    /// Throughput is counted in `unit`.
    pub(crate) fn add(&mut self, interval: &IntervalRecord, unit: OpUnit, is_whole: bool) {
        let begun = *self.begun.get_or_insert(interval.start_ns);
        if !is_whole {
            return;
        }
        let length_s = interval.length_ns.as_secs_f64();
        let done = float(unit.done(&interval.clients));
        let known = |metric| interval.readings.value(metric);
        let hits = known(metric::ENGINE_CACHE_HITS).zip(known(metric::ENGINE_CACHE_MISSES));
        let is_of_server = interval.readings.has_server();
        let process = interval.readings.sum(&metric::PROCESS_CPU_US);
        let cpu = match interval.readings.sum(&metric::SERVER_CPU_US) {
            Some(server) => process.map(|process| process + server),
            None => process.filter(|_| !is_of_server),
        };
        self.samples.push(SecondSample {
            second: Second {
                start_ns: interval.start_ns.since(begun),
                length_ns: interval.length_ns,
                ops_per_s: done / length_s,
            },
            is_invalid: interval.invalid.is_some(),
            offered_per_s: known(metric::OFFERED_OPS).map(|due| due / length_s),
            others: [
                // A client's memory is not its server's.
                known(OTHERS[0]).filter(|_| !is_of_server),
                known(OTHERS[1]),
                known(OTHERS[2]),
                cpu.filter(|_| done > 0.0).map(|cpu| cpu / done),
                p99(interval),
                hits.filter(|(hits, misses)| hits + misses > 0.0)
                    .map(|(hits, misses)| hits / (hits + misses)),
            ],
        });
    }

    /// Returns the profile of a step; a search has none.
    ///
    /// Invalid seconds count only if `has_invalid`.
    ///
    /// In an open loop whose rate changes, throughput is relative to the offered rate: a change of
    /// the requested rate is no trend of the engine.
    pub(crate) fn time_profile(&self, step: &Step, has_invalid: bool) -> Option<TimeProfile> {
        if matches!(step.load, Load::FindRate(_) | Load::FindClients) {
            return None;
        }
        let is_given = matches!(&step.load, Load::Open(open) if open.rate.changes_for() > Nanos(0));
        let mut series = Series::default();
        for sample in self.samples.iter().filter(|sample| has_invalid || !sample.is_invalid) {
            let mut second = sample.second;
            if is_given {
                let Some(due) = sample.offered_per_s.filter(|due| *due > 0.0) else { continue };
                second.ops_per_s *= self.mean_offered() / due;
            }
            let others = OTHERS.into_iter().zip(sample.others);
            series.push(second, others.filter_map(|(metric, value)| Some((metric.name, value?))));
        }
        time_profile(&series, MARGIN_DEFAULT, matches!(step.stop, StopRule::Duration(_)))
    }

    /// Returns the throughput of the seconds in which waits were sampled, over that of the others.
    ///
    /// In each block of four seconds, all valid, the three are compared with the one; `None` below
    /// ten blocks, and in an open loop, whose throughput is given.
    ///
    /// Source: the centre of the differences by ranks [Hodges Lehmann 1963], which a stall in one
    /// block does not move.
    pub(crate) fn sampling_effect(&self) -> Option<SamplingEffect> {
        let mut blocks: BTreeMap<u64, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
        let is_closed = |sample: &&SecondSample| sample.offered_per_s.is_none();
        for sample in self.samples.iter().filter(|sample| !sample.is_invalid).filter(is_closed) {
            let middle = sample.second.start_ns.0 + sample.second.length_ns.0 / 2;
            let second = middle / Nanos::SECOND.0;
            let (sampled, resting) = blocks.entry(second / BLOCK_S).or_default();
            let side = if rests_in(second) { resting } else { sampled };
            side.push(sample.second.ops_per_s);
        }
        let is_whole = |sides: &&(Vec<f64>, Vec<f64>)| {
            sides.0.len() as u64 + 1 == BLOCK_S && sides.1.len() == 1
        };
        let difference = |(sampled, resting): &(Vec<f64>, Vec<f64>)| {
            Some(geometric_mean(sampled)?.ln() - geometric_mean(resting)?.ln())
        };
        let differences: Vec<f64> =
            blocks.values().filter(is_whole).filter_map(difference).collect();
        if differences.len() < LEAST_BLOCKS {
            return None;
        }
        let [ratio, low, high] = centre_of_many(&differences, LEVEL)
            .map(|found| [found.value, found.low, found.high].map(f64::exp))?;
        Some(SamplingEffect { ratio, low, high, blocks: differences.len() as u64 })
    }

    fn mean_offered(&self) -> f64 {
        let due = self.samples.iter().filter_map(|sample| sample.offered_per_s);
        let (sum, count) = due.fold((0.0, 0.0), |(sum, count), due| (sum + due, count + 1.0));
        sum / count
    }
}

/// Returns an interval's 99th percentile of the response time, ns, of its only kind of operation.
fn p99(interval: &IntervalRecord) -> Option<f64> {
    let mut timed = interval.clients.values().filter(|summary| summary.response.count > 0);
    let only = timed.next().filter(|_| timed.next().is_none())?;
    (only.response.count >= LEAST_OF_P99).then(|| float(only.response.p99_ns))
}

#[cfg(test)]
mod tests {
    use model::record::{OpCounts, OpSummaries, OpSummary, Percentiles};
    use model::time_profile::TrendClass;
    use model::validity::{InvalidCause, InvalidReason};
    use model::{OpKind, OpenLoad, Pace, Rate};

    use super::*;

    fn second(at: u64, done: u64, is_invalid: bool) -> IntervalRecord {
        let counts = OpCounts { done, ..OpCounts::default() };
        let response = Percentiles { count: done, p99_ns: 1_000 + at, ..Percentiles::default() };
        let summary = OpSummary { counts, response, ..OpSummary::default() };
        let invalid = InvalidReason { cause: InvalidCause::Steal, evidence: String::new() };
        let readings = [
            (metric::PROCESS_CPU_USER_US, 3e4),
            (metric::PROCESS_CPU_KERNEL_US, 1e4),
            (metric::ENGINE_CACHE_HITS, 700.0 + float(at)),
            (metric::ENGINE_CACHE_MISSES, 300.0 - float(at)),
        ];
        IntervalRecord {
            step_index: 0,
            step: "readrandom".to_owned(),
            is_warmup: false,
            // The measured span begins after a warm-up of 10 s.
            start_ns: Nanos::from_secs(10 + at),
            length_ns: Nanos::SECOND,
            clients: [(OpKind::Get, summary)].into(),
            writers: OpSummaries::new(),
            probe: None,
            invalid: is_invalid.then_some(invalid),
            start_lag: None,
            within_limit: None,
            spanning: Vec::new(),
            readings: readings.map(|(name, value)| (name.to_owned(), value)).into(),
            tables: model::TableReadings::new(),
        }
    }

    fn step(load: Load, stop: StopRule) -> Step {
        Step { warmup: Nanos::from_secs(10), load, ..Step::new("readrandom", stop) }
    }

    /// A minute, slow for its first 20 s; two of its seconds are invalid stalls.
    fn slow_at_first() -> Seconds {
        let mut seconds = Seconds::default();
        for at in 0..60 {
            let is_invalid = at == 30 || at == 31;
            let done = if is_invalid { 0 } else { 1_000 - 500 * u64::from(at < 20) };
            seconds.add(&second(at, done + at * 7 % 5, is_invalid), OpUnit::Operation, true);
        }
        seconds
    }

    const A_MINUTE: StopRule = StopRule::Duration(Nanos::from_secs(60));

    #[test]
    fn time_runs_from_the_start_of_the_measured_span() {
        let time_profile =
            slow_at_first().time_profile(&step(Load::Closed, A_MINUTE), false).unwrap();
        assert_eq!((time_profile.class, time_profile.seconds), (TrendClass::WarmUp, 38));
        assert_eq!(
            (time_profile.steady_from_ns, time_profile.stalls.count),
            (Nanos::from_secs(20), 0)
        );
        let names: Vec<&str> = time_profile.drifts.keys().map(String::as_str).collect();
        let known = [
            metric::CACHE_HIT_SHARE.name,
            metric::CPU_US_PER_OP.name,
            metric::RESPONSE_NS_P99.name,
            metric::THROUGHPUT_OPS_PER_S.name,
        ];
        assert_eq!(names, known);
        // From 72 % at second 20 to 75.9 % at second 59.
        let hits = time_profile.drifts[metric::CACHE_HIT_SHARE.name];
        assert!(hits.is_real && (hits.over_part - 0.039 / 0.739).abs() < 0.002, "{hits:?}");
        let with_invalid =
            slow_at_first().time_profile(&step(Load::Closed, A_MINUTE), true).unwrap();
        assert_eq!((with_invalid.stalls.count, with_invalid.seconds), (1, 40));
    }

    /// Goal: sampling that takes 3 % is found, and none is not, next to noise and a stall.
    #[test]
    fn seconds_with_samples_are_compared_with_those_without() {
        let effect = |loss: u64| {
            let mut seconds = Seconds::default();
            for at in 0..120 {
                let stall = if at == 50 { 60_000 } else { 0 };
                let lost = if rests_in(at) { 0 } else { loss };
                let done = 100_000 - stall - lost + at * 7_919 % 1_000;
                seconds.add(&second(at, done, at == 70), OpUnit::Operation, true);
            }
            seconds.sampling_effect().unwrap()
        };
        let slowed = effect(3_000);
        assert!((slowed.ratio - 0.97).abs() < 0.005 && slowed.high < 0.98, "{slowed:?}");
        assert_eq!(slowed.blocks, 29, "a block with an invalid second is left out");
        let free = effect(0);
        assert!(free.low < 1.0 && free.high > 1.0 && free.high - free.low < 0.01, "{free:?}");
        let mut short = Seconds::default();
        (0..39).for_each(|at| short.add(&second(at, 9, false), OpUnit::Operation, true));
        assert_eq!(short.sampling_effect(), None);
    }

    #[test]
    fn a_step_by_count_is_not_trimmed_and_a_search_has_no_profile() {
        let count = step(Load::Closed, StopRule::Operations(50_000));
        let time_profile = slow_at_first().time_profile(&count, false).unwrap();
        assert_eq!(
            (time_profile.class, time_profile.steady_from_ns),
            (TrendClass::WarmUp, Nanos(0))
        );
        assert_eq!(slow_at_first().time_profile(&step(Load::FindClients, A_MINUTE), false), None);
        assert_eq!(Seconds::default().time_profile(&count, false), None);
    }

    #[test]
    fn a_rate_that_rises_as_requested_is_steady() {
        let mut seconds = Seconds::default();
        for at in 0..60 {
            let mut one = second(at, 1_000 + 100 * at, false);
            one.readings.set(metric::OFFERED_OPS, float(1_000 + 100 * at));
            seconds.add(&one, OpUnit::Operation, true);
        }
        let time_profile = |rate: Rate| {
            let load = Load::Open(OpenLoad { rate, pace: Pace::default() });
            seconds.time_profile(&step(load, A_MINUTE), false).unwrap().class
        };
        let mut rising = Rate::constant(1_000.0);
        if let Rate::Pieces(pieces) = &mut rising {
            pieces[0].to_ops_per_s = 7_000.0;
        }
        assert_eq!(time_profile(rising), TrendClass::Flat);
        assert_eq!(time_profile(Rate::constant(1_000.0)), TrendClass::Drift);
    }

    /// Goal: the profile of a server's step is of client and server. Method: the server's CPU rises
    /// while the client's is constant, and the client's memory grows.
    #[test]
    fn cpu_of_a_server_is_in_the_profile_and_memory_of_its_client_is_not() {
        let mut seconds = Seconds::default();
        for at in 0..60 {
            let mut one = second(at, 1_000 + at * 7 % 5, false);
            one.readings.set(metric::RSS_BYTES, float(50_000_000 + 100_000 * at));
            one.readings.set(metric::SERVER_CPU_USER_US, float(50_000 + 1_000 * at));
            one.readings.set(metric::SERVER_CPU_KERNEL_US, 10_000.0);
            seconds.add(&one, OpUnit::Operation, true);
        }
        let drifts = seconds.time_profile(&step(Load::Closed, A_MINUTE), false).unwrap().drifts;
        assert!(!drifts.contains_key(metric::RSS_BYTES.name));
        let cpu = drifts[metric::CPU_US_PER_OP.name];
        // From 100 to 159 us in every second of 1,000 operations.
        assert!(cpu.is_real && (cpu.over_part - 59.0 / 129.5).abs() < 0.02, "{cpu:?}");
    }

    #[test]
    fn an_interval_that_is_no_second_is_left_out() {
        let mut seconds = slow_at_first();
        seconds.add(&second(60, 3, false), OpUnit::Operation, false);
        let time_profile = seconds.time_profile(&step(Load::Closed, A_MINUTE), false).unwrap();
        assert_eq!((time_profile.seconds, time_profile.stalls.count), (38, 0));
    }
}
