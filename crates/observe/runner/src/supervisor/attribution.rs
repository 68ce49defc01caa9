//! Attribution of readings to intervals, by the time they cover.

use model::{Metric, Nanos, Readings, metric};

/// Largest difference between the span of a reading and its interval, as a share of the interval.
///
/// Our choice: a second's rates are read to a tenth; a busy host delays a reading by less.
const SPAN_SHARE: f64 = 0.1;
/// Difference that is none: two ticks of the kernel's accounts.
const SPAN_SLACK_US: f64 = 20_000.0;
/// Shortest pause with a finding: half an interval. Our choice.
const PAUSE_MIN: Nanos = Nanos::from_millis(500);

/// Readings that hold whenever they are taken: spans, and counts by the time of an event.
const EXACT: [Metric; 5] = [
    metric::HOST_SAMPLED_US,
    metric::HOST_SUSPENDED_US,
    metric::WORKER_SAMPLED_US,
    metric::PAUSE_US,
    metric::OFFERED_OPS,
];

/// Removes the readings of an interval that cover another time than it; returns whether it did.
///
/// `own` has the worker's readings of itself. All others are taken when the interval is reported,
/// which a pause of Assay, of the worker or of the machine delays, or a wait for a CPU. Counters
/// lose nothing: their growth over the step is from its first reading to its last.
pub(super) fn attribute(readings: &mut Readings, own: &Readings, length: Nanos) -> bool {
    let is_own_off = is_off(readings.value(metric::WORKER_SAMPLED_US), length);
    let suspended_us = readings.value(metric::HOST_SUSPENDED_US).unwrap_or(0.0);
    let sampled_us = readings.value(metric::HOST_SAMPLED_US).map(|us| us + suspended_us);
    let is_host_off = is_own_off || is_off(sampled_us, length);
    let is_exact = |name: &str| EXACT.iter().any(|exact| exact.name == name);
    let before = readings.len();
    readings.retain(|name, _| {
        let is_off = if own.contains_key(name) { is_own_off } else { is_host_off };
        is_exact(name) || !is_off
    });
    readings.len() < before
}

/// Returns whether a span is not that of an interval; an unknown one is.
fn is_off(span_us: Option<f64>, length: Nanos) -> bool {
    let length_us = length.as_micros_f64();
    let allowed_us = (SPAN_SHARE * length_us).max(SPAN_SLACK_US);
    span_us.is_some_and(|span_us| (span_us - length_us).abs() > allowed_us)
}

/// The pauses of a step, and what they left out.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pauses {
    assay: Nanos,
    worker: Nanos,
    machine: Nanos,
    /// Intervals without the readings that cover another time.
    left_out: u32,
}

impl Pauses {
    /// Notes an interval, by the spans of its readings and whether some were left out.
    ///
    /// A thread that waits for a CPU is late too, and was not paused: who uses the CPUs, as more
    /// clients than there are, is reported by other rules.
    pub(super) fn note_interval(&mut self, readings: &Readings, length: Nanos, is_left_out: bool) {
        self.left_out += u32::from(is_left_out);
        let known = |metric| Nanos(model::whole(readings.value(metric).unwrap_or(0.0) * 1e3));
        let worker_late = known(metric::WORKER_SAMPLED_US).since(length);
        let of_worker = worker_late.min(known(metric::PAUSE_US));
        if of_worker >= PAUSE_MIN {
            self.worker = self.worker.after(of_worker);
        }
        self.machine = self.machine.after(known(metric::HOST_SUSPENDED_US));
    }

    /// Notes that Assay was stopped for so long, in a wait for its worker.
    ///
    /// Not from the spans of its readings: what the worker sends late is read late.
    pub(super) fn note_assay(&mut self, pause: Nanos) {
        if pause >= PAUSE_MIN {
            self.assay = self.assay.after(pause);
        }
    }

