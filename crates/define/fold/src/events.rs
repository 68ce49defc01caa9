//! What follows each event of a step: failed operations, and the return of speed.

use model::record::{FailureCounts, total_counts};
use model::{IntervalRecord, Nanos, Step, StepRecord, float};
use stats::median;

/// Distance from the values before the first event that counts as back. Our choice.
const BACK_WITHIN: f64 = 0.05;

/// The measured seconds of a step with events.
#[derive(Debug, Default)]
pub(crate) struct EventSeconds(Vec<EventSecond>);

#[derive(Debug)]
struct EventSecond {
    /// Since the begin of the measured span.
    start: Nanos,
    end: Nanos,
    ops_per_s: f64,
    /// The longest p99 among the kinds of operation.
    p99_ns: Option<f64>,
    failures: FailureCounts,
}

impl EventSeconds {
    /// Adds an interval of a step; nothing of a step without events.
    pub(crate) fn add(&mut self, step: &Step, record: &IntervalRecord) {
        if step.events.is_empty() {
            return;
        }
        let counts = total_counts(&record.clients);
        let start = record.start_ns.since(step.warmup);
        let done = record.clients.values().filter(|kind| kind.response.count > 0);
        self.0.push(EventSecond {
            start,
            end: start.after(record.length_ns),
            ops_per_s: float(counts.done) / record.length_ns.as_secs_f64().max(1e-9),
            p99_ns: done.map(|kind| float(kind.response.p99_ns)).reduce(f64::max),
            failures: counts.failures,
        });
    }

    /// Completes the events of a step.
    pub(crate) fn complete(&self, step: &mut StepRecord) {
        let begins: Vec<Nanos> = step.events.iter().map(|event| event.action.start_ns).collect();
        let Some(first) = begins.first() else { return };
        let before = || self.0.iter().filter(|second| second.end <= *first);
        let ops_per_s = median(&before().map(|second| second.ops_per_s).collect::<Vec<_>>());
        let p99_ns = median(&before().filter_map(|second| second.p99_ns).collect::<Vec<_>>());
        for (index, event) in step.events.iter_mut().enumerate() {
            let begin = begins[index];
            let next = begins.get(index + 1).copied().unwrap_or(Nanos(u64::MAX));
            let own = || self.0.iter().filter(|second| second.end > begin && second.end <= next);
            own().for_each(|second| event.failures.merge(&second.failures));
            let is_whole = |second: &&EventSecond| second.end.since(second.start).0 >= 900_000_000;
            let back = |is_back: &dyn Fn(&EventSecond) -> bool| {
                let mut after = own().filter(|second| second.start >= begin).filter(is_whole);
                after.find(|second| is_back(second)).map(|second| second.end.since(begin))
            };
            let fast = |second: &EventSecond| {
                ops_per_s.is_some_and(|before| second.ops_per_s >= before * (1.0 - BACK_WITHIN))
            };
            let short = |second: &EventSecond| {
                let both = p99_ns.zip(second.p99_ns);
                both.is_some_and(|(before, now)| now <= before * (1.0 + BACK_WITHIN))
            };
            event.throughput_back_ns = back(&fast);
            event.p99_back_ns = back(&short);
        }
    }
}

#[cfg(test)]
mod tests {
    use model::record::{FailureClass, OpSummary, Percentiles};
    use model::{EventKind, EventRecord, OpKind, StepEvent, StopRule, TimeSpan};

    use super::*;
    use crate::testing::interval;

    /// Goal: an event owns the failures up to the next one, and speed is compared with the seconds
    /// before the first. Method: ten seconds after a warm-up of five, events at 3.5 s and 7.5 s.
    #[test]
    fn failures_and_the_return_of_speed_belong_to_the_event_before() {
        let at = |ms| Nanos::from_millis(ms);
        let event = |ms| {
            let planned = StepEvent { at: at(ms), kind: EventKind::Kill };
            let action = TimeSpan { start_ns: at(ms), end_ns: at(ms + 300) };
            EventRecord { planned, action, ..EventRecord::default() }
        };
        let events = [3_500, 7_500].map(event);
        let step = Step {
            warmup: at(5_000),
            events: events.iter().map(|event| event.planned).collect(),
            ..Step::new("overwrite", StopRule::Duration(at(10_000)))
        };
        let mut seconds = EventSeconds::default();
        for (second, done, p99_ns, failed) in [
            (0, 1_000, 100, 0),
            (1, 1_100, 110, 0),
            (2, 1_000, 100, 0),
            (3, 400, 100, 7),
            (4, 960, 900, 0),
            (5, 1_000, 104, 0),
            (6, 1_000, 100, 0),
            (7, 10, 90, 5),
            (8, 10, 900, 1),
            (9, 10, 900, 0),
        ] {
            let mut record = interval(done);
            record.start_ns = Nanos::from_secs(5 + second);
            let summary: &mut OpSummary = record.clients.get_mut(&OpKind::Get).unwrap();
            summary.response = Percentiles { count: done, p99_ns, ..Percentiles::default() };
            (0..failed).for_each(|_| summary.counts.failures.add(FailureClass::Refused));
            seconds.add(&step, &record);
        }
        let mut record = StepRecord::new(0, step);
        record.events = events.to_vec();
        seconds.complete(&mut record);
        let [one, two] = &record.events[..] else { panic!("there are two") };
        assert_eq!(one.failures.phrase(), "7 refused");
        assert_eq!(two.failures.phrase(), "6 refused");
        assert_eq!(one.throughput_back_ns, Some(at(1_500)));
        assert_eq!(one.p99_back_ns, Some(at(2_500)), "104 is within 5 % of 100");
        assert_eq!((two.throughput_back_ns, two.p99_back_ns), (None, None));
    }
}
