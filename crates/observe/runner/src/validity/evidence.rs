//! Evidence of an interval: accounts of the client and of the host.

use fold::count_within;
use hdrhistogram::Histogram;
use model::{CpuCount, Limit, Nanos, Placement, Readings, metric};

/// Response time from which an operation counts as late where there is no limit: the wait for a
/// CPU on a busy host, two turns of a fair scheduler on two CPUs.
const LATE_FROM: Nanos = Nanos::from_millis(10);
/// Share of the operations that must not be late where there is no limit: the highest percentile
/// that most steps have the operations for.
const IN_TIME_SHARE: f64 = 0.999;

/// Constants of a step's classification.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Setting {
    /// Threads of the measured clients.
    pub(crate) clients: u32,
    /// CPUs that the clients may use: CPUs of this host, or of all client hosts.
    pub(crate) cpus: CpuCount,
    /// Whether the clients run on other hosts than the engine.
    pub(crate) is_elsewhere: bool,
    /// Placement of client and server on them.
    pub(crate) placement: Placement,
    /// The step's limit, if any.
    pub(crate) limit: Option<Limit>,
    /// Start lag that 99 % of the starts stayed within when the client was calibrated.
    pub(crate) calibrated_lag: Option<Nanos>,
}

impl Setting {
    /// Returns the limit of a client's lateness: the step's, or a default.
    pub(crate) fn limit(&self) -> Limit {
        self.limit.unwrap_or(Limit { share: IN_TIME_SHARE, within: LATE_FROM })
    }
}

/// Start lag of free clients; open loop only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StartLag {
    /// Starts of a client that had waited.
    pub(crate) starts: u64,
    /// Of these, those later than allowed.
    pub(crate) late: u64,
    /// Lag of these, all together.
    pub(crate) late_total: Nanos,
    /// Lag beyond the limit, of all starts together.
    pub(crate) over_limit: Nanos,
    pub(crate) p99: Nanos,
    pub(crate) max: Nanos,
}

impl StartLag {
    /// Summarizes a histogram of start lag, where `allowed` is no lateness yet.
    pub(crate) fn of(histogram: &Histogram<u64>, allowed: Nanos, limit: &Limit) -> Self {
        let starts = histogram.len();
        let (mut late_total, mut over_limit) = (0_u64, 0_u64);
        for step in histogram.iter_recorded() {
            let (lag, count) = (step.value_iterated_to(), step.count_at_value());
            if lag > allowed.0 {
                late_total = late_total.saturating_add(lag.saturating_mul(count));
            }
            let over = lag.saturating_sub(limit.within.0);
            over_limit = over_limit.saturating_add(over.saturating_mul(count));
        }
        Self {
            starts,
            late: starts - count_within(histogram, allowed),
            late_total: Nanos(late_total),
            over_limit: Nanos(over_limit),
            p99: Nanos(histogram.value_at_quantile(0.99)),
            max: Nanos(histogram.max()),
        }
    }
}

/// Accounts of one interval; `None` where unknown, which is no evidence of a cause.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Evidence {
    /// Start, since the step's start.
    pub(crate) start: Nanos,
    pub(crate) length: Nanos,
    /// Absent in a closed loop.
    pub(crate) start_lag: Option<StartLag>,
    /// Age, at its end, of the oldest arrival not begun; 0 in a closed loop.
    pub(crate) backlog: Nanos,
    /// Longest response time of an operation that ended in it.
    pub(crate) response_max: Nanos,
    /// Operations that were done in it.
    pub(crate) done: u64,
    /// Of these, those over the limit.
    pub(crate) over_limit: u64,
    /// The worker's own accounts of this very interval.
    pub(crate) own: ClientReadings,
    /// The host's accounts meanwhile.
    pub(crate) outside: Outside,
}

/// The worker's accounts of an interval, us.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ClientReadings {
    pub(crate) process_cpu: Option<f64>,
    pub(crate) client_cpu: Option<f64>,
    pub(crate) harness_cpu: Option<f64>,
    /// Time the measured clients were ready to run and had no CPU.
    pub(crate) run_queue: Option<f64>,
    /// Time the measured clients had no operation due.
    pub(crate) idle: Option<f64>,
    /// Time by which the coordinator's waits ended late.
    pub(crate) pause: Option<f64>,
    /// Preemptions of clients.
    pub(crate) preemptions: Option<f64>,
}

impl ClientReadings {
    /// Returns the accounts among the growth of the worker's counters.
    pub(crate) fn of(growth: &Readings) -> Self {
        let one = |metric| growth.value(metric);
        Self {
            process_cpu: growth.sum(&metric::PROCESS_CPU_US),
            client_cpu: growth.sum(&metric::CLIENT_CPU_US),
            harness_cpu: one(metric::HARNESS_CPU_US),
            run_queue: one(metric::CLIENT_RUN_QUEUE_US),
            idle: one(metric::CLIENT_IDLE_US),
            pause: one(metric::PAUSE_US),
            preemptions: one(metric::CLIENT_CONTEXT_SWITCHES_INVOLUNTARY),
        }
    }