    /// Describes the pauses; `None` when there was none.
    pub(super) fn describe(&self) -> Option<String> {
        let paused = [
            ("Assay was paused for at least", self.assay),
            ("the worker was paused for", self.worker),
            ("the machine was suspended for", self.machine),
        ];
        let paused = paused.iter().filter(|(_, span)| *span >= PAUSE_MIN);
        let paused: Vec<_> = paused.map(|(what, span)| format!("{what} {span}")).collect();
        let left_out = match self.left_out {
            0 => String::new(),
            count => {
                let intervals = if count == 1 { "interval" } else { "intervals" };
                format!("; readings over another time are left out of {count} {intervals}")
            }
        };
        (!paused.is_empty()).then(|| paused.join(", ") + &left_out)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn readings(of: &[(Metric, f64)]) -> Readings {
        of.iter().copied().collect()
    }

    /// Readings of the parent over `host_us` and of the worker over `worker_us`.
    fn of_spans(host_us: f64, worker_us: f64) -> (Readings, Readings) {
        let own = [(metric::PROCESS_CPU_USER_US, 7.0), (metric::WORKER_SAMPLED_US, worker_us)];
        let own = readings(&own);
        let mut all = readings(&[
            (metric::DEVICE_BUSY_US, host_us),
            (metric::RSS_BYTES, 9.0),
            (metric::HOST_SAMPLED_US, host_us),
        ]);
        all.extend(own.clone());
        (all, own)
    }

    #[test]
    fn only_readings_that_cover_another_time_are_left_out() {
        let names = |host_us, worker_us| {
            let (mut all, own) = of_spans(host_us, worker_us);
            let is_left_out = attribute(&mut all, &own, Nanos::SECOND);
            assert_eq!(is_left_out, all.len() < 5);
            let of = [metric::DEVICE_BUSY_US, metric::RSS_BYTES, metric::PROCESS_CPU_USER_US];
            assert!(all.has(metric::HOST_SAMPLED_US) && all.has(metric::WORKER_SAMPLED_US));
            of.map(|metric| all.has(metric))
        };
        assert_eq!(names(1e6, 1e6), [true; 3]);
        assert_eq!(names(1.09e6, 0.91e6), [true; 3]);
        assert_eq!(names(4e6, 1e6), [false, false, true]);
        assert_eq!(names(10.0, 1e6), [false, false, true]);
        assert_eq!(names(1e6, 4e6), [false; 3]);
    }

    #[test]
    fn a_suspend_is_no_part_of_an_interval() {
        let (mut all, own) = of_spans(1e6, 1e6);
        all.set(metric::HOST_SUSPENDED_US, 3e6);
        assert!(attribute(&mut all, &own, Nanos::SECOND) && !all.has(metric::DEVICE_BUSY_US));
    }

    #[test]
    fn readings_of_unknown_span_stay() {
        let mut all = readings(&[(metric::DEVICE_BUSY_US, 3e6)]);
        assert!(!attribute(&mut all, &Readings::new(), Nanos::SECOND));
        assert!(all.has(metric::DEVICE_BUSY_US));
    }

    /// Readings over these spans, of which the worker stood still for so long.
    fn late(host_us: f64, worker_us: f64, paused_us: f64) -> Readings {
        let mut all = of_spans(host_us, worker_us).0;
        all.set(metric::PAUSE_US, paused_us);
        all
    }

    /// Goal: a worker or Assay that had no CPU, as with 512 clients on two, was not paused.
    #[test]
    fn a_wait_for_a_cpu_is_no_pause() {
        let mut pauses = Pauses::default();
        for (host_us, paused_us) in [(25.5e6, 0.0), (25.5e6, 2e5), (9e6, 0.0)] {
            pauses.note_interval(&late(host_us, 25.5e6, paused_us), Nanos::SECOND, true);
        }
        // The worker has sent it late.
        pauses.note_interval(&late(9e6, 1e6, 0.0), Nanos::SECOND, true);
        pauses.note_assay(Nanos::from_millis(400));
        assert_eq!(pauses.describe(), None);
        pauses.note_interval(&late(9e6, 9e6, 5e6), Nanos::SECOND, false);
        let text = "the worker was paused for 5.00 s; readings over another time are left out of 4 \
                    intervals";
        assert_eq!(pauses.describe().as_deref(), Some(text));
    }

    #[test]
    fn a_finding_names_each_pause_with_its_length() {
        let mut pauses = Pauses::default();
        pauses.note_interval(&late(1.4e6, 1.2e6, 2e5), Nanos::SECOND, true);
        assert_eq!(pauses.describe(), None, "a busy host pauses no one");
        pauses.note_assay(Nanos::from_millis(3_200));
        pauses.note_interval(&late(4.2e6, 1e6, 0.0), Nanos::SECOND, true);
        pauses.note_interval(&late(3e6, 3e6, 2e6), Nanos::SECOND, true);
        let text = "Assay was paused for at least 3.20 s, the worker was paused for 2.00 s; \
                    readings over another time are left out of 3 intervals";
        assert_eq!(pauses.describe().as_deref(), Some(text));
    }

    proptest! {
        /// Goal: no interval has more device time than it is long, whenever Assay is paused, and
        /// no device time is lost over the step.
        /// Method: a device that is always busy, read at each interval's report; reports are
        /// delayed by pauses, and those of one pause arrive together.
        #[test]
        fn device_time_is_bounded_by_the_interval_whatever_is_paused(
            pauses in prop::collection::vec((0_u64..30, 0_u64..9_000), 0..4),
        ) {
            let mut read_at_us = 0;
            let mut sum_us = 0.0;
            for second in 1_u64..=30 {
                let due_us = second * 1_000_000;
                let delay = |(from, length_ms): &(u64, u64)| {
                    let (from, to) = (from * 1_000_000 + 300_000, length_ms * 1_000);
                    (from..from + to).contains(&due_us).then_some(from + to)
                };
                let at_us = pauses.iter().filter_map(delay).fold(due_us, u64::max).max(read_at_us);
                let span_us = (at_us - read_at_us) as f64;
                read_at_us = at_us;
                let (mut all, own) = of_spans(span_us, 1e6);
                sum_us += all.value(metric::DEVICE_BUSY_US).unwrap();
                attribute(&mut all, &own, Nanos::SECOND);
                let busy_us = all.value(metric::DEVICE_BUSY_US).unwrap_or(1e6);
                prop_assert!((busy_us - 1e6).abs() <= SPAN_SHARE * 1e6, "{busy_us}");
            }
            prop_assert!((sum_us - read_at_us as f64).abs() < 1.0);
        }
    }
}
