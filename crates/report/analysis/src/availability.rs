//! The events of a step over its runs: unavailability, return of speed, failed operations.

use model::record::FailureCounts;
use model::{EventRecord, Nanos, StepEvent, StepRecord, WriteCheck};
use serde::Serialize;
use stats::{median, quantile, rank};

/// Level of the interval of a median.
const LEVEL: f64 = 0.95;

/// The distribution of a time over runs, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Distribution {
    /// The shortest.
    pub min: f64,
    /// 25 % of the runs stayed within.
    pub q1: f64,
    /// 50 % of the runs stayed within.
    pub median: f64,
    /// 95 % interval of the median; absent with less than 6 runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// 75 % of the runs stayed within.
    pub q3: f64,
    /// The longest.
    pub max: f64,
}

/// The time until a figure was back, over the runs in which it was.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Return {
    /// Runs in which it was back.
    pub runs: usize,
    /// Median of these runs, in seconds; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
}

/// One event over the runs of a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventSummary {
    /// The event as planned.
    #[serde(flatten)]
    pub planned: StepEvent,
    /// Runs that executed it.
    pub runs: usize,
    /// Time in which no client had a success.
    pub unavailable_s: Distribution,
    /// Time until throughput was back.
    pub throughput_back_s: Return,
    /// Time until p99 was back.
    pub p99_back_s: Return,
    /// Failed operations of all runs, by class.
    pub failures: FailureCounts,
}

impl Distribution {
    /// Returns the distribution of seconds; `None` without any.
    ///
    /// Source: quartiles are definition 7 of [Hyndman Fan 1996].
    fn of(seconds: &[f64]) -> Option<Self> {
        let interval = rank::median(seconds, LEVEL).map(|it| (it.low, it.high));
        Some(Self {
            min: quantile(seconds, 0.0)?,
            q1: quantile(seconds, 0.25)?,
            median: quantile(seconds, 0.5)?,
            interval,
            q3: quantile(seconds, 0.75)?,
            max: quantile(seconds, 1.0)?,
        })
    }
}

/// Returns the events of the runs of a step, in the order of their times.
pub fn event_summaries(records: &[&StepRecord]) -> Vec<EventSummary> {
    let most = records.iter().map(|record| record.events.len()).max().unwrap_or(0);
    let one = |at: usize| {
        let events: Vec<&EventRecord> = records.iter().filter_map(|it| it.events.get(at)).collect();
        let unavailable: Vec<f64> =
            events.iter().map(|event| event.unavailable().as_secs_f64()).collect();
        let back = |time: fn(&EventRecord) -> Option<Nanos>| {
            let found = events.iter().filter_map(|event| time(event));
            let seconds: Vec<f64> = found.map(Nanos::as_secs_f64).collect();
            Return { runs: seconds.len(), median: median(&seconds) }
        };
        let mut failures = FailureCounts::default();
        events.iter().for_each(|event| failures.merge(&event.failures));
        Some(EventSummary {
            planned: events.first()?.planned,
            runs: events.len(),
            unavailable_s: Distribution::of(&unavailable)?,
            throughput_back_s: back(|event| event.throughput_back_ns),
            p99_back_s: back(|event| event.p99_back_ns),
            failures,
        })
    };
    (0..most).filter_map(one).collect()
}

/// Returns the compared writes of all runs of a step; `None` where none compared them.
pub fn write_checks(records: &[&StepRecord]) -> Option<WriteCheck> {
    let mut checks = records.iter().filter_map(|record| record.writes);
    let mut sum = checks.next()?;
    checks.for_each(|check| sum.merge(&check));
    Some(sum)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "values are copied or halved")]
mod tests {
    use model::record::FailureClass;
    use model::{Step, StopRule, TimeSpan};

    use super::*;

    #[test]
    fn an_event_is_summarised_over_the_runs_that_executed_it() {
        let run = |outages_s: &[u64], back_s: Option<u64>| {
            let span = |s: &u64| TimeSpan { start_ns: Nanos(0), end_ns: Nanos::from_secs(*s) };
            let mut failures = FailureCounts::default();
            failures.add(FailureClass::Refused);
            let event = EventRecord {
                outages: outages_s.iter().map(span).collect(),
                throughput_back_ns: back_s.map(Nanos::from_secs),
                failures,
                ..EventRecord::default()
            };
            let step = Step::new("overwrite", StopRule::Duration(Nanos::from_secs(9)));
            StepRecord { events: vec![event], ..StepRecord::new(0, step) }
        };
        let runs = [run(&[1, 1], Some(3)), run(&[4], None), run(&[], Some(5))];
        let [summary] = &event_summaries(&runs.iter().collect::<Vec<_>>())[..] else {
            panic!("there is one event")
        };
        let Distribution { min, q1, median, interval, q3, max } = summary.unavailable_s;
        assert_eq!([min, q1, median, q3, max], [0.0, 1.0, 2.0, 3.0, 4.0]);
        assert_eq!((interval, summary.runs), (None, 3));
        assert_eq!(summary.throughput_back_s, Return { runs: 2, median: Some(4.0) });
        assert_eq!(summary.p99_back_s, Return { runs: 0, median: None });
        assert_eq!(summary.failures.phrase(), "3 refused");
        let many: Vec<_> = (1..=8).map(|s| run(&[s], None)).collect();
        let many = event_summaries(&many.iter().collect::<Vec<_>>());
        assert!(many[0].unavailable_s.interval.is_some_and(|(low, high)| low < 4.5 && high > 4.5));
    }
}