    /// Returns the CPU of the engine's own threads.
    pub(crate) fn engine_cpu(&self) -> Option<f64> {
        let engine = self.process_cpu? - self.client_cpu? - self.harness_cpu.unwrap_or(0.0);
        Some(engine.max(0.0))
    }
}

/// The host's accounts over a span of the parent's clock, us.
///
/// The span is nearly that of the interval: it ends when the interval is reported, which a client
/// stuck in one operation may delay.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Outside {
    pub(crate) span: Nanos,
    pub(crate) steal: Option<f64>,
    pub(crate) throttled: Option<f64>,
    /// User CPU of processes that are neither the worker nor Assay.
    pub(crate) others: Option<f64>,
    /// All CPU used on the host.
    pub(crate) busy: Option<f64>,
}

impl Outside {
    /// Returns the accounts over `span`, from the growth of the parent's counters.
    pub(crate) fn of(growth: &Readings, span: Nanos) -> Self {
        let one = |metric| growth.value(metric);
        Self {
            span,
            steal: one(metric::HOST_STEAL_US),
            throttled: one(metric::CGROUP_THROTTLED_US),
            others: one(metric::OTHERS_CPU_US),
            busy: one(metric::HOST_CPU_BUSY_US),
        }
    }

    /// Returns the sum over both spans.
    pub(crate) fn and(&self, other: &Self) -> Self {
        self.with(other, self.span.after(other.span), |us, more| us + more)
    }

    /// Returns the part of it that falls to a span of this length: all of it to a longer one.
    pub(crate) fn scaled_to(&self, length: Nanos) -> Self {
        let factor = (length.as_secs_f64() / self.span.as_secs_f64().max(1e-9)).min(1.0);
        self.with(self, length, |us, _| us * factor)
    }

    /// Returns each account over `span`, of both.
    fn with(&self, other: &Self, span: Nanos, of: impl Fn(f64, f64) -> f64) -> Self {
        let one = |own: Option<f64>, other: Option<f64>| Some(of(own?, other?));
        Self {
            span,
            steal: one(self.steal, other.steal),
            throttled: one(self.throttled, other.throttled),
            others: one(self.others, other.others),
            busy: one(self.busy, other.busy),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Metric;

    use super::*;

    fn readings(of: &[(Metric, f64)]) -> Readings {
        of.iter().copied().collect()
    }

    #[test]
    fn starts_are_late_beyond_the_allowed_lag() {
        let mut histogram = load::empty_histogram();
        histogram.record_n(1_000, 97).unwrap();
        histogram.record_n(400_000, 3).unwrap();
        let limit = Limit { share: 0.99, within: Nanos(300_000) };
        let lag = StartLag::of(&histogram, Nanos(100_000), &limit);
        assert_eq!((lag.starts, lag.late), (100, 3));
        assert!(lag.late_total.0.abs_diff(1_200_000) < 2_000, "{lag:?}");
        assert!(lag.over_limit.0.abs_diff(300_000) < 2_000, "{lag:?}");
        assert!(lag.p99 >= Nanos(400_000) && lag.max >= Nanos(400_000), "{lag:?}");
        assert_eq!(StartLag::of(&load::empty_histogram(), Nanos(1), &limit), StartLag::default());
    }

    #[test]
    fn the_engine_s_cpu_is_what_neither_clients_nor_harness_used() {
        let mut growth = readings(&[
            (metric::PROCESS_CPU_USER_US, 900.0),
            (metric::PROCESS_CPU_KERNEL_US, 100.0),
            (metric::CLIENT_CPU_USER_US, 500.0),
            (metric::CLIENT_CPU_KERNEL_US, 60.0),
            (metric::HARNESS_CPU_US, 40.0),
        ]);
        assert_eq!(ClientReadings::of(&growth).engine_cpu(), Some(400.0));
        growth.remove(metric::CLIENT_CPU_USER_US.name);
        assert_eq!(ClientReadings::of(&growth).engine_cpu(), None, "an unknown part is not zero");
    }

    #[test]
    fn accounts_over_several_intervals_are_divided_by_time() {
        let growth =
            readings(&[(metric::HOST_STEAL_US, 30_000.0), (metric::OTHERS_CPU_US, 900_000.0)]);
        let late = Outside::of(&growth, Nanos::from_millis(2_900));
        let next = Outside::of(&readings(&[(metric::HOST_STEAL_US, 0.0)]), Nanos::from_millis(100));
        let both = late.and(&next).scaled_to(Nanos::SECOND);
        assert!((both.steal.unwrap() - 10_000.0).abs() < 1e-6, "{both:?}");
        assert_eq!((both.others, both.throttled), (None, None));
    }
}
